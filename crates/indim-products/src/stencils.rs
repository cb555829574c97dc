//! Sums of macro tiles by short chains (`stencil.rs`) over columns that are read in place. Holds unsafe code.

use core::ops::Range;

use crate::axes::{ProductArray, Runs};
use crate::order::MAX_CHAIN;
use crate::plan::{ProductPlan, ProductPointers};
use crate::run::MacroTile;
use crate::stencil::{MAX_STENCIL_ROWS, StencilArguments};

impl ProductPlan {
    /// Sums macro tile `tile` of some batch elements by short chains.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`]; the method of the plan is that of stencils.
    pub(crate) unsafe fn stencil_batches(
        &self,
        batches: Range<usize>,
        tile: usize,
        pointers: &ProductPointers,
        scratch: *mut u8,
    ) {
        let mut batch = batches.start;
        while batch < batches.end {
            let macro_tile = self.macro_tile(batch, tile, pointers);
            let runs = match self.is_row_in_place(&macro_tile) {
                true => self.batch.next_run(batch, batches.end),
                false => Runs::one(),
            };
            // SAFETY: the caller has the obligations of both functions.
            unsafe { self.stencils(&macro_tile, runs, scratch) }
            batch += runs.count;
        }
    }

    /// Whether kernels read the only row of a macro tile in place.
    fn is_row_in_place(&self, macro_tile: &MacroTile) -> bool {
        self.blocking.is_x_in_place && macro_tile.rows.len() == 1
    }

    /// Sums a macro tile at each batch element of `batches`, run by run of columns that have one stride in
    /// `y` and are contiguous in the result.
    ///
    /// # Safety
    /// Like [`ProductPlan::stencil_batches`]; there is one batch element unless the row is read in place.
    unsafe fn stencils(&self, macro_tile: &MacroTile, batches: Runs, scratch: *mut u8) {
        let indices = 0..self.summed.size;
        let mut offsets = [0; MAX_CHAIN];
        self.summed.write_offsets(0, ProductArray::Y, &mut offsets[..indices.len()]);
        let rows = match self.is_row_in_place(macro_tile) {
            true => self.element(macro_tile.x, ProductArray::X, macro_tile.rows.start, 0),
            false => {
                let rows = macro_tile.rows.clone();
                // SAFETY: the packed rows lie in scratch memory, which has room for them.
                unsafe {
                    self.pack_rows(macro_tile, rows, indices.clone(), MAX_STENCIL_ROWS, scratch)
                }
                scratch.wrapping_add(self.blocking.scratch.x).cast_const()
            }
        };
        let [y_run, out_run] = [ProductArray::Y, ProductArray::Out]
            .map(|array| self.columns.uniform_run_length(array).max(1));
        let mut column = macro_tile.columns.start;
        while column < macro_tile.columns.end {
            let end = [y_run, out_run].map(|run| (column / run + 1) * run);
            let columns = column..macro_tile.columns.end.min(end[0]).min(end[1]);
            let runs = self.columns.next_runs(&columns, macro_tile.columns.end);
            column = columns.start + runs.count * columns.len();
            let offsets = &offsets[..indices.len()];
            // SAFETY: the columns of each run have one stride; the rows are packed.
            unsafe { self.stencil_runs(macro_tile, batches, columns, runs, offsets, rows) }
        }
    }

    /// Sums runs of columns for all rows of a macro tile at each batch element. The first run has the columns
    /// `columns`.
    ///
    /// # Safety
    /// Like [`ProductPlan::stencils`]; `packed` has the elements of the rows for each index, and `offsets`
    /// has the offset of `y` for each index.
    unsafe fn stencil_runs(
        &self,
        macro_tile: &MacroTile,
        batches: Runs,
        columns: Range<usize>,
        runs: Runs,
        offsets: &[isize],
        packed: *const u8,
    ) {
        let (kernels, start) = (&self.kernels, columns.start);
        let functions = kernels.stencils.expect("invariant: the method of the plan has functions");
        let out = macro_tile.out.wrapping_offset(self.columns.offset(start, ProductArray::Out));
        for row in macro_tile.rows.clone().step_by(MAX_STENCIL_ROWS) {
            let count = MAX_STENCIL_ROWS.min(macro_tile.rows.end - row);
            let skipped = (row - macro_tile.rows.start) * offsets.len() * kernels.size;
            let stencil = StencilArguments {
                batches: batches.count,
                x_batch_stride: batches.stride(ProductArray::X),
                y_batch_stride: batches.stride(ProductArray::Y),
                out_batch_stride: batches.stride(ProductArray::Out),
                x: packed.wrapping_add(skipped),
                y: macro_tile.y.wrapping_offset(self.columns.offset(start, ProductArray::Y)),
                y_column_stride: self.columns.fastest_stride(ProductArray::Y),
                offsets: offsets.as_ptr(),
                length: offsets.len(),
                columns: columns.len(),
                runs: runs.count,
                y_run_stride: runs.stride(ProductArray::Y),
                out_run_stride: runs.stride(ProductArray::Out),
                out: out.wrapping_offset(self.rows.offset(row, ProductArray::Out)),
                out_row_stride: self.rows.fastest_stride(ProductArray::Out),
            };
            // SAFETY: the caller ensures rows, columns and results; the plan has a level of this processor.
            unsafe { functions[count - 1](&stencil) }
        }
    }
}
