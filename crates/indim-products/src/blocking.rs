//! Blocking: the sizes of macro tiles, slices and panels, and the layout of scratch memory.

use crate::axes::{Axes, ProductArray};
use crate::kernels::Kernels;
use crate::order::{CONTRACTION_LANES, MAX_CHAIN, REDUCTION_BLOCK};
use crate::short_dot::PACKED_RESULTS;
use crate::stencil::MAX_STENCIL_ROWS;
use crate::tile::NODES;
use crate::{axpy, dot};

/// Bytes of L2 that blocking assumes: the smallest L2 of current servers and laptops.
const L2_BYTES: usize = 512 << 10;

/// Maximum bytes of columns that are packed together: they stay in the share of L3 of one core.
const MAX_PACKED_COLUMNS_BYTES: usize = 2 << 20;

/// Maximum rows and columns of a macro tile: at this size packing is already only a few per cent of the work.
const MAX_MACRO_TILE: usize = 1024;

/// Maximum rows and columns of a macro tile that is summed slice by slice, so that its wide sums stay in L3.
const MAX_SLICED_MACRO_TILE: usize = 384;

/// Minimum multiply-adds of a task, because starting a task costs about a microsecond.
const MIN_TASK_MULTIPLY_ADDS: usize = 1 << 18;

/// Maximum rows of `x` for dot products and scaled rows, which do not pack `y`.
pub(crate) const MAX_UNPACKED_ROWS: usize = 4;

/// Maximum indices of a slice, so that its blocks fit the nodes of a tile.
const MAX_SLICE_LENGTH: usize = REDUCTION_BLOCK << (NODES - 2);

// Dot products and scaled rows copy their rows into the memory of packed rows. It has room for them, because
// an element has at most 8 bytes.
const _: () = assert!(L2_BYTES / 2 / (MAX_SLICE_LENGTH * 8) >= MAX_UNPACKED_ROWS);

/// Maximum stride of `y` between the columns of stencils, in elements: with AVX-512, two loads and a
/// permutation read every second `f32`.
const MAX_STENCIL_STRIDE: usize = 2;

/// Maximum columns of a macro tile of stencils. Stencils keep no panels in caches, so this only bounds the
/// work of a task: a run can be stopped only between tasks.
const MAX_STENCIL_COLUMNS: usize = 1 << 14;

/// Minimum contiguous columns of stencils, because each run of columns costs a call.
const MIN_STENCIL_COLUMNS: usize = 4;

/// Minimum batch elements or columns of short dot products: a vector of `f32` of AVX2.
const MIN_SHORT_DOTS: usize = 8;

/// Maximum multiply-adds of a batch element with several results for short dot products, which read each
/// factor once for each result.
const MAX_BATCH_DOTS_WORK: usize = 256;

/// [`MAX_BATCH_DOTS_WORK`] if a factor is strided along the summed index and along the batch, so that no
/// vector reads it.
const MAX_STRIDED_BATCH_DOTS_WORK: usize = 128;

/// [`MAX_BATCH_DOTS_WORK`] if factors are packed, once for each result: narrow types are widened. Register
/// tiles of `[4, 8]` times `[8, 4]` take 0.4 to 1.1 times as long, those of `[4, 4]` times `[4, 4]` 0.9 to
/// 1.35 times.
const MAX_PACKED_BATCH_DOTS_WORK: usize = 64;

/// Tasks for each thread, so that threads which start late or run slowly do less.
const TASKS_PER_THREAD: usize = 2;

/// The algorithm that sums a macro tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProductMethod {
    /// Register tiles of packed operands.
    Tiles,
    /// Dot products: `y` is contiguous along the summed index.
    Dots,
    /// Scaled rows: `y` is contiguous along the columns.
    Axpys,
    /// Short chains of few rows: runs of columns are contiguous in the result, and at most
    /// [`MAX_STENCIL_STRIDE`] elements apart in `y`.
    Stencils,
    /// Short dot products, with vectors along the batch: each batch element has few results.
    BatchDots,
    /// Short dot products of one row, with vectors along the columns: `y` is contiguous along the summed
    /// index.
    ColumnDots,
}

