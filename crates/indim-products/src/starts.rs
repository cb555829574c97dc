//! First sums of rows: products of bytes begin with a correction for each row of `x`. Holds unsafe code.
//!
//! An instruction multiplies signed bytes by unsigned ones. If both operands are signed, `y + 128` is packed:
//! `x * y = x * (y + 128) - 128 * x`. If neither is, `y - 128` is packed:
//! `x * y = x * (y - 128) + 128 * x`. So the sum of a row begins with the sum of its elements times -128 or
//! 128. Sums wrap, so this is exact.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::plan::ProductPlan;
use crate::run::ProductRegion;

/// The arguments of first sums: rows of `x`, packed or in place. Strides are in bytes.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
pub(crate) struct StartsArguments {
    /// The group of the first row and index.
    pub(crate) x: *const u8,
    /// Stride between rows. The groups of a row are contiguous, unless rows are packed.
    pub(crate) x_row: isize,
    /// Whether the rows are a packed panel: the rows of an index are contiguous.
    pub(crate) is_packed: bool,
    /// Number of rows; at most a vector, if they are packed.
    pub(crate) rows: usize,
    /// Number of groups of each row.
    pub(crate) length: usize,
    /// The first sums.
    pub(crate) to: *mut u8,
}

/// First sums compiled for a level.
///
/// # Safety
/// - `x` is valid for reads of `length` groups of each row;
/// - `to` is valid for writes of `rows` sums;
/// - the processor has the level.
pub(crate) type StartsFn = unsafe fn(&StartsArguments);

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

    /// The first sum of a row, in scratch memory.
    fn start(&self, region: &ProductRegion, row: usize, scratch: *mut u8) -> *mut u8 {
        let skipped = (row - region.rows.start) * self.kernels.size;
        scratch.wrapping_add(self.blocking.scratch.starts + skipped)
    }

    /// The first sums from a row on; null if they are zero.
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
