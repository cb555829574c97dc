//! Gradients, tangents and batches for all sizes give the bits of those compiled for fixed sizes.

use indim::graph::{
    Graph, SizeFacts, SymbolicGraph, inline_gradients, jvp_with_facts, vmap_with_facts,
};
use indim::run::compile_symbolic;
use indim::text::{Expression, ParseLimits};
use indim::{
    Array, ArrayView, CompileOptions, DType, Executable, GraphBuilder, Shape, Value, compile,
};

/// Expressions over `v` of rank 1, whose programs serve all lengths from 8 on.
const TEXTS: &[&str] = &[
    "v * v - mean(v)",
    "v[1:] - v[:-1]",
    "v[2:5]",
    "v[-5:-2]",
    "v[:4] * v[-4:]",
    "v[-1] * v[0] + v",
    "v[::-1] * v",
    "v[5:1:-1]",
    "v[-2:2:-1] * 2",
    "v[:-6:-1]",
    "roll(v, 1) - v",
    "roll(v, -2) * v",
    "pad(v, [[2, 1]]) * 3",
    "pad(v, [[1, 1]], mode=edge)",
    "pad(v, [[2, 1]], mode=reflect)",
    "pad(v, [[0, 3]], mode=symmetric)",
    "pad(v, [[2, 2]], mode=wrap)",
    "concatenate([v, v * 2], axis=0)",
    "concatenate([v[1:], v[:1], v[:-1] * 3], axis=0)",
    "concatenate([v[:2] * 5, v, v[3:], v[1:] * 2], axis=0)",
    "concatenate([v, v], axis=0)[3:] * 2",
    "concatenate([v, v[::-1]], axis=0)[-3:]",
    "stack([v, v * v], axis=0)",
    "stack([v[1:], v[:-1]], axis=1)",
    "diff(v, n=2)",
    "std(v) * v",
    "cumulative_sum(v)[1:]",
    "softmax(v[1:], axis=0)",
    "v[None, 1:] * v[:-1, None]",
    "sum(v[:, None] * v, axis=0)",
];

/// Slices whose number of elements has a remainder serve the lengths with the same remainder.
const STEPS: &[&str] =
    &["v[::2] * 2", "v[1::3]", "v[::-2] * v[::-1][::2]", "sum(reshape(v, [-1, 2]), axis=1)"];

#[derive(Debug, Clone, Copy)]
enum Transformed {
    Gradient,
    Tangent,
    Batch,
    GradientOfBatch,
}

const ALL: [Transformed; 4] =
    [Transformed::Gradient, Transformed::Tangent, Transformed::Batch, Transformed::GradientOfBatch];

/// The graph of a text for this length. The text "loop" is a loop that multiplies by the mean.
fn built(text: &str, length: usize) -> Option<(Graph, SizeFacts)> {
    let b = GraphBuilder::new();
    let v = b.parameter("v", DType::F32, [length]).unwrap();
    if text == "loop" {
        let mean = Expression::parse("mean(v)", &ParseLimits::default()).unwrap();
        let mean = mean.build(&b, &[("v", v.clone())], None).unwrap();
        let product = b.fori_loop(0..3, &[&mean], |_, _, s| Ok(vec![&s[0] * &mean])).unwrap();
        let result = &v * b.broadcast_like(&product[0], &[], &v).unwrap();
        return Some((b.finish(&[result]).unwrap(), b.size_facts()));
    }
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let result = expression.build(&b, &[("v", v)], None).ok()?;
    Some((b.finish(&[result]).unwrap(), b.size_facts()))
}

/// The gradients of the sum of squares of a graph's output.
fn gradients((graph, facts): &(Graph, SizeFacts)) -> (Graph, SizeFacts) {
    let b = GraphBuilder::new();
    let parameter = |(index, &value): (usize, &indim::graph::ValueId)| {
        let of = graph[value].array_type.clone();
        b.parameter(graph.parameter_name(index), of.dtype, of.shape).unwrap()
    };
    let arguments: Vec<Value> = graph.parameters().iter().enumerate().map(parameter).collect();
    let outputs = b.inline_with((graph, Some(facts)), &arguments).unwrap();
    let cotangents: Vec<Value> = outputs.iter().map(|output| 2.0 * output).collect();
    let graph = (graph, facts);
    let results = inline_gradients(&b, graph, &arguments, &[0], Some(&cotangents)).unwrap();
    (b.finish(&results).unwrap(), b.size_facts())
}