impl ProductMethod {
    /// The method for these axes: batch, rows, columns, summed. For few rows, packing `y` would cost more
    /// than reading it once for each row.
    pub(crate) fn of(
        [batch, rows, columns, summed]: [&Axes; 4],
        kernels: &Kernels,
    ) -> ProductMethod {
        let axes = [batch, rows, columns, summed];
        let size = Some(kernels.size as isize);
        let (along, across) =
            (summed.uniform_stride(ProductArray::Y), columns.uniform_stride(ProductArray::Y));
        let fits = |method: ProductMethod| kernels.is_y_native && method.fits(axes, kernels);
        let has_runs = |array, max_step: usize| {
            let step = usize::try_from(columns.fastest_stride(array)).unwrap_or(0);
            let is_near = (kernels.size..=max_step * kernels.size).contains(&step);
            is_near && columns.fastest_size() >= MIN_STENCIL_COLUMNS
        };
        let in_runs = kernels.stencils.is_some()
            && kernels.is_out_native
            && has_runs(ProductArray::Y, MAX_STENCIL_STRIDE)
            && has_runs(ProductArray::Out, 1)
            && rows.uniform_stride(ProductArray::Out).is_some()
            && !can_read_in_place([rows, columns, summed], kernels);
        let in_column_dots = along == size
            && across != size
            && ProductMethod::ColumnDots.fits(axes, kernels)
            && can_dot_in_place(columns, summed, kernels)
            && (summed.size <= MAX_CHAIN || summed.uniform_stride(ProductArray::X) == size);
        let in_batch_dots =
            ProductMethod::BatchDots.fits(axes, kernels) && are_batch_dots_cheap(axes, kernels);
        if in_batch_dots {
            ProductMethod::BatchDots
        } else if in_runs && fits(ProductMethod::Stencils) {
            ProductMethod::Stencils
        } else if in_column_dots {
            ProductMethod::ColumnDots
        } else if along == size && fits(ProductMethod::Dots) {
            ProductMethod::Dots
        } else if across == size && along.is_some() && fits(ProductMethod::Axpys) {
            ProductMethod::Axpys
        } else {
            ProductMethod::Tiles
        }
    }

    /// Whether each lane of a vector sums one result, over at most one block.
    pub(crate) fn is_short_dots(self) -> bool {
        matches!(self, ProductMethod::BatchDots | ProductMethod::ColumnDots)
    }

    /// Whether the sizes suit the method. Dot products and scaled rows need few rows, and sums longer
    /// than one chain; scaled rows also need a vector of columns. Stencils need few rows, and sums of at
    /// most one chain. Short dot products need sums of at most a block, and many results along one class of
    /// axes.
    fn fits(self, [batch, rows, columns, summed]: [&Axes; 4], kernels: &Kernels) -> bool {
        let is_block = (1..=REDUCTION_BLOCK).contains(&summed.size) && kernels.short_dot.is_some();
        let results = rows.size.saturating_mul(columns.size);
        let is_unpacked = rows.size <= MAX_UNPACKED_ROWS && summed.size > MAX_CHAIN;
        match self {
            ProductMethod::Tiles => true,
            ProductMethod::Dots => is_unpacked,
            ProductMethod::Axpys => is_unpacked && columns.size >= kernels.lanes,
            ProductMethod::Stencils => {
                rows.size <= 2 * MAX_STENCIL_ROWS && (1..=MAX_CHAIN).contains(&summed.size)
            }
            ProductMethod::BatchDots => {
                let work = results.saturating_mul(summed.size);
                let is_cheap = results == 1 || (1..=MAX_BATCH_DOTS_WORK).contains(&work);
                is_block && batch.size >= MIN_SHORT_DOTS && is_cheap
            }
            ProductMethod::ColumnDots => {
                is_block && rows.size == 1 && columns.size >= MIN_SHORT_DOTS
            }
        }
    }
}

