//! Reductions of stacks: element by element, from where the parts are. The stack is not written.

use indim_ops::ArrayType;
use indim_ops::meaning::reduction::LANES;

use crate::graph::{Graph, GraphArena, Node, NodeKind, ValueId};
use crate::reduce::without_axis;

use super::reduction::{add, combine};

/// The most parts of a stack that is not written: a node of the tree is made of as many lanes.
const MAX_PARTS: usize = LANES;

/// The uses of a value, or of its conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Users {
    Nothing,
    /// Reductions along this axis, which are no searches.
    ReductionsAlong(usize),
    Others,
}

impl Users {
    fn and(self, other: Users) -> Users {
        match (self, other) {
            (Users::Nothing, other) => other,
            (one, Users::Nothing) => one,
            (one, other) if one == other => one,
            _ => Users::Others,
        }
    }
}

/// For each value whether it is the reduction of a stack that is only reduced, each time along its axis.
pub(super) fn reductions(graph: &Graph) -> Vec<bool> {
    let mut users = vec![Users::Nothing; graph.len()];
    graph.outputs().iter().for_each(|output| users[output.index()] = Users::Others);
    // Users come later.
    for (value, node) in graph.iter().rev() {
        let user = match node.kind {
            NodeKind::Reduce { op, axis } if !op.is_arg_reduction() => Users::ReductionsAlong(axis),
            NodeKind::Convert => users[value.index()],
            _ => Users::Others,
        };
        for operand in node.operands.iter() {
            users[operand.index()] = users[operand.index()].and(user);
        }
    }
    let is_reduced = |node: &Node| match node.kind {
        NodeKind::Reduce { axis, .. } => {
            let stack = converted(graph, node.operands[0]);
            is_stack(graph, stack, axis) && users[stack.index()] == Users::ReductionsAlong(axis)
        }
        _ => false,
    };
    graph.iter().map(|(_, node)| is_reduced(node)).collect()
}

/// The operand of a conversion, or the value.
fn converted(graph: &Graph, value: ValueId) -> ValueId {
    let node = &graph[value];
    if node.kind == NodeKind::Convert { node.operands[0] } else { value }
}

/// Whether a value has one part for each index of an axis.
fn is_stack(graph: &Graph, value: ValueId, axis: usize) -> bool {
    let Node { kind, operands, .. } = &graph[value];
    let is_single = |part: &ValueId| graph[*part].array_type.shape[axis] == 1;
    *kind == NodeKind::Concatenate { axis }
        && (2..=MAX_PARTS).contains(&operands.len())
        && operands.iter().all(is_single)
}

/// The rule for a reduction of a stack.
pub(super) fn reduce_parts(arena: &mut GraphArena, node: &Node) -> ValueId {
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
