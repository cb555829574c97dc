//! Runs one unit, which computes a region of the result or a piece of its sum, and stores it. Holds unsafe
//! code.

use core::ops::Range;

use crate::axes::{Axes, ProductArray};
use crate::blocking::Method;
use crate::kernels::{MAX_COLUMNS, MAX_TILE_ROWS};
use crate::plan::{ProductPlan, ProductPointers};
use crate::store::{AddArguments, StoreArguments, StoreFn};

/// A region of the result for one batch element. Pointers are at the batch element.
#[derive(Clone)]
pub(crate) struct ProductRegion {
    pub(crate) x: *const u8,
    pub(crate) y: *const u8,
    pub(crate) out: *mut u8,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

/// The destination of the sums of a piece.
#[derive(Clone, Copy)]
pub(crate) enum SumTarget {
    /// The result: elements at its strides.
    Result,
    /// Wide sums, row by row.
    Wide(*mut u8),
}

impl ProductPlan {
    /// Runs one unit of a phase. Allocates nothing.
    ///
    /// # Panics
    /// With debug assertions, if the phase has no such unit; without them, never.
    ///
    /// # Safety
    /// - `pointers.x` and `pointers.y` are valid for reads at the sum of the offsets of every index of their
    ///   axes, `pointers.out` for writes likewise; distinct elements of the result do not overlap, and the
    ///   result overlaps neither operand; nothing needs an alignment;
    /// - `pointers.shared` is valid for [`ProductPlan::shared_bytes`] bytes, aligned to 64, and only this run
    ///   accesses it;
    /// - `scratch` is valid for [`ProductPlan::scratch_bytes`] bytes, aligned to 64, and only this call
    ///   accesses it;
    /// - `phase` is less than [`ProductPlan::phases`] and `unit` than its [`ProductPlan::units`];
    /// - all units of earlier phases have run with the same pointers, and no other thread runs this unit.
    pub unsafe fn run(
        &self,
        phase: usize,
        unit: usize,
        pointers: &ProductPointers,
        scratch: *mut u8,
    ) {
        debug_assert!(unit < self.units(phase), "unit {unit} of phase {phase}");
        // SAFETY: the caller has the obligations of both functions.
        unsafe {
            match phase {
                0 => self.compute(unit, pointers, scratch),
                _ => self.combine(unit, pointers),
            }
        }
    }

    /// Computes a region, or a piece of its sum.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn compute(&self, unit: usize, pointers: &ProductPointers, scratch: *mut u8) {
        let blocking = &self.blocking;
        if blocking.is_split {
            let (region, piece) = (unit / blocking.pieces, unit % blocking.pieces);
            let bytes = blocking.region_bytes(&self.kernels);
            let sums = pointers.shared.wrapping_add(unit * bytes);
            let start = piece * blocking.piece;
            let indices = start..self.summed.size.min(start + blocking.piece);
            let (batch, part) = self.part(region);
            let region = self.region(batch, part, pointers);
            // SAFETY: each unit has its region of the shared memory.
            return unsafe { self.piece(&region, indices, SumTarget::Wide(sums), scratch) };
        }
        let (batch, part) = self.part(unit);
        let first = batch * blocking.batch;
        for batch in first..self.batch.size.min(first + blocking.batch) {
            let region = self.region(batch, part, pointers);
            // SAFETY: the caller has the obligations of both functions.
            unsafe {
                match blocking.pieces {
                    1 => self.piece(&region, 0..self.summed.size, SumTarget::Result, scratch),
                    _ => self.pieces(&region, scratch),
                }
            }
        }
    }

    /// The batch part of a region, and the number of its rows and columns within that part.
    fn part(&self, region: usize) -> (usize, usize) {
        let parts = self.blocking.row_parts * self.blocking.column_parts;
        (region / parts, region % parts)
    }

    /// The region of a batch element; `part` numbers its rows and columns within the batch element.
    fn region(&self, batch: usize, part: usize, pointers: &ProductPointers) -> ProductRegion {
        let blocking = &self.blocking;
        let (x, y) = match self.is_exchanged {
            true => (pointers.y, pointers.x),
            false => (pointers.x, pointers.y),
        };
        let row = part / blocking.column_parts * blocking.rows;
        let column = part % blocking.column_parts * blocking.columns;
        ProductRegion {
            x: x.wrapping_offset(self.batch.offset(batch, ProductArray::X)),
            y: y.wrapping_offset(self.batch.offset(batch, ProductArray::Y)),
            out: pointers.out.wrapping_offset(self.batch.offset(batch, ProductArray::Out)),
            rows: row..self.rows.size.min(row + blocking.rows),
            columns: column..self.columns.size.min(column + blocking.columns),
        }
    }

