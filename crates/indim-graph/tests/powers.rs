//! Powers that a pass replaces by other operations.

use indim_builder::GraphBuilder;
use indim_graph::{Array, Node, NodeKind, evaluate, optimize};
use indim_ops::{DType, Op};

const BASES: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    3.0,
    -0.1,
    1e-5,
    6e4,
    1e-30,
    1e30,
    -1e-160,
    1e-308,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[test]
fn squares_and_reciprocals_are_the_powers_bit_for_bit() {
    for (exponent, op) in [(2.0, Op::Square), (-1.0, Op::Reciprocal)] {
        for dtype in DType::ALL.iter().copied().filter(|dtype| dtype.is_float()) {
            let b = GraphBuilder::new();
            let x = b.parameter("x", DType::F64, [BASES.len()]).unwrap();
            let base = b.convert(x, dtype).unwrap();
            let exponent = b.convert(b.scalar(exponent), dtype).unwrap();
            let graph = b.finish(&[b.pow(base, exponent, &[]).unwrap()]).unwrap();
            let optimized = optimize(&graph);
            let has = |op| optimized.iter().any(|(_, n)| n.kind == NodeKind::Elementwise(op));
            assert!(has(op) && !has(Op::Pow), "{op} {dtype}");
            let x = [Array::new([BASES.len()], BASES.to_vec()).unwrap()];
            assert_eq!(evaluate(&graph, &x), evaluate(&optimized, &x), "{op} {dtype}");
        }
    }
}

#[test]
fn other_powers_stay() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let exponents = [1.0f32, 0.5, 3.0].map(|y| b.pow(x.clone(), b.scalar(y), &[]).unwrap());
    let optimized = optimize(&b.finish(&exponents).unwrap());
    let is_power = |node: &Node| node.kind == NodeKind::Elementwise(Op::Pow);
    assert_eq!(optimized.iter().filter(|(_, node)| is_power(node)).count(), 3);
}