/// Sizes of blocks, and the grid of tasks. A task is a macro tile at one or more batch elements, or a slice
/// of its sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocking {
    /// Batch elements of a task.
    pub(crate) task_batches: usize,
    /// Extent of the grid of macro tiles along the batch.
    pub(crate) grid_batches: usize,
    /// Rows of a macro tile.
    pub(crate) rows: usize,
    /// Extent of the grid of macro tiles along the rows.
    pub(crate) grid_rows: usize,
    /// Columns of a macro tile.
    pub(crate) columns: usize,
    /// Extent of the grid of macro tiles along the columns.
    pub(crate) grid_columns: usize,
    /// Indices of a slice: `REDUCTION_BLOCK` times a power of two, unless there is only one slice.
    pub(crate) slice_length: usize,
    /// Number of slices of the summed index.
    pub(crate) slice_count: usize,
    /// Whether each slice is a task, and a second phase adds them (split-K).
    pub(crate) is_split: bool,
    /// Rows that are packed together.
    pub(crate) packed_rows: usize,
    /// Columns that are packed together.
    pub(crate) packed_columns: usize,
    /// Whether kernels may read `x` in place, because its rows are contiguous.
    pub(crate) is_x_in_place: bool,
    /// Whether register tiles read `y` in place, except panels with an incomplete vector.
    pub(crate) is_y_in_place: bool,
    pub(crate) method: ProductMethod,
    /// Columns of a macro tile of wide sums, with padding.
    pub(crate) wide_columns: usize,
    pub(crate) scratch: ScratchOffsets,
    /// Bytes of the memory that all threads of a run share.
    pub(crate) shared_bytes: usize,
}

/// Offsets of buffers in scratch memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScratchOffsets {
    /// Nodes of a register tile.
    pub(crate) tile_nodes: usize,
    /// Wide sums of a register tile.
    pub(crate) tile_sums: usize,
    /// Packed rows.
    pub(crate) x: usize,
    /// Packed columns.
    pub(crate) y: usize,
    /// Initial sums of the rows of a macro tile.
    pub(crate) initial_sums: usize,
    /// Nodes of a macro tile that is summed slice by slice.
    pub(crate) macro_tile_nodes: usize,
    /// Bytes of all buffers.
    pub(crate) bytes: usize,
}

impl Blocking {
    /// The blocking of a product with these axes: batch, rows, columns, summed.
    pub(crate) fn new(axes: [&Axes; 4], kernels: &Kernels, threads: usize) -> Blocking {
        Blocking::for_method(ProductMethod::of(axes, kernels), axes, kernels, threads)
    }

    /// The maximum scratch memory and shared memory, in bytes, of products with axes of these sizes and any
    /// strides: both operands are packed.
    pub(crate) fn max_memory(axes: [&Axes; 4], kernels: &Kernels, threads: usize) -> [usize; 2] {
        let methods = [
            ProductMethod::Tiles,
            ProductMethod::Dots,
            ProductMethod::Axpys,
            ProductMethod::Stencils,
            ProductMethod::BatchDots,
            ProductMethod::ColumnDots,
        ];
        let fitting = methods.into_iter().filter(|method| method.fits(axes, kernels));
        fitting.fold([0; 2], |[scratch, shared], method| {
            let mut blocking = Blocking::for_method(method, axes, kernels, threads);
            (blocking.is_x_in_place, blocking.is_y_in_place) = (false, false);
            blocking.lay_out(kernels);
            [scratch.max(blocking.scratch.bytes), shared.max(blocking.shared_bytes)]
        })
    }

    /// The blocking for a method.
    pub(crate) fn for_method(
        method: ProductMethod,
        [batch, rows, columns, summed]: [&Axes; 4],
        kernels: &Kernels,
        threads: usize,
    ) -> Blocking {
        let slice_length = match method {
            ProductMethod::Tiles => slice_length(summed.size, kernels),
            _ => MAX_SLICE_LENGTH.min(summed.size.max(1)),
        };
        let slice_count = summed.size.div_ceil(slice_length).max(1);
        let (macro_tile_rows, macro_tile_columns) = match method {
            ProductMethod::Stencils => stencil_macro_tile([rows, columns]),
            ProductMethod::ColumnDots => (1, columns.size.clamp(1, MAX_STENCIL_COLUMNS)),
            _ => macro_tile([rows, columns], kernels, slice_count),
        };
        let [is_x_in_place, is_y_in_place] = match method {
            ProductMethod::BatchDots => [can_dot_in_place(batch, summed, kernels); 2],
            ProductMethod::ColumnDots => [can_dot_in_place(columns, summed, kernels); 2],
            _ => [
                is_x_in_place([rows, summed], kernels),
                can_read_in_place([rows, columns, summed], kernels),
            ],
        };
        let mut blocking = Blocking {
            task_batches: 1,
            grid_batches: batch.size,
            rows: macro_tile_rows,
            grid_rows: rows.size.div_ceil(macro_tile_rows),
            columns: macro_tile_columns,
            grid_columns: columns.size.div_ceil(macro_tile_columns),
            slice_length,
            slice_count,
            is_split: false,
            packed_rows: 0,
            packed_columns: 0,
            is_x_in_place,
            is_y_in_place,
            method,
            wide_columns: 0,
            scratch: ScratchOffsets::default(),
            shared_bytes: 0,
        };
        blocking.divide_into_tasks(threads, [rows.size, columns.size, summed.size], kernels);
        let products = rows.size.saturating_mul(columns.size).saturating_mul(summed.size);
        blocking.join_batch(batch.size, threads, products);
        blocking.lay_out(kernels);
        blocking
    }

