//! Order of a reduction along its axis: a fixed tree over the positions of the elements.
//!
//! The axis is divided into blocks of 512 elements. In a block, lane `l` of 32 starts at the identity and
//! combines elements `l`, `l + 32`, ..., `l + 480`, in this order, as far as they exist. The lanes that have
//! elements are then folded by halves: lane `l` combines lane `l + 16`, then `l + 8`, then `l + 4`. The
//! result of the block is ((lane 0, lane 1), lane 2), lane 3. The results of blocks are combined by pairs,
//! neighbours first, until one is left; an odd one is carried up unchanged. Without blocks the result is the
//! identity.
//!
//! Only sums and products of floats and complex numbers depend on the order. For them the tree gives the
//! same bits in every executor, for any vector width, thread count and division into pieces: a piece of
//! `512 * 2^k` elements that begins at a multiple of its length is a node of the tree. The error of a sum
//! is at most `21 + ceil(log2(n / 512))` roundings of the sum of magnitudes, about that of NumPy's pairwise
//! sum.

use alloc::vec::Vec;

/// The number of lanes.
pub const REDUCTION_LANES: usize = 32;

/// Elements of a block.
pub const REDUCTION_BLOCK: usize = 512;

/// The combination of the elements by the tree; `start` is the identity of `combine`.
#[inline(never)]
pub fn tree<T: Copy>(elements: &[T], start: T, mut combine: impl FnMut(T, T) -> T) -> T {
    let blocks = elements
        .chunks(REDUCTION_BLOCK)
        .map(|block| fold_block(block, start, &mut combine))
        .collect();
    combine_pairs(blocks, start, combine)
}

/// The combination of the results of blocks by pairs, neighbours first; an odd one is carried up. Without
/// blocks it is `start`.
pub(super) fn combine_pairs<T: Copy>(
    mut nodes: Vec<T>,
    start: T,
    mut combine: impl FnMut(T, T) -> T,
) -> T {
    while nodes.len() > 1 {
        let pair = |pair: &[T]| match *pair {
            [x, y] => combine(x, y),
            _ => pair[0],
        };
        nodes = nodes.chunks(2).map(pair).collect();
    }
    nodes.first().copied().unwrap_or(start)
}

#[inline(never)]
fn fold_block<T: Copy>(block: &[T], start: T, mut combine: impl FnMut(T, T) -> T) -> T {
    let mut lanes = [start; REDUCTION_LANES];
    for (position, &element) in block.iter().enumerate() {
        let lane = &mut lanes[position % REDUCTION_LANES];
        *lane = combine(*lane, element);
    }
    let mut live = block.len().min(REDUCTION_LANES);
    for half in [16, 8, 4] {
        for lane in half..live {
            lanes[lane - half] = combine(lanes[lane - half], lanes[lane]);
        }
        live = live.min(half);
    }
    lanes[1..live].iter().fold(lanes[0], |folded, &lane| combine(folded, lane))
}
