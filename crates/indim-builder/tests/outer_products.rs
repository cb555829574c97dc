//! Sums of outer products are the contractions that products of matrices are.

#![allow(clippy::unwrap_used)]

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, Graph, NodeKind, evaluate};
use indim_ops::DType;

/// `x[:, :, None] * y[None]`, and the operands.
fn outer(b: &GraphBuilder, dtype: DType, [m, k, n]: [usize; 3]) -> [Value; 3] {
    let x = b.parameter("x", dtype, [m, k]).unwrap();
    let y = b.parameter("y", dtype, [k, n]).unwrap();
    let columns = b.reshape(&x, [m, k, 1]).unwrap();
    let rows = b.reshape(&y, [1, k, n]).unwrap();
    [b.numpy().mul(&columns, &rows).unwrap(), x, y]
}

fn contractions(graph: &Graph) -> usize {
    graph.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Contract { .. })).count()
}

fn numbers(shape: [usize; 2], seed: u64) -> Array {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / 1e6) - 8.0
    };
    Array::new(shape, (0..shape[0] * shape[1]).map(|_| next()).collect::<Vec<f32>>()).unwrap()
}

#[test]
fn a_sum_of_an_outer_product_has_the_bits_of_a_product_of_matrices() {
    for size in [[3, 2, 4], [5, 64, 3], [2, 700, 3], [2, 1100, 2]] {
        let b = GraphBuilder::new();
        let [product, x, y] = outer(&b, DType::F32, size);
        let sum = b.along(Reduction::Sum, &product, 1).unwrap();
        let matmul = b.matmul(&x, &y).unwrap();
        // The product of all elements is an output too, and changes no bit.
        let graph = b.finish(&[sum, matmul, product]).unwrap();
        let [m, k, n] = size;
        let results = evaluate(&graph, &[numbers([m, k], 1), numbers([k, n], 2)]).unwrap();
        assert_eq!(results[0].bytes(), results[1].bytes(), "{size:?}");
    }
}

#[test]
fn means_and_sums_over_several_axes_contract_the_last_one() {
    let b = GraphBuilder::new();
    let [product, x, y] = outer(&b, DType::F32, [3, 600, 4]);
    let mean = b.along(Reduction::Mean, &product, 1).unwrap();
    let wide = b.contract(
        b.broadcast_in_dim(&x, &[0, 2], [3, 4, 600]).unwrap(),
        b.broadcast_in_dim(&y, &[2, 1], [3, 4, 600]).unwrap(),
        1,
    );
    let wide = wide.unwrap();
    let expected = (&wide / 600.0).convert(DType::F32);
    let kept = ReduceOptions::axes([0, 1]).keepdims(true);
    let both = b.along(Reduction::Sum, &product, kept).unwrap();
    let rows = b.along(Reduction::Sum, &wide, 0).unwrap().convert(DType::F32);
    assert_eq!(both.array_type().unwrap().to_string(), "f32[1, 1, 4]");
    let graph = b.finish(&[mean, expected, both, rows]).unwrap();
    let results = evaluate(&graph, &[numbers([3, 600], 3), numbers([600, 4], 4)]).unwrap();
    assert_eq!(results[0].bytes(), results[1].bytes());
    assert_eq!(results[2].bytes(), results[3].bytes());
}

/// The number of contractions in the sum of a product.
fn contractions_of(build: impl Fn(&GraphBuilder) -> Value) -> usize {
    let b = GraphBuilder::new();
    let sum = build(&b);
    contractions(&b.finish(&[sum]).unwrap())
}

#[test]
fn the_structure_of_the_graph_decides() {
    let size = [3, 5, 4];
    let sum = |b: &GraphBuilder, x: &Value, axis: i64| b.along(Reduction::Sum, x, axis).unwrap();
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        assert_eq!(contractions_of(|b| sum(b, &outer(b, dtype, size)[0], 1)), 1, "{dtype}");
    }
    // One factor has no axis of its own.
    assert_eq!(contractions_of(|b| sum(b, &outer(b, DType::F32, size)[0], 0)), 0);
    assert_eq!(contractions_of(|b| sum(b, &outer(b, DType::F32, [3, 5, 1])[0], 1)), 0);
    assert_eq!(contractions_of(|b| sum(b, &outer(b, DType::I32, size)[0], 1)), 0);
    assert_eq!(contractions_of(|b| sum(b, &(&outer(b, DType::F32, size)[0] + 1), 1)), 0);
    let with = |options: ReduceOptions| {
        contractions_of(|b| {
            let product = &outer(b, DType::F32, size)[0];
            b.along(Reduction::Sum, product, options.clone()).unwrap()
        })
    };
    assert_eq!(with(ReduceOptions::axes([1])), 1);
    assert_eq!(with(ReduceOptions::axes([1]).dtype(DType::F32)), 1);
    assert_eq!(with(ReduceOptions::axes([1]).dtype(DType::F64)), 0);
    assert_eq!(with(ReduceOptions::axes([1]).initial(2)), 1);
    // Conversions of broadcasts are converted before the broadcast.
    assert_eq!(
        contractions_of(|b| {
            let x = b.parameter("x", DType::F16, [3, 5]).unwrap();
            let y = b.parameter("y", DType::F32, [4, 5]).unwrap();
            let x = b.broadcast_in_dim(&x, &[0, 2], [3, 4, 5]).unwrap().convert(DType::F32);
            let y = b.broadcast_in_dim(&y, &[1, 2], [3, 4, 5]).unwrap();
            sum(b, &(x * y), 2)
        }),
        1
    );
}
