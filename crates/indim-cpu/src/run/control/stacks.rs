//! Stacks: states whose rows the steps of a loop write once each, so that no step needs their initial values.

use indim_graph::{Graph, NodeKind, Region, ValueId};
use indim_ops::{Op, ScatterOp};

/// The state that counts the steps of a loop, if `state` is a stack: each step writes one row of it, at the
/// position of the counter or, in reverse, at `rows - 1 - counter`. If the counter begins at 0, the loop
/// writes every row.
pub(super) fn counter_of_stack(condition: &Region, body: &Region, state: usize) -> Option<usize> {
    let (body, condition) = (body.graph(), condition.graph());
    let (stack, written) = (body.parameters()[state], body.outputs()[state]);
    let scatter = &body[written];
    let rows = i64::try_from(*body[stack].array_type.shape.first()?).ok()?;
    let (NodeKind::Scatter { op: ScatterOp::Set, axis: 0, .. }, &[operand, index, _]) =
        (&scatter.kind, &scatter.operands[..])
    else {
        return None;
    };
    // A step that reads the stack after its write sees rows that later steps write.
    let is_read_once = count_reads(body, stack) == 1
        && count_reads(body, written) == 1
        && count_reads(condition, condition.parameters()[state]) == 0
        && body[index].array_type.shape.is_scalar();
    if operand != stack || !is_read_once {
        return None;
    }
    let position = match operands_of(body, index, Op::Sub) {
        Some([last, position]) if number(body, last) == Some(rows - 1) => position,
        _ => index,
    };
    let counter = body.parameters().iter().position(|&parameter| parameter == position)?;
    let adds_one = match operands_of(body, *body.outputs().get(counter)?, Op::Add)? {
        [from, one] | [one, from] if from == position => number(body, one) == Some(1),
        _ => false,
    };
    let [from, end] = operands_of(condition, condition.outputs()[0], Op::Lt)?;
    let ends_at_last_row =
        from == condition.parameters()[counter] && number(condition, end) == Some(rows);
    (adds_one && ends_at_last_row).then_some(counter)
}

/// The number of times that nodes and outputs of the graph read a value.
fn count_reads(graph: &Graph, value: ValueId) -> usize {
    let operands = graph.iter().flat_map(|(_, node)| node.operands.iter());
    operands.chain(graph.outputs()).filter(|&&read| read == value).count()
}

/// The operands of a value that the operation computes.
fn operands_of(graph: &Graph, value: ValueId, op: Op) -> Option<[ValueId; 2]> {
    match graph[value].kind {
        NodeKind::Elementwise(found) if found == op => graph[value].operands[..].try_into().ok(),
        _ => None,
    }
}

/// The number that a constant of type `i64` has.
fn number(graph: &Graph, value: ValueId) -> Option<i64> {
    match &graph[value].kind {
        NodeKind::Constant(array) => array.scalar::<i64>().ok(),
        _ => None,
    }
}
