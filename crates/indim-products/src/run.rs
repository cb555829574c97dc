//! Runs one task, which computes a macro tile of the result or a slice of its sum, and stores it. Holds
//! unsafe code.

use core::ops::Range;

use crate::axes::{Axes, ProductArray};
use crate::blocking::ProductMethod;
use crate::kernels::{MAX_TILE_COLUMNS, MAX_TILE_ROWS};
#[cfg(doc)]
use crate::packed::PackedLayout;
use crate::plan::{ProductPlan, ProductPointers};
use crate::store::{AddArguments, StoreArguments, StoreFn};

/// Some rows and columns of the result, at one batch element. Pointers are at the batch element.
#[derive(Clone)]
pub(crate) struct MacroTile {
    pub(crate) x: *const u8,
    pub(crate) y: *const u8,
    pub(crate) out: *mut u8,
    /// All panels of `x`; null if the operand is not packed as a whole.
    pub(crate) packed_x: *const u8,
    /// All panels of `y`; null if the operand is not packed as a whole.
    pub(crate) packed_y: *const u8,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

/// The destination of the sums of a slice.
#[derive(Clone, Copy)]
pub(crate) enum SumTarget {
    /// The result: elements at its strides.
    Result,
    /// Wide sums, row by row.
    Wide(*mut u8),
}

impl ProductPlan {
    /// Runs one task of a phase. Allocates nothing.
    ///
    /// # Panics
    /// With debug assertions, if the phase has no such task; without them, never.
    ///
    /// # Safety
    /// - `pointers.x` and `pointers.y` are valid for reads at the sum of the offsets of every index of their
    ///   axes, `pointers.out` for writes likewise; distinct elements of the result do not overlap, and the
    ///   result overlaps neither operand; nothing needs an alignment;
    /// - each of `pointers.packed` that is not null is valid for reads of [`PackedLayout::bytes`] bytes of
    ///   the plan's layout for this operand, which [`PackedLayout::pack`] has written from the same
    ///   elements;
    /// - `pointers.shared` is valid for [`ProductPlan::shared_bytes`] bytes, aligned to 64, and only this run
    ///   accesses it;
    /// - `scratch` is valid for [`ProductPlan::scratch_bytes`] bytes, aligned to 64, and only this call
    ///   accesses it;
    /// - `phase` is less than [`ProductPlan::phases`] and `task` than its [`ProductPlan::tasks`];
    /// - all tasks of earlier phases have run with the same pointers, and no other thread runs this task.
    pub unsafe fn run(
        &self,
        phase: usize,
        task: usize,
        pointers: &ProductPointers,
        scratch: *mut u8,
    ) {
        debug_assert!(task < self.tasks(phase), "task {task} of phase {phase}");
        // SAFETY: the caller has the obligations of both functions.
        unsafe {
            match phase {
                0 => self.compute(task, pointers, scratch),
                _ => self.combine(task, pointers),
            }
        }
    }

    /// Computes a macro tile, or a slice of its sum.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn compute(&self, task: usize, pointers: &ProductPointers, scratch: *mut u8) {
        let blocking = &self.blocking;
        if blocking.is_split {
            let (macro_tile, slice) = (task / blocking.slice_count, task % blocking.slice_count);
            let bytes = blocking.macro_tile_bytes(&self.kernels);
            let sums = pointers.shared.wrapping_add(task * bytes);
            let start = slice * blocking.slice_length;
            let indices = start..self.summed.size.min(start + blocking.slice_length);
            let (batch, tile) = self.grid_position(macro_tile);
            let macro_tile = self.macro_tile(batch, tile, pointers);
            // SAFETY: each task has its own wide sums in the shared memory.
            return unsafe { self.sum_slice(&macro_tile, indices, SumTarget::Wide(sums), scratch) };
        }
        let (batch, tile) = self.grid_position(task);
        let first = batch * blocking.task_batches;
        let batches = first..self.batch.size.min(first + blocking.task_batches);
        if blocking.method == ProductMethod::Stencils {
            // SAFETY: the caller has the obligations of both functions.
            return unsafe { self.stencil_batches(batches, tile, pointers, scratch) };
        }
        if blocking.method.is_short_dots() {
            // SAFETY: the caller has the obligations of both functions.
            return unsafe { self.short_dots(batches, tile, pointers, scratch) };
        }
        for batch in batches {
            let macro_tile = self.macro_tile(batch, tile, pointers);
            // SAFETY: the caller has the obligations of both functions.
            unsafe {
                match blocking.slice_count {
                    1 => {
                        self.sum_slice(&macro_tile, 0..self.summed.size, SumTarget::Result, scratch)
                    }
                    _ => self.sum_slices(&macro_tile, scratch),
                }
            }
        }
    }

