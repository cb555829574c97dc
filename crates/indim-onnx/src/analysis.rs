//! What follows from the nodes alone: which values must be known before a run, and which can be.

use indim_model::Census;

use super::flat_node::ValueNumber;
use super::flatten::Step;
use super::operators::Meaning;

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

/// Counts the operators that are to be had on shapes alone, but stand on data. `is_known` says which values
/// are known from the start.
pub(super) fn count_on_data(nodes: &[Step], mut is_known: Vec<bool>, census: &mut Census) {
    for Step { node, operator } in nodes {
        let mut operands = node.operands.iter().flatten();
        let is_constant = matches!(operator.becomes, Meaning::Constant);
        let results_are_known =
            is_constant || operator.reads_types || operands.all(|&operand| is_known[operand]);
        if operator.of_known_only && !results_are_known {
            let reason = "on data, not on shapes".to_owned();
            census.add(operator.name, Some(reason), node.place());
        }
        for &result in node.results.iter().flatten() {
            is_known[result] = results_are_known;
        }
    }
}
