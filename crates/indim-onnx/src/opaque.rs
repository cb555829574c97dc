//! Nodes without a lowering: an output that does not depend on them can be computed.

use indim_model::{Census, Location};

use super::flat_node::ValueNumber;
use super::flatten::Step;

/// A node without a lowering.
pub(super) struct OpaqueStep {
    pub(super) name: String,
    pub(super) reason: Option<String>,
    pub(super) place: Location,
    pub(super) operands: Vec<Option<ValueNumber>>,
    pub(super) results: Vec<Option<ValueNumber>>,
}

/// Removes the nodes that depend on opaque ones. Counts the opaque nodes on which an output depends.
pub(super) fn prune(
    nodes: &mut Vec<Step>,
    opaque: &[OpaqueStep],
    outputs: &[ValueNumber],
    value_count: usize,
) -> Census {
    let mut census = Census::default();
    if opaque.is_empty() {
        return census;
    }
    let mut is_opaque = vec![false; value_count];
    let results = opaque.iter().flat_map(|step| step.results.iter().flatten());
    results.for_each(|&result| is_opaque[result] = true);
    let live = live(nodes, opaque, outputs, value_count);
    for step in opaque {
        let is_live = step.results.iter().flatten().any(|&result| live[result]);
        if is_live {
            census.add(&step.name, step.reason.clone(), step.place.clone());
        }
    }
    nodes.retain(|Step { node, .. }| {
        let is_known = !node.operands.iter().flatten().any(|&operand| is_opaque[operand]);
        if !is_known {
            node.results.iter().flatten().for_each(|&result| is_opaque[result] = true);
        }
        is_known
    });
    census
}

/// Whether an output depends on each value.
pub(super) fn live(
    nodes: &[Step],
    opaque: &[OpaqueStep],
    outputs: &[ValueNumber],
    value_count: usize,
) -> Vec<bool> {
    let mut operands: Vec<&[Option<ValueNumber>]> = vec![&[]; value_count];
    let computed = nodes.iter().map(|step| (&step.node.results, &step.node.operands));
    let steps = computed.chain(opaque.iter().map(|step| (&step.results, &step.operands)));
    for (results, of) in steps {
        results.iter().flatten().for_each(|&result| operands[result] = of);
    }
    let mut live = vec![false; value_count];
    let mut open = outputs.to_vec();
    while let Some(value) = open.pop() {
        if !core::mem::replace(&mut live[value], true) {
            open.extend(operands[value].iter().flatten());
        }
    }
    live
}
