//! Lanes of a block that is read in parts.

use super::*;
use indim_ops::meaning::reduction::tree;

/// The sum of one block, read group by group.
fn sum_by_groups(elements: &[f64], group: usize) -> f64 {
    let mut folded: Option<f64> = None;
    let mut partials: Vec<Vec<f64>> = Vec::new();
    for run in lane_groups(group).chunks(run_length(group)) {
        partials.clear();
        for &first in run {
            let lane =
                |lane: usize| elements.iter().skip(lane).step_by(REDUCTION_LANES).sum::<f64>();
            partials.push((first..first + group).map(lane).collect());
        }
        while partials.len() > 1 {
            let pairs = partials.chunks(2);
            partials =
                pairs.map(|two| two[0].iter().zip(&two[1]).map(|(x, y)| x + y).collect()).collect();
        }
        let mut lanes = partials[0].clone();
        for distance in [16, 8, 4] {
            for lane in distance..lanes.len() {
                lanes[lane - distance] += lanes[lane];
            }
            lanes.truncate(distance);
        }
        let sum = folded.into_iter().chain(lanes).reduce(|x, y| x + y);
        folded = sum;
    }
    folded.unwrap_or(0.0)
}

#[test]
fn groups_of_lanes_give_the_bits_of_the_tree() {
    let element = |index: usize| ((index * 7919) % 1013) as f64 / 3.0 - 150.0;
    let elements: Vec<f64> = (0..REDUCTION_BLOCK).map(element).collect();
    let expected = tree(&elements, 0.0, |x, y| x + y);
    for group in [1, 2, 4, 8, 16, 32] {
        let mut lanes = lane_groups(group);
        assert_eq!(sum_by_groups(&elements, group).to_bits(), expected.to_bits(), "{group}");
        lanes.sort_unstable();
        assert!(lanes.into_iter().eq((0..REDUCTION_LANES).step_by(group)), "{group}");
    }
}

#[test]
fn blocks_make_up_the_whole() {
    for end in [513, 1024, 5000] {
        let mut start = 0;
        while let Some(length) = whole_blocks(start, end) {
            assert!(start.is_multiple_of(length) && (length / REDUCTION_BLOCK).is_power_of_two());
            start += length;
        }
        assert_eq!(start, end / REDUCTION_BLOCK * REDUCTION_BLOCK);
    }
}
