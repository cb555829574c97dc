//! Products of few rows whose sum is one chain of at most `MAX_CHAIN` fused multiply-adds (`order.rs`). The
//! columns of `y` are read in place, not packed, as in depthwise convolutions. Holds unsafe code.
//!
//! In a convolution by 3 x 3 elements, the windows of neighbouring runs share two of three rows of `y`. A
//! load of such a row serves all runs that share it.

use crate::vector::Vector;

/// Maximum rows of one call.
pub(crate) const MAX_STENCIL_ROWS: usize = 4;

/// Height and width of the windows whose runs share loads.
const SHARED_WINDOW: usize = 3;

/// Runs that share loads: with nine factors and a vector of `y`, their sums fit the 16 registers of AVX2.
const SHARING_RUNS: usize = 4;

/// The arguments of the products of some rows and some runs of neighbouring columns, at some elements of the
/// batch. Strides and offsets are in bytes.
#[derive(Clone, Copy)]
pub(crate) struct StencilArguments {
    /// Number of elements of the batch.
    pub(crate) batches: usize,
    /// Stride of `x` between elements of the batch.
    pub(crate) x_batch_stride: isize,
    /// Stride of `y` between elements of the batch.
    pub(crate) y_batch_stride: isize,
    /// Stride of the results between elements of the batch.
    pub(crate) out_batch_stride: isize,
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
/// - `offsets` is valid for reads of `length` offsets;
/// - `x` is valid for reads of `length` elements of each row, for each element of the batch;
/// - `y` is valid for reads of `columns` elements of each run, `y_column_stride` apart, at each offset, for
///   each element of the batch;
/// - `out` is valid for writes of `columns` elements of each run in each row, for each element of the batch,
///   and overlaps no other memory of the call;
/// - the processor has the level.
pub(crate) type StencilFn = unsafe fn(&StencilArguments);

/// Sums `M` rows, `N` vectors of columns at a time.
///
/// # Safety
/// Like [`StencilFn`].
#[inline(always)]
pub(crate) unsafe fn run<V: Vector, const M: usize, const N: usize>(stencil: &StencilArguments) {
    let is_contiguous = stencil.y_column_stride == size_of::<V::Element>() as isize;
    let mut batch = *stencil;
    // SAFETY: the caller has the obligations of these functions.
    unsafe {
        let is_sharing = M == 1 && is_contiguous && are_loads_shared(stencil);
        for _ in 0..stencil.batches {
            match (is_sharing, is_contiguous) {
                (true, _) => run_sharing::<V>(&batch),
                (false, true) => run_columns::<V, M, N, true>(&batch),
                (false, false) => run_columns::<V, M, N, false>(&batch),
            }
            batch.x = batch.x.wrapping_offset(stencil.x_batch_stride);
            batch.y = batch.y.wrapping_offset(stencil.y_batch_stride);
            batch.out = batch.out.wrapping_offset(stencil.out_batch_stride);
        }
    }
}

/// Whether each run reads the rows of windows that the run before it reads, moved by one row.
///
/// # Safety
/// `offsets` is valid for reads of `length` offsets.
#[inline(always)]
unsafe fn are_loads_shared(stencil: &StencilArguments) -> bool {
    if stencil.length != SHARED_WINDOW * SHARED_WINDOW || stencil.runs < 2 {
        return false;
    }
    (SHARED_WINDOW..stencil.length).all(|index| {
        // SAFETY: both indices are below `length`.
        let [above, offset] =
            unsafe { [index - SHARED_WINDOW, index].map(|index| *stencil.offsets.add(index)) };
        above.wrapping_add(stencil.y_run_stride) == offset
    })
}

/// Sums one row, for runs that share the rows of windows.
///
/// # Safety
/// Like [`StencilFn`]; [`are_loads_shared`], and columns are contiguous.
#[inline(always)]
unsafe fn run_sharing<V: Vector>(stencil: &StencilArguments) {
    let mut run = 0;
    // SAFETY: the runs are below `stencil.runs`.
    unsafe {
        let mut factors = [V::zero(); SHARED_WINDOW * SHARED_WINDOW];
        for (index, factor) in factors.iter_mut().enumerate() {
            *factor = V::splat(stencil.x.wrapping_add(index * size_of::<V::Element>()));
        }
        while run + SHARING_RUNS <= stencil.runs {
            sharing_runs::<V, SHARING_RUNS>(stencil, &factors, run);
            run += SHARING_RUNS;
        }
        let rest = stencil.runs - run;
        if rest >= 2 {
            sharing_runs::<V, 2>(stencil, &factors, run);
            run += 2;
        }
        if rest % 2 == 1 {
            sharing_runs::<V, 1>(stencil, &factors, run);
        }
    }
}

/// Sums all columns of `R` runs.
///
/// # Safety
/// Like [`run_sharing`]; `run` is the first of `R` runs.
#[inline(always)]
unsafe fn sharing_runs<V: Vector, const R: usize>(
    stencil: &StencilArguments,
    factors: &[V; SHARED_WINDOW * SHARED_WINDOW],
    run: usize,
) {
    let size = size_of::<V::Element>();
    let first =
        |base: *const u8, stride: isize| base.wrapping_offset(stride.wrapping_mul(run as isize));
    let y = first(stencil.y, stencil.y_run_stride);
    let out = first(stencil.out, stencil.out_run_stride).cast_mut();
    let mut column = 0;
    // SAFETY: the columns are below `stencil.columns`; an incomplete last vector reads and writes only these.
    unsafe {
        while column + V::LANES <= stencil.columns {
            let skipped = column * size;
            let place = (y.wrapping_add(skipped), out.wrapping_add(skipped));
            sharing_columns::<V, R>(stencil, factors, place, V::LANES);
            column += V::LANES;
        }
        if column < stencil.columns {
            // The last vector overlaps the one before it, if there is one; both store the same results.
            let first = stencil.columns.saturating_sub(V::LANES);
            let skipped = first * size;
            let place = (y.wrapping_add(skipped), out.wrapping_add(skipped));
            sharing_columns::<V, R>(stencil, factors, place, stencil.columns - first);
        }
    }
}

/// Sums a vector of columns of `R` runs; only the first `active_lanes` lanes are columns. Rows of windows
/// ascend, so each chain has its factors in order.
///
/// # Safety
/// Like [`run_sharing`]; the columns at `y` and `out` are columns of `R` runs.
#[inline(always)]
unsafe fn sharing_columns<V: Vector, const R: usize>(
    stencil: &StencilArguments,
    factors: &[V; SHARED_WINDOW * SHARED_WINDOW],
    (y, out): (*const u8, *mut u8),
    active_lanes: usize,
) {
    let is_whole = active_lanes == V::LANES;
    // SAFETY: the caller ensures rows, columns, offsets and results.
    unsafe {
        let mut sums = [V::zero(); R];
        for row in 0..R + SHARED_WINDOW - 1 {
            let along = stencil.y_run_stride.wrapping_mul(row as isize);
            for column in 0..SHARED_WINDOW {
                let from = y.wrapping_offset(along).wrapping_offset(*stencil.offsets.add(column));
                let vector =
                    if is_whole { V::load(from) } else { V::load_first(from, active_lanes) };
                for (run, sum) in sums.iter_mut().enumerate() {
                    if run <= row && row < run + SHARED_WINDOW {
                        *sum = sum.fma(factors[(row - run) * SHARED_WINDOW + column], vector);
                    }
                }
            }
        }
        for (run, sum) in sums.into_iter().enumerate() {
            let to = out.wrapping_offset(stencil.out_run_stride.wrapping_mul(run as isize));
            let sum = sum.finish_block();
            if is_whole { sum.store(to) } else { sum.store_first(to, active_lanes) }
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
            // The last vector overlaps the one before it; both store the same results.
            if column < stencil.columns {
                let last = stencil.columns - V::LANES;
                columns::<V, M, 1, C>(stencil, &place(run, last, strides), V::LANES);
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
                    (false, false) => {
                        V::load_strided_first(from, stencil.y_column_stride, active_lanes)
                    }
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
