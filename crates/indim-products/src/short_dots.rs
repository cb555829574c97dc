//! Sums of macro tiles by short dot products (`short_dot.rs`), along the batch or along the columns. Holds
//! unsafe code.

use core::ops::Range;

use crate::axes::{Axes, ProductArray};
use crate::blocking::ProductMethod;
use crate::order::MAX_CHAIN;
use crate::packed::Panel;
use crate::plan::{ProductPlan, ProductPointers};
use crate::short_dot::{Factors, PACKED_RESULTS, ShortDotArguments};
use crate::store::StoreArguments;

/// Results along some axes. Pointers are those at the first index of the axes.
struct ResultRange<'a> {
    x: *const u8,
    y: *const u8,
    out: *mut u8,
    axes: &'a Axes,
    range: Range<usize>,
}

impl ProductPlan {
    /// Computes macro tile `tile` of some batch elements by short dot products.
    ///
    /// # Safety
    /// Like [`ProductPlan::run`]; the method of the plan is [`ProductMethod::BatchDots`] or
    /// [`ProductMethod::ColumnDots`].
    pub(crate) unsafe fn short_dots(
        &self,
        batches: Range<usize>,
        tile: usize,
        pointers: &ProductPointers,
        scratch: *mut u8,
    ) {
        let is_along_batch = self.blocking.method == ProductMethod::BatchDots;
        let [x_at, y_at, out_at] = [ProductArray::X, ProductArray::Y, ProductArray::Out];
        for batch in if is_along_batch { 0..1 } else { batches.clone() } {
            let macro_tile = self.macro_tile(batch, tile, pointers);
            for row in macro_tile.rows {
                let x = macro_tile.x.wrapping_offset(self.rows.offset(row, x_at));
                let out = macro_tile.out.wrapping_offset(self.rows.offset(row, out_at));
                if !is_along_batch {
                    let (axes, range) = (&self.columns, macro_tile.columns.clone());
                    let results = ResultRange { x, y: macro_tile.y, out, axes, range };
                    // SAFETY: the caller ensures the operands and results of the macro tile.
                    unsafe { self.dot_results(results, scratch) }
                    continue;
                }
                for column in macro_tile.columns.clone() {
                    let results = ResultRange {
                        x,
                        y: macro_tile.y.wrapping_offset(self.columns.offset(column, y_at)),
                        out: out.wrapping_offset(self.columns.offset(column, out_at)),
                        axes: &self.batch,
                        range: batches.clone(),
                    };
                    // SAFETY: the caller ensures the operands and results of the batch elements.
                    unsafe { self.dot_results(results, scratch) }
                }
            }
        }
    }

    /// Computes results run by run if operands are read in place, otherwise panel by panel.
    ///
    /// # Safety
    /// Like [`ProductPlan::short_dots`].
    unsafe fn dot_results(&self, results: ResultRange<'_>, scratch: *mut u8) {
        let mut first = results.range.start;
        while first < results.range.end {
            // SAFETY: the results are some of `results`.
            first += unsafe {
                match self.blocking.is_x_in_place {
                    true => self.dot_run(&results, first),
                    false => self.dot_panel(&results, first, scratch),
                }
            };
        }
    }

    /// Computes the results from `first` on that have one stride in each array. Returns their number.
    ///
    /// # Safety
    /// Like [`ProductPlan::short_dots`]; operands and results have the type of the kernels.
    unsafe fn dot_run(&self, results: &ResultRange<'_>, first: usize) -> usize {
        let run = results.axes.next_run(first, results.range.end);
        let factors = |operand: ProductArray, from: *const u8| Factors {
            first: from.wrapping_offset(results.axes.offset(first, operand)),
            result_stride: run.stride(operand),
            index_stride: self.summed.fastest_stride(operand),
        };
        let out = results.axes.offset(first, ProductArray::Out);
        let dot = ShortDotArguments {
            factors: [factors(ProductArray::X, results.x), factors(ProductArray::Y, results.y)],
            results: run.count,
            length: self.summed.size,
            out: results.out.wrapping_offset(out),
            out_stride: run.stride(ProductArray::Out),
            is_wide: false,
        };
        // SAFETY: the caller ensures operands and results; the plan has a level of this processor.
        unsafe { self.run_short_dot(&dot) }
        run.count
    }

    /// Packs the factors of the results from `first` on, and computes these. Returns their number.
    ///
    /// # Safety
    /// Like [`ProductPlan::short_dots`].
    unsafe fn dot_panel(&self, results: &ResultRange<'_>, first: usize, scratch: *mut u8) -> usize {
        let (kernels, layout) = (&self.kernels, &self.blocking.scratch);
        let count = PACKED_RESULTS.min(results.range.end - first);
        let mut offsets = [0; PACKED_RESULTS];
        let offsets = &mut offsets[..count];
        let width = count.next_multiple_of(kernels.lanes);
        let operands = [
            (ProductArray::X, results.x, layout.x, kernels.pack_x),
            (ProductArray::Y, results.y, layout.y, kernels.pack_y),
        ];
        let factors = operands.map(|(operand, from, to, pack)| {
            results.axes.write_offsets(first, operand, offsets);
            let to = scratch.wrapping_add(to);
            let size = kernels.size as isize;
            // `Panel::pack` orders more than MAX_CHAIN indices by lanes. Each call packs one chain, so its
            // indices ascend.
            for start in (0..self.summed.size).step_by(MAX_CHAIN) {
                let indices = start..self.summed.size.min(start + MAX_CHAIN);
                let to = to.wrapping_add(start * width * kernels.size);
                let panel = Panel { to, width, from, operand, offsets, lanes: kernels.lanes };
                // SAFETY: the panel lies in the scratch memory of the operand; its offsets are those of
                // the operand.
                unsafe { panel.pack(pack, &self.summed, &self.groups, indices) }
            }
            Factors { first: to, result_stride: size, index_stride: width as isize * size }
        });
        let sums = scratch.wrapping_add(layout.tile_sums);
        let is_wide = !kernels.is_out_native;
        let dot = ShortDotArguments {
            factors,
            results: count,
            length: self.summed.size,
            out: sums,
            out_stride: kernels.size as isize,
            is_wide,
        };
        results.axes.write_offsets(first, ProductArray::Out, offsets);
        let arguments = StoreArguments {
            from: sums,
            width: count,
            out: results.out,
            rows: &0,
            row_count: 1,
            columns: offsets.as_ptr(),
            column_count: count,
        };
        let store = if is_wide { kernels.store } else { kernels.store_rounded };
        // SAFETY: scratch memory has room for the sums of a panel; the caller ensures the results.
        unsafe {
            self.run_short_dot(&dot);
            store(&arguments);
        }
        count
    }

    /// Runs one call.
    ///
    /// # Safety
    /// Like [`ShortDotFn`](crate::short_dot::ShortDotFn).
    unsafe fn run_short_dot(&self, dot: &ShortDotArguments) {
        let run = self.kernels.short_dot.expect("invariant: the method of the plan has a function");
        // SAFETY: the caller has the obligations of the function; the plan has a level of this processor.
        unsafe { run(dot) }
    }
}