    /// The number of tasks of the first phase.
    pub(crate) fn tasks(&self) -> usize {
        self.macro_tile_count() * if self.is_split { self.slice_count } else { 1 }
    }

    /// The number of macro tiles in the grid. Each stands for the batch elements of a task.
    pub(crate) fn macro_tile_count(&self) -> usize {
        self.grid_batches * self.grid_rows * self.grid_columns
    }

    /// Divides macro tiles, then the sum, until there are enough tasks for the threads.
    fn divide_into_tasks(&mut self, threads: usize, sizes: [usize; 3], kernels: &Kernels) {
        let [rows, columns, length] = sizes;
        let target = if threads == 1 { 1 } else { threads * TASKS_PER_THREAD };
        let work = |blocking: &Blocking| (blocking.rows * blocking.columns).saturating_mul(length);
        while self.macro_tile_count() < target && work(self) >= 2 * MIN_TASK_MULTIPLY_ADDS {
            let can_divide_rows = self.rows >= 8 * kernels.rows;
            let can_divide_columns = self.columns >= 4 * kernels.columns();
            if can_divide_rows && (self.rows >= self.columns || !can_divide_columns) {
                self.rows = (self.rows / 2).next_multiple_of(kernels.rows);
                self.grid_rows = rows.div_ceil(self.rows);
            } else if can_divide_columns {
                self.columns = (self.columns / 2).next_multiple_of(kernels.columns());
                self.grid_columns = columns.div_ceil(self.columns);
            } else {
                break;
            }
        }
        if self.macro_tile_count() < target
            && work(self) >= 2 * MIN_TASK_MULTIPLY_ADDS
            && length > REDUCTION_BLOCK
        {
            self.split_sum(target, length);
        }
    }

    /// Splits the sum into slices that are tasks.
    fn split_sum(&mut self, target: usize, length: usize) {
        let work = self.rows * self.columns;
        while self.slice_length > REDUCTION_BLOCK
            && self.macro_tile_count() * length.div_ceil(self.slice_length) < target
            && work * self.slice_length >= 2 * MIN_TASK_MULTIPLY_ADDS
        {
            self.slice_length =
                (self.slice_length / 2).next_multiple_of(REDUCTION_BLOCK).next_power_of_two();
        }
        self.slice_count = length.div_ceil(self.slice_length);
        self.is_split = self.slice_count > 1;
    }

    /// Joins batch elements to tasks of enough work.
    fn join_batch(&mut self, batch: usize, threads: usize, work: usize) {
        if self.grid_rows * self.grid_columns != 1 || self.is_split || batch == 0 {
            return;
        }
        // A run on one thread has tasks too, because it can be stopped only between them.
        let (min_tasks, task_work) = if threads == 1 {
            (1, 64 * MIN_TASK_MULTIPLY_ADDS)
        } else {
            (4 * threads, MIN_TASK_MULTIPLY_ADDS)
        };
        let by_work = task_work.div_ceil(work.max(1)).max(1);
        self.task_batches = by_work.min(batch.div_ceil(min_tasks)).max(1);
        self.grid_batches = batch.div_ceil(self.task_batches);
    }

