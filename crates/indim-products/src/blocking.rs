//! Blocking: the sizes of regions, pieces and packed blocks, and the layout of scratch memory.

use crate::axes::{Axes, ProductArray};
use crate::kernels::Kernels;
use crate::order::{BLOCK, CHAIN, LANES};
use crate::stencil::MAX_STENCIL_ROWS;
use crate::tile::NODES;
use crate::{axpy, dot};

/// Bytes of L2 that blocking assumes: the smallest L2 of current servers and laptops.
const L2_BYTES: usize = 512 << 10;

/// Maximum bytes of columns that are packed together: they stay in the share of L3 of one core.
const PACKED_COLUMNS_BYTES: usize = 2 << 20;

/// Maximum rows and columns of a region: at this size packing is already only a few per cent of the work.
const MAX_REGION: usize = 1024;

/// Maximum rows and columns of a region that is summed piece by piece, so that its wide sums stay in L3.
const MAX_SUMMED_REGION: usize = 384;

/// Minimum multiply-adds of a unit, because starting a unit costs about a microsecond.
const MIN_UNIT: usize = 1 << 18;

/// Maximum rows of `x` for dot products and scaled rows, which do not pack `y`.
pub(crate) const MAX_UNPACKED_ROWS: usize = 4;

/// Maximum indices of a piece, so that its blocks fit the nodes of a tile.
const MAX_PIECE: usize = BLOCK << (NODES - 2);

// Dot products and scaled rows copy their rows into the memory of packed rows. It has room for them, because
// an element has at most 8 bytes.
const _: () = assert!(L2_BYTES / 2 / (MAX_PIECE * 8) >= MAX_UNPACKED_ROWS);

/// Maximum stride of `y` between the columns of stencils, in elements: two loads and a permutation read
/// every second element.
const MAX_STENCIL_STEP: usize = 2;

/// Minimum contiguous columns of stencils, because each run of columns costs a call.
const MIN_STENCIL_RUN: usize = 4;

/// Units for each thread, so that threads which start late or run slowly do less.
const UNITS_PER_THREAD: usize = 2;

/// The algorithm that sums a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Register tiles of packed operands.
    Tiles,
    /// Dot products: `y` is contiguous along the summed index.
    Dots,
    /// Scaled rows: `y` is contiguous along the columns.
    Axpys,
    /// Short chains of few rows: runs of columns are contiguous in the result, and near each other in `y`.
    Stencils,
}

impl Method {
    /// The method for these axes: batch, rows, columns, summed. For few rows, packing `y` would cost more
    /// than reading it once for each row.
    fn of([batch, rows, columns, summed]: [&Axes; 4], kernels: &Kernels) -> Method {
        let size = Some(kernels.size as isize);
        let (along, across) = (summed.single(ProductArray::Y), columns.single(ProductArray::Y));
        let fits = |method: Method| {
            kernels.is_y_native && method.fits([batch, rows, columns, summed], kernels)
        };
        let has_runs = |array, max_step: usize| {
            let step = usize::try_from(columns.fastest(array)).unwrap_or(0);
            let is_near = (kernels.size..=max_step * kernels.size).contains(&step);
            is_near && columns.run() >= MIN_STENCIL_RUN
        };
        let in_runs = kernels.stencils.is_some()
            && kernels.is_out_native
            && has_runs(ProductArray::Y, MAX_STENCIL_STEP)
            && has_runs(ProductArray::Out, 1)
            && rows.single(ProductArray::Out).is_some()
            && !are_in_place([rows, columns, summed], kernels);
        if along == size && fits(Method::Dots) {
            Method::Dots
        } else if in_runs && fits(Method::Stencils) {
            Method::Stencils
        } else if across == size && along.is_some() && fits(Method::Axpys) {
            Method::Axpys
        } else {
            Method::Tiles
        }
    }

    /// Whether the sizes suit the method. Dot products and scaled rows need few rows, and sums longer than
    /// one chain; stencils need few rows, and sums of at most one chain.
    fn fits(self, [_, rows, columns, summed]: [&Axes; 4], kernels: &Kernels) -> bool {
        let is_unpacked = rows.size <= MAX_UNPACKED_ROWS && summed.size > CHAIN;
        match self {
            Method::Tiles => true,
            Method::Dots => is_unpacked,
            Method::Axpys => is_unpacked && columns.size >= kernels.lanes,
            Method::Stencils => {
                rows.size <= 2 * MAX_STENCIL_ROWS && (1..=CHAIN).contains(&summed.size)
            }
        }
    }
}