    /// Sums a region piece by piece, with a binary counter of tree nodes, as in a register tile.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn pieces(&self, region: &ProductRegion, scratch: *mut u8) {
        let blocking = &self.blocking;
        let bytes = blocking.region_bytes(&self.kernels);
        let nodes = scratch.wrapping_add(blocking.scratch.region);
        let node = |index: usize| nodes.wrapping_add(index * bytes);
        let count = region.rows.len() * self.wide_columns(region);
        // SAFETY: after `piece` pieces the number of remaining nodes is the number of set bits of `piece`;
        // scratch memory has room for them.
        unsafe {
            let merge = |top: usize, times: usize| {
                for below in (top - times..top).rev() {
                    let (to, from) = (node(below), node(below + 1).cast_const());
                    (self.kernels.add)(&AddArguments { to, from, count });
                }
            };
            for piece in 0..blocking.pieces {
                let start = piece * blocking.piece;
                let indices = start..self.summed.size.min(start + blocking.piece);
                let top = piece.count_ones() as usize;
                self.piece(region, indices, SumTarget::Wide(node(top)), scratch);
                merge(top, piece.trailing_ones() as usize);
            }
            let top = blocking.pieces.count_ones() as usize - 1;
            merge(top, top);
            self.store(region, node(0));
        }
    }

    /// Adds the pieces of a region by pairs, and stores the result.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`].
    unsafe fn combine(&self, unit: usize, pointers: &ProductPointers) {
        let blocking = &self.blocking;
        let bytes = blocking.region_bytes(&self.kernels);
        let (batch, part) = self.part(unit);
        let region = self.region(batch, part, pointers);
        let (pieces, count) = (blocking.pieces, region.rows.len() * self.wide_columns(&region));
        let piece = |piece: usize| pointers.shared.wrapping_add((unit * pieces + piece) * bytes);
        let mut distance = 1;
        while distance < pieces {
            for first in (0..pieces - distance).step_by(2 * distance) {
                let (to, from) = (piece(first), piece(first + distance).cast_const());
                // SAFETY: the first phase has written both pieces, and no other unit accesses them.
                unsafe { (self.kernels.add)(&AddArguments { to, from, count }) }
            }
            distance *= 2;
        }
        // SAFETY: the first piece holds the sum.
        unsafe { self.store(&region, piece(0)) }
    }

    /// Columns of the wide sums of a region: whole vectors.
    pub(crate) fn wide_columns(&self, region: &ProductRegion) -> usize {
        region.columns.len().next_multiple_of(self.kernels.lanes)
    }

    /// The address of a region's wide sum at a row and a column.
    pub(crate) fn wide_sums(
        &self,
        region: &ProductRegion,
        sums: *mut u8,
        [row, column]: [usize; 2],
    ) -> *mut u8 {
        let (row, column) = (row - region.rows.start, column - region.columns.start);
        sums.wrapping_add((row * self.wide_columns(region) + column) * self.kernels.wide_size)
    }

    /// Rounds and stores the wide sums of a region.
    ///
    /// # Safety
    /// - `sums` is valid for reads of a region;
    /// - the result is valid for writes of the region.
    unsafe fn store(&self, region: &ProductRegion, sums: *mut u8) {
        let width = self.wide_columns(region);
        for (row, index) in region.rows.clone().enumerate() {
            let from = sums.wrapping_add(row * width * self.kernels.wide_size);
            let mut column = region.columns.start;
            while column < region.columns.end {
                let count = MAX_COLUMNS.min(region.columns.end - column);
                let skipped = (column - region.columns.start) * self.kernels.wide_size;
                // SAFETY: these rows and columns are of the region.
                unsafe {
                    let sums = from.wrapping_add(skipped);
                    let place = [index..index + 1, column..column + count];
                    self.store_tile(self.kernels.store, region, place, sums, width);
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
        region: &ProductRegion,
        [rows, columns]: [Range<usize>; 2],
        from: *const u8,
        width: usize,
    ) {
        let mut row_offsets = [0; MAX_TILE_ROWS];
        let mut column_offsets = [0; MAX_COLUMNS];
        self.rows.offsets(rows.start, ProductArray::Out, &mut row_offsets[..rows.len()]);
        self.columns.offsets(
            columns.start,
            ProductArray::Out,
            &mut column_offsets[..columns.len()],
        );
        let arguments = StoreArguments {
            from,
            width,
            out: region.out,
            rows: row_offsets.as_ptr(),
            row_count: rows.len(),
            columns: column_offsets.as_ptr(),
            column_count: columns.len(),
        };
        // SAFETY: the caller ensures sums and results at these offsets.
        unsafe { store(&arguments) }
    }

    /// Sums some indices of a region.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - wide sums of the target are valid for writes of a region.
    unsafe fn piece(
        &self,
        region: &ProductRegion,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        // SAFETY: the caller has the obligations of each of these functions.
        unsafe {
            match self.blocking.method {
                Method::Tiles => self.tiles(region, indices, target, scratch),
                Method::Dots => self.dots(region, indices, target, scratch),
                Method::Axpys => self.axpys(region, indices, target, scratch),
                // A single chain has a single piece, so the target is the result.
                Method::Stencils => self.stencils(region, scratch),
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