    /// The position of a macro tile in the grid: along the batch, and within one batch position.
    fn grid_position(&self, index: usize) -> (usize, usize) {
        let tiles = self.blocking.grid_rows * self.blocking.grid_columns;
        (index / tiles, index % tiles)
    }

    /// The macro tile of a batch element; `tile` is its index within the batch element.
    pub(crate) fn macro_tile(
        &self,
        batch: usize,
        tile: usize,
        pointers: &ProductPointers,
    ) -> MacroTile {
        let blocking = &self.blocking;
        let [packed_x, packed_y] = pointers.packed;
        let ((x, packed_x), (y, packed_y)) = match self.is_exchanged {
            true => ((pointers.y, packed_y), (pointers.x, packed_x)),
            false => ((pointers.x, packed_x), (pointers.y, packed_y)),
        };
        let packed = |packed: *const u8, operand: ProductArray| match packed.is_null() {
            true => packed,
            false => packed.wrapping_add(self.packed_batch_offset(operand, batch)),
        };
        let row = tile / blocking.grid_columns * blocking.rows;
        let column = tile % blocking.grid_columns * blocking.columns;
        MacroTile {
            x: x.wrapping_offset(self.batch.offset(batch, ProductArray::X)),
            y: y.wrapping_offset(self.batch.offset(batch, ProductArray::Y)),
            out: pointers.out.wrapping_offset(self.batch.offset(batch, ProductArray::Out)),
            packed_x: packed(packed_x, ProductArray::X),
            packed_y: packed(packed_y, ProductArray::Y),
            rows: row..self.rows.size.min(row + blocking.rows),
            columns: column..self.columns.size.min(column + blocking.columns),
        }
    }

