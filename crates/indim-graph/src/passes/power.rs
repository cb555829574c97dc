//! Replacement of powers by cheap operations with the same bits: `x^2` is `square`, `x^-1` is `reciprocal`.

use indim_ops::{DType, Op, bf16, f16};

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use indim_arrays::Array;

/// The rule of the pass for one node.
pub(super) fn replace_powers(arena: &mut GraphArena, node: Node) -> ValueId {
    let is_power = matches!(node.kind, NodeKind::Elementwise(Op::Pow));
    match is_power.then(|| cheap_operation(arena, &node)).flatten() {
        Some(op) => {
            let operands = Operands::new(&[node.operands[0]]);
            arena.add(Node { kind: NodeKind::Elementwise(op), operands, ..node })
        }
        None => arena.add(node),
    }
}

/// The operation that equals the power, if the exponent is one of these constants.
fn cheap_operation(arena: &GraphArena, node: &Node) -> Option<Op> {
    let exponent = &arena[node.operands[1]];
    let exponent = match exponent.kind {
        NodeKind::BroadcastInDim(_) => &arena[exponent.operands[0]],
        _ => exponent,
    };
    let NodeKind::Constant(array) = &exponent.kind else { return None };
    match float_scalar(array)? {
        2.0 => Some(Op::Square),
        -1.0 => Some(Op::Reciprocal),
        _ => None,
    }
}

/// The only element of the array, if it is a float.
fn float_scalar(array: &Array) -> Option<f64> {
    match array.dtype() {
        DType::F16 => array.scalar::<f16>().ok().map(|x| x.to_f64()),
        DType::Bf16 => array.scalar::<bf16>().ok().map(|x| x.to_f64()),
        DType::F32 => array.scalar::<f32>().ok().map(f64::from),
        DType::F64 => array.scalar().ok(),
        _ => None,
    }
}
