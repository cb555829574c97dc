//! Concatenations of concatenations: along one axis they are one. Parts without elements go.

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// A concatenation becomes no longer than this by those that it takes in: of ones that hold each other twice
/// there would be no end.
const MAX_OPERANDS: usize = 64;

/// The rule of the pass for one node.
pub(super) fn merge_nested(arena: &mut GraphArena, node: Node) -> ValueId {
    let NodeKind::Concatenate { axis } = node.kind else {
        return arena.add(node);
    };
    let mut parts: Vec<ValueId> = Vec::with_capacity(node.operands.len());
    let mut left = MAX_OPERANDS.saturating_sub(node.operands.len());
    for &operand in node.operands.iter() {
        let part = &arena[operand];
        match part.kind {
            _ if part.array_type.shape[axis] == 0 => {}
            NodeKind::Concatenate { axis: inner }
                if inner == axis && part.operands.len() <= left =>
            {
                left -= part.operands.len();
                parts.extend(part.operands.iter());
            }
            _ => parts.push(operand),
        }
    }
    match parts[..] {
        [] => arena.add(node),
        [only] => only,
        _ => arena.add(Node { operands: Operands::new(&parts), ..node }),
    }
}

/// Each part is written where it belongs by the nest that computes it. One that is a concatenation itself, of
/// which there is no such nest, is copied.
pub(super) fn copy_nested(arena: &mut GraphArena, node: Node) -> ValueId {
    let copied = |operand: ValueId| {
        let part = &arena[operand];
        match part.kind {
            NodeKind::Concatenate { .. } => {
                let (operands, array_type) = (Operands::new(&[operand]), part.array_type.clone());
                arena.add(Node { kind: NodeKind::Bitcast, operands, array_type })
            }
            _ => operand,
        }
    };
    let operands = node.operands.map(copied);
    arena.add(Node { operands, ..node })
}
