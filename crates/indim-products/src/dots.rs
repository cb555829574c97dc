//! Sums of macro tiles by dot products (`dot.rs`), if `y` is contiguous along the summed index and `x` has
//! few rows. Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::dot::{DOT_WIDTH, DotArguments};
use crate::pack::{PackArguments, RowRun, split_row};
use crate::plan::ProductPlan;
use crate::run::{MacroTile, SumTarget};

/// Elements of a row that are copied by one call.
const COPY_LENGTH: usize = 64;

impl ProductPlan {
    /// Sums some indices of a macro tile by dot products, row by row.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - wide sums of the target are valid for writes of a macro tile.
    pub(crate) unsafe fn dots(
        &self,
        macro_tile: &MacroTile,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let copy = scratch.wrapping_add(self.blocking.scratch.x);
        for row in macro_tile.rows.clone() {
            // SAFETY: the packed rows have room for a row.
            let x = unsafe { self.contiguous_row(macro_tile, row, indices.clone(), copy) };
            for column in macro_tile.columns.clone().step_by(DOT_WIDTH) {
                let columns = column..macro_tile.columns.end.min(column + DOT_WIDTH);
                let mut y = [macro_tile.y; DOT_WIDTH];
                for (to, column) in y.iter_mut().zip(columns.clone()) {
                    *to = self.element(macro_tile.y, ProductArray::Y, column, indices.start);
                }
                let sums = match target {
                    SumTarget::Result => scratch.wrapping_add(self.blocking.scratch.tile_sums),
                    SumTarget::Wide(sums) => self.wide_sums(macro_tile, sums, [row, column]),
                };
                // Each row of a macro tile's wide sums has whole vectors, so the last call of a row writes
                // more sums than it has columns.
                let whole = match columns.end == macro_tile.columns.end {
                    true => self.wide_columns(macro_tile) - (column - macro_tile.columns.start),
                    false => columns.len(),
                };
                let sum_count = whole.min(DOT_WIDTH);
                if let SumTarget::Wide(_) = target {
                    let size = self.kernels.wide_size;
                    let rest = sums.wrapping_add(sum_count * size);
                    // SAFETY: the row of the macro tile's sums has whole vectors.
                    unsafe { rest.write_bytes(0, (whole - sum_count) * size) }
                }
                let dot = DotArguments {
                    x,
                    y,
                    columns: columns.len(),
                    sum_count,
                    length: indices.len(),
                    sums,
                    nodes: scratch.wrapping_add(self.blocking.scratch.tile_nodes),
                };
                // SAFETY: row and columns are contiguous at these indices; scratch memory has room for
                // `DOT_WIDTH` sums and for `NODES * DOT_WIDTH` nodes.
                unsafe {
                    (self.kernels.dot)(&dot);
                    if let SumTarget::Result = target {
                        self.store_tile(
                            self.kernels.store,
                            macro_tile,
                            [row..row + 1, columns],
                            sums,
                            DOT_WIDTH,
                        );
                    }
                }
            }
        }
    }

    /// A row of `x` with contiguous elements of the panels' type: in place, or a copy.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - `copy` is valid for writes of one panel element for each of the indices.
    pub(crate) unsafe fn contiguous_row(
        &self,
        macro_tile: &MacroTile,
        row: usize,
        indices: Range<usize>,
        copy: *mut u8,
    ) -> *const u8 {
        if self.blocking.is_x_in_place {
            return self.element(macro_tile.x, ProductArray::X, row, indices.start);
        }
        for first in indices.clone().step_by(COPY_LENGTH) {
            let count = COPY_LENGTH.min(indices.end - first);
            let mut offsets = [0; COPY_LENGTH];
            self.summed.write_offsets(first, ProductArray::X, &mut offsets[..count]);
            let mut row_runs = [RowRun::default(); COPY_LENGTH];
            let row_run_count = split_row(&offsets[..count], self.kernels.lanes, &mut row_runs);
            // Packs a panel of one row, whose elements are `x` at the indices `first..first + count`.
            let pack = PackArguments {
                to: copy.wrapping_add((first - indices.start) * self.kernels.size),
                width: count,
                from: macro_tile.x.wrapping_offset(self.rows.offset(row, ProductArray::X)),
                row_runs: row_runs.as_ptr(),
                row_run_count,
                used_width: count,
                index_stride: 0,
                factor_stride: 0,
                tail: 0,
                index_run_start: 0,
                index_run_length: 1,
                slice_length: 1,
            };
            // SAFETY: the caller ensures the copy; the offsets are those of the row.
            unsafe { (self.kernels.pack_x)(&pack) }
        }
        copy
    }
}
