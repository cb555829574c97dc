//! Symbolic shapes follow values and axes through all passes.

use indim_builder::{GraphBuilder, Index, Reduction, Value};
use indim_graph::{AxisSlice, AxisWindow, ShapedGraph, SizeOrigin, SymbolicGraph};
use indim_ops::{DType, ReduceOp};

/// The graph of these outputs after all passes, with symbolic shapes.
fn shaped(b: &GraphBuilder, outputs: &[&Value]) -> ShapedGraph<'static> {
    let graph = b.finish(outputs).unwrap();
    let before = SymbolicGraph::new(&graph, &b.size_facts()).shaped();
    let optimized = before.optimize();
    let expanded = optimized.expand_for_loops();
    [&before, &optimized, &*expanded].into_iter().for_each(ShapedGraph::verify);
    expanded.into_owned()
}

/// The symbolic shapes of the outputs.
fn output_shapes(graph: &ShapedGraph<'_>) -> Vec<String> {
    graph.outputs().iter().map(|&output| graph.shape(output).to_string()).collect()
}

#[test]
fn values_that_passes_add_have_the_symbols_of_their_neighbours() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 3]).unwrap();
    let [u, v] = ["u", "v"].map(|name| b.parameter(name, DType::F64, [3]).unwrap());
    // The sine is computed on a row, which a pass broadcasts.
    let rows = [&u, &v].map(|row| b.broadcast_like(row, &[1], &x).unwrap());
    let sunk = (&rows[0] + &rows[1]).sin();
    // The mean keeps its axis, which the last reshape drops.
    let mean = b.along(Reduction::Mean, &x, [1]).unwrap();
    // A reduction reads one of two broadcasts of numbers.
    let ones = b.broadcast_like(b.scalar(1.0f64), &[], &x).unwrap();
    let count = b.reduce(ReduceOp::Add, &ones, 0).unwrap();
    let product = b.along(Reduction::Softmax, &x, [0]).unwrap() * &x;
    let graph = shaped(&b, &[&sunk, &mean, &count, &product, &ones]);
    assert_eq!(output_shapes(&graph), ["[s0, s1]", "[s0]", "[s1]", "[s0, s1]", "[s0, s1]"]);
}

#[test]
fn a_stack_that_becomes_operations_has_the_symbols_of_its_parts() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F64, [5]).unwrap());
    let stack = b.stack(&[&x, &y, &x], 0).unwrap();
    let max = b.reduce(ReduceOp::Max, &stack, 0).unwrap();
    assert_eq!(output_shapes(&shaped(&b, &[&max])), ["[s0]"]);
    assert_eq!(output_shapes(&shaped(&b, &[&max, &stack])), ["[s0]", "[3, s0]"]);
}

#[test]
fn numbers_equal_to_sizes_of_symbols_stay_numbers() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [67, 67]).unwrap();
    let y = b.parameter("y", DType::F64, [70]).unwrap();
    // Sizes 67 to 69 of slices are numbers, 67 of `x` is the size of a symbol.
    let parts = [67, 68, 69].map(|size| b.slice(&y, &[AxisSlice::new(0, size, 1)]).unwrap());
    let outer = b.broadcast_in_dim(&parts[0], &[1], [67, 67]).unwrap();
    let transposed = b.transpose(&x, &[1, 0]).unwrap();
    let graph = shaped(&b, &[&transposed.exp(), &parts[0].exp(), &parts[1].exp(), &outer]);
    assert_eq!(output_shapes(&graph), ["[s1, s0]", "[67]", "[68]", "[67, 67]"]);
}

#[test]
fn origins_of_sizes() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4]).unwrap();
    let of_x = SizeOrigin::Parameters(vec![(b.finish(&[&x]).unwrap().parameters()[0], 0)]);
    let origin = |value: &Value, axis: usize| {
        let graph = b.finish(&[value]).unwrap();
        b.size_facts().origin(&graph, (graph.outputs()[0], axis))
    };
    let row = b.index(&x, &[Index::NewAxis, Index::Ellipsis]).unwrap().exp();
    assert_eq!([origin(&row, 0), origin(&row, 1)], [SizeOrigin::One, of_x.clone()]);
    assert_eq!(origin(&b.reshape_inferred(&x, [4], Some(0)).unwrap(), 0), of_x);
    // This slice is whole for this size of `x` alone.
    let clamped = Index::Slice { start: None, stop: Some(5), step: None };
    assert_eq!(origin(&b.index(&x, &[clamped]).unwrap(), 0), SizeOrigin::Unknown);
    // These sizes are 1 for this size of `x` alone.
    let slice = Index::Slice { start: Some(3), stop: None, step: None };
    let rest = b.index(&x, &[slice]).unwrap();
    let rows = b.reshape_inferred(&x, [1, 4], Some(0)).unwrap();
    let windows = b.window(&x, 0, AxisWindow::sliding(4)).unwrap();
    let number = b.scalar(1.0f64);
    let unit = b.broadcast_like(number, &[], &rows).unwrap() * &rows;
    for value in [&rest, &rows, &windows, &unit, &(-&windows)] {
        assert_eq!(origin(value, 0), SizeOrigin::Unknown);
    }
}
