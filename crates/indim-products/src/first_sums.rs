//! The first sums (`starts.rs`) of the rows of a region, in scratch memory. Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::plan::ProductPlan;
use crate::run::ProductRegion;
use crate::starts::StartsArguments;

impl ProductPlan {
    /// Computes the first sums of rows that have been packed, or that tiles read in place.
    ///
    /// # Safety
    /// Like [`ProductPlan::piece`]; the rows are packed, unless tiles read them in place.
    pub(crate) unsafe fn starts(
        &self,
        region: &ProductRegion,
        rows: Range<usize>,
        indices: Range<usize>,
        scratch: *mut u8,
    ) {
        let Some(function) = self.kernels.starts else { return };
        let (is_packed, size) = (!self.blocking.is_x_in_place, self.kernels.size);
        let packed = scratch.wrapping_add(self.blocking.scratch.x).cast_const();
        for row in rows.clone().step_by(self.kernels.rows) {
            let skipped = (row - rows.start) * indices.len() * size;
            let starts = StartsArguments {
                x: match is_packed {
                    true => packed.wrapping_add(skipped),
                    false => self.element(region.x, ProductArray::X, row, indices.start),
                },
                x_row: self.rows.fastest(ProductArray::X),
                is_packed,
                rows: self.kernels.rows.min(rows.end - row),
                length: indices.len(),
                to: self.start(region, row, scratch),
            };
            // SAFETY: the caller ensures the rows; scratch memory has a first sum for each row of a region.
            unsafe { function(&starts) }
        }
    }

    /// The address of the first sum of a row, in scratch memory.
    fn start(&self, region: &ProductRegion, row: usize, scratch: *mut u8) -> *mut u8 {
        let skipped = (row - region.rows.start) * self.kernels.size;
        scratch.wrapping_add(self.blocking.scratch.starts + skipped)
    }

    /// The address of the first sums from a row on; null if they are zero.
    pub(crate) fn starts_of(
        &self,
        region: &ProductRegion,
        row: usize,
        scratch: *mut u8,
    ) -> *const u8 {
        match self.kernels.starts {
            Some(_) => self.start(region, row, scratch),
            None => core::ptr::null(),
        }
    }
}
