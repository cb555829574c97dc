//! The initial sums (`initial_sum.rs`) of the rows of a macro tile, in scratch memory. Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::initial_sum::InitialSumArguments;
use crate::plan::ProductPlan;
use crate::run::MacroTile;

impl ProductPlan {
    /// Computes the initial sums of rows that have been packed, or that tiles read in place.
    ///
    /// # Safety
    /// Like [`ProductPlan::sum_slice`]; the rows are packed, unless tiles read them in place.
    pub(crate) unsafe fn compute_initial_sums(
        &self,
        macro_tile: &MacroTile,
        rows: Range<usize>,
        indices: Range<usize>,
        scratch: *mut u8,
    ) {
        let Some(function) = self.kernels.initial_sums else { return };
        let is_packed = !self.blocking.is_x_in_place;
        for row in rows.clone().step_by(self.kernels.rows) {
            let arguments = InitialSumArguments {
                x: match is_packed {
                    true => self.packed_rows(macro_tile, row, rows.start, &indices, scratch),
                    false => self.element(macro_tile.x, ProductArray::X, row, indices.start),
                },
                x_row_stride: self.rows.fastest_stride(ProductArray::X),
                is_packed,
                rows: self.kernels.rows.min(rows.end - row),
                length: indices.len(),
                to: self.initial_sum_address(macro_tile, row, scratch),
            };
            // SAFETY: the caller ensures the rows; scratch memory has an initial sum for each row of a macro
            // tile.
            unsafe { function(&arguments) }
        }
    }

    /// The address of the initial sum of a row, in scratch memory.
    fn initial_sum_address(&self, macro_tile: &MacroTile, row: usize, scratch: *mut u8) -> *mut u8 {
        let skipped = (row - macro_tile.rows.start) * self.kernels.size;
        scratch.wrapping_add(self.blocking.scratch.initial_sums + skipped)
    }

    /// The address of the initial sums from a row on; null if they are zero.
    pub(crate) fn initial_sums_from(
        &self,
        macro_tile: &MacroTile,
        row: usize,
        scratch: *mut u8,
    ) -> *const u8 {
        match self.kernels.initial_sums {
            Some(_) => self.initial_sum_address(macro_tile, row, scratch),
            None => core::ptr::null(),
        }
    }
}
