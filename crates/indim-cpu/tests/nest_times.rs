//! Times of loop nests: each nest once, groups and loops as a whole, nothing without a callback.

use core::ops::Range;
use core::time::Duration;
use std::sync::Mutex;

use indim_builder::{GraphBuilder, Reduction};
use indim_cpu::{Array, ArrayView, CompileOptions, Executable, RunOptions, compile};
use indim_ops::DType;

/// The nests whose times a run reports.
fn reported(executable: &Executable, inputs: &[ArrayView<'_>]) -> Vec<Range<usize>> {
    let nests = Mutex::new(Vec::new());
    let note = |of: &Range<usize>, time: Duration| {
        assert!(time > Duration::ZERO);
        nests.lock().unwrap().push(of.clone());
    };
    executable.run_with(inputs, &RunOptions::new().nest_times(&note)).unwrap();
    nests.into_inner().unwrap()
}

#[test]
fn each_nest_is_reported_once_and_a_group_as_one() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1000, 1000]).unwrap();
    let softmax = b.along(Reduction::Softmax, &x, [1]).unwrap();
    let total = b.along(Reduction::Sum, softmax.exp(), [0, 1]).unwrap();
    let executable =
        compile(&b.finish(&[softmax, total]).unwrap(), &CompileOptions::new()).unwrap();
    let x = Array::new([1000, 1000], vec![1.0f32; 1_000_000]).unwrap();
    let nests = reported(&executable, &[ArrayView::from(&x)]);
    let ends: Vec<usize> = nests.iter().map(|of| of.end).collect();
    let starts: Vec<usize> = nests.iter().map(|of| of.start).collect();
    assert_eq!(starts[0], 0);
    assert_eq!(starts[1..], ends[..ends.len() - 1]);
    assert_eq!(ends.last(), Some(&executable.nests().len()));
    for group in executable.tiled_groups() {
        assert!(nests.contains(&group.nests));
    }
    assert!(executable.tiled_groups().next().is_some());
    // A tiled group reads its input once, although several of its nests read it.
    let group = executable.tiled_groups().next().unwrap().nests;
    let one_by_one: usize =
        group.clone().map(|nest| executable.bytes_of_nests(nest..nest + 1).unwrap()).sum();
    assert!(executable.bytes_of_nests(group).unwrap() < one_by_one);
}

#[test]
fn a_loop_is_one_nest() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, []).unwrap();
    let halved =
        b.while_loop(&[&x], |_, s| Ok(s[0].gt(1.0)), |_, s| Ok(vec![&s[0] * 0.5])).unwrap();
    let executable = compile(&b.finish(&halved).unwrap(), &CompileOptions::new()).unwrap();
    let nests = reported(&executable, &[ArrayView::from_slice([], &[1000.0]).unwrap()]);
    let count = executable.nests().len();
    assert_eq!(nests, (0..count).map(|nest| nest..nest + 1).collect::<Vec<_>>());
    assert!((0..count).any(|nest| executable.bytes_of_nests(nest..nest + 1).is_none()));
}
