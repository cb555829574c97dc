//! Constant folding: small computations on constants are done now, by the reference evaluator.

use core::cell::Cell;

use crate::eval::evaluate_node;
use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// Larger results are left to run time: a constant of the graph costs memory for as long as it lives.
const MAXIMUM_ELEMENTS: usize = 1024;

/// So many elements are computed for one graph; what comes after them is left to run time. A line of a
/// graph's text is short, and its result may have the most elements.
const MAX_ELEMENTS: usize = 256 * MAXIMUM_ELEMENTS;

/// The rule of the pass for one node; `folded` is how many elements have been computed.
pub(super) fn fold_constants(arena: &mut GraphArena, node: Node, folded: &Cell<usize>) -> ValueId {
    let is_computed = matches!(
        node.kind,
        NodeKind::Elementwise(_)
            | NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Slice(_)
            | NodeKind::Concatenate { .. }
            | NodeKind::Take { .. }
    );
    let count = node.array_type.shape.element_count().unwrap_or(usize::MAX);
    let is_small = count <= MAXIMUM_ELEMENTS && folded.get() + count <= MAX_ELEMENTS;
    if !is_computed || !is_small {
        return arena.add(node);
    }
    let constants = node.operands.iter().map(|&operand| match &arena[operand].kind {
        NodeKind::Constant(array) => Some(array),
        _ => None,
    });
    let result =
        constants.collect::<Option<Vec<_>>>().and_then(|arrays| evaluate_node(&node, &arrays).ok());
    match result {
        Some(array) => {
            folded.set(folded.get() + count);
            arena.add(Node {
                array_type: array.array_type(),
                kind: NodeKind::Constant(array),
                operands: Operands::new(&[]),
            })
        }
        None => arena.add(node),
    }
}
