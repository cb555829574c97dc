//! Derivatives of whole graphs: parameters and outputs, size, errors, second derivatives.

use indim_builder::{GraphBuilder, Reduction, Value};
use indim_graph::{Array, Graph, GraphError, TakeMode, evaluate, optimize, verify};
use indim_ops::{DType, ReduceOp};
use indim_transforms::Differentiate;

use super::{F64, noise, slope};

fn names(graph: &Graph) -> Vec<&str> {
    (0..graph.parameters().len()).map(|index| graph.parameter_name(index)).collect()
}

#[test]
fn cotangents_are_parameters_after_those_of_the_graph() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [3]).unwrap();
    let taken = b.parameter("cotangent_0", DType::F32, []).unwrap();
    let outputs = [x.sin(), x.gt(0), taken.exp()];
    let graph = b.finish(&outputs).unwrap();
    let derived = graph.value_and_vjp(&[1, 0]).unwrap();
    verify(&derived).unwrap();
    // A `bool` output has none.
    assert_eq!(names(&derived), ["x", "cotangent_0", "cotangent_0_", "cotangent_2"]);
    let types: Vec<String> =
        derived.outputs().iter().map(|&output| derived[output].array_type.to_string()).collect();
    assert_eq!(types, ["f64[3]", "bool[3]", "f32[]", "f32[]", "f64[3]"]);
    let gradients = graph.vjp(&[0]).unwrap();
    assert_eq!(gradients.outputs().len(), 1);
}

#[test]
fn values_keep_their_bits() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 5]).unwrap();
    let softmax = b.along(Reduction::Softmax, &x, [1]).unwrap();
    let graph = b.finish(&[softmax]).unwrap();
    let elements: Vec<f32> = noise(3, 20).iter().map(|&x| x as f32).collect();
    let x = Array::new([4, 5], elements).unwrap();
    let cotangent = Array::new([4, 5], vec![1.0f32; 20]).unwrap();
    let derived = graph.value_and_vjp(&[0]).unwrap();
    let both = evaluate(&derived, &[x.clone(), cotangent.clone()]).unwrap();
    assert_eq!(both[0], evaluate(&graph, core::slice::from_ref(&x)).unwrap()[0]);
    let optimized = optimize(&derived);
    assert_eq!(both, evaluate(&optimized, &[x, cotangent]).unwrap());
}

#[test]
fn an_unused_parameter_has_gradient_0() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [2]).unwrap();
    let _unused = b.parameter("n", DType::F32, [3]).unwrap();
    let graph = b.finish(&[b.reduce(ReduceOp::Add, x.floor(), 0).unwrap()]).unwrap();
    let arguments =
        [Array::new([2], vec![1.5, 2.5]).unwrap(), Array::new([3], vec![0.0f32; 3]).unwrap()];
    let gradients = evaluate(&graph.gradient(&[0, 1]).unwrap(), &arguments).unwrap();
    assert_eq!(gradients[0].elements::<f64>(), Ok(&[0.0, 0.0][..]));
    assert_eq!(gradients[1].elements::<f32>(), Ok(&[0.0, 0.0, 0.0][..]));
}

/// Step functions have derivative 0, also after a conversion back to floats.
#[test]
fn integers_conditions_and_bits_stop_derivatives() {
    let functions: [fn(&GraphBuilder, &Value) -> Value; 4] = [
        |_, x| x.convert(DType::I64).convert(F64) * x,
        |_, x| x.gt(0).convert(F64) * x,
        |b, x| b.bitcast(b.bitcast(x, DType::U64).unwrap(), F64).unwrap() * x,
        |b, x| b.take(b.constant(table()), x.convert(DType::U8), 0, TakeMode::Clip).unwrap() * x,
    ];
    fn table() -> Array {
        Array::new([3], vec![5.0, 6.0, 7.0]).unwrap()
    }
    for (function, expected) in functions.into_iter().zip([2.0, 1.0, 2.5, 7.0]) {
        let b = GraphBuilder::new();
        let x = b.parameter("x", F64, []).unwrap();
        let graph = b.finish(&[function(&b, &x)]).unwrap();
        let gradients =
            evaluate(&graph.gradient(&[0]).unwrap(), &[Array::from_scalar(2.5)]).unwrap();
        assert_eq!(gradients[0].elements::<f64>(), Ok(&[expected][..]));
    }
}

#[test]
fn an_output_may_be_a_parameter_or_repeated() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, []).unwrap();
    let graph = b.finish(&[&x, &x]).unwrap();
    let arguments = [1.0, 10.0, 100.0].map(Array::from_scalar);
    let gradients = evaluate(&graph.vjp(&[0]).unwrap(), &arguments).unwrap();
    assert_eq!(gradients[0].elements::<f64>(), Ok(&[110.0][..]));
}

fn mistake(of: impl Fn(&GraphBuilder) -> Value, wrt: usize) -> GraphError {
    let b = GraphBuilder::new();
    let output = of(&b);
    b.finish(&[output]).unwrap().gradient(&[wrt]).unwrap_err()
}

