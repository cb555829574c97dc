//! Each invariant of graphs, violated once: no such graph can be built, so none can run.

#![allow(clippy::unwrap_used)]

use indim_graph::{
    Array, Graph, Node, NodeKind, Operands, SortResult, ValueId, VerifyError, verify,
};
use indim_ops::{ArrayType, DType, Op, SearchSide};
use indim_shape::AxisMap;

fn node(kind: NodeKind, operands: &[usize], array_type: ArrayType) -> Node {
    let operands: Vec<ValueId> = operands.iter().map(|&index| ValueId::from_index(index)).collect();
    Node { kind, operands: Operands::new(&operands), array_type }
}

fn parameter(index: usize, name: &str, array_type: ArrayType) -> Node {
    node(NodeKind::Parameter { index, name: name.to_owned() }, &[], array_type)
}

fn sort(axis: usize, result: SortResult) -> NodeKind {
    NodeKind::Sort { axis, descending: false, result }
}

fn f32s(shape: &[usize]) -> ArrayType {
    ArrayType::new(DType::F32, shape)
}

fn graph(nodes: Vec<Node>, output: usize) -> Result<Graph, VerifyError> {
    Graph::from_nodes(nodes, vec![ValueId::from_index(output)])
}

/// The error of the node `guilty` after a parameter `%0 : f32[2, 3]`.
fn mistake(guilty: Node) -> VerifyError {
    graph(vec![parameter(0, "x", f32s(&[2, 3])), guilty], 0).unwrap_err()
}

#[test]
fn a_legal_graph_passes() {
    let nodes = vec![
        parameter(0, "x", f32s(&[2, 3])),
        node(NodeKind::Elementwise(Op::IsNan), &[0], ArrayType::new(DType::Bool, [2, 3])),
        node(NodeKind::Elementwise(Op::Select), &[1, 0, 0], f32s(&[2, 3])),
        node(NodeKind::BroadcastInDim(AxisMap::from(vec![2, 0])), &[2], f32s(&[3, 5, 2])),
    ];
    let graph = graph(nodes, 3).unwrap();
    assert_eq!(verify(&graph), Ok(()));
    assert_eq!(graph.parameters(), [ValueId::from_index(0)]);
}

#[test]
fn every_broken_invariant_has_its_code() {
    let cases = [
        (node(NodeKind::Convert, &[1], f32s(&[2, 3])), "operand-not-earlier"),
        (node(NodeKind::Convert, &[7], f32s(&[2, 3])), "operand-not-earlier"),
        (node(NodeKind::Convert, &[0], f32s(&[3, 2])), "operand-shape"),
        (node(NodeKind::Convert, &[], f32s(&[2, 3])), "wrong-operand-count"),
        (node(NodeKind::Elementwise(Op::Neg), &[0], f32s(&[2])), "operand-shape"),
        (node(NodeKind::Elementwise(Op::Lt), &[0, 0], f32s(&[2, 3])), "result-type"),
        (node(NodeKind::Elementwise(Op::And), &[0, 0], f32s(&[2, 3])), "element-type-not-allowed"),
        (node(NodeKind::Elementwise(Op::Add), &[0], f32s(&[2, 3])), "wrong-operand-count"),
        (
            node(NodeKind::BroadcastInDim(AxisMap::from(vec![0, 1])), &[0], f32s(&[2, 4])),
            "size-mismatch",
        ),
        (
            node(
                NodeKind::BroadcastInDim(AxisMap::identity(2)),
                &[0],
                ArrayType::new(DType::F64, [2, 3]),
            ),
            "result-type",
        ),
        (node(NodeKind::Reshape, &[0], f32s(&[5])), "reshape-element-count"),
        (node(NodeKind::Contract { summed: 1 }, &[0, 0], f32s(&[2])), "result-type"),
        (node(NodeKind::Contract { summed: 1 }, &[0], f32s(&[2])), "wrong-operand-count"),
        (node(sort(0, SortResult::Values), &[0, 0], f32s(&[2, 3])), "wrong-operand-count"),
        (node(sort(0, SortResult::Positions), &[0], f32s(&[2, 3])), "result-type"),
        (node(sort(2, SortResult::Values), &[0], f32s(&[2, 3])), "axis-out-of-range"),
        (
            node(NodeKind::SearchSorted { side: SearchSide::Left }, &[0, 0], f32s(&[2])),
            "table-rank",
        ),
        (node(NodeKind::Contract { summed: 3 }, &[0, 0], f32s(&[])), "axis-out-of-range"),
        (node(NodeKind::Iota { axis: 2 }, &[], f32s(&[2, 3])), "axis-out-of-range"),
        (
            node(NodeKind::Iota { axis: 0 }, &[], ArrayType::new(DType::Bool, [2])),
            "element-type-not-allowed",
        ),
        (node(NodeKind::Constant(Array::from_scalar(1.0f32)), &[], f32s(&[1])), "result-type"),
        (parameter(1, "x", f32s(&[2, 3])), "duplicate-parameter"),
        (parameter(2, "y", f32s(&[2, 3])), "parameter-index"),
        (parameter(1, "y", f32s(&[usize::MAX, 2])), "too-large"),
    ];
    for (guilty, code) in cases {
        let error = mistake(guilty);
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.value, Some(ValueId::from_index(1)));
    }
}

#[test]
fn outputs_are_values() {
    let error = graph(vec![parameter(0, "x", f32s(&[]))], 1).unwrap_err();
    assert_eq!(error.to_string(), "output %1 is not a value of the graph");
}

#[test]
fn a_message_shows_the_node_and_a_repair() {
    let error = mistake(node(NodeKind::Elementwise(Op::Neg), &[0], f32s(&[2])));
    assert_eq!(
        error.to_string(),
        "`%1 = neg %0 : f32[2]`: operand 0 is f32[2, 3], which is not the shape of the result; \
         use broadcast_in_dim to expand it"
    );
}
