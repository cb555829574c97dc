//! Bits read as another type and back are what they were.

use crate::graph::{GraphArena, Node, NodeKind, ValueId};

/// The rule of the pass for one node.
pub(super) fn read_through(arena: &mut GraphArena, node: Node) -> ValueId {
    if let NodeKind::Bitcast = node.kind {
        let inner = &arena[node.operands[0]];
        let is_back = |source: &ValueId| arena[*source].array_type == node.array_type;
        if let (NodeKind::Bitcast, Some(source)) = (&inner.kind, inner.operands.first())
            && is_back(source)
        {
            return *source;
        }
    }
    arena.add(node)
}
