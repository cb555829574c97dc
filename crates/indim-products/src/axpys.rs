//! Sums of macro tiles by scaled rows (`axpy.rs`), if the rows of `y` are contiguous and `x` has few rows.
//! Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::axpy::{AxpyArguments, MAX_AXPY_COLUMNS};
use crate::blocking::MAX_UNPACKED_ROWS;
use crate::kernels::MAX_TILE_COLUMNS;
use crate::order::{REDUCTION_BLOCK, block_length};
use crate::plan::ProductPlan;
use crate::run::{MacroTile, SumTarget};
use crate::tile::NODES;

/// The columns of one call.
struct AxpyColumns {
    /// The computed columns: at least one whole vector, so the first ones may belong to another task.
    columns: Range<usize>,
    /// The columns whose sums are stored.
    stored: Range<usize>,
}

impl ProductPlan {
    /// Sums some indices of a macro tile by scaled rows of `y`.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - wide sums of the target are valid for writes of a macro tile.
    pub(crate) unsafe fn axpys(
        &self,
        macro_tile: &MacroTile,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let row_bytes = indices.len() * self.kernels.size;
        let mut rows = [macro_tile.x; MAX_UNPACKED_ROWS];
        for (place, row) in macro_tile.rows.clone().enumerate() {
            let copy = scratch.wrapping_add(self.blocking.scratch.x + place * row_bytes);
            // SAFETY: the scratch memory of packed rows has room for a copy of each row (`blocking.rs`).
            rows[place] = unsafe { self.contiguous_row(macro_tile, row, indices.clone(), copy) };
        }
        for column in macro_tile.columns.clone().step_by(MAX_AXPY_COLUMNS) {
            let end = macro_tile.columns.end.min(column + MAX_AXPY_COLUMNS);
            let first = column.min(end.saturating_sub(self.kernels.lanes));
            let computed = AxpyColumns { columns: first..end, stored: column..end };
            // SAFETY: the caller has the obligations of both functions; the rows are contiguous.
            unsafe {
                self.add_blocks(macro_tile, &computed, indices.clone(), &rows, scratch);
                self.store_rows(macro_tile, &computed, target, scratch);
            }
        }
    }

    /// Adds all blocks for each row of `x`, and finishes the sums. The rows of `x` take turns at each
    /// block of `y`.
    ///
    /// # Safety
    /// Like [`ProductPlan::axpys`]; `rows` are contiguous along the summed index.
    unsafe fn add_blocks(
        &self,
        macro_tile: &MacroTile,
        computed: &AxpyColumns,
        indices: Range<usize>,
        rows: &[*const u8; MAX_UNPACKED_ROWS],
        scratch: *mut u8,
    ) {
        let (kernels, layout) = (&self.kernels, &self.blocking.scratch);
        let row_bytes = MAX_AXPY_COLUMNS * kernels.wide_size;
        let y = self.element(macro_tile.y, ProductArray::Y, computed.columns.start, indices.start);
        let y_row_stride = self.summed.fastest_stride(ProductArray::Y);
        for (block, start) in (0..indices.len()).step_by(REDUCTION_BLOCK).enumerate() {
            let length = block_length(start, indices.len());
            let is_last = start + length == indices.len();
            for (place, row) in rows[..macro_tile.rows.len()].iter().enumerate() {
                let sums = scratch.wrapping_add(layout.tile_sums + place * row_bytes);
                let axpy = AxpyArguments {
                    x: row.wrapping_add(start * kernels.size),
                    y: y.wrapping_offset((start as isize).wrapping_mul(y_row_stride)),
                    y_row_stride,
                    columns: computed.columns.len(),
                    length,
                    block,
                    accumulators: scratch.wrapping_add(layout.y),
                    nodes: scratch.wrapping_add(layout.tile_nodes + place * NODES * row_bytes),
                    sums: is_last.then_some(sums),
                };
                // SAFETY: the block lies in both operands; scratch memory has room for accumulators, and for
                // nodes and sums of each row.
                unsafe { (kernels.axpy)(&axpy) }
            }
        }
    }

    /// Stores the finished sums of some columns of all rows.
    ///
    /// # Safety
    /// Like [`ProductPlan::axpys`]; the sums of all rows are finished.
    unsafe fn store_rows(
        &self,
        macro_tile: &MacroTile,
        computed: &AxpyColumns,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let wide_size = self.kernels.wide_size;
        let AxpyColumns { columns, stored } = computed;
        for (place, row) in macro_tile.rows.clone().enumerate() {
            let skipped = place * MAX_AXPY_COLUMNS + stored.start - columns.start;
            let sums = scratch.wrapping_add(self.blocking.scratch.tile_sums + skipped * wide_size);
            // SAFETY: `sums` has the finished sums of the stored columns, which lie in the macro tile.
            unsafe {
                match target {
                    SumTarget::Wide(to) => {
                        let to = self.wide_sums(macro_tile, to, [row, stored.start]);
                        let count = stored.len().next_multiple_of(self.kernels.lanes);
                        to.write_bytes(0, count * wide_size);
                        to.copy_from_nonoverlapping(sums, stored.len() * wide_size);
                    }
                    SumTarget::Result => {
                        for first in stored.clone().step_by(MAX_TILE_COLUMNS) {
                            let end = stored.end.min(first + MAX_TILE_COLUMNS);
                            let sums = sums.wrapping_add((first - stored.start) * wide_size);
                            let place = [row..row + 1, first..end];
                            self.store_tile(self.kernels.store, macro_tile, place, sums, 0);
                        }
                    }
                }
            }
        }
    }
}
