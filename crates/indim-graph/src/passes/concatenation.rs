//! Merging of nested concatenations along one axis. Parts without elements are dropped.

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// Maximum operands of a merged concatenation. Without a limit, a chain of concatenations that each use the
/// previous one twice would grow exponentially.
const MAX_OPERANDS: usize = 64;

/// The rule of the pass for one node.
pub(super) fn merge_nested(arena: &mut GraphArena, node: Node) -> ValueId {
    let NodeKind::Concatenate { axis } = node.kind else {
        return arena.add(node);
    };
    let mut parts: Vec<ValueId> = Vec::with_capacity(node.operands.len());
    let mut budget = MAX_OPERANDS.saturating_sub(node.operands.len());
    for &operand in node.operands.iter() {
        let part = &arena[operand];
        match part.kind {
            _ if part.array_type.shape[axis] == 0 => {}
            NodeKind::Concatenate { axis: inner }
                if inner == axis && part.operands.len() <= budget =>
            {
                budget -= part.operands.len();
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

/// Copies, by a `Bitcast` node, each operand that is itself a concatenation and has other uses. A
/// concatenation has no nest of its own: the nest of each part writes into a slice of the concatenation.
/// So an inner concatenation without other uses needs no copy, because its parts are written directly into
/// the outer concatenation. `is_used_once` tells whether the operand at a position has no other use.
/// Without copies, a chain of concatenations that each use the previous one twice would have an
/// exponential number of parts.
pub(super) fn copy_nested(
    arena: &mut GraphArena,
    node: Node,
    is_used_once: impl Fn(usize) -> bool,
) -> ValueId {
    let mut position = 0;
    let copy_shared = |operand: ValueId| {
        let part = &arena[operand];
        let is_shared = !is_used_once(position);
        position += 1;
        match part.kind {
            NodeKind::Concatenate { .. } if is_shared => {
                let (operands, array_type) = (Operands::new(&[operand]), part.array_type.clone());
                arena.add(Node { kind: NodeKind::Bitcast, operands, array_type })
            }
            _ => operand,
        }
    };
    let operands = node.operands.map(copy_shared);
    arena.add(Node { operands, ..node })
}
