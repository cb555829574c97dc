//! Runs of a tile in block order.

use super::*;

/// The offsets in memory of all elements, in block order.
fn offsets(runs: &[ElementRun], steps: ElementRun) -> Vec<isize> {
    let mut found = Vec::new();
    for_each_run(runs, steps, 1, |block_offset, offset, steps, run| {
        assert_eq!(block_offset, found.len());
        for step in 0..steps.count as isize {
            let along = |i: usize| offset + step * steps.stride + i as isize * run.stride;
            found.extend((0..run.count).map(along));
        }
    });
    found
}

#[test]
fn the_maximum_nesting() {
    let steps = ElementRun { count: 1, stride: 0 };
    // The bits of the position in the block, in reverse: no two levels merge.
    let bits = MAX_TILE_ELEMENTS.ilog2();
    let mut runs = vec![ElementRun { count: 1, stride: 0 }];
    runs.extend((0..bits).map(|bit| ElementRun { count: 2, stride: 1 << bit }));
    let reversed = |position: usize| (position.reverse_bits() >> (usize::BITS - bits)) as isize;
    let expected: Vec<isize> = (0..MAX_TILE_ELEMENTS).map(reversed).collect();
    assert_eq!(offsets(&runs, steps), expected);
}

#[test]
fn steps_continue_the_first_run_or_surround_it() {
    let steps = ElementRun { count: 3, stride: 100 };
    let run = |count, stride| ElementRun { count, stride };
    assert_eq!(offsets(&[run(1, 100)], steps), [0, 100, 200]);
    assert_eq!(offsets(&[run(2, 50)], steps), [0, 50, 100, 150, 200, 250]);
    assert_eq!(offsets(&[run(1, 0), run(2, 7)], steps), [0, 7, 100, 107, 200, 207]);
    assert_eq!(
        offsets(&[run(1, 0), run(2, 30), run(2, -1)], run(2, 100)),
        [0, -1, 30, 29, 100, 99, 130, 129]
    );
}
