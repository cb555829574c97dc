//! Scans over arrays larger than the memory limit: in pieces along other axes, and refused along their own.

use indim_builder::GraphBuilder;
use indim_cpu::{Array, CompileOptions, compile};
use indim_graph::Graph;
use indim_io::{MemorySink, MemorySource, Sink};
use indim_ops::{DType, ReduceOp};
use indim_stream::{Plan, StorageInfo, StreamError, StreamInput, StreamOptions};

/// `cumsum(x, axis) - max(x, axis)` for 600 rows of 700 elements.
fn program(axis: i64) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [600, 700]).unwrap();
    let largest = b.reduce(ReduceOp::Max, &x, axis).unwrap();
    let largest = b.broadcast_in_dim(largest, &[1 - axis], [600, 700]).unwrap();
    let sums = b.scan(ReduceOp::Add, &x, axis, false, false).unwrap();
    b.finish(&[sums - largest]).unwrap()
}

fn numbers() -> Array {
    let numbers = (0..600 * 700u64).map(|index| (index * 7919 % 10_007) as f32 / 3.0 - 1600.0);
    Array::new([600, 700], numbers.collect::<Vec<f32>>()).unwrap()
}

#[test]
fn pieces_along_the_other_axis_give_the_bits_of_the_whole() {
    for axis in [0, 1] {
        let (graph, x) = (program(axis), numbers());
        let expected =
            compile(&graph, &CompileOptions::default()).unwrap().run(&[x.view()]).unwrap();
        let source = MemorySource::new(x).unwrap();
        let inputs = [StreamInput::Stored(&source)];
        let stored: Vec<StorageInfo> = inputs.iter().map(StorageInfo::input).collect();
        let (sink, result) = MemorySink::new(expected[0].array_type().clone()).unwrap();
        let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(sink)];
        let options = StreamOptions::new().memory_limit(600_000);
        let plan = Plan::new(&graph, &stored, &[StorageInfo::default()], &options).unwrap();
        plan.run(&inputs, &mut sinks, &options).unwrap();
        sinks.into_iter().for_each(|sink| sink.finish().unwrap());
        assert_eq!(result.take().unwrap().bytes(), expected[0].to_row_major().unwrap().bytes());
    }
}

#[test]
fn a_long_line_is_refused_with_the_scan_named() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 20]).unwrap();
    let graph = b.finish(&[b.scan(ReduceOp::Add, x, 0, false, false).unwrap()]).unwrap();
    let stored = [StorageInfo::default()];
    let options = StreamOptions::new().memory_limit(1 << 20);
    let Err(error) = Plan::new(&graph, &stored, &stored, &options) else {
        panic!("a scan needs its whole axis")
    };
    assert!(matches!(error, StreamError::MemoryLimit { .. }));
    assert!(error.to_string().contains("`scan_add` needs all of axis 0"), "{error}");
}
