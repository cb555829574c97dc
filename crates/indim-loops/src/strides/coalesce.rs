//! Joint ordering and merging of axes over all operands of a nest.
//!
//! The axes are sorted by the strides of the first operand, which is the first store of a nest, so that its
//! memory is traversed forwards and as densely as possible. Two axes merge only if they merge for every
//! operand. (Merging by pairs of operands gives wrong results for broadcasts of three operands.) The rank has
//! no limit.

use core::cmp::Reverse;

use indim_shape::sort_few_by_key;
use smallvec::SmallVec;

use super::{AxisStrides, zero_strides};
use crate::memory_use::MemoryUse;

/// The axes of a nest after coalescing, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoalescedAxes {
    /// The size of each axis, never 1. Empty for a single point.
    pub sizes: SmallVec<[usize; 4]>,
    /// The strides along the axes: those of the first operand, then of the second, and so on.
    pub(crate) strides: SmallVec<[isize; 12]>,
    /// The offset of each operand's first point, which reversed axes move.
    pub offsets: AxisStrides,
}

/// Coalesces axes of these `sizes`; `strides[operand][axis]` are the strides of the operands.
///
/// Returns `None` if a size is 0. Strides are in any unit. All offsets must fit `isize`, which is true for
/// arrays in memory.
pub fn coalesce<S: AsRef<[isize]>>(sizes: &[usize], strides: &[S]) -> Option<CoalescedAxes> {
    coalesce_some(0, 0..sizes.len(), sizes, strides)
}

/// Like [`coalesce`], for some of the axes, sorted by the strides of operand `main`.
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
        sort_few_by_key(&mut axes, |&axis| Reverse(of_main(axis).unsigned_abs()));
    }
    // An axis is reversed if its stride in the main operand is negative; the order of points is free.
    let any_reversed = axes.iter().any(|&axis| of_main(axis) < 0);
    let is_reversed = |axis: usize| any_reversed && of_main(axis) < 0;
    let step = |strides: &[isize], axis: usize| match is_reversed(axis) {
        true => -strides[axis],
        false => strides[axis],
    };
    let mut offsets = zero_strides(strides.len());
    for &axis in axes.iter().filter(|&&axis| is_reversed(axis)) {
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
    // Axes are few, so a push for each is faster than `collect`.
    for strides in strides.iter().map(AsRef::as_ref) {
        axes.iter().for_each(|&axis| coalesced.strides.push(step(strides, axis)));
    }
    Some(coalesced)
}

impl CoalescedAxes {
    /// Axes of these sizes, without strides, which the caller adds.
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

    /// Counts the memory of this structure.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.sizes);
        memory_use.add_small_vec(&self.strides);
        memory_use.add_small_vec(&self.offsets);
    }
}

/// Merges adjacent axes. `continues(inner, outer)` tells whether the stride of the outer axis is the extent
/// of the inner one, for every operand. Leaves the innermost axis of each merged axis in `axes`; returns
/// their sizes.
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
    fn axes_with_negative_strides_in_the_first_operand_are_reversed() {
        let axes = coalesce(&[3, 4], &[vec![-4, 1], vec![4, 1]]).unwrap();
        assert_eq!(axes.sizes[..], [3, 4]);
        assert_eq!(vectors(&axes), [[4, 1], [-4, 1]]);
        assert_eq!(axes.offsets[..], [-8, 8]);
    }

    #[test]
    fn axes_of_size_1_vanish_and_empty_axes_give_none() {
        assert_eq!(coalesce(&[1, 1], &[vec![7, 9]]).unwrap().sizes.len(), 0);
        assert_eq!(coalesce(&[3, 0], &[vec![1, 1]]), None);
    }

    #[test]
    fn every_point_is_visited_once_at_the_right_offsets() {
        // All operands of three axes of sizes 1 to 3, with strides from a small set.
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
