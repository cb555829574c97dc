//! Opaque nodes, which have no lowering: outputs that do not depend on them can still be computed.

use core::ops::Range;

use indim_model::UnsupportedOperations;

use super::node::ValueNumber;
use super::step::{FlatStep, OpaqueStep};

/// Removes the nodes that depend on opaque nodes. Counts the opaque nodes on which an output depends.
pub fn prune<O>(
    nodes: &mut Vec<FlatStep<O>>,
    opaque: &[OpaqueStep],
    outputs: &[ValueNumber],
    value_count: usize,
) -> UnsupportedOperations {
    let mut unsupported = UnsupportedOperations::default();
    if opaque.is_empty() {
        return unsupported;
    }
    let mut is_opaque = vec![false; value_count];
    let results = opaque.iter().flat_map(|step| step.results.iter().flatten());
    results.for_each(|&result| is_opaque[result] = true);
    let live = mark_live(nodes, opaque, outputs, 0..value_count);
    for step in opaque {
        let is_live = step.results.iter().flatten().any(|&result| live[result]);
        for node in step.nodes.iter().filter(|_| is_live) {
            unsupported.add(&node.name, node.reason.clone(), node.location.clone());
        }
    }
    nodes.retain(|FlatStep { node, .. }| {
        let is_known = !node.operands.iter().flatten().any(|&operand| is_opaque[operand]);
        if !is_known {
            node.results.iter().flatten().for_each(|&result| is_opaque[result] = true);
        }
        is_known
    });
    unsupported
}

/// For each value in the range, whether an output depends on it.
pub fn mark_live<O>(
    nodes: &[FlatStep<O>],
    opaque: &[OpaqueStep],
    outputs: &[ValueNumber],
    values: Range<ValueNumber>,
) -> Vec<bool> {
    let mut operands: Vec<&[Option<ValueNumber>]> = vec![&[]; values.len()];
    let computed = nodes.iter().map(|step| (&step.node.results, &step.node.operands));
    let steps = computed.chain(opaque.iter().map(|step| (&step.results, &step.operands)));
    for (results, of) in steps {
        results.iter().flatten().for_each(|&result| operands[result - values.start] = of);
    }
    let mut live = vec![false; values.len()];
    let mut open = outputs.to_vec();
    while let Some(value) = open.pop() {
        // A body also captures values from outside, which are before the range.
        let Some(value) = value.checked_sub(values.start) else { continue };
        if !core::mem::replace(&mut live[value], true) {
            open.extend(operands[value].iter().flatten());
        }
    }
    live
}

/// Drops nodes whose results are all dead. In the remaining loops and branches it drops the dead results,
/// so that they are not stacked. `live` begins at the value `first`.
pub fn remove_dead<O>(nodes: &mut Vec<FlatStep<O>>, live: &[bool], first: ValueNumber) {
    let is_live = |number: &ValueNumber| live[*number - first];
    nodes.retain(|step| step.node.results.iter().flatten().any(is_live));
    for step in nodes.iter_mut().filter(|step| !step.regions.is_empty()) {
        for result in &mut step.node.results {
            *result = result.filter(is_live);
        }
    }
}
