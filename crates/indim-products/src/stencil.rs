//! Products of few rows whose sum is one chain of at most `MAX_CHAIN` fused multiply-adds (`order.rs`). The
//! columns of `y` are read in place, not packed, as in depthwise convolutions. Holds unsafe code.

use crate::vector::{Vector, load_elements};

/// Maximum rows of one call.
pub(crate) const MAX_STENCIL_ROWS: usize = 4;

/// The arguments of the products of some rows and some runs of neighbouring columns. Strides and offsets are
/// in bytes.
pub(crate) struct StencilArguments {
    /// The rows of `x`: for each summed index, the elements of all rows, adjacent.
    pub(crate) x: *const u8,
    /// The first column, without the offset of an index.
    pub(crate) y: *const u8,
    /// Stride of `y` between columns.
    pub(crate) y_column_stride: isize,
    /// Offsets of `y` for each index.
    pub(crate) offsets: *const isize,
    /// Number of summed indices: at most `MAX_CHAIN`.
    pub(crate) length: usize,
    /// Number of columns of a run.
    pub(crate) columns: usize,
    /// Number of runs.
    pub(crate) runs: usize,
    /// Stride of `y` between runs.
    pub(crate) y_run_stride: isize,
    /// The first result; the results of a row and run are contiguous.
    pub(crate) out: *mut u8,
    /// Stride of the results between runs.
    pub(crate) out_run_stride: isize,
    /// Stride of the results between rows.
    pub(crate) out_row_stride: isize,
}

/// Products of few rows, compiled for a level and a number of rows.
///
/// # Safety
/// - `x` is valid for reads of `length` elements of each row, `offsets` of `length` offsets;
/// - `y` is valid for reads of `columns` elements of each run, `y_column_stride` apart, at each offset;
/// - `out` is valid for writes of `columns` elements of each run in each row, and overlaps no other memory of
///   the call;
/// - the processor has the level.
pub(crate) type StencilFn = unsafe fn(&StencilArguments);

/// Sums `M` rows, `N` vectors of columns at a time.
///
/// # Safety
/// Like [`StencilFn`].
#[inline(always)]
pub(crate) unsafe fn run<V: Vector, const M: usize, const N: usize>(stencil: &StencilArguments) {
    // SAFETY: the caller has the obligations of both functions.
    unsafe {
        match stencil.y_column_stride == size_of::<V::Element>() as isize {
            true => run_columns::<V, M, N, true>(stencil),
            false => run_columns::<V, M, N, false>(stencil),
        }
    }
}

/// The place of the first of several vectors of columns, and the strides between them, in bytes.
struct VectorPlace {
    y: *const u8,
    y_stride: isize,
    out: *mut u8,
    out_stride: isize,
}

/// Sums all columns; `C` tells whether the columns of `y` are contiguous. The vectors that are summed
/// together are of one run, or, if a run is at most a vector, of several: each has a chain of its own, and
/// one chain alone would wait for each of its multiply-adds.
///
/// # Safety
/// Like [`StencilFn`].
#[inline(always)]
unsafe fn run_columns<V: Vector, const M: usize, const N: usize, const C: bool>(
    stencil: &StencilArguments,
) {
    let size = size_of::<V::Element>() as isize;
    let place = |run: usize, column: usize, [y_stride, out_stride]: [isize; 2]| {
        let (run, column) = (run as isize, column as isize);
        let y = run.wrapping_mul(stencil.y_run_stride);
        let out = run.wrapping_mul(stencil.out_run_stride);
        VectorPlace {
            y: stencil.y.wrapping_offset(y).wrapping_offset(column * stencil.y_column_stride),
            y_stride,
            out: stencil.out.wrapping_offset(out).wrapping_offset(column * size),
            out_stride,
        }
    };
    // SAFETY: the caller ensures the columns of each run; each column is below `stencil.columns`, and each
    // run below `stencil.runs`.
    unsafe {
        if stencil.columns <= V::LANES {
            let strides = [stencil.y_run_stride, stencil.out_run_stride];
            let mut run = 0;
            while run + N <= stencil.runs {
                columns::<V, M, N, C>(stencil, &place(run, 0, strides), stencil.columns);
                run += N;
            }
            while run < stencil.runs {
                columns::<V, M, 1, C>(stencil, &place(run, 0, strides), stencil.columns);
                run += 1;
            }
            return;
        }
        let strides = [V::LANES as isize * stencil.y_column_stride, V::LANES as isize * size];
        let whole = stencil.columns - stencil.columns % V::LANES;
        for run in 0..stencil.runs {
            let mut column = 0;
            while column + N * V::LANES <= whole {
                columns::<V, M, N, C>(stencil, &place(run, column, strides), V::LANES);
                column += N * V::LANES;
            }
            while column < whole {
                columns::<V, M, 1, C>(stencil, &place(run, column, strides), V::LANES);
                column += V::LANES;
            }
            if column < stencil.columns {
                let rest = stencil.columns - column;
                columns::<V, M, 1, C>(stencil, &place(run, column, strides), rest);
            }
        }
    }
}

/// Sums `N` vectors of columns at a place; only the first `active_lanes` lanes of each vector are columns.
///
/// # Safety
/// Like [`StencilFn`]; all these columns are columns of the runs.
#[inline(always)]
unsafe fn columns<V: Vector, const M: usize, const N: usize, const C: bool>(
    stencil: &StencilArguments,
    place: &VectorPlace,
    active_lanes: usize,
) {
    let size = size_of::<V::Element>();
    let is_whole = active_lanes == V::LANES;
    // SAFETY: the caller ensures rows, columns, offsets and results.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let mut x = stencil.x;
        for index in 0..stencil.length {
            let from = place.y.wrapping_offset(*stencil.offsets.add(index));
            let mut vectors = [V::zero(); N];
            for (vector, to) in vectors.iter_mut().enumerate() {
                let skipped = (vector as isize).wrapping_mul(place.y_stride);
                let from = from.wrapping_offset(skipped);
                *to = match (C, is_whole) {
                    (true, true) => V::load(from),
                    (true, false) => V::load_first(from, active_lanes),
                    (false, true) => V::load_strided(from, stencil.y_column_stride),
                    (false, false) => load_elements(from, stencil.y_column_stride, active_lanes),
                };
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = V::splat(x.wrapping_add(row * size));
                for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                    *sum = sum.fma(factor, vector);
                }
            }
            x = x.wrapping_add(M * size);
        }
        for (row, sums) in sums.into_iter().enumerate() {
            let out = place.out.wrapping_offset(row as isize * stencil.out_row_stride);
            for (vector, sum) in sums.into_iter().enumerate() {
                let to = out.wrapping_offset((vector as isize).wrapping_mul(place.out_stride));
                let sum = sum.finish_block();
                if is_whole { sum.store(to) } else { sum.store_first(to, active_lanes) }
            }
        }
    }
}
