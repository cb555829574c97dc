//! Lowering of deep graphs, wide graphs and graphs with many views: number of instructions and nests.

#![allow(clippy::unwrap_used)]

use indim_builder::{GraphBuilder, Reduction, Value};
use indim_graph::{Array, Graph, NodeKind, optimize};
use indim_loops::loop_nest::LoopNests;
use indim_loops::lower;
use indim_ops::DType;

fn instructions(program: &LoopNests) -> usize {
    program.nests.iter().map(|nest| nest.instructions.len()).sum()
}

fn computations(graph: &Graph) -> usize {
    let is_computed = |kind: &NodeKind| matches!(kind, NodeKind::Elementwise(_));
    graph.iter().filter(|(_, node)| is_computed(&node.kind)).count()
}

/// `steps` times `-v + transpose(abs(v))`, with permutations that generate all of them.
fn permuted(b: &GraphBuilder, rank: usize, steps: usize) -> Value {
    let mut rotate: Vec<i64> = (0..rank as i64).collect();
    let mut swap = rotate.clone();
    rotate.rotate_left(1);
    swap.swap(0, 1);
    let mut v = b.parameter("x", DType::F32, vec![2usize; rank]).unwrap();
    for step in 0..steps {
        let permutation = if step % 2 == 0 { &rotate } else { &swap };
        let permuted = b.transpose(b.abs(&v).unwrap(), permutation).unwrap();
        v = b.none().add(b.neg(v).unwrap(), permuted).unwrap();
    }
    v
}

#[test]
fn views_do_not_multiply_instructions() {
    let b = GraphBuilder::new();
    let v = permuted(&b, 6, 40);
    let graph = optimize(&b.finish(&[v]).unwrap());
    let program = lower(&graph);
    assert_eq!(instructions(&program), computations(&graph));
}

#[test]
fn a_value_under_one_view_is_not_materialized() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [3, 2]).unwrap();
    let seen = b.transpose(b.exp(x).unwrap(), &[1, 0]).unwrap();
    let sum = b.none().add(&seen, y).unwrap();
    let product = b.none().mul(sum, seen).unwrap();
    let program = lower(&b.finish(&[product]).unwrap());
    assert_eq!((program.nests.len(), program.temporaries.len()), (1, 0));
    assert_eq!(instructions(&program), 3);
}

#[test]
fn one_cheap_operation_is_recomputed_under_a_broadcast() {
    let temporaries = |of_row: fn(&GraphBuilder, &Value) -> Value| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
        let row = b.parameter("row", DType::F32, [3]).unwrap();
        let sum = b.add(x, of_row(&b, &row), &[1]).unwrap();
        lower(&optimize(&b.finish(&[sum]).unwrap())).temporaries.len()
    };
    assert_eq!(temporaries(|_, row| row * 2.0), 0);
    assert_eq!(temporaries(|_, row| row * row), 0);
    // Recomputing would read two arrays in place of one; an operation that is not cheap is computed once.
    assert_eq!(temporaries(|_, row| row * 2.0 + row), 1);
    assert_eq!(temporaries(|b, row| b.exp(row).unwrap()), 1);
}

#[test]
fn many_materialized_values_of_one_long_chain() {
    // Each output needs all values before it: a traversal for each output would take minutes.
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8]).unwrap();
    let mut v = x.clone();
    let outputs: Vec<Value> = (0..20_000)
        .map(|_| {
            v = &v + &x;
            v.clone()
        })
        .collect();
    let program = lower(&b.finish(&outputs).unwrap());
    assert_eq!((program.nests.len(), instructions(&program)), (1, 20_000));
    assert_eq!(program.nests[0].stores.len(), 20_000);
}

#[test]
fn large_constants_that_differ_in_their_last_element_are_different() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [64]).unwrap();
    let constant = |last: f32| {
        let elements = (0..64).map(|index| if index == 63 { last } else { 0.0 }).collect();
        b.constant(Array::new([64], elements).unwrap())
    };
    // Each constant occurs twice; equal constants are one value, and one array of the program.
    let sum = (0..600).fold(x, |sum, index| sum + constant((index % 300) as f32));
    let program = lower(&b.finish(&[sum]).unwrap());
    assert_eq!(program.constants.len(), 300);
    assert_eq!(program.nests[0].accesses.len(), 301);
}

#[test]
fn a_value_returned_twice_is_stored_twice() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let y = b.exp(&x).unwrap();
    let program = lower(&b.finish(&[y.clone(), x, y]).unwrap());
    assert_eq!(program.nests.len(), 1);
    assert_eq!((instructions(&program), program.nests[0].stores.len()), (1, 3));
}

/// The element type that each contraction stores, and the types of the temporaries.
fn stored_types(graph: &Graph) -> (Vec<DType>, Vec<DType>) {
    let program = lower(graph);
    let contractions = program.nests.iter().filter(|nest| nest.is_standalone());
    let stored = contractions.map(|nest| nest.stores[0].target.array_type.dtype).collect();
    (stored, program.temporaries.iter().map(|temporary| temporary.dtype).collect())
}

#[test]
fn contractions_store_rounded_sums_for_computations() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    let w = b.parameter("w", DType::F32, [4, 5]).unwrap();
    let bias = b.parameter("bias", DType::F32, [5]).unwrap();
    let bias = b.broadcast_in_dim(bias, &[1], [3, 5]).unwrap();
    let layer = b.none().add(b.matmul(&x, &w).unwrap(), bias).unwrap();
    // The first layer has an element-wise reader, the product of its transposition a reader of another shape,
    // and a second element-wise value of that shape has the level of the rounding.
    let other = b.none().mul(&w, &w).unwrap();
    let seen = b.transpose(b.matmul(&x, &other).unwrap(), &[1, 0]).unwrap();
    let graph = b.finish(&[b.abs(layer).unwrap(), b.exp(seen).unwrap(), other]).unwrap();
    let (stored, temporaries) = stored_types(&graph);
    assert_eq!(stored, [DType::F32; 2]);
    assert!(temporaries.iter().all(|&dtype| dtype == DType::F32), "{temporaries:?}");
}

#[test]
fn a_contraction_whose_wide_sums_are_read_stores_them() {
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F32, [3, 4]).unwrap());
    let sums = b.contract(x, y, 1).unwrap();
    let rounded = b.convert(&sums, DType::F32).unwrap();
    let graph = b.finish(&[b.abs(rounded).unwrap(), b.exp(sums).unwrap()]).unwrap();
    assert_eq!(stored_types(&graph).0, [DType::F64]);
}

#[test]
fn a_chain_of_sums_with_reductions_is_linear() {
    let reads = |layers: usize| {
        let b = GraphBuilder::new();
        let mut stream = b.parameter("x", DType::F32, [8, 16]).unwrap();
        for layer in 0..layers {
            let mean = b.along(Reduction::Mean, &stream, [1]).unwrap();
            let mean = b.broadcast_in_dim(mean, &[0], [8, 16]).unwrap();
            let centred = b.none().sub(&stream, mean).unwrap();
            let weights = b.parameter(&format!("w{layer}"), DType::F32, [16, 16]).unwrap();
            stream = b.none().add(&stream, b.matmul(centred, weights).unwrap()).unwrap();
        }
        let program = lower(&optimize(&b.finish(&[stream]).unwrap()));
        program.nests.iter().map(|nest| nest.accesses.len()).sum::<usize>()
    };
    let [few, twice, four_times] = [8, 16, 32].map(reads);
    assert!(four_times - twice <= 2 * (twice - few) + 8, "{few}, {twice}, {four_times}");
}
