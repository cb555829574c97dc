//! Constant folding: small computations on constants are done now, by the reference evaluator.

use crate::eval::evaluate_node;
use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// Larger results are left to run time: a constant of the graph costs memory for as long as it lives.
const MAXIMUM_ELEMENTS: usize = 1024;

/// The rule of the pass for one node.
pub(super) fn fold_constants(arena: &mut GraphArena, node: Node) -> ValueId {
    let is_computed =
        matches!(node.kind, NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast);
    let is_small = node.array_type.shape.element_count().is_ok_and(|n| n <= MAXIMUM_ELEMENTS);
    if !is_computed || !is_small {
        return arena.add(node);
    }
    let constants = node.operands.iter().map(|&operand| match &arena[operand].kind {
        NodeKind::Constant(array) => Some(array),
        _ => None,
    });
    let folded =
        constants.collect::<Option<Vec<_>>>().and_then(|arrays| evaluate_node(&node, &arrays).ok());
    match folded {
        Some(array) => arena.add(Node {
            array_type: array.array_type(),
            kind: NodeKind::Constant(array),
            operands: Operands::new(&[]),
        }),
        None => arena.add(node),
    }
}
