//! Reductions that the matcher finds again in the graphs of the builder.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::drop_bitcast_pairs;
use indim_ops::DType;

use indim_model::{AxisOperation, Epsilon, ReductionMatch, ReductionMatcher, standardise};

/// Checks that the matcher finds `make` for each choice of axes.
fn check(function: AxisOperation, keepdims: bool, make: impl Fn(&Value, &[usize]) -> Value) {
    for dtype in [DType::F32, DType::F64] {
        for axes in [vec![0], vec![1], vec![2], vec![1, 2], vec![0, 2], vec![0, 1, 2]] {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, [2, 3, 4]).unwrap().tanh();
            let graph = b.finish(&[make(&x, &axes), x]).unwrap();
            let (graph, _) = drop_bitcast_pairs(&graph);
            let found = ReductionMatcher::default().find(&graph, graph.outputs()[0]);
            let operand = graph.outputs()[1];
            let expected = ReductionMatch { function, axes, keepdims, operand };
            assert_eq!(found, Some(expected), "{dtype}");
        }
    }
}

#[test]
fn functions_along_axes_are_found_again() {
    use Reduction::{LogSoftmax, LogSumExp, Mean, Norm, Prod, Softmax, Sum};
    for function in [LogSumExp, Norm, Mean, Sum, Prod, Softmax, LogSoftmax] {
        for keepdims in [true, false] {
            if function.keeps_shape() && !keepdims {
                continue;
            }
            check(AxisOperation::Function(function), keepdims, |x, axes| {
                let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
                let keepdims = keepdims && !function.keeps_shape();
                let options = ReduceOptions::axes(&axes).keepdims(keepdims);
                x.builder().along(function, x, &options).unwrap()
            });
        }
    }
}

#[test]
fn standardisations_are_found_again() {
    for epsilon in [Epsilon::InsideRoot(0.25), Epsilon::OutsideRoot(1e-9)] {
        check(AxisOperation::Standardised(epsilon), true, |x, axes| {
            standardise(x, axes, epsilon).unwrap()
        });
    }
}

#[test]
fn similar_values_do_not_match() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F32, [3, 4]).unwrap());
    let options = ReduceOptions::axes([1]).keepdims(true);
    let sum = |x: &Value| b.along(Reduction::Sum, x, &options).unwrap();
    // The sum has other exponentials; the mean has another count.
    let quotient = b.numpy().div(x.exp(), sum(&y.exp())).unwrap();
    let graph = b.finish(&[quotient, sum(&x) / 3.0]).unwrap();
    for &output in graph.outputs() {
        assert_eq!(ReductionMatcher::default().find(&graph, output), None);
    }
}
