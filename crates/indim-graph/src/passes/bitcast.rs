//! Removal of bitcasts to another type and back.

use crate::graph::{GraphArena, Node, NodeKind, ValueId};

/// The rule of the pass for one node.
pub(super) fn drop_pairs(arena: &mut GraphArena, node: Node) -> ValueId {
    if let NodeKind::Bitcast = node.kind {
        let inner = &arena[node.operands[0]];
        let has_same_type = |source: &ValueId| arena[*source].array_type == node.array_type;
        if let (NodeKind::Bitcast, Some(source)) = (&inner.kind, inner.operands.first())
            && has_same_type(source)
        {
            return *source;
        }
    }
    arena.add(node)
}