/// Sizes of blocks. A unit is a region of the result, for one or more batch elements, or a piece of its
/// sum. The fields with `parts` in their name are the numbers of parts into which an index is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocking {
    /// Batch elements of a unit.
    pub(crate) batch: usize,
    pub(crate) batch_parts: usize,
    /// Rows of a region.
    pub(crate) rows: usize,
    pub(crate) row_parts: usize,
    /// Columns of a region.
    pub(crate) columns: usize,
    pub(crate) column_parts: usize,
    /// Indices of a piece: `BLOCK` times a power of two, unless there is only one piece.
    pub(crate) piece: usize,
    pub(crate) pieces: usize,
    /// Whether each piece is a unit, and a second phase adds them.
    pub(crate) is_split: bool,
    /// Rows that are packed together.
    pub(crate) packed_rows: usize,
    /// Columns that are packed together.
    pub(crate) packed_columns: usize,
    /// Whether kernels may read `x` in place, because its rows are contiguous.
    pub(crate) is_x_in_place: bool,
    /// Whether register tiles read `y` in place, except panels with an incomplete vector.
    pub(crate) is_y_in_place: bool,
    pub(crate) method: Method,
    /// Columns of a region of wide sums, with padding.
    pub(crate) wide_columns: usize,
    pub(crate) scratch: ScratchOffsets,
    /// Bytes of the memory that all threads of a run share.
    pub(crate) shared_bytes: usize,
}

/// Offsets of buffers in scratch memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScratchOffsets {
    /// Nodes of a register tile.
    pub(crate) nodes: usize,
    /// Wide sums of a register tile.
    pub(crate) tile: usize,
    /// Packed rows.
    pub(crate) x: usize,
    /// Packed columns.
    pub(crate) y: usize,
    /// First sums of the rows of a region.
    pub(crate) starts: usize,
    /// Nodes of a region that is summed piece by piece.
    pub(crate) region: usize,
    /// Bytes of all buffers.
    pub(crate) bytes: usize,
}

impl Blocking {
    /// The blocking of a product with these axes: batch, rows, columns, summed.
    pub(crate) fn new(axes: [&Axes; 4], kernels: &Kernels, threads: usize) -> Blocking {
        Blocking::for_method(Method::of(axes, kernels), axes, kernels, threads)
    }

    /// The maximum scratch memory and shared memory, in bytes, of products with axes of these sizes and any
    /// strides: both operands are packed.
    pub(crate) fn max_memory(axes: [&Axes; 4], kernels: &Kernels, threads: usize) -> [usize; 2] {
        let methods = [Method::Tiles, Method::Dots, Method::Axpys, Method::Stencils];
        let fitting = methods.into_iter().filter(|method| method.fits(axes, kernels));
        fitting.fold([0; 2], |[scratch, shared], method| {
            let mut blocking = Blocking::for_method(method, axes, kernels, threads);
            (blocking.is_x_in_place, blocking.is_y_in_place) = (false, false);
            blocking.lay_out(kernels);
            [scratch.max(blocking.scratch.bytes), shared.max(blocking.shared_bytes)]
        })
    }

    /// The blocking for a method.
    fn for_method(
        method: Method,
        [batch, rows, columns, summed]: [&Axes; 4],
        kernels: &Kernels,
        threads: usize,
    ) -> Blocking {
        let piece = match method {
            Method::Tiles => piece(summed.size, kernels),
            _ => MAX_PIECE.min(summed.size.max(1)),
        };
        let pieces = summed.size.div_ceil(piece).max(1);
        let (region_rows, region_columns) = region([rows, columns], kernels, pieces);
        let mut blocking = Blocking {
            batch: 1,
            batch_parts: batch.size,
            rows: region_rows,
            row_parts: rows.size.div_ceil(region_rows),
            columns: region_columns,
            column_parts: columns.size.div_ceil(region_columns),
            piece,
            pieces,
            is_split: false,
            packed_rows: 0,
            packed_columns: 0,
            is_x_in_place: is_x_in_place([rows, summed], kernels),
            is_y_in_place: are_in_place([rows, columns, summed], kernels),
            method,
            wide_columns: 0,
            scratch: ScratchOffsets::default(),
            shared_bytes: 0,
        };
        blocking.divide(threads, [rows.size, columns.size, summed.size], kernels);
        let products = rows.size.saturating_mul(columns.size).saturating_mul(summed.size);
        blocking.join_batch(batch.size, threads, products);
        blocking.lay_out(kernels);
        blocking
    }

