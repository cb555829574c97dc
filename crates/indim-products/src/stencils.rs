//! Sums of regions by short chains (`stencil.rs`) over columns that are read in place. Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::order::CHAIN;
use crate::plan::ProductPlan;
use crate::run::ProductRegion;
use crate::stencil::{MAX_STENCIL_ROWS, StencilArguments};

impl ProductPlan {
    /// Sums a region by short chains, run by run of columns that have one stride in `y` and are contiguous in
    /// the result.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`]; the method of the plan is that of stencils.
    pub(crate) unsafe fn stencils(&self, region: &ProductRegion, scratch: *mut u8) {
        let indices = 0..self.summed.size;
        let mut offsets = [0; CHAIN];
        self.summed.offsets(0, ProductArray::Y, &mut offsets[..indices.len()]);
        let rows = match self.blocking.is_x_in_place && region.rows.len() == 1 {
            true => self.element(region.x, ProductArray::X, region.rows.start, 0),
            false => {
                let rows = region.rows.clone();
                // SAFETY: the packed rows lie in scratch memory, which has room for them.
                unsafe { self.pack_rows(region, rows, indices.clone(), MAX_STENCIL_ROWS, scratch) }
                scratch.wrapping_add(self.blocking.scratch.x).cast_const()
            }
        };
        let [y_run, out_run] =
            [ProductArray::Y, ProductArray::Out].map(|array| self.columns.even_run(array).max(1));
        let mut column = region.columns.start;
        while column < region.columns.end {
            let end = [y_run, out_run].map(|run| (column / run + 1) * run);
            let columns = column..region.columns.end.min(end[0]).min(end[1]);
            column = columns.end;
            // SAFETY: the columns have one stride; the rows are packed.
            unsafe { self.stencil_run(region, columns, &offsets[..indices.len()], rows) }
        }
    }

    /// Sums columns of one stride for all rows of a region.
    ///
    /// # Safety
    /// Like [`ProductPlan::stencils`]; `packed` has the elements of the rows for each index, and `offsets`
    /// has the offset of `y` for each index.
    unsafe fn stencil_run(
        &self,
        region: &ProductRegion,
        columns: Range<usize>,
        offsets: &[isize],
        packed: *const u8,
    ) {
        let (kernels, start) = (&self.kernels, columns.start);
        let functions = kernels.stencils.expect("invariant: the method of the plan has functions");
        let out = region.out.wrapping_offset(self.columns.offset(start, ProductArray::Out));
        for row in region.rows.clone().step_by(MAX_STENCIL_ROWS) {
            let count = MAX_STENCIL_ROWS.min(region.rows.end - row);
            let skipped = (row - region.rows.start) * offsets.len() * kernels.size;
            let stencil = StencilArguments {
                x: packed.wrapping_add(skipped),
                y: region.y.wrapping_offset(self.columns.offset(start, ProductArray::Y)),
                y_step: self.columns.fastest(ProductArray::Y),
                offsets: offsets.as_ptr(),
                length: offsets.len(),
                columns: columns.len(),
                out: out.wrapping_offset(self.rows.offset(row, ProductArray::Out)),
                out_row: self.rows.fastest(ProductArray::Out),
            };
            // SAFETY: the caller ensures rows, columns and results; the plan has a level of this processor.
            unsafe { functions[count - 1](&stencil) }
        }
    }
}
