//! Analysis of the nodes: values that must be known at build time.

use super::flat_node::ValueNumber;
use super::flatten::Step;

/// For each value whether it determines shapes: it is a shape operand, or an operand's value depends on it.
pub(super) fn make_shapes(nodes: &[Step], value_count: usize) -> Vec<bool> {
    let mut leads = vec![false; value_count];
    for Step { node, operator } in nodes.iter().rev() {
        for &position in operator.shape_operands {
            mark(&mut leads, node.operands.get(position).copied().flatten());
        }
        let is_sought = node.results.iter().flatten().any(|&result| leads[result]);
        if is_sought && !operator.reads_types {
            node.operands.iter().for_each(|&operand| mark(&mut leads, operand));
        }
    }
    leads
}

fn mark(values: &mut [bool], value: Option<ValueNumber>) {
    if let Some(value) = value {
        values[value] = true;
    }
}
