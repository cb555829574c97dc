//! Products of few rows whose sum is one chain of at most `MAX_CHAIN` fused multiply-adds (`order.rs`). The
//! columns of `y` are read in place, not packed, as in depthwise convolutions. Holds unsafe code.

use crate::vector::{Vector, load_elements};

/// Maximum rows of one call.
pub(crate) const MAX_STENCIL_ROWS: usize = 4;

/// The arguments of the products of some rows and neighbouring columns. Strides and offsets are in bytes.
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
    /// Number of columns.
    pub(crate) columns: usize,
    /// The first result; the results of a row are contiguous.
    pub(crate) out: *mut u8,
    /// Stride of the results between rows.
    pub(crate) out_row_stride: isize,
}

/// Products of few rows, compiled for a level and a number of rows.
///
/// # Safety
/// - `x` is valid for reads of `length` elements of each row, `offsets` of `length` offsets;
/// - `y` is valid for reads of `columns` elements, `y_column_stride` apart, at each offset;
/// - `out` is valid for writes of `columns` elements in each row, and overlaps no other memory of the call;
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

/// Sums all columns; `C` tells whether the columns of `y` are contiguous.
///
/// # Safety
/// Like [`StencilFn`].
#[inline(always)]
unsafe fn run_columns<V: Vector, const M: usize, const N: usize, const C: bool>(
    stencil: &StencilArguments,
) {
    let whole = stencil.columns - stencil.columns % V::LANES;
    let mut column = 0;
    // SAFETY: the caller ensures the columns; each is below `stencil.columns`.
    unsafe {
        while column + N * V::LANES <= whole {
            columns::<V, M, N, C>(stencil, column, V::LANES);
            column += N * V::LANES;
        }
        while column < whole {
            columns::<V, M, 1, C>(stencil, column, V::LANES);
            column += V::LANES;
        }
        if column < stencil.columns {
            columns::<V, M, 1, C>(stencil, column, stencil.columns - column);
        }
    }
}

/// Sums `N` vectors of columns, from `column` on; only the first `active_lanes` lanes of each vector are
/// columns.
///
/// # Safety
/// Like [`StencilFn`]; all these columns are below `stencil.columns`.
#[inline(always)]
unsafe fn columns<V: Vector, const M: usize, const N: usize, const C: bool>(
    stencil: &StencilArguments,
    column: usize,
    active_lanes: usize,
) {
    let size = size_of::<V::Element>();
    let width = V::LANES * size;
    let is_whole = active_lanes == V::LANES;
    // SAFETY: the caller ensures rows, columns, offsets and results.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let y = stencil.y.wrapping_offset(column as isize * stencil.y_column_stride);
        let mut x = stencil.x;
        for index in 0..stencil.length {
            let from = y.wrapping_offset(*stencil.offsets.add(index));
            let mut vectors = [V::zero(); N];
            for (vector, to) in vectors.iter_mut().enumerate() {
                let skipped = (vector * V::LANES) as isize * stencil.y_column_stride;
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
            let out = stencil.out.wrapping_offset(row as isize * stencil.out_row_stride);
            let out = out.wrapping_add(column * size);
            for (vector, sum) in sums.into_iter().enumerate() {
                let (to, sum) = (out.wrapping_add(vector * width), sum.finish_block());
                if is_whole { sum.store(to) } else { sum.store_first(to, active_lanes) }
            }
        }
    }
}