#[test]
fn operations_without_a_derivative_are_refused_by_name() {
    let parameter =
        |b: &GraphBuilder, dtype, shape: &[usize]| b.parameter("x", dtype, shape).unwrap();
    let refused = mistake(|b| parameter(b, F64, &[]).exp().nextafter(2), 0);
    assert_eq!(refused.code(), "not-differentiable");
    assert_eq!(refused.headline(), "`nextafter` has no derivative");
    assert!(refused.draw().contains("exp(x) : f64[]"), "{}", refused.draw());

    let integer = mistake(|b| parameter(b, DType::I64, &[]).convert(F64), 0);
    assert_eq!(integer.code(), "not-differentiable");
    assert!(
        integer.draw().contains("`x`") && integer.draw().contains("i64[]"),
        "{}",
        integer.draw()
    );

    let array = mistake(|b| parameter(b, F64, &[3]).exp(), 0);
    assert_eq!(array.code(), "not-one-number");
    assert!(array.draw().contains("exp(x) : f64[3]"), "{}", array.draw());
    assert!(array.draw().contains("vjp"), "{}", array.draw());
    assert_eq!(mistake(|b| parameter(b, DType::C128, &[]), 0).code(), "not-one-number");
    assert_eq!(mistake(|b| parameter(b, F64, &[]), 1).code(), "unknown-parameter");
}

#[test]
fn parameters_are_selected_by_position_or_by_name() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, F64, []).unwrap());
    let graph = b.finish(&[x.square() * y]).unwrap();
    let by_position = graph.value_and_gradient(&[1, 0]).unwrap();
    assert_eq!(graph.value_and_gradient(&["y", "x"]).unwrap().to_string(), by_position.to_string());
    assert_eq!(graph.jvp(&["y"]).unwrap().to_string(), graph.jvp(&vec![1]).unwrap().to_string());
    assert_eq!(
        graph.vjp(["x"].as_slice()).unwrap().to_string(),
        graph.vjp(&[0]).unwrap().to_string()
    );

    let unknown = graph.gradient(&["x", "z"]).unwrap_err();
    assert_eq!(unknown.code(), "unknown-parameter");
    assert_eq!(unknown.headline(), "no parameter is called `z`; the graph has 2: `x`, `y`");
    assert!(unknown.to_string().contains("graphs.rs"), "{unknown}");
}

#[test]
fn nextafter_of_a_constant_is_allowed() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, []).unwrap();
    let y = b.parameter("y", F64, []).unwrap();
    let graph = b.finish(&[y.nextafter(2) * &x]).unwrap();
    let gradients = evaluate(
        &graph.gradient(&[0]).unwrap(),
        &[Array::from_scalar(3.0), Array::from_scalar(1.0)],
    )
    .unwrap();
    assert_eq!(gradients[0].elements::<f64>(), Ok(&[1.0f64.next_up()][..]));
}

/// Doubling `x` n times by adding it to itself has 2^n paths, and the length of the chain rules out
/// recursion.
#[test]
fn the_derivative_of_a_long_chain_is_as_long() {
    let length = 50_000;
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, []).unwrap();
    let mut y = x.clone();
    for _ in 0..length {
        y = (&y * &y).sin();
    }
    let graph = b.finish(&[y]).unwrap();
    let derived = graph.gradient(&[0]).unwrap();
    assert!(derived.len() < 8 * graph.len(), "{} nodes of {}", derived.len(), graph.len());
}

/// The gradient of the gradient, through mean, softmax and norm.
#[test]
fn gradients_have_gradients() {
    let functions = [
        Reduction::Var,
        Reduction::Std,
        Reduction::Norm,
        Reduction::LogSumExp,
        Reduction::Softmax,
        Reduction::Prod,
    ];
    let weights = Array::new([5], noise(21, 5)).unwrap();
    let direction = noise(22, 5);
    for function in functions {
        let b = GraphBuilder::new();
        let x = b.parameter("x", F64, [5]).unwrap();
        let y = b.along(function, &x, [0]).unwrap();
        let once = b.finish(&[y.square()]).unwrap();
        let is_whole = function.keeps_shape();
        let summed = if is_whole { summed(&once, &weights) } else { once };
        let first = summed.gradient(&[0]).unwrap();
        let second = summed_gradient(&first, &weights);
        let at = |step: f64| {
            let moved = noise(23, 5).iter().zip(&direction).map(|(x, u)| x + step * u).collect();
            Array::new([5], moved).unwrap()
        };
        let along = |step: f64| {
            let gradient = evaluate(&first, &[at(step)]).unwrap();
            super::dot(gradient[0].elements().unwrap(), weights.elements().unwrap())
        };
        let found = evaluate(&second, &[at(0.0)]).unwrap();
        let found = super::dot(found[0].elements().unwrap(), &direction);
        let expected = slope(along, 1e-4);
        assert!(
            (found - expected).abs() <= 1e-8 * (1.0 + expected.abs()),
            "{}: {found} against {expected}",
            function.name()
        );
    }
}

/// The gradient of the weighted sum of the outputs of a graph with one parameter.
fn summed(graph: &Graph, weights: &Array) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [5]).unwrap();
    let y = b.inline(graph, &[x]).unwrap().remove(0);
    let weighted = y * b.constant(weights.clone());
    b.finish(&[b.reduce(ReduceOp::Add, weighted, 0).unwrap()]).unwrap()
}

fn summed_gradient(graph: &Graph, weights: &Array) -> Graph {
    summed(graph, weights).gradient(&[0]).unwrap()
}

#[test]
fn a_graph_is_inlined_only_for_arguments_of_its_types() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [3]).unwrap();
    let graph = b.finish(&[x.exp()]).unwrap();
    let other = GraphBuilder::new();
    let y = other.parameter("y", F64, [2]).unwrap();
    assert_eq!(other.inline(&graph, &[y]).unwrap_err().code(), "argument-type");
    assert_eq!(other.inline(&graph, &[]).unwrap_err().code(), "wrong-operand-count");
    assert_eq!(other.inline(&graph, &[x]).unwrap_err().code(), "foreign-value");
}