    /// The number of units of the first phase.
    pub(crate) fn units(&self) -> usize {
        self.regions() * if self.is_split { self.pieces } else { 1 }
    }

    /// The number of regions, by batch parts.
    pub(crate) fn regions(&self) -> usize {
        self.batch_parts * self.row_parts * self.column_parts
    }

    /// Divides regions, then the sum, until there are enough units for the threads.
    fn divide(&mut self, threads: usize, sizes: [usize; 3], kernels: &Kernels) {
        let [rows, columns, length] = sizes;
        let target = if threads == 1 { 1 } else { threads * UNITS_PER_THREAD };
        let work = |blocking: &Blocking| (blocking.rows * blocking.columns).saturating_mul(length);
        while self.regions() < target && work(self) >= 2 * MIN_UNIT {
            let can_divide_rows = self.rows >= 8 * kernels.rows;
            let can_divide_columns = self.columns >= 4 * kernels.columns();
            if can_divide_rows && (self.rows >= self.columns || !can_divide_columns) {
                self.rows = (self.rows / 2).next_multiple_of(kernels.rows);
                self.row_parts = rows.div_ceil(self.rows);
            } else if can_divide_columns {
                self.columns = (self.columns / 2).next_multiple_of(kernels.columns());
                self.column_parts = columns.div_ceil(self.columns);
            } else {
                break;
            }
        }
        if self.regions() < target && work(self) >= 2 * MIN_UNIT && length > BLOCK {
            self.split(target, length);
        }
    }

    /// Splits the sum into pieces that are units.
    fn split(&mut self, target: usize, length: usize) {
        let work = self.rows * self.columns;
        while self.piece > BLOCK
            && self.regions() * length.div_ceil(self.piece) < target
            && work * self.piece >= 2 * MIN_UNIT
        {
            self.piece = (self.piece / 2).next_multiple_of(BLOCK).next_power_of_two();
        }
        self.pieces = length.div_ceil(self.piece);
        self.is_split = self.pieces > 1;
    }

    /// Joins batch elements to units of enough work.
    fn join_batch(&mut self, batch: usize, threads: usize, work: usize) {
        if self.row_parts * self.column_parts != 1 || self.is_split || batch == 0 {
            return;
        }
        // A run on one thread has units too, because it can be stopped only between them.
        let (min_units, unit) =
            if threads == 1 { (1, 64 * MIN_UNIT) } else { (4 * threads, MIN_UNIT) };
        let by_work = unit.div_ceil(work.max(1)).max(1);
        self.batch = by_work.min(batch.div_ceil(min_units)).max(1);
        self.batch_parts = batch.div_ceil(self.batch);
    }