    /// Computes the sizes of panels, and the layout of scratch and shared memory.
    fn lay_out(&mut self, kernels: &Kernels) {
        let row_bytes = self.slice_length.max(1) * kernels.size;
        let (tile_rows, tile_columns) = (kernels.rows, kernels.columns());
        let multiple = |bytes: usize, granularity: usize| {
            (bytes / row_bytes / granularity).max(1) * granularity
        };
        self.packed_rows =
            multiple(L2_BYTES / 2, tile_rows).min(self.rows.next_multiple_of(tile_rows));
        // If the rows of a macro tile stay in L2, its columns are packed panel by panel, so that a panel is
        // still in L1 or L2 when its tiles read it.
        let columns = if self.packed_rows >= self.rows { 0 } else { MAX_PACKED_COLUMNS_BYTES };
        self.packed_columns =
            multiple(columns, tile_columns).min(self.columns.next_multiple_of(tile_columns));
        self.wide_columns = self.columns.next_multiple_of(kernels.lanes);

        let mut bytes = 0_usize;
        let mut reserve = |length: usize| {
            let offset = bytes;
            bytes = (bytes + length).next_multiple_of(64);
            offset
        };
        let tile = match self.method {
            ProductMethod::Tiles => tile_rows * tile_columns,
            ProductMethod::Dots => dot::DOT_WIDTH,
            ProductMethod::BatchDots | ProductMethod::ColumnDots => PACKED_RESULTS,
            ProductMethod::Stencils => 0,
            ProductMethod::Axpys => self.rows * axpy::MAX_AXPY_COLUMNS,
        };
        let tile_bytes = tile * kernels.wide_size;
        let y_bytes = match self.method {
            ProductMethod::Tiles => self.packed_columns * row_bytes,
            ProductMethod::Dots | ProductMethod::Stencils => 0,
            method if method.is_short_dots() && self.is_x_in_place => 0,
            ProductMethod::BatchDots | ProductMethod::ColumnDots => PACKED_RESULTS * row_bytes,
            ProductMethod::Axpys => (CONTRACTION_LANES + 1) * axpy::MAX_AXPY_COLUMNS * kernels.size,
        };
        let macro_tile_bytes = self.macro_tile_bytes(kernels);
        let nodes = match (self.slice_count, self.is_split) {
            (1, _) | (_, true) => 0,
            (slice_count, false) => slice_count.ilog2() as usize + 2,
        };
        let x_bytes = match self.method {
            ProductMethod::Stencils => self.rows * row_bytes,
            _ if self.is_x_in_place => 0,
            method if method.is_short_dots() => PACKED_RESULTS * row_bytes,
            _ => self.packed_rows * row_bytes,
        };
        self.scratch = ScratchOffsets {
            tile_nodes: reserve(NODES * tile_bytes),
            tile_sums: reserve(tile_bytes),
            x: reserve(x_bytes),
            y: reserve(y_bytes),
            initial_sums: reserve(if kernels.initial_sums.is_some() {
                self.rows * kernels.size
            } else {
                0
            }),
            macro_tile_nodes: reserve(nodes * macro_tile_bytes),
            bytes: 0,
        };
        self.scratch.bytes = bytes;
        if self.is_split {
            self.shared_bytes = self.tasks() * macro_tile_bytes;
        }
    }

    /// Bytes of the wide sums of a macro tile.
    pub(crate) fn macro_tile_bytes(&self, kernels: &Kernels) -> usize {
        (self.rows * self.wide_columns * kernels.wide_size).next_multiple_of(64)
    }
}

/// Maximum bytes of a panel of columns if vectors have 512 bits: processors with AVX-512 have an L2 of 1
/// MiB or more, with rare exceptions.
const MAX_WIDE_PANEL_BYTES: usize = 384 << 10;

/// Number of indices of a slice: a panel of columns fits a quarter of L2 (or [`MAX_WIDE_PANEL_BYTES`]), and
/// its blocks fit the nodes of a tile.
fn slice_length(length: usize, kernels: &Kernels) -> usize {
    let panel = kernels.columns() * kernels.size;
    let is_wide = kernels.lanes * kernels.size > 32;
    let max_bytes = if is_wide { MAX_WIDE_PANEL_BYTES } else { L2_BYTES / 4 };
    let mut slice_length = REDUCTION_BLOCK;
    while 2 * slice_length * panel <= max_bytes && slice_length < MAX_SLICE_LENGTH {
        slice_length *= 2;
    }
    if length <= slice_length { length.max(1) } else { slice_length }
}

