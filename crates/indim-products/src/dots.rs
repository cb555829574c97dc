//! Sums of regions by dot products (`dot.rs`), if `y` is contiguous along the summed index and `x` has few
//! rows. Holds unsafe code.

use core::ops::Range;

use crate::axes::ProductArray;
use crate::dot::{DotArguments, WIDTH};
use crate::pack::{PackArguments, PackRun, pack_runs};
use crate::plan::ProductPlan;
use crate::run::{ProductRegion, SumTarget};

/// Elements of a row that are copied by one call.
const COPIED: usize = 64;

impl ProductPlan {
    /// Sums some indices of a region by dot products, row by row.
    ///
    /// # Safety
    /// - Like [`ProductPlan::run`];
    /// - wide sums of the target are valid for writes of a region.
    pub(crate) unsafe fn dots(
        &self,
        region: &ProductRegion,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let copy = scratch.wrapping_add(self.blocking.scratch.x);
        for row in region.rows.clone() {
            // SAFETY: the packed rows have room for a row.
            let x = unsafe { self.contiguous_row(region, row, indices.clone(), copy) };
            for column in region.columns.clone().step_by(WIDTH) {
                let columns = column..region.columns.end.min(column + WIDTH);
                let mut y = [region.y; WIDTH];
                for (to, column) in y.iter_mut().zip(columns.clone()) {
                    *to = self.element(region.y, ProductArray::Y, column, indices.start);
                }
                let sums = match target {
                    SumTarget::Result => scratch.wrapping_add(self.blocking.scratch.tile),
                    SumTarget::Wide(sums) => self.wide_sums(region, sums, [row, column]),
                };
                // Each row of a region's wide sums has whole vectors, so the last call of a row writes
                // more sums than it has columns.
                let whole = match columns.end == region.columns.end {
                    true => self.wide_columns(region) - (column - region.columns.start),
                    false => columns.len(),
                };
                let written = whole.min(WIDTH);
                if let SumTarget::Wide(_) = target {
                    let size = self.kernels.wide_size;
                    let rest = sums.wrapping_add(written * size);
                    // SAFETY: the row of the region's sums has whole vectors.
                    unsafe { rest.write_bytes(0, (whole - written) * size) }
                }
                let dot = DotArguments {
                    x,
                    y,
                    columns: columns.len(),
                    written,
                    length: indices.len(),
                    sums,
                    nodes: scratch.wrapping_add(self.blocking.scratch.nodes),
                };
                // SAFETY: row and columns are contiguous at these indices; scratch memory has room for
                // `WIDTH` sums and for `NODES * WIDTH` nodes.
                unsafe {
                    (self.kernels.dot)(&dot);
                    if let SumTarget::Result = target {
                        self.store_tile(
                            self.kernels.store,
                            region,
                            [row..row + 1, columns],
                            sums,
                            WIDTH,
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
    /// - `copy` is valid for writes of the indices.
    pub(crate) unsafe fn contiguous_row(
        &self,
        region: &ProductRegion,
        row: usize,
        indices: Range<usize>,
        copy: *mut u8,
    ) -> *const u8 {
        if self.blocking.is_x_in_place {
            return self.element(region.x, ProductArray::X, row, indices.start);
        }
        for first in indices.clone().step_by(COPIED) {
            let count = COPIED.min(indices.end - first);
            let mut offsets = [0; COPIED];
            self.summed.offsets(first, ProductArray::X, &mut offsets[..count]);
            let mut runs = [PackRun::default(); COPIED];
            let run_count = pack_runs(&offsets[..count], self.kernels.lanes, &mut runs);
            // Packs a panel of one row, whose elements are `x` at the indices `first..first + count`.
            let pack = PackArguments {
                to: copy.wrapping_add((first - indices.start) * self.kernels.size),
                width: count,
                from: region.x.wrapping_offset(self.rows.offset(row, ProductArray::X)),
                runs: runs.as_ptr(),
                run_count,
                live: count,
                step: 0,
                within: 0,
                rest: 0,
                first: 0,
                count: 1,
                length: 1,
            };
            // SAFETY: the caller ensures the copy; the offsets are those of the row.
            unsafe { (self.kernels.pack_x)(&pack) }
        }
        copy
    }
}
