//! Constant folding of small computations, by the reference evaluator.

use core::cell::Cell;

use crate::eval::evaluate_node;
use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// Maximum elements of a folded result: a constant takes memory as long as the graph exists.
const MAX_RESULT_ELEMENTS: usize = 1024;

/// Maximum elements of all folded results of one graph. Without a limit, a short text of a graph could take
/// long to compile, because each of its lines may compute the maximum.
const MAX_FOLDED_ELEMENTS: usize = 256 * MAX_RESULT_ELEMENTS;

/// The rule of the pass for one node; `folded_elements` is the number of elements computed so far.
pub(super) fn fold_constants(
    arena: &mut GraphArena,
    node: Node,
    folded_elements: &Cell<usize>,
) -> ValueId {
    let is_computed = matches!(
        node.kind,
        NodeKind::Elementwise(_)
            | NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Slice(_)
            | NodeKind::Window { .. }
            | NodeKind::Concatenate { .. }
            | NodeKind::Take { .. }
    );
    let count = node.array_type.shape.element_count().unwrap_or(usize::MAX);
    let is_small =
        count <= MAX_RESULT_ELEMENTS && folded_elements.get() + count <= MAX_FOLDED_ELEMENTS;
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
            folded_elements.set(folded_elements.get() + count);
            arena.add(Node {
                array_type: array.array_type().clone(),
                kind: NodeKind::Constant(array),
                operands: Operands::new(&[]),
            })
        }
        None => arena.add(node),
    }
}