/// Number of rows and columns of a macro tile of stencils: whole runs of columns, which share loads, unless
/// one run has more than [`MAX_STENCIL_COLUMNS`].
fn stencil_macro_tile([rows, columns]: [&Axes; 2]) -> (usize, usize) {
    let run = columns.fastest_size().max(1);
    let limit = match MAX_STENCIL_COLUMNS / run {
        0 => MAX_STENCIL_COLUMNS,
        runs => runs * run,
    };
    (rows.size.max(1), limit.min(columns.size).max(1))
}

/// Number of rows and columns of a macro tile. They are chosen so that all macro tiles have about the same
/// size.
fn macro_tile(
    [rows, columns]: [&Axes; 2],
    kernels: &Kernels,
    slice_count: usize,
) -> (usize, usize) {
    let limit = if slice_count == 1 { MAX_MACRO_TILE } else { MAX_SLICED_MACRO_TILE };
    let tile_size = |size: usize, granularity: usize| {
        let count = size.div_ceil(limit).max(1);
        size.div_ceil(count).next_multiple_of(granularity).min(size).max(1)
    };
    (tile_size(rows.size, kernels.rows), tile_size(columns.size, kernels.columns()))
}

/// Whether kernels read `x` in place: `x` has the representation of panel elements, its rows have one
/// stride, and each row is contiguous.
fn is_x_in_place([rows, summed]: [&Axes; 2], kernels: &Kernels) -> bool {
    let is_single = rows.uniform_stride(ProductArray::X).is_some();
    let step = summed.uniform_stride(ProductArray::X);
    kernels.is_x_native && is_single && step.is_some_and(|step| step == kernels.size as isize)
}

/// Whether short dot products along the batch, whose sizes fit, cost less than a register tile for each batch
/// element. They always do for single results. For several results, which read each factor several times, the
/// work is limited by how vectors read the factors.
fn are_batch_dots_cheap([batch, rows, columns, summed]: [&Axes; 4], kernels: &Kernels) -> bool {
    let size = kernels.size as isize;
    let is_near = |operand: ProductArray| {
        summed.uniform_stride(operand) == Some(size) || batch.fastest_stride(operand) == size
    };
    let are_near = [ProductArray::X, ProductArray::Y].into_iter().all(is_near);
    let max_work = match (can_dot_in_place(batch, summed, kernels), are_near) {
        (false, _) => MAX_PACKED_BATCH_DOTS_WORK,
        (true, false) => MAX_STRIDED_BATCH_DOTS_WORK,
        (true, true) => MAX_BATCH_DOTS_WORK,
    };
    let results = rows.size.saturating_mul(columns.size);
    results == 1 || results.saturating_mul(summed.size) <= max_work
}

/// Whether short dot products along some axes read both operands in place: nothing is converted, and enough
/// neighbouring results have one stride in each array.
fn can_dot_in_place(along: &Axes, summed: &Axes, kernels: &Kernels) -> bool {
    let is_uniform = |operand| summed.uniform_stride(operand).is_some();
    kernels.is_x_native
        && kernels.is_y_native
        && kernels.is_out_native
        && along.fastest_size() >= MIN_SHORT_DOTS
        && is_uniform(ProductArray::X)
        && is_uniform(ProductArray::Y)
}

/// Maximum rows for which packing the columns costs more than it saves.
const MAX_ROWS_IN_PLACE: usize = 64;

/// Whether tiles read both operands in place: rows of `y` are contiguous, one chain sums them, and `x` has
/// so few rows that few tiles read them.
fn can_read_in_place([rows, columns, summed]: [&Axes; 3], kernels: &Kernels) -> bool {
    let is_contiguous = columns.uniform_stride(ProductArray::Y) == Some(kernels.size as isize);
    let is_short = summed.size <= MAX_CHAIN && rows.size <= MAX_ROWS_IN_PLACE;
    let is_y_in_place = kernels.is_y_native
        && is_contiguous
        && summed.uniform_stride(ProductArray::Y).is_some()
        && is_short;
    is_y_in_place && is_x_in_place([rows, summed], kernels)
}
