//! Shared code of the tests: the exhaustive scope, and the naive oracle in `oracle.rs`.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod oracle;

use indim_shape::{Broadcast, Shape};

/// Every shape of at most `rank` axes with sizes 0 to 3.
pub(crate) fn shapes(rank: usize) -> Vec<Shape> {
    lists(rank, 0, 3)
        .into_iter()
        .map(|sizes| sizes.iter().map(|&size| size as usize).collect())
        .collect()
}

/// Every list of at most `length` entries from `low` to `high`.
pub(crate) fn lists(length: usize, low: i64, high: i64) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..length {
        let longer = |list: &Vec<i64>| {
            let extended = |entry| list.iter().copied().chain([entry]).collect::<Vec<i64>>();
            (low..=high).map(extended).collect::<Vec<_>>()
        };
        longest = longest.iter().flat_map(longer).collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// Every index of an array of this shape, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        let longer = |index: &Vec<usize>| {
            (0..size).map(|k| [index.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The position of an index in row-major order.
pub(crate) fn position(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |position, (size, k)| position * size + k)
}

/// For each result index and each operand, the position of the element that the explicit form reads.
pub(crate) fn reads(broadcast: &Broadcast) -> Vec<Vec<usize>> {
    let read = |index: Vec<usize>| {
        let operand = |(shape, map): (&Shape, &indim_shape::AxisMap)| {
            let coordinate =
                |(&size, &axis): (&usize, &usize)| if size == 1 { 0 } else { index[axis] };
            let at: Vec<usize> = shape.iter().zip(map.iter()).map(coordinate).collect();
            position(shape, &at)
        };
        broadcast.operands().iter().zip(broadcast.maps()).map(operand).collect()
    };
    indices(broadcast.result()).into_iter().map(read).collect()
}