    /// Sizes of packed blocks, and the layout of memory.
    fn lay_out(&mut self, kernels: &Kernels) {
        let row_bytes = self.piece.max(1) * kernels.size;
        let (tile_rows, tile_columns) = (kernels.rows, kernels.columns());
        let multiple = |bytes: usize, unit: usize| (bytes / row_bytes / unit).max(1) * unit;
        self.packed_rows =
            multiple(L2_BYTES / 2, tile_rows).min(self.rows.next_multiple_of(tile_rows));
        // If the rows of a region stay in L2, its columns are packed panel by panel, so that a panel is still
        // in L1 or L2 when its tiles read it.
        let columns = if self.packed_rows >= self.rows { 0 } else { PACKED_COLUMNS_BYTES };
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
            Method::Tiles => tile_rows * tile_columns,
            Method::Dots => dot::WIDTH,
            Method::Stencils => 0,
            Method::Axpys => self.rows * axpy::MAX_COLUMNS,
        };
        let tile_bytes = tile * kernels.wide_size;
        let y_bytes = match self.method {
            Method::Tiles => self.packed_columns * row_bytes,
            Method::Dots | Method::Stencils => 0,
            Method::Axpys => (LANES + 1) * axpy::MAX_COLUMNS * kernels.size,
        };
        let region_bytes = self.region_bytes(kernels);
        let nodes = match (self.pieces, self.is_split) {
            (1, _) | (_, true) => 0,
            (pieces, false) => pieces.ilog2() as usize + 2,
        };
        let x_bytes = match self.method {
            Method::Stencils => self.rows * row_bytes,
            _ if self.is_x_in_place => 0,
            _ => self.packed_rows * row_bytes,
        };
        self.scratch = ScratchOffsets {
            nodes: reserve(NODES * tile_bytes),
            tile: reserve(tile_bytes),
            x: reserve(x_bytes),
            y: reserve(y_bytes),
            starts: reserve(if kernels.starts.is_some() { self.rows * kernels.size } else { 0 }),
            region: reserve(nodes * region_bytes),
            bytes: 0,
        };
        self.scratch.bytes = bytes;
        if self.is_split {
            self.shared_bytes = self.units() * region_bytes;
        }
    }

    /// Bytes of the wide sums of a region.
    pub(crate) fn region_bytes(&self, kernels: &Kernels) -> usize {
        (self.rows * self.wide_columns * kernels.wide_size).next_multiple_of(64)
    }
}

/// Maximum bytes of a panel of columns if vectors have 512 bits: processors with AVX-512 have an L2 of 1
/// MiB or more, with rare exceptions.
const WIDE_PANEL_BYTES: usize = 384 << 10;

/// Number of indices of a piece: a panel of columns fits a quarter of L2 (or [`WIDE_PANEL_BYTES`]), and
/// its blocks fit the nodes of a tile.
fn piece(length: usize, kernels: &Kernels) -> usize {
    let panel = kernels.columns() * kernels.size;
    let is_wide = kernels.lanes * kernels.size > 32;
    let max_bytes = if is_wide { WIDE_PANEL_BYTES } else { L2_BYTES / 4 };
    let mut piece = BLOCK;
    while 2 * piece * panel <= max_bytes && piece < MAX_PIECE {
        piece *= 2;
    }
    if length <= piece { length.max(1) } else { piece }
}

/// Number of rows and columns of a region. They are chosen so that all regions have about the same size.
fn region([rows, columns]: [&Axes; 2], kernels: &Kernels, pieces: usize) -> (usize, usize) {
    let limit = if pieces == 1 { MAX_REGION } else { MAX_SUMMED_REGION };
    let part = |size: usize, unit: usize| {
        let parts = size.div_ceil(limit).max(1);
        size.div_ceil(parts).next_multiple_of(unit).min(size).max(1)
    };
    (part(rows.size, kernels.rows), part(columns.size, kernels.columns()))
}

/// Whether tiles read `x` in place: each of its rows is contiguous.
fn is_x_in_place([rows, summed]: [&Axes; 2], kernels: &Kernels) -> bool {
    let is_single = rows.single(ProductArray::X).is_some();
    let step = summed.single(ProductArray::X);
    kernels.is_x_native && is_single && step.is_some_and(|step| step == kernels.size as isize)
}

/// Maximum rows for which packing the columns costs more than it saves.
const MAX_ROWS_IN_PLACE: usize = 64;

/// Whether tiles read both operands in place: rows of `y` are contiguous, one chain sums them, and `x` has
/// so few rows that few tiles read them.
fn are_in_place([rows, columns, summed]: [&Axes; 3], kernels: &Kernels) -> bool {
    let is_contiguous = columns.single(ProductArray::Y) == Some(kernels.size as isize);
    let is_short = summed.size <= CHAIN && rows.size <= MAX_ROWS_IN_PLACE;
    let is_y_in_place = kernels.is_y_native
        && is_contiguous
        && summed.single(ProductArray::Y).is_some()
        && is_short;
    is_y_in_place && is_x_in_place([rows, summed], kernels)
}
