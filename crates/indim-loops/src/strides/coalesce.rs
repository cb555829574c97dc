//! Joint ordering and merging of axes over all operands of a nest.
//!
//! Pure arithmetic on sizes and strides, so that it can be tested by itself. The order of the axes
//! follows the first operand, which is the first store of a nest: its memory is walked forwards and
//! as densely as it can be. Two axes merge only when they do for every operand; looking at pairs of
//! operands is how others get three-operand broadcasts wrong. The rank has no limit.

use core::cmp::Reverse;

use smallvec::SmallVec;

use super::{AxisStrides, zero_strides};
use crate::memory_use::MemoryUse;

/// The axes of a nest after coalescing, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoalescedAxes {
    /// The size of each axis; none is 1. Empty for a single point.
    pub sizes: SmallVec<[usize; 4]>,
    /// The stride along each axis of the first operand, then of the second, and so on.
    pub(crate) strides: SmallVec<[isize; 12]>,
    /// For each operand, how far its first point lies from where it used to be.
    pub offsets: AxisStrides,
}

/// Coalesces the axes of `sizes`, walked by operands with `strides[operand][axis]`.
///
/// Returns `None` if a size is 0.
/// Strides are in any unit; every offset a nest can reach must fit `isize`, as it does for arrays in memory.
pub fn coalesce<S: AsRef<[isize]>>(sizes: &[usize], strides: &[S]) -> Option<CoalescedAxes> {
    coalesce_some(0, 0..sizes.len(), sizes, strides)
}

/// Like [`coalesce`], for some of the axes, whose order follows the operand `main`.
pub fn coalesce_some<S: AsRef<[isize]>>(
    main: usize,
    some: impl Iterator<Item = usize>,
    sizes: &[usize],
    strides: &[S],
) -> Option<CoalescedAxes> {
    let main = strides.get(main).map_or(&[][..], AsRef::as_ref);
    let of_main = |axis: usize| main.get(axis).copied().unwrap_or(0);
    let mut axes: SmallVec<[usize; 8]> = SmallVec::new();
    for axis in some {
        match sizes[axis] {
            0 => return None,
            1 => {}
            _ => axes.push(axis),
        }
    }
    if axes.len() > 1 {
        axes.sort_by_key(|&axis| Reverse(of_main(axis).unsigned_abs()));
    }
    // An axis turns round when that operand walks it backwards; the order of points is free.
    let any_turns = axes.iter().any(|&axis| of_main(axis) < 0);
    let turns = |axis: usize| any_turns && of_main(axis) < 0;
    let step = |strides: &[isize], axis: usize| match turns(axis) {
        true => -strides[axis],
        false => strides[axis],
    };
    let mut offsets = zero_strides(strides.len());
    for &axis in axes.iter().filter(|&&axis| turns(axis)) {
        for (offset, strides) in offsets.iter_mut().zip(strides) {
            *offset += strides.as_ref()[axis] * (sizes[axis] as isize - 1);
        }
    }
    let merged = merge(&mut axes, sizes, |inner, outer| {
        strides.iter().map(AsRef::as_ref).all(|strides| {
            step(strides, inner).checked_mul(sizes[inner] as isize) == Some(step(strides, outer))
        })
    });
    let mut coalesced = CoalescedAxes::new(merged, offsets);
    // Few, so that a push for each is faster than `collect`.
    for strides in strides.iter().map(AsRef::as_ref) {
        axes.iter().for_each(|&axis| coalesced.strides.push(step(strides, axis)));
    }
    Some(coalesced)
}

impl CoalescedAxes {
    /// Axes of these sizes, the strides of whose operands are still to come.
    pub(crate) fn new(sizes: SmallVec<[usize; 4]>, offsets: AxisStrides) -> Self {
        CoalescedAxes { sizes, strides: SmallVec::new(), offsets }
    }

    /// The number of operands.
    pub fn operands(&self) -> usize {
        self.offsets.len()
    }

    /// The stride of an operand along each axis.
    pub fn strides_of(&self, operand: usize) -> &[isize] {
        let rank = self.sizes.len();
        &self.strides[operand * rank..][..rank]
    }

    /// The strides of all operands.
    pub(crate) fn all_strides(&self) -> impl Iterator<Item = &[isize]> {
        (0..self.operands()).map(|operand| self.strides_of(operand))
    }

    /// Counts the memory that they hold.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.sizes);
        held.small(&self.strides);
        held.small(&self.offsets);
    }
}

