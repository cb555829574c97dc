//! Dot products of operands that are contiguous along the summed index: a vector holds lanes of a block.
//! Holds unsafe code.
//!
//! Eight accumulators hide the latency of the multiply-add: they belong to neighbouring columns, or, if
//! columns are few, to neighbouring blocks.

use crate::element::{ProductElement, WideSum};
use crate::order::{CONTRACTION_LANES, MAX_CHAIN, REDUCTION_BLOCK, block_length};
use crate::tile::TileResults;
use crate::vector::{INDICES, Vector};

/// Maximum number of columns of one call, and of blocks that are summed together.
pub(crate) const DOT_WIDTH: usize = 8;

/// The arguments of dot products of one row of `x` and some columns of `y`.
pub(crate) struct DotArguments {
    /// The row at the first index; its elements are contiguous.
    pub(crate) x: *const u8,
    /// Each column at the first index; its elements are contiguous.
    pub(crate) y: [*const u8; DOT_WIDTH],
    /// Number of columns.
    pub(crate) columns: usize,
    /// Number of sums that are written, at least `columns`; sums beyond the columns have arbitrary values.
    pub(crate) sum_count: usize,
    /// Number of indices.
    pub(crate) length: usize,
    /// The wide sums of the columns.
    pub(crate) sums: *mut u8,
    /// Memory of `NODES` times `DOT_WIDTH` wide sums.
    pub(crate) nodes: *mut u8,
}

/// Dot products compiled for a level.
///
/// # Safety
/// - the row and the first `columns` columns are valid for reads of `length` elements;
/// - `columns` is at least one, and `sum_count` at most [`DOT_WIDTH`];
/// - `sums` is valid for writes of `sum_count` wide sums, and `nodes` for `NODES * DOT_WIDTH`, aligned to 64
///   bytes; no other memory of the call overlaps them;
/// - `length` is at most `REDUCTION_BLOCK << (NODES - 2)`;
/// - the processor has the level.
pub(crate) type DotFn = unsafe fn(&DotArguments);

/// The operands of eight blocks of one length: for each block, pointers to its first elements in `x` and
/// `y`.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) x: [*const u8; DOT_WIDTH],
    pub(crate) y: [*const u8; DOT_WIDTH],
    pub(crate) length: usize,
}

/// Computes the dot products of a row and some columns.
///
/// # Safety
/// Like [`DotFn`].
#[inline(always)]
pub(crate) unsafe fn run<V: Vector>(dot: &DotArguments) {
    // SAFETY: the caller has the obligations of both functions.
    unsafe {
        if 2 * dot.columns > DOT_WIDTH || dot.length < 2 * REDUCTION_BLOCK {
            sum_columns::<V>(dot);
        } else {
            for column in 0..dot.columns {
                sum_column::<V>(dot, column);
            }
            let sums = dot.sums.cast::<<V::Element as ProductElement>::Wide>();
            for column in dot.columns..dot.sum_count {
                sums.add(column).write(<V::Element as ProductElement>::Wide::ZERO);
            }
        }
    }
}

/// Sums all columns side by side. Missing columns repeat the first one.
///
/// # Safety
/// Like [`DotFn`].
#[inline(always)]
unsafe fn sum_columns<V: Vector>(dot: &DotArguments) {
    let size = size_of::<V::Element>();
    let nodes = dot.nodes.cast::<<V::Element as ProductElement>::Wide>();
    for (index, start) in (0..dot.length).step_by(REDUCTION_BLOCK).enumerate() {
        let x = dot.x.wrapping_add(start * size);
        let mut y = [dot.y[0].wrapping_add(start * size); DOT_WIDTH];
        for (to, from) in y.iter_mut().zip(&dot.y[..dot.columns]) {
            *to = from.wrapping_add(start * size);
        }
        let length = block_length(start, dot.length);
        // SAFETY: the block lies in the row and in every column; nodes have room for `DOT_WIDTH` sums each.
        unsafe {
            let values = block_values::<V, true>(&Blocks { x: [x; DOT_WIDTH], y, length });
            V::push_block(nodes, index, values.as_ptr(), DOT_WIDTH);
        }
    }
    let results = TileResults { out: dot.sums, out_row_stride: 0, is_wide: true };
    // SAFETY: all blocks of `DOT_WIDTH` sums have been pushed.
    unsafe { V::finish_tree(&results, dot.length, nodes, [1, DOT_WIDTH], dot.sum_count) }
}

