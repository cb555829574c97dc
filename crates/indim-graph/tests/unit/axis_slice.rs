//! Slices of one axis, compared with lists of indices.

use super::*;

/// Python's `range(size)[start:stop:step]`, by its definition.
fn naive(start: Option<i64>, stop: Option<i64>, step: i64, size: i64) -> Vec<usize> {
    let place = |given: i64| if given < 0 { given + size } else { given };
    let mut indices = Vec::new();
    let mut index = match (start.map(place), step > 0) {
        (None, true) => 0,
        (None, false) => size - 1,
        (Some(start), true) => start.max(0),
        (Some(start), false) => start.min(size - 1),
    };
    let is_before = |index: i64| match stop.map(place) {
        None => true,
        Some(stop) if step > 0 => index < stop,
        Some(stop) => index > stop,
    };
    while (0..size).contains(&index) && is_before(index) {
        indices.push(index as usize);
        index += step;
    }
    indices
}

#[test]
fn slices_of_small_axes_are_pythons() {
    let ends = || core::iter::once(None).chain((-7..=7).map(Some));
    for size in 0..6usize {
        for (start, stop) in ends().flat_map(|start| ends().map(move |stop| (start, stop))) {
            for step in [-7, -3, -2, -1, 1, 2, 3, 7] {
                let slice = AxisSlice::python(start, stop, Some(step), size).unwrap();
                let indices: Vec<usize> = (0..slice.count()).map(|k| slice.index(k)).collect();
                let expected = naive(start, stop, step, size as i64);
                assert_eq!(indices, expected, "[{start:?}:{stop:?}:{step}] of {size}");
                assert_eq!(slice.check(0, size), Ok(()));
            }
        }
    }
}

#[test]
fn a_slice_of_a_slice_is_one() {
    let all = |size: usize| {
        let steps = [-3, -2, -1, 1, 2, 3];
        let of = move |start, count| steps.map(|step| AxisSlice::new(start, count, step));
        let slices = (0..size).flat_map(move |start| (0..=size).flat_map(move |n| of(start, n)));
        slices.filter(move |slice| slice.check(0, size).is_ok()).collect::<Vec<_>>()
    };
    for size in 1..6 {
        for first in all(size) {
            for later in all(first.count()) {
                let both = first.then(&later).unwrap();
                let expected = (0..later.count()).map(|k| first.index(later.index(k)));
                let found = (0..both.count()).map(|k| both.index(k));
                assert!(found.eq(expected), "{first} then {later}");
                assert_eq!(both.check(0, size), Ok(()));
            }
        }
    }
}

#[test]
fn slices_out_of_range_are_refused() {
    let code = |slice: AxisSlice, size| slice.check(0, size).err();
    assert!(matches!(
        code(AxisSlice::new(3, 1, 1), 3),
        Some(GraphErrorKind::SliceOutOfRange { .. })
    ));
    assert!(code(AxisSlice::new(2, 2, 1), 3).is_some());
    assert!(code(AxisSlice::new(1, 3, -1), 3).is_some());
    assert!(code(AxisSlice::new(0, usize::MAX, isize::MAX), 3).is_some());
    assert_eq!(code(AxisSlice::new(0, 2, 0), 3), Some(GraphErrorKind::ZeroStep));
    assert_eq!(AxisSlice::python(Some(0), None, Some(0), 3), Err(GraphErrorKind::ZeroStep));
    // Bounds of any size are clamped.
    let wide = AxisSlice::python(Some(i64::MIN), Some(i64::MAX), Some(i64::MAX), 3).unwrap();
    assert_eq!(wide, AxisSlice::new(0, 1, 1));
}

#[test]
fn slices_with_symbolic_starts_compose() {
    let from_end = |slice: AxisSlice, size: isize, symbol: usize| {
        let constant = slice.start() as isize - size;
        slice.with_symbolic_start(SymbolicStart::new(constant, [(symbol, 1)]).unwrap())
    };
    let last = from_end(AxisSlice::new(4, 1, 1), 5, 0);
    assert_eq!(AxisSlice::whole(5).then(&last), Some(last));
    assert_eq!(last.then(&AxisSlice::whole(1)), Some(last));
    let tail = from_end(AxisSlice::new(2, 3, 1), 5, 0);
    let second = AxisSlice::new(1, 1, 1);
    assert_eq!(tail.then(&second), Some(from_end(AxisSlice::new(3, 1, 1), 5, 0)));
    assert_ne!(tail, AxisSlice::new(2, 3, 1));
    // Backwards from the last of the elements that symbol 1 counts.
    let composed =
        from_end(AxisSlice::new(4, 4, -1), 5, 0).then(&from_end(AxisSlice::new(3, 1, 1), 4, 1));
    let start = SymbolicStart::new(0, [(0, 1), (1, -1)]).unwrap();
    assert_eq!(composed, Some(AxisSlice::new(1, 1, 1).with_symbolic_start(start)));
    // The symbols cancel: the first index is a number.
    let first = from_end(AxisSlice::new(4, 5, -1), 5, 0);
    assert_eq!(first.then(&from_end(AxisSlice::new(4, 5, -1), 5, 0)), Some(AxisSlice::whole(5)));
    let of = |symbols: [usize; 2]| {
        let start = SymbolicStart::new(0, symbols.map(|symbol| (symbol, 1))).unwrap();
        AxisSlice::new(3, 2, 1).with_symbolic_start(start)
    };
    assert_eq!(of([0, 1]).then(&of([2, 3])), None);
}