/// Merges neighbours where every operand steps from the end of the inner one on to the outer one, which
/// `continues` says of the two: leaves the innermost of those that have become one, and returns their points.
fn merge(
    axes: &mut SmallVec<[usize; 8]>,
    sizes: &[usize],
    continues: impl Fn(usize, usize) -> bool,
) -> SmallVec<[usize; 4]> {
    let mut merged: SmallVec<[usize; 4]> = SmallVec::new();
    for index in 0..axes.len() {
        let inner = axes[index];
        match merged.len().checked_sub(1) {
            Some(last) if continues(inner, axes[last]) => merged[last] *= sizes[inner],
            _ => merged.push(sizes[inner]),
        }
        axes[merged.len() - 1] = inner;
    }
    axes.truncate(merged.len());
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strides of all operands.
    fn vectors(axes: &CoalescedAxes) -> Vec<Vec<isize>> {
        axes.all_strides().map(<[isize]>::to_vec).collect()
    }

    #[test]
    fn equal_dense_operands_become_one_axis() {
        let dense = vec![12, 4, 1];
        let axes = coalesce(&[2, 3, 4], &[dense.clone(), dense]).unwrap();
        assert_eq!(axes.sizes[..], [24]);
        assert_eq!(vectors(&axes), [[1], [1]]);
    }

    #[test]
    fn a_row_operand_keeps_two_axes() {
        let axes = coalesce(&[2, 3, 4], &[vec![12, 4, 1], vec![0, 0, 1]]).unwrap();
        assert_eq!(axes.sizes[..], [6, 4]);
        assert_eq!(vectors(&axes), [[4, 1], [0, 1]]);
    }

    #[test]
    fn three_operands_merge_only_where_all_do() {
        // [2,5,2] with [2,1,1] and [2,5,2]: a pairwise merge of the outer two would be wrong.
        let full = vec![10, 2, 1];
        let axes = coalesce(&[2, 5, 2], &[full.clone(), vec![1, 0, 0], full]).unwrap();
        assert_eq!(axes.sizes[..], [2, 10]);
        assert_eq!(vectors(&axes), [[10, 1], [1, 0], [10, 1]]);
    }

    #[test]
    fn the_order_follows_the_first_operand() {
        let axes = coalesce(&[3, 4], &[vec![1, 3], vec![4, 1]]).unwrap();
        assert_eq!(axes.sizes[..], [4, 3]);
        assert_eq!(vectors(&axes), [[3, 1], [1, 4]]);
    }

    #[test]
    fn backward_axes_of_the_first_operand_turn_round() {
        let axes = coalesce(&[3, 4], &[vec![-4, 1], vec![4, 1]]).unwrap();
        assert_eq!(axes.sizes[..], [3, 4]);
        assert_eq!(vectors(&axes), [[4, 1], [-4, 1]]);
        assert_eq!(axes.offsets[..], [-8, 8]);
    }

    #[test]
    fn unit_axes_vanish_and_empty_ones_end_it() {
        assert_eq!(coalesce(&[1, 1], &[vec![7, 9]]).unwrap().sizes.len(), 0);
        assert_eq!(coalesce(&[3, 0], &[vec![1, 1]]), None);
    }

    #[test]
    fn every_point_is_visited_once_at_the_right_places() {
        // All operands of three axes of size 1 to 3 with strides out of a small set.
        for sizes in [[2, 3, 2], [3, 1, 2], [2, 2, 2], [1, 3, 3]] {
            let [_, b, c] = sizes.map(|s| s as isize);
            let choices =
                [vec![b * c, c, 1], vec![0, c, 1], vec![0, 0, 1], vec![1, 0, 0], vec![1, -3, 7]];
            for x in &choices {
                for y in &choices {
                    let strides = [choices[0].clone(), x.clone(), y.clone()];
                    assert_eq!(
                        points(&sizes, &strides, &[0; 3]),
                        coalesced_points(&sizes, &strides)
                    );
                }
            }
        }
    }

    fn coalesced_points(sizes: &[usize], strides: &[Vec<isize>]) -> Vec<Vec<isize>> {
        let axes = coalesce(sizes, strides).unwrap();
        points(&axes.sizes, &vectors(&axes), &axes.offsets)
    }

    /// The offsets of all operands at every point, sorted.
    fn points(sizes: &[usize], strides: &[Vec<isize>], offsets: &[isize]) -> Vec<Vec<isize>> {
        let mut points = vec![offsets.to_vec()];
        for (axis, &size) in sizes.iter().enumerate() {
            points = points
                .iter()
                .flat_map(|point| {
                    (0..size as isize).map(move |index| {
                        let moved = |(operand, offset): (usize, &isize)| {
                            offset + index * strides[operand][axis]
                        };
                        point.iter().enumerate().map(moved).collect()
                    })
                })
                .collect();
        }
        points.sort();
        points
    }
}
