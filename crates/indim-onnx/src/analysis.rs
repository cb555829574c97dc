//! What follows from the nodes alone: which values must be known before a run.

use super::flat_node::ValueNumber;
use super::flatten::Step;

/// For each value whether shapes are made of it: it is, or leads to, an operand that says a shape.
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
