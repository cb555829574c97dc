//! Reduction of stacks by element-wise operations on their parts, without writing the stack.

use indim_ops::ArrayType;
use indim_ops::meaning::reduction::REDUCTION_LANES;

use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};
use crate::reduce::without_axis;

use super::reduction::{add, combine};

/// Maximum number of parts of a stack that this pass reduces: the number of lanes in a block of a sum, so
/// that each part is a lane of its own.
const MAX_PARTS: usize = REDUCTION_LANES;

/// The uses of a value, or of its conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StackUse {
    None,
    /// Reductions along this axis, none of them an arg-reduction.
    Reductions(usize),
    Other,
}

impl StackUse {
    fn merge(self, other: StackUse) -> StackUse {
        match (self, other) {
            (StackUse::None, other) => other,
            (one, StackUse::None) => one,
            (one, other) if one == other => one,
            _ => StackUse::Other,
        }
    }
}

/// For each value, whether it is a reduction of a stack whose only uses are reductions along the stacked
/// axis, none of them an arg-reduction. The stack may be converted first.
pub(super) fn reductions(graph: &Graph) -> Vec<bool> {
    let mut uses = vec![StackUse::None; graph.len()];
    graph.outputs().iter().for_each(|output| uses[output.index()] = StackUse::Other);
    // The reverse order visits all uses of a value before the value.
    for (value, node) in graph.iter().rev() {
        let usage = match node.kind {
            NodeKind::Reduce { op, axis } if !op.is_arg_reduction() => StackUse::Reductions(axis),
            NodeKind::Convert => uses[value.index()],
            _ => StackUse::Other,
        };
        for operand in node.operands.iter() {
            uses[operand.index()] = uses[operand.index()].merge(usage);
        }
    }
    let is_reduced = |node: &Node| match node.kind {
        NodeKind::Reduce { axis, .. } => {
            let stack = skip_conversion(graph, node.operands[0]);
            is_stack(graph, stack, axis) && uses[stack.index()] == StackUse::Reductions(axis)
        }
        _ => false,
    };
    graph.iter().map(|(_, node)| is_reduced(node)).collect()
}

/// The operand of a conversion; any other value is returned unchanged.
fn skip_conversion(graph: &Graph, value: ValueId) -> ValueId {
    let node = &graph[value];
    if node.kind == NodeKind::Convert { node.operands[0] } else { value }
}

/// Whether a value is a stack along `axis`: a concatenation of parts of size 1.
fn is_stack(graph: &Graph, value: ValueId, axis: usize) -> bool {
    let Node { kind, operands, .. } = &graph[value];
    let is_single = |part: &ValueId| graph[*part].array_type.shape[axis] == 1;
    *kind == NodeKind::Concatenate { axis }
        && (2..=MAX_PARTS).contains(&operands.len())
        && operands.iter().all(is_single)
}

/// The rule of the pass for a reduction of a stack.
pub(super) fn reduce_stack(arena: &mut GraphArena, node: &Node) -> ValueId {
    let NodeKind::Reduce { op, axis } = node.kind else {
        unreachable!("invariant: a reduction was found")
    };
    let operand = arena[node.operands[0]].clone();
    let stack = match operand.kind {
        NodeKind::Convert => arena[operand.operands[0]].clone(),
        _ => operand.clone(),
    };
    let dtype = operand.array_type.dtype;
    let mut parts = Vec::with_capacity(stack.operands.len());
    for &part in stack.operands.iter() {
        let ArrayType { dtype: from, shape } = arena[part].array_type.clone();
        let shape = without_axis(&shape, axis);
        let part = add(arena, NodeKind::Reshape, &[part], ArrayType::new(from, shape.clone()));
        parts.push(match from == dtype {
            true => part,
            false => add(arena, NodeKind::Convert, &[part], ArrayType::new(dtype, shape)),
        });
    }
    combine(arena, op, &parts)
}
