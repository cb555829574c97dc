//! The search for placements of one shape's axes on those of another.
//!
//! This file proposes; `repair.rs` elaborates each proposal under the rule sets to find the legal ones.

use alloc::vec::Vec;

use crate::shape::Shape;

/// Maximum number of steps of one search. Shapes with few axes need few; the limit bounds the work for
/// hostile ranks.
const MAX_SEARCH_STEPS: usize = 1 << 14;

/// Maximum placements that one search returns.
const MAX_PLACEMENTS: usize = 64;

/// A placement of a smaller shape's axes, in order, on axes of a larger one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The axis of the larger shape for each axis of the smaller one.
    pub(crate) axes: Vec<usize>,
    /// The number of axes of the larger shape that must expand; this is seldom intended.
    larger_expands: usize,
    /// The number of axes of the smaller shape that expand from 1.
    smaller_expands: usize,
    /// The number of unmapped axes of the larger shape between mapped ones.
    gaps: usize,
}

impl Placement {
    fn new(small: &Shape, large: &Shape, axes: Vec<usize>) -> Self {
        let pairs = || small.iter().zip(axes.iter().map(|&axis| large[axis]));
        let larger_expands = pairs().filter(|&(&size, other)| other == 1 && size != 1).count();
        let smaller_expands = pairs().filter(|&(&size, other)| size == 1 && other != 1).count();
        let span = axes.last().map_or(0, |last| last + 1 - axes[0]);
        let gaps = span - axes.len();
        Placement { axes, larger_expands, smaller_expands, gaps }
    }
}

/// The placements of `small` on `large`, the likeliest first: equal sizes before sizes that expand,
/// consecutive axes before axes with gaps, trailing axes before leading ones.
///
/// Drops placements that expand the larger shape if others exist.
pub(crate) fn placements(small: &Shape, large: &Shape) -> Vec<Placement> {
    let mut found = search(small, large);
    found.sort_by_key(|placement| {
        (placement.larger_expands, placement.smaller_expands, placement.gaps)
    });
    let fewest = found.first().map_or(0, |placement| placement.larger_expands.min(1));
    found.retain(|placement| placement.larger_expands.min(1) == fewest);
    found
}

/// Every increasing placement whose sizes unify, up to the limits. Backtracks from the last axis on, so that
/// right-aligned placements come first.
fn search(small: &Shape, large: &Shape) -> Vec<Placement> {
    let (rank, large_rank) = (small.rank(), large.rank());
    let mut found = Vec::new();
    if rank > large_rank {
        return found;
    }
    // `chosen_axes[k]` is the axis for axis `rank - 1 - k`; the next axis is tried at `next - 1`.
    let mut chosen_axes: Vec<usize> = Vec::with_capacity(rank);
    let mut next = large_rank;
    for _ in 0..MAX_SEARCH_STEPS {
        let remaining = rank - chosen_axes.len();
        if remaining == 0 {
            found.push(Placement::new(small, large, chosen_axes.iter().rev().copied().collect()));
        }
        if remaining > 0 && next >= remaining {
            next -= 1;
            let (size, other) = (small[remaining - 1], large[next]);
            if size == other || size == 1 || other == 1 {
                chosen_axes.push(next);
            }
            continue;
        }
        match chosen_axes.pop() {
            Some(last) if found.len() < MAX_PLACEMENTS => next = last,
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn axes(small: &[usize], large: &[usize]) -> Vec<Vec<usize>> {
        let found = placements(&Shape::from(small), &Shape::from(large));
        found.into_iter().map(|placement| placement.axes).collect()
    }

    #[test]
    fn likeliest_first() {
        assert_eq!(axes(&[3], &[1, 3, 224, 224]), [[1]]);
        assert_eq!(axes(&[3], &[3, 3]), [[1], [0]]);
        assert_eq!(axes(&[3, 4], &[2, 3, 4, 5]), [[1, 2]]);
        assert_eq!(axes(&[2, 2], &[2, 2, 2]), [[1, 2], [0, 1], [0, 2]]);
        assert_eq!(axes(&[1, 2], &[4, 3, 1]), [[1, 2], [0, 2]]);
        assert_eq!(axes(&[], &[2, 3]), [vec![]; 1]);
        assert!(axes(&[3], &[2, 4]).is_empty());
        assert!(axes(&[2, 3], &[3]).is_empty());
    }

    #[test]
    fn hostile_ranks_are_bounded() {
        let (small, large) = ([2; 32], [2; 64]);
        assert_eq!(axes(&small, &large).len(), MAX_PLACEMENTS);
        let mut unplaceable = vec![2; 32];
        unplaceable[0] = 7;
        assert!(axes(&unplaceable, &large).is_empty());
    }
}