/// Sums one column, eight blocks side by side.
///
/// # Safety
/// Like [`DotFn`]; the column is less than `dot.columns`.
#[inline(always)]
unsafe fn sum_column<V: Vector>(dot: &DotArguments, column: usize) {
    let size = size_of::<V::Element>();
    let nodes = dot.nodes.cast::<<V::Element as ProductElement>::Wide>();
    let count = dot.length.div_ceil(REDUCTION_BLOCK);
    let mut first = 0;
    while first < count {
        let start = first * REDUCTION_BLOCK;
        let length = block_length(start, dot.length);
        let block_count = if length < REDUCTION_BLOCK {
            1
        } else {
            DOT_WIDTH.min(dot.length / REDUCTION_BLOCK - first)
        };
        let at = |base: *const u8| {
            core::array::from_fn(|block| {
                let block = if block < block_count { block } else { 0 };
                base.wrapping_add((start + block * REDUCTION_BLOCK) * size)
            })
        };
        let blocks = Blocks { x: at(dot.x), y: at(dot.y[column]), length };
        // SAFETY: the blocks lie in the row and in the column.
        unsafe {
            let values = block_values::<V, false>(&blocks);
            for (block, value) in values[..block_count].iter().enumerate() {
                V::push_block(nodes, first + block, value, 1);
            }
        }
        first += block_count;
    }
    let sum = dot.sums.wrapping_add(column * size_of::<<V::Element as ProductElement>::Wide>());
    let results = TileResults { out: sum, out_row_stride: 0, is_wide: true };
    // SAFETY: all blocks of the column have been pushed.
    unsafe { V::finish_tree(&results, dot.length, nodes, [1, 1], 1) }
}

/// The values of eight blocks of one length. `SHARED` tells whether all have the same elements of `x`.
///
/// # Safety
/// - both operands of every block are valid for reads of `length` elements;
/// - the processor has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn block_values<V: Vector, const SHARED: bool>(
    blocks: &Blocks,
) -> [V::Element; DOT_WIDTH] {
    let mut values = [V::Element::ZERO; DOT_WIDTH];
    // SAFETY: the caller has the obligations of both functions.
    unsafe {
        if blocks.length <= MAX_CHAIN {
            chain_values::<V>(blocks, &mut values);
        } else {
            for first in (0..DOT_WIDTH).step_by(V::LANES) {
                lane_values::<V, SHARED>(blocks, first, &mut values[first..first + V::LANES]);
            }
        }
    }
    values
}

/// The values of short blocks, a chain each: the vectors hold one index of neighbouring blocks.
///
/// # Safety
/// Like [`block_values`].
#[inline(always)]
unsafe fn chain_values<V: Vector>(blocks: &Blocks, values: &mut [V::Element; DOT_WIDTH]) {
    for (first, values) in (0..DOT_WIDTH).step_by(V::LANES).zip(values.chunks_exact_mut(V::LANES)) {
        // SAFETY: the caller ensures the elements of each block.
        unsafe {
            let mut sum = V::zero();
            for index in 0..blocks.length {
                let element = |base: &[*const u8; DOT_WIDTH]| {
                    let mut elements = [V::Element::ZERO; CONTRACTION_LANES];
                    for (lane, to) in elements.iter_mut().take(V::LANES).enumerate() {
                        let from = base[first + lane].cast::<V::Element>();
                        *to = from.add(index).read_unaligned();
                    }
                    V::load(elements.as_ptr().cast())
                };
                sum = sum.fma(element(&blocks.x), element(&blocks.y));
            }
            sum.store(values.as_mut_ptr().cast());
        }
    }
}

