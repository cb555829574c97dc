//! Dot products of at most one block, for many results: a vector holds one index of neighbouring results.
//! Holds unsafe code.
//!
//! Factors that are not contiguous along the results are first copied to a panel in L1; those that are
//! contiguous along the summed index are transposed in registers. If both operands are contiguous along the
//! summed index, or shared by all results, there is no panel: the chains of `short_chain.rs` multiply factors
//! as soon as they are transposed, and for more indices than a chain a vector holds the lanes of one result
//! (`dot.rs`).

use core::mem::MaybeUninit;

use crate::dot::{Blocks, DOT_WIDTH, block_values};
use crate::element::{ProductElement, WideSum};
use crate::order::{CONTRACTION_LANES, MAX_CHAIN};
use crate::short_chain;
use crate::vector::{INDICES, MAX_LANES, Vector};

/// Maximum results whose factors are packed together, if they are not read in place: a panel of each operand
/// stays in L1 or L2.
pub(crate) const PACKED_RESULTS: usize = 32;

/// Number of vectors of results whose chains run side by side, to hide the latency of multiply-adds.
const VECTORS: usize = 2;

/// The factors of one operand. Strides are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Factors {
    /// The factor of the first result at the first index.
    pub(crate) first: *const u8,
    /// Stride between results; 0 if all results share the factors.
    pub(crate) result_stride: isize,
    /// Stride between summed indices.
    pub(crate) index_stride: isize,
}

/// The arguments of the dot products of some neighbouring results.
pub(crate) struct ShortDotArguments {
    /// The factors of `x` and of `y`.
    pub(crate) factors: [Factors; 2],
    /// Number of results.
    pub(crate) results: usize,
    /// Number of summed indices.
    pub(crate) length: usize,
    /// The first result.
    pub(crate) out: *mut u8,
    /// Stride between results in bytes; wide sums are contiguous.
    pub(crate) out_stride: isize,
    /// Whether results are sums in the wide type; otherwise they are rounded elements.
    pub(crate) is_wide: bool,
}

/// Dot products of at most one block, compiled for a level.
///
/// # Safety
/// - both operands are valid for reads of an element for each result and index;
/// - `length` is at most `REDUCTION_BLOCK`;
/// - `out` is valid for writes of each result, aligned if it is wide, and overlaps no other memory of the
///   call;
/// - the processor has the level.
pub(crate) type ShortDotFn = unsafe fn(&ShortDotArguments);

impl Factors {
    /// The factor of a result at an index.
    #[inline(always)]
    pub(crate) fn at(&self, result: usize, index: usize) -> *const u8 {
        let along_results = (result as isize).wrapping_mul(self.result_stride);
        let along_indices = (index as isize).wrapping_mul(self.index_stride);
        self.first.wrapping_offset(along_results).wrapping_offset(along_indices)
    }
}

/// Some neighbouring results, at most those of [`VECTORS`] vectors.
#[derive(Clone, Copy)]
struct ResultTile {
    /// The first result.
    first: usize,
    /// Results of each vector: the lanes, or fewer if there is a single vector.
    active: usize,
}

/// Computes all results.
///
/// # Safety
/// Like [`ShortDotFn`].
#[inline(always)]
pub(crate) unsafe fn run<V: Vector>(dot: &ShortDotArguments) {
    let size = size_of::<V::Element>() as isize;
    let is_along_indices = dot.factors.iter().all(|factors| factors.index_stride == size);
    // SAFETY: the caller has the obligations of these functions; all results are below `dot.results`.
    unsafe {
        if dot.length > MAX_CHAIN && is_along_indices {
            return run_along_indices::<V>(dot);
        }
        if short_chain::can_run::<V>(dot) {
            return short_chain::run::<V>(dot);
        }
        let whole = dot.results - dot.results % V::LANES;
        let mut first = 0;
        while first + VECTORS * V::LANES <= whole {
            compute::<V, VECTORS>(dot, ResultTile { first, active: V::LANES });
            first += VECTORS * V::LANES;
        }
        while first < whole {
            compute::<V, 1>(dot, ResultTile { first, active: V::LANES });
            first += V::LANES;
        }
        if first < dot.results {
            // The last vector overlaps the one before it, if there is one; both store the same results.
            let first = dot.results.saturating_sub(V::LANES);
            compute::<V, 1>(dot, ResultTile { first, active: V::LANES.min(dot.results) });
        }
    }
}

/// The factors of a tile: `N` vectors for each index, `step` bytes apart, or one factor that all results
/// share.
#[derive(Clone, Copy)]
struct TileFactors {
    first: *const u8,
    step: isize,
}

/// Memory of the factors of a tile at the indices of a chain, in whole groups of [`INDICES`].
type FactorBuffer<V> = [[V; VECTORS]; MAX_CHAIN];

const _: () = assert!(MAX_CHAIN.is_multiple_of(INDICES));

