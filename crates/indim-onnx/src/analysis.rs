//! Analysis of the nodes: values that must be known at build time.

use super::flat_node::ValueNumber;
use super::step::Step;

/// For each value whether it determines shapes: it is a shape operand, or an operand's value depends on it.
pub(super) fn make_shapes(nodes: &[Step], value_count: usize) -> Vec<bool> {
    let mut leads = vec![false; value_count];
    mark_shapes(nodes, &mut leads);
    leads
}

/// The recursion is bounded by the limit on the depth of bodies.
fn mark_shapes(nodes: &[Step], leads: &mut [bool]) {
    for Step { node, operator, regions } in nodes.iter().rev() {
        let is_sought = node.results.iter().flatten().any(|&result| leads[result]);
        for region in regions {
            region.outputs.iter().for_each(|&output| mark(leads, output.filter(|_| is_sought)));
            mark_shapes(&region.nodes, leads);
        }
        for &position in operator.shape_operands {
            mark(leads, node.operands.get(position).copied().flatten());
        }
        // The number of steps, which the trip count and the condition decide, is the size of what a loop
        // stacks.
        let states = node.node.proto.input.len().saturating_sub(2);
        if node.operator == "Loop" && node.results.iter().skip(states).any(Option::is_some) {
            node.operands.iter().take(2).for_each(|&operand| mark(leads, operand));
        }
        if is_sought && !operator.reads_types {
            node.operands.iter().for_each(|&operand| mark(leads, operand));
        }
    }
}

fn mark(values: &mut [bool], value: Option<ValueNumber>) {
    if let Some(value) = value {
        values[value] = true;
    }
}
