//! Replacement of values without elements by constants.
//!
//! Such a value needs no computation, and its operands may be large.

use indim_ops::ArrayData;

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use indim_arrays::Array;

/// The rule of the pass for one node.
pub(super) fn replace_empty(arena: &mut GraphArena, node: Node) -> ValueId {
    let is_computed = !matches!(node.kind, NodeKind::Parameter { .. } | NodeKind::Constant(_));
    if !is_computed || !node.array_type.shape.contains(&0) {
        return arena.add(node);
    }
    let data = ArrayData::from_le_bytes(node.array_type.dtype, &[]);
    match Array::from_data(&node.array_type.shape, data) {
        Ok(array) => arena.add(Node {
            kind: NodeKind::Constant(array),
            operands: Operands::new(&[]),
            array_type: node.array_type,
        }),
        Err(_) => arena.add(node),
    }
}