/// Computes a tile of `N` vectors of results.
///
/// # Safety
/// Like [`ShortDotFn`]; all results of the tile are results of the call.
#[inline(always)]
unsafe fn compute<V: Vector, const N: usize>(dot: &ShortDotArguments, tile: ResultTile) {
    let mut buffers = [const { MaybeUninit::<FactorBuffer<V>>::uninit() }; 2];
    // SAFETY: all indices are below `dot.length`; a chunk has at most as many as a chain.
    unsafe {
        let mut lanes = [[V::zero(); N]; CONTRACTION_LANES];
        for start in (0..dot.length).step_by(MAX_CHAIN) {
            let count = MAX_CHAIN.min(dot.length - start);
            let (factors, is_shared) = read::<V, N>(dot, tile, [start, count], &mut buffers);
            let chains = if dot.length <= MAX_CHAIN { 1 } else { CONTRACTION_LANES.min(count) };
            for (lane, sums) in lanes.iter_mut().enumerate().take(chains) {
                let factors = factors.map(|of| TileFactors {
                    first: of.first.wrapping_offset(lane as isize * of.step),
                    step: chains as isize * of.step,
                });
                let steps = (count - lane).div_ceil(chains);
                match is_shared {
                    true => add_chain::<V, N, true>(sums, factors, steps),
                    false => add_chain::<V, N, false>(sums, factors, steps),
                }
            }
        }
        let [mut sums, rest @ ..] = lanes;
        if dot.length > MAX_CHAIN {
            for lane in rest {
                for (sum, value) in sums.iter_mut().zip(lane) {
                    *sum = sum.add(value);
                }
            }
        }
        for (vector, sum) in sums.into_iter().enumerate() {
            store(dot, sum, tile.first + vector * V::LANES, tile.active);
        }
    }
}

/// Adds the products of `steps` indices to the chains of a tile. `S` tells whether the results share the
/// first of the factors.
///
/// # Safety
/// The factors are valid for reads at each step; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn add_chain<V: Vector, const N: usize, const S: bool>(
    sums: &mut [V; N],
    [mut x, mut y]: [TileFactors; 2],
    steps: usize,
) {
    // SAFETY: the caller ensures the factors and the instructions.
    unsafe {
        let mut chains = *sums;
        for _ in 0..steps {
            for (vector, sum) in chains.iter_mut().enumerate() {
                let at = vector * size_of::<V>();
                let factor = if S { V::splat(x.first) } else { V::load(x.first.wrapping_add(at)) };
                *sum = sum.fma(factor, V::load(y.first.wrapping_add(at)));
            }
            x.first = x.first.wrapping_offset(x.step);
            y.first = y.first.wrapping_offset(y.step);
        }
        *sums = chains;
    }
}

/// The factors of a tile at `count` indices from `start` on, and whether all results share the first of
/// them. Factors commute, so the shared ones come first.
///
/// # Safety
/// Like [`ShortDotFn`], for the results of the tile; `count` is at most [`MAX_CHAIN`].
#[inline(always)]
unsafe fn read<V: Vector, const N: usize>(
    dot: &ShortDotArguments,
    tile: ResultTile,
    [start, count]: [usize; 2],
    buffers: &mut [MaybeUninit<FactorBuffer<V>>; 2],
) -> ([TileFactors; 2], bool) {
    let [mut x, mut y] = dot.factors;
    if y.result_stride == 0 {
        (x, y) = (y, x);
    }
    let is_shared = x.result_stride == 0;
    let [x_buffer, y_buffer] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast());
    // SAFETY: a buffer has room for `N` vectors at each of `MAX_CHAIN` indices; the caller ensures the rest.
    unsafe {
        let y_factors = read_operand::<V, N>(&y, tile, [start, count], y_buffer);
        let x_factors = if is_shared {
            TileFactors { first: x.at(0, start), step: x.index_stride }
        } else if x == y {
            y_factors
        } else {
            read_operand::<V, N>(&x, tile, [start, count], x_buffer)
        };
        ([x_factors, y_factors], is_shared)
    }
}

/// The factors of one operand for a tile at `count` indices from `start` on, in place or copied to a buffer.
///
/// # Safety
/// Like [`read`]; the buffer is valid for writes of `N` vectors at each of [`MAX_CHAIN`] indices.
#[inline(always)]
unsafe fn read_operand<V: Vector, const N: usize>(
    factors: &Factors,
    tile: ResultTile,
    [start, count]: [usize; 2],
    buffer: *mut u8,
) -> TileFactors {
    let size = size_of::<V::Element>() as isize;
    let is_whole = tile.active == V::LANES;
    if is_whole && factors.result_stride == size {
        return TileFactors { first: factors.at(tile.first, start), step: factors.index_stride };
    }
    for vector in 0..N {
        let from = Factors { first: factors.at(tile.first + vector * V::LANES, start), ..*factors };
        let to = buffer.wrapping_add(vector * size_of::<V>());
        // SAFETY: the caller ensures the factors and the buffer.
        unsafe {
            match is_whole && factors.index_stride == size {
                true => transpose::<V, N>(&from, count, to),
                false => gather::<V, N>(&from, tile.active, count, to),
            }
        }
    }
    TileFactors { first: buffer, step: (N * size_of::<V>()) as isize }
}

