//! Derivatives against finite differences, against the adjoint of linear maps, and at their kinks.
//!
//! The oracle only computes values, by the reference evaluator, and uses no derivative rule.

mod broadcasts;
mod complex;
mod fourier;
mod graphs;
mod loops;
mod operations;
mod products;
mod reductions;
mod scans;
mod sorts;
mod special;

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::{DType, Element};
use indim_transforms::Differentiate;

/// A function of values under test.
type Function<'a> = &'a dyn Fn(&[Value]) -> Value;

/// An argument: its shape and its elements.
#[derive(Clone)]
struct Argument<T>(Vec<usize>, Vec<T>);

impl<T: Element> Argument<T> {
    fn array(&self) -> Array {
        Array::from_data(&self.0[..], T::into_data(self.1.clone())).unwrap()
    }
}

/// Arguments of rank 1, all of the length of the first.
fn lists<T: Clone>(elements: &[&[T]]) -> Vec<Argument<T>> {
    elements.iter().map(|elements| Argument(vec![elements.len()], elements.to_vec())).collect()
}

/// The graph of a function of these arguments.
fn graph<T: Element>(function: Function<'_>, arguments: &[Argument<T>]) -> indim_graph::Graph {
    let b = GraphBuilder::new();
    let parameter = |(index, argument): (usize, &Argument<T>)| {
        b.parameter(&format!("x{index}"), T::DTYPE, &argument.0[..]).unwrap()
    };
    let parameters: Vec<Value> = arguments.iter().enumerate().map(parameter).collect();
    b.finish(&[function(&parameters)]).unwrap()
}

/// The result of the function.
fn value<T: Element, R: Element>(function: Function<'_>, arguments: &[Argument<T>]) -> Vec<R> {
    let arrays: Vec<Array> = arguments.iter().map(Argument::array).collect();
    let results = evaluate(&graph(function, arguments), &arrays).unwrap();
    results[0].element_slice::<R>().unwrap().to_vec()
}

/// The gradients with respect to all arguments, given the cotangent of the result.
fn pullback<T: Element, R: Element>(
    function: Function<'_>,
    arguments: &[Argument<T>],
    cotangent: &[R],
) -> Vec<Vec<T>> {
    let graph = graph(function, arguments);
    let every: Vec<usize> = (0..arguments.len()).collect();
    let derived = graph.vjp(&every).unwrap();
    indim_graph::verify(&derived).unwrap();
    let shape = graph[graph.outputs()[0]].array_type.shape.clone();
    let mut arrays: Vec<Array> = arguments.iter().map(Argument::array).collect();
    arrays.push(Array::from_data(shape, R::into_data(cotangent.to_vec())).unwrap());
    let gradients = evaluate(&derived, &arrays).unwrap();
    gradients.iter().map(|gradient| gradient.element_slice::<T>().unwrap().to_vec()).collect()
}

/// The derivative of the result in a direction of each argument.
fn pushforward<T: Element, R: Element>(
    function: Function<'_>,
    arguments: &[Argument<T>],
    directions: &[Vec<T>],
) -> Vec<R> {
    let derived = graph(function, arguments);
    let derived = derived.jvp(&(0..arguments.len()).collect::<Vec<usize>>()).unwrap();
    indim_graph::verify(&derived).unwrap();
    let direction = |(argument, direction): (&Argument<T>, &Vec<T>)| {
        Argument(argument.0.clone(), direction.clone()).array()
    };
    let directions = arguments.iter().zip(directions).map(direction);
    let arrays: Vec<Array> = arguments.iter().map(Argument::array).chain(directions).collect();
    let results = evaluate(&derived, &arrays).unwrap();
    results[1].element_slice::<R>().unwrap().to_vec()
}

/// Numbers between -1 and 1 without a pattern.
fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The derivative at 0 of a function of one number, by finite differences of fourth order.
fn slope(along: impl Fn(f64) -> f64, step: f64) -> f64 {
    let difference = |step: f64| along(step) - along(-step);
    (8.0 * difference(step) - difference(2.0 * step)) / (12.0 * step)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Compares the gradients and the tangent of `function` with the slope along a random direction, under a
/// random cotangent.
fn check(name: &str, function: Function<'_>, arguments: &[Argument<f64>]) {
    let count = value::<f64, f64>(function, arguments).len();
    let cotangent = noise(7, count);
    let directions: Vec<Vec<f64>> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| noise(index as u64 + 11, argument.1.len()))
        .collect();
    let along = |step: f64| {
        let move_one = |(argument, direction): (&Argument<f64>, &Vec<f64>)| {
            let moved = argument.1.iter().zip(direction).map(|(x, u)| x + step * u).collect();
            Argument(argument.0.clone(), moved)
        };
        let moved: Vec<Argument<f64>> = arguments.iter().zip(&directions).map(move_one).collect();
        dot(&cotangent, &value::<f64, f64>(function, &moved))
    };
    let gradients = pullback(function, arguments, &cotangent);
    let found: f64 = gradients.iter().zip(&directions).map(|(g, u)| dot(g, u)).sum();
    let expected = slope(along, 1e-4);
    let scale = 1.0 + expected.abs() + along(0.0).abs();
    assert!((found - expected).abs() <= 1e-8 * scale, "{name}: {found} against {expected}");
    let tangent = pushforward::<f64, f64>(function, arguments, &directions);
    let tangent = dot(&cotangent, &tangent);
    assert!((tangent - found).abs() <= 1e-12 * scale, "{name}: {tangent} against {found}");
}

/// The element type of the tests.
const F64: DType = DType::F64;
