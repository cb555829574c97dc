//! Replacement of powers by cheap operations with the same bits: `x^2` is `square`, `x^-1` is `reciprocal`.

use indim_ops::{ArrayData, Op};

use crate::array::Array;
use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// The rule of the pass for one node.
pub(super) fn replace_powers(arena: &mut GraphArena, node: Node) -> ValueId {
    let is_power = matches!(node.kind, NodeKind::Elementwise(Op::Pow));
    match is_power.then(|| equivalent(arena, &node)).flatten() {
        Some(op) => {
            let operands = Operands::new(&[node.operands[0]]);
            arena.add(Node { kind: NodeKind::Elementwise(op), operands, ..node })
        }
        None => arena.add(node),
    }
}

/// The operation that equals the power, if the exponent is one of these constants.
fn equivalent(arena: &GraphArena, node: &Node) -> Option<Op> {
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
    use ArrayData::{Bool, C64, C128, I8, I16, I32, I64, U8, U16, U32, U64};
    match array.data() {
        ArrayData::F16(elements) => only(elements).map(|x| x.to_f64()),
        ArrayData::Bf16(elements) => only(elements).map(|x| x.to_f64()),
        ArrayData::F32(elements) => only(elements).map(f64::from),
        ArrayData::F64(elements) => only(elements),
        Bool(_) | I8(_) | I16(_) | I32(_) | I64(_) | U8(_) | U16(_) | U32(_) | U64(_) => None,
        C64(_) | C128(_) => None,
    }
}

fn only<T: Copy>(elements: &[T]) -> Option<T> {
    match elements {
        &[element] => Some(element),
        _ => None,
    }
}