/// The transformed graph of a text for this length.
fn transformed(text: &str, by: Transformed, length: usize) -> Option<(Graph, SizeFacts)> {
    let own = built(text, length)?;
    let graph = (&own.0, &own.1);
    // The batch is as long as the array, so that sizes are equal by coincidence.
    let batch = || vmap_with_facts(graph, length.min(9), &[Some(0)], &[Some(0)]).unwrap();
    Some(match by {
        Transformed::Gradient => gradients(&own),
        Transformed::Tangent => jvp_with_facts(graph, &[0]).unwrap(),
        Transformed::Batch => batch(),
        Transformed::GradientOfBatch => gradients(&batch()),
    })
}

fn shapes(graph: &Graph) -> Vec<Shape> {
    graph.parameters().iter().map(|&value| graph[value].array_type.shape.clone()).collect()
}

/// The bytes of all results for numbers that differ.
fn results(executable: &Executable, shapes: &[Shape]) -> Vec<Vec<u8>> {
    let mut seed = 1u32;
    let mut number = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32 - 0.4
    };
    let mut array = |shape: &Shape| {
        let count = shape.element_count().unwrap();
        let numbers: Vec<f32> = (0..count).map(|_| number()).collect();
        Array::new(shape.clone(), numbers).unwrap()
    };
    let arrays: Vec<Array> = shapes.iter().map(&mut array).collect();
    let views: Vec<ArrayView<'_>> = arrays.iter().map(ArrayView::from).collect();
    executable.run(&views).unwrap().iter().map(|result| result.bytes().to_vec()).collect()
}

/// The number of lengths for which the program for all sizes made for `first` is valid.
fn check(text: &str, by: Transformed, first: usize, lengths: &[usize]) -> usize {
    let options = CompileOptions::default();
    let Some((graph, facts)) = transformed(text, by, first) else { return 0 };
    let symbolic = SymbolicGraph::new(&graph, &facts);
    let program = compile_symbolic(&symbolic, &options).unwrap();
    let mut served = 0;
    for &length in lengths {
        let Some((fresh, _)) = transformed(text, by, length) else { continue };
        let shapes = shapes(&fresh);
        let sizes: Vec<&[usize]> = shapes.iter().map(Shape::sizes).collect();
        let Ok(bound) = program.bind(&sizes) else { continue };
        let alone = compile(&fresh, &options).unwrap();
        assert_eq!(
            results(&bound, &shapes),
            results(&alone, &shapes),
            "{by:?} of {text}: from {first} to {length}"
        );
        served += 1;
    }
    served
}

#[test]
fn one_program_serves_all_lengths() {
    let lengths = [9, 10, 15, 40, 333];
    for text in TEXTS {
        for by in ALL {
            assert_eq!(check(text, by, 11, &lengths), lengths.len(), "{by:?} of {text}");
        }
    }
    for text in STEPS {
        for by in ALL {
            assert_eq!(check(text, by, 12, &[18, 24, 60, 300]), 4, "{by:?} of {text}");
        }
    }
}

#[test]
fn gradients_of_loops_divide_by_the_length_of_the_call() {
    assert_eq!(check("loop", Transformed::Gradient, 11, &[9, 10, 40]), 3);
}

#[test]
fn short_lengths_have_the_bits_of_their_own_programs() {
    let lengths: Vec<usize> = (0..11).collect();
    for text in TEXTS.iter().chain(STEPS) {
        for by in ALL {
            for first in [2, 3, 4, 5, 6, 8] {
                check(text, by, first, &lengths);
            }
        }
    }
}
