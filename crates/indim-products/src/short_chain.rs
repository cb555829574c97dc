//! Short dot products of one chain whose factors are contiguous along the summed index. Holds unsafe code.
//!
//! A vector holds one index of neighbouring results: factors are transposed in registers and multiplied at
//! once, without a panel. The chains of several vectors run side by side, because each step of a chain waits
//! for the step before it.

use crate::order::MAX_CHAIN;
use crate::short_dot::{Factors, ShortDotArguments, store};
use crate::vector::{INDICES, Vector};

/// Number of vectors of results whose chains run side by side: the sums, one group of factors of each operand
/// and their transposition fit in sixteen registers.
const VECTORS: usize = 4;

/// Whether [`run`] computes these results.
#[inline(always)]
pub(crate) fn can_run<V: Vector>(dot: &ShortDotArguments) -> bool {
    let size = size_of::<V::Element>() as isize;
    let is_sequence = |factors: &Factors| factors.index_stride == size;
    let [x, y] = &dot.factors;
    let is_dense = |factors: &Factors| factors.result_stride == size;
    let is_shared_or_sequence = |factors: &Factors| {
        factors.result_stride == 0 || is_sequence(factors) && !is_dense(factors)
    };
    dot.length <= MAX_CHAIN
        && dot.results >= V::LANES
        && is_shared_or_sequence(x)
        && is_shared_or_sequence(y)
        && (x.result_stride, y.result_stride) != (0, 0)
}

/// Computes all results.
///
/// # Safety
/// - Like [`ShortDotFn`](crate::short_dot::ShortDotFn);
/// - [`can_run`] holds.
#[inline(always)]
pub(crate) unsafe fn run<V: Vector>(dot: &ShortDotArguments) {
    let [mut x, mut y] = dot.factors;
    // Factors commute, so those that all results share come last.
    if x.result_stride == 0 {
        (x, y) = (y, x);
    }
    // SAFETY: the caller has the obligations of the function.
    unsafe {
        match y.result_stride {
            0 => run_chains::<V, true>(dot, [&x, &y]),
            _ => run_chains::<V, false>(dot, [&x, &y]),
        }
    }
}

/// Computes all results. `SHARED` tells whether they share the factors of `y`.
///
/// # Safety
/// Like [`run`].
#[inline(always)]
unsafe fn run_chains<V: Vector, const SHARED: bool>(
    dot: &ShortDotArguments,
    factors: [&Factors; 2],
) {
    let mut first = 0;
    // SAFETY: all results are below `dot.results`.
    unsafe {
        while first + VECTORS * V::LANES <= dot.results {
            compute::<V, VECTORS, SHARED>(dot, factors, first);
            first += VECTORS * V::LANES;
        }
        while first < dot.results {
            // The last vector overlaps the one before it, if there is one; both store the same results.
            compute::<V, 1, SHARED>(dot, factors, first.min(dot.results - V::LANES));
            first += V::LANES;
        }
    }
}

/// Computes `N` vectors of results, from `first` on.
///
/// # Safety
/// Like [`run`]; these are results of the call.
#[inline(always)]
unsafe fn compute<V: Vector, const N: usize, const SHARED: bool>(
    dot: &ShortDotArguments,
    [x, y]: [&Factors; 2],
    first: usize,
) {
    let whole = dot.length - dot.length % INDICES;
    // SAFETY: all indices are below `dot.length`; the caller ensures results and instructions.
    unsafe {
        let mut sums = [V::zero(); N];
        for index in (0..whole).step_by(INDICES) {
            for (vector, sum) in sums.iter_mut().enumerate() {
                let at = [x, y].map(|factors| factors.at(first + vector * V::LANES, index));
                *sum = add_products::<V, SHARED>(*sum, [x, y], at, INDICES);
            }
        }
        if whole < dot.length {
            for (vector, sum) in sums.iter_mut().enumerate() {
                let at = [x, y].map(|factors| factors.at(first + vector * V::LANES, whole));
                *sum = add_products::<V, SHARED>(*sum, [x, y], at, dot.length - whole);
            }
        }
        for (vector, sum) in sums.into_iter().enumerate() {
            store(dot, sum, first + vector * V::LANES, V::LANES);
        }
    }
}

/// Adds the products at `count` indices to a chain of each lane; the first factors lie at `x_at` and `y_at`.
///
/// # Safety
/// Like [`compute`], for indices of the call; `count` is at most [`INDICES`].
#[inline(always)]
unsafe fn add_products<V: Vector, const SHARED: bool>(
    mut sum: V,
    [x, y]: [&Factors; 2],
    [x_at, y_at]: [*const u8; 2],
    count: usize,
) -> V {
    // SAFETY: the caller ensures the factors and the instructions.
    unsafe {
        let xs = V::load_sequences(x_at, x.result_stride, count);
        if SHARED {
            for (index, x) in xs.into_iter().enumerate().take(count) {
                let at = y_at.wrapping_offset(y.index_stride.wrapping_mul(index as isize));
                sum = sum.fma(x, V::splat(at));
            }
        } else {
            let ys = V::load_sequences(y_at, y.result_stride, count);
            for (x, y) in xs.into_iter().zip(ys).take(count) {
                sum = sum.fma(x, y);
            }
        }
    }
    sum
}