/// Copies a vector of factors at each of `count` indices, which are contiguous for each result, to every
/// `N`th vector from `to` on.
///
/// # Safety
/// - `factors` are valid for reads of `V::LANES` results at each index;
/// - `to` is valid for writes at the indices up to the next multiple of [`INDICES`];
/// - the processor has the instructions of `V`.
#[inline(always)]
unsafe fn transpose<V: Vector, const N: usize>(factors: &Factors, count: usize, mut to: *mut u8) {
    let step = factors.result_stride;
    let mut from = factors.first;
    // SAFETY: the caller ensures factors and buffer.
    unsafe {
        for _ in 0..count / INDICES {
            let vectors = V::load_sequences(from, step, INDICES);
            for (index, vector) in vectors.into_iter().enumerate() {
                vector.store(to.wrapping_add(index * N * size_of::<V>()));
            }
            from = from.wrapping_add(INDICES * size_of::<V::Element>());
            to = to.wrapping_add(INDICES * N * size_of::<V>());
        }
        if !count.is_multiple_of(INDICES) {
            let vectors = V::load_sequences(from, step, count % INDICES);
            for (index, vector) in vectors.into_iter().enumerate() {
                vector.store(to.wrapping_add(index * N * size_of::<V>()));
            }
        }
    }
}

/// Copies a vector of factors at each of `count` indices, read one by one, to every `N`th vector from `to`
/// on. Only the first `active` lanes are results; the others become zero.
///
/// # Safety
/// - `factors` are valid for reads of `active` results at each index;
/// - `to` is valid for writes at each index;
/// - the processor has the instructions of `V`.
#[inline(always)]
unsafe fn gather<V: Vector, const N: usize>(
    factors: &Factors,
    active: usize,
    count: usize,
    to: *mut u8,
) {
    for index in 0..count {
        let (from, to) = (factors.at(0, index), to.wrapping_add(index * N * size_of::<V>()));
        // SAFETY: the caller ensures factors and buffer.
        unsafe {
            match active == V::LANES {
                true => V::load_strided(from, factors.result_stride).store(to),
                false => V::load_strided_first(from, factors.result_stride, active).store(to),
            }
        }
    }
}

/// Computes results of more than a chain, [`DOT_WIDTH`] at a time, by vectors along the summed index.
///
/// # Safety
/// Like [`ShortDotFn`]; both operands are contiguous along the summed index.
#[inline(always)]
unsafe fn run_along_indices<V: Vector>(dot: &ShortDotArguments) {
    let [x, y] = dot.factors;
    let mut result = 0;
    while result < dot.results {
        // The last call overlaps the one before it, if there is one; both store the same results.
        let first = result.min(dot.results.saturating_sub(DOT_WIDTH));
        let count = (dot.results - first).min(DOT_WIDTH);
        let of = |factors: &Factors| {
            let lane_result = |place: usize| first + if place < count { place } else { 0 };
            core::array::from_fn(|place| factors.at(lane_result(place), 0))
        };
        let blocks = Blocks { x: of(&x), y: of(&y), length: dot.length };
        // SAFETY: the caller ensures the factors of each of these results.
        unsafe {
            let values = match x.result_stride {
                0 => block_values::<V, true>(&blocks),
                _ => block_values::<V, false>(&blocks),
            };
            for part in (0..count).step_by(V::LANES) {
                let sums = V::load(values[part..part + V::LANES].as_ptr().cast());
                store(dot, sums, first + part, V::LANES.min(count - part));
            }
        }
        result = first + count;
    }
}

/// Stores the first `active` lanes of the sums of a block, from `result` on.
///
/// # Safety
/// Like [`ShortDotFn`]; these are results of the call.
#[inline(always)]
pub(crate) unsafe fn store<V: Vector>(
    dot: &ShortDotArguments,
    sums: V,
    result: usize,
    active: usize,
) {
    let at =
        |result: usize| dot.out.wrapping_offset((result as isize).wrapping_mul(dot.out_stride));
    let is_contiguous = dot.out_stride == size_of::<V::Element>() as isize;
    // SAFETY: the caller ensures the results and the instructions; the array has `LANES` elements.
    unsafe {
        let mut elements = [V::Element::ZERO; MAX_LANES];
        if dot.is_wide {
            sums.store(elements.as_mut_ptr().cast());
            let to = dot.out.cast::<<V::Element as ProductElement>::Wide>().add(result);
            for (lane, element) in elements[..active].iter().enumerate() {
                to.add(lane).write(element.widen().canonical());
            }
        } else if is_contiguous && active == V::LANES {
            sums.finish_block().store(at(result));
        } else if is_contiguous {
            sums.finish_block().store_first(at(result), active);
        } else {
            sums.finish_block().store(elements.as_mut_ptr().cast());
            for (lane, &element) in elements[..active].iter().enumerate() {
                at(result + lane).cast::<V::Element>().write_unaligned(element);
            }
        }
    }
}
