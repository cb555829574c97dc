//! Derivatives of random graphs with loops and branches: both modes give the same.

use choices::{Choices, pseudo_random};
use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, Graph, NodeKind, evaluate, verify};
use indim_ops::{ArrayType, DType, Element};
use indim_transforms::Differentiate;
use region::random_region;

#[allow(dead_code, reason = "some choices are those of other generators")]
#[path = "../../indim-builder/tests/random/choices.rs"]
mod choices;
#[path = "../../indim-builder/tests/random/region.rs"]
mod region;

/// A graph of some parameters of type `f64`, with random loops and branches among its values.
fn random_graph(seed: u64) -> Graph {
    let mut next = pseudo_random(seed);
    let choices = &mut Choices(&mut next);
    let b = GraphBuilder::new();
    let shape = [vec![], vec![3], vec![2, 3]][choices.below(3)].clone();
    let parameter = |index| b.parameter(&format!("x{index}"), DType::F64, &shape[..]).unwrap();
    let mut values: Vec<Value> = (0..2).map(parameter).collect();
    for _ in 0..1 + choices.below(6) {
        let x = choices.pick(&values).clone();
        values.push(match choices.below(5) {
            0 => x.sin(),
            1 => x * choices.pick(&values),
            _ => random_region(choices, &b, &values, x),
        });
    }
    let last = values[values.len() - 1].clone();
    b.finish(&[last + choices.pick(&values)]).unwrap()
}

fn array(of: &ArrayType, seed: u64) -> Array {
    let mut next = pseudo_random(seed);
    let count = of.shape.element_count().unwrap();
    let elements = (0..count).map(|_| (1 + next(1000)) as f64 / 700.0).collect::<Vec<f64>>();
    Array::from_data(of.shape.clone(), f64::into_data(elements)).unwrap()
}

fn dot(x: &Array, y: &Array) -> f64 {
    let pairs = x.element_slice::<f64>().unwrap().iter().zip(y.element_slice::<f64>().unwrap());
    pairs.map(|(x, y)| x * y).sum()
}

/// The number of nodes that are loops and branches, also in regions.
fn count_controls(graph: &Graph) -> usize {
    let inner = |kind: &NodeKind| -> usize {
        kind.regions().map(|region| 1 + count_controls(region.graph())).sum()
    };
    graph.iter().map(|(_, node)| inner(&node.kind)).sum()
}

#[test]
fn both_modes_agree_on_random_graphs() {
    let mut compared = 0;
    for seed in 0..1500 {
        let graph = random_graph(seed);
        let of = &graph[graph.outputs()[0]].array_type;
        let [x, y, dx, dy, cotangent] = [1, 2, 3, 4, 5].map(|number| array(of, 10 * seed + number));
        let (forward, reverse) = (graph.jvp(&[0, 1]), graph.value_and_vjp(&[0, 1]));
        for derived in [&forward, &reverse] {
            match derived {
                Ok(derived) => verify(derived).unwrap(),
                Err(error) => assert_eq!(error.code(), "not-differentiable", "{graph}"),
            }
        }
        let (Ok(forward), Ok(reverse)) = (forward, reverse) else { continue };
        let values = evaluate(&graph, &[x.clone(), y.clone()]).unwrap();
        let tangent = evaluate(&forward, &[x.clone(), y.clone(), dx.clone(), dy.clone()]).unwrap();
        let gradients = evaluate(&reverse, &[x, y, cotangent.clone()]).unwrap();
        assert_eq!((&tangent[0], &gradients[0]), (&values[0], &values[0]), "{graph}");
        let found = dot(&tangent[1], &cotangent);
        let expected = dot(&gradients[1], &dx) + dot(&gradients[2], &dy);
        if !found.is_finite() || !expected.is_finite() {
            continue;
        }
        let error = (found - expected).abs();
        assert!(error <= 1e-9 * (1.0 + expected.abs()), "{seed}: {found}, {expected}\n{graph}");
        compared += usize::from(count_controls(&reverse) > count_controls(&graph));
    }
    assert!(compared > 400, "{compared} derivatives through loops and branches are compared");
}