/// The values of `V::LANES` long blocks, from `first` on. Each block has `CONTRACTION_LANES / V::LANES`
/// accumulators, its *parts*, so all blocks together have eight.
///
/// # Safety
/// Like [`block_values`].
#[inline(always)]
unsafe fn lane_values<V: Vector, const SHARED: bool>(
    blocks: &Blocks,
    first: usize,
    values: &mut [V::Element],
) {
    let parts = CONTRACTION_LANES / V::LANES;
    let whole = blocks.length - blocks.length % CONTRACTION_LANES;
    let (size, shared) = (size_of::<V::Element>(), blocks.x[0]);
    // SAFETY: the caller ensures the elements of each block.
    unsafe {
        let mut sums = [V::zero(); CONTRACTION_LANES];
        for index in (0..whole).step_by(CONTRACTION_LANES) {
            for part in 0..parts {
                let skipped = (index + part * V::LANES) * size;
                let common = V::load(shared.wrapping_add(skipped));
                for block in 0..V::LANES {
                    let x = match SHARED {
                        true => common,
                        false => V::load(blocks.x[first + block].wrapping_add(skipped)),
                    };
                    let y = V::load(blocks.y[first + block].wrapping_add(skipped));
                    sums[block * parts + part] = sums[block * parts + part].fma(x, y);
                }
            }
        }
        let tail = Blocks {
            x: blocks.x.map(|x| x.wrapping_add(whole * size)),
            y: blocks.y.map(|y| y.wrapping_add(whole * size)),
            length: blocks.length - whole,
        };
        if tail.length > 0 {
            add_tail::<V, SHARED>(&mut sums, &tail, first);
        }
        sum_of_lanes(&sums).store(values.as_mut_ptr().cast());
    }
}

/// Adds the last products of `V::LANES` blocks, fewer than [`CONTRACTION_LANES`], to their lanes. Lanes
/// without a product add +0.
///
/// # Safety
/// Like [`lane_values`], for the tails of the blocks.
#[inline(always)]
unsafe fn add_tail<V: Vector, const SHARED: bool>(
    sums: &mut [V; CONTRACTION_LANES],
    tails: &Blocks,
    first: usize,
) {
    let parts = CONTRACTION_LANES / V::LANES;
    for part in 0..parts {
        let start = part * V::LANES;
        let (skipped, count) =
            (start * size_of::<V::Element>(), tails.length.saturating_sub(start).min(V::LANES));
        // SAFETY: the caller ensures the elements of each tail; `count` of them start at `start`.
        unsafe {
            let load = |from: &[*const u8; DOT_WIDTH], block: usize| {
                V::load_first(from[block].wrapping_add(skipped), count)
            };
            let common = load(&tails.x, 0);
            for block in 0..V::LANES {
                let x = if SHARED { common } else { load(&tails.x, first + block) };
                let sum = &mut sums[block * parts + part];
                *sum = sum.fma(x, load(&tails.y, first + block));
            }
        }
    }
}

/// The sums of the lanes of `V::LANES` blocks, from the left: a lane of the result has the sum of a block.
/// The lanes are transposed, so that each addition of vectors adds one lane of every block.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn sum_of_lanes<V: Vector>(sums: &[V; CONTRACTION_LANES]) -> V {
    const { assert!(CONTRACTION_LANES.is_multiple_of(INDICES)) }
    let size = size_of::<V::Element>();
    let mut lanes = [[V::Element::ZERO; CONTRACTION_LANES]; CONTRACTION_LANES];
    let at = lanes.as_mut_ptr().cast::<u8>();
    // SAFETY: the array has room for the elements of all vectors. Each of `V::LANES` blocks is a sequence of
    // `CONTRACTION_LANES` elements.
    unsafe {
        for (index, sum) in sums.iter().enumerate() {
            sum.store(at.wrapping_add(index * V::LANES * size));
        }
        let step = (CONTRACTION_LANES * size) as isize;
        let mut total = None;
        for start in (0..CONTRACTION_LANES).step_by(INDICES) {
            for lane in V::load_sequences(at.wrapping_add(start * size), step, INDICES) {
                total = Some(total.map_or(lane, |total: V| total.add(lane)));
            }
        }
        total.expect("invariant: a block has lanes")
    }
}