    /// Sums a macro tile slice by slice, with a binary counter of tree nodes, as in a register tile.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn sum_slices(&self, macro_tile: &MacroTile, scratch: *mut u8) {
        let blocking = &self.blocking;
        let bytes = blocking.macro_tile_bytes(&self.kernels);
        let nodes = scratch.wrapping_add(blocking.scratch.macro_tile_nodes);
        let node = |index: usize| nodes.wrapping_add(index * bytes);
        let count = macro_tile.rows.len() * self.wide_columns(macro_tile);
        // SAFETY: after `slice` slices the number of remaining nodes is the number of set bits of `slice`;
        // scratch memory has room for them.
        unsafe {
            let merge = |top: usize, times: usize| {
                for below in (top - times..top).rev() {
                    let (to, from) = (node(below), node(below + 1).cast_const());
                    (self.kernels.add)(&AddArguments { to, from, count });
                }
            };
            for slice in 0..blocking.slice_count {
                let start = slice * blocking.slice_length;
                let indices = start..self.summed.size.min(start + blocking.slice_length);
                let top = slice.count_ones() as usize;
                self.sum_slice(macro_tile, indices, SumTarget::Wide(node(top)), scratch);
                merge(top, slice.trailing_ones() as usize);
            }
            let top = blocking.slice_count.count_ones() as usize - 1;
            merge(top, top);
            self.store(macro_tile, node(0));
        }
    }

    /// Adds the slices of a macro tile by pairs, and stores the result.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn combine(&self, task: usize, pointers: &ProductPointers) {
        let blocking = &self.blocking;
        let bytes = blocking.macro_tile_bytes(&self.kernels);
        let (batch, tile) = self.grid_position(task);
        let macro_tile = self.macro_tile(batch, tile, pointers);
        let (slice_count, count) =
            (blocking.slice_count, macro_tile.rows.len() * self.wide_columns(&macro_tile));
        let slice =
            |slice: usize| pointers.shared.wrapping_add((task * slice_count + slice) * bytes);
        let mut distance = 1;
        while distance < slice_count {
            for first in (0..slice_count - distance).step_by(2 * distance) {
                let (to, from) = (slice(first), slice(first + distance).cast_const());
                // SAFETY: the first phase has written both slices, and no other task accesses them.
                unsafe { (self.kernels.add)(&AddArguments { to, from, count }) }
            }
            distance *= 2;
        }
        // SAFETY: the first slice holds the sum.
        unsafe { self.store(&macro_tile, slice(0)) }
    }

    /// Columns of the wide sums of a macro tile: whole vectors.
    pub(crate) fn wide_columns(&self, macro_tile: &MacroTile) -> usize {
        macro_tile.columns.len().next_multiple_of(self.kernels.lanes)
    }

    /// The address of a macro tile's wide sum at a row and a column.
    pub(crate) fn wide_sums(
        &self,
        macro_tile: &MacroTile,
        sums: *mut u8,
        [row, column]: [usize; 2],
    ) -> *mut u8 {
        let (row, column) = (row - macro_tile.rows.start, column - macro_tile.columns.start);
        sums.wrapping_add((row * self.wide_columns(macro_tile) + column) * self.kernels.wide_size)
    }

    /// Rounds and stores the wide sums of a macro tile.
    ///
    /// # Safety
    /// - `sums` is valid for reads of a macro tile;
    /// - the result is valid for writes of the macro tile.
    unsafe fn store(&self, macro_tile: &MacroTile, sums: *mut u8) {
        let width = self.wide_columns(macro_tile);
        for (row, index) in macro_tile.rows.clone().enumerate() {
            let from = sums.wrapping_add(row * width * self.kernels.wide_size);
            let mut column = macro_tile.columns.start;
            while column < macro_tile.columns.end {
                let count = MAX_TILE_COLUMNS.min(macro_tile.columns.end - column);
                let skipped = (column - macro_tile.columns.start) * self.kernels.wide_size;
                // SAFETY: these rows and columns are of the macro tile.
                unsafe {
                    let sums = from.wrapping_add(skipped);
                    let place = [index..index + 1, column..column + count];
                    self.store_tile(self.kernels.store, macro_tile, place, sums, width);
                }
                column += count;
            }
        }
    }

    /// Stores some rows and columns, at most as many as a register tile has.
    ///
    /// # Safety
    /// - `from` is valid for reads of rows of `width` sums, or elements if `store` takes rounded ones;
    /// - the result is valid for writes at these rows and columns.
    pub(crate) unsafe fn store_tile(
        &self,
        store: StoreFn,
        macro_tile: &MacroTile,
        [rows, columns]: [Range<usize>; 2],
        from: *const u8,
        width: usize,
    ) {
        let mut row_offsets = [0; MAX_TILE_ROWS];
        let mut column_offsets = [0; MAX_TILE_COLUMNS];
        self.rows.write_offsets(rows.start, ProductArray::Out, &mut row_offsets[..rows.len()]);
        self.columns.write_offsets(
            columns.start,
            ProductArray::Out,
            &mut column_offsets[..columns.len()],
        );
        let arguments = StoreArguments {
            from,
            width,
            out: macro_tile.out,
            rows: row_offsets.as_ptr(),
            row_count: rows.len(),
            columns: column_offsets.as_ptr(),
            column_count: columns.len(),
        };
        // SAFETY: the caller ensures sums and results at these offsets.
        unsafe { store(&arguments) }
    }

    /// Sums some indices of a macro tile.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - wide sums of the target are valid for writes of a macro tile.
    unsafe fn sum_slice(
        &self,
        macro_tile: &MacroTile,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        // SAFETY: the caller has the obligations of each of these functions.
        unsafe {
            match self.blocking.method {
                ProductMethod::Tiles => self.tiles(macro_tile, indices, target, scratch),
                ProductMethod::Dots => self.dots(macro_tile, indices, target, scratch),
                ProductMethod::Axpys => self.axpys(macro_tile, indices, target, scratch),
                ProductMethod::Stencils | ProductMethod::BatchDots | ProductMethod::ColumnDots => {
                    unreachable!("invariant: the sums of short chains and blocks have no slices")
                }
            }
        }
    }

    /// The address of an element of an operand: at row `free` of `x` or column `free` of `y`, and at a
    /// summed index.
    pub(crate) fn element(
        &self,
        base: *const u8,
        operand: ProductArray,
        free: usize,
        index: usize,
    ) -> *const u8 {
        let axes: &Axes = if operand == ProductArray::X { &self.rows } else { &self.columns };
        let free = axes.offset(free, operand);
        base.wrapping_offset(free).wrapping_offset(self.summed.offset(index, operand))
    }
}
