//! Per-channel constants that are broadcast along an axis other than the channel axis.

use indim_shape::ErrorCode;

use super::chain::root;
use super::facts::Facts;
use super::finding::{Finding, FindingVerdict};
use crate::outline::{NodeRole, Outline, OutlineBroadcast, SymbolicSize, ValueType, Verdict};

pub(super) fn find(outline: &Outline, facts: &Facts, findings: &mut Vec<Finding>) {
    for (number, node) in outline.nodes.iter().enumerate() {
        if node.role != NodeRole::Elementwise {
            continue;
        }
        for broadcast in &node.broadcasts {
            for (position, operand) in node.operands.iter().enumerate() {
                // Evenly spaced numbers are coordinates along an axis, not numbers of channels.
                let is_per_channel = |operand: usize| {
                    facts.is_constant(operand) && !outline.values[operand].is_evenly_spaced
                };
                if operand.is_some_and(is_per_channel) {
                    findings.extend(finding_of(outline, facts, (number, broadcast), position));
                }
                findings
                    .extend(operand.and_then(|operand| expanded(outline, facts, number, operand)));
            }
        }
    }
    add_repairs(outline, facts, findings);
}

/// The operand with a known channel axis: its sizes and this axis.
fn data<'o>(
    outline: &'o Outline,
    facts: &Facts,
    number: usize,
) -> Option<(&'o [SymbolicSize], usize)> {
    let operands = outline.nodes[number].operands.iter().flatten();
    operands.into_iter().find_map(|&operand| {
        let channels = facts.channels(operand)?;
        Some((outline.values[operand].value_type.sizes.as_deref()?, channels))
    })
}

/// The finding about one constant operand, if any.
fn finding_of(
    outline: &Outline,
    facts: &Facts,
    (number, broadcast): (usize, &OutlineBroadcast),
    position: usize,
) -> Option<Finding> {
    let (sizes, channels) = data(outline, facts, number)?;
    let form = broadcast.form()?;
    let (name, constant) = broadcast.operands.get(position)?;
    let own = constant.sizes.as_ref()?;
    let mut wide = (0..own.len()).filter(|&axis| !own[axis].is(1));
    let (Some(axis), None) = (wide.next(), wide.next()) else { return None };
    let to = *form.maps.get(position)?.get(axis)?;
    if to == channels || form.result.len() != sizes.len() || own[axis] != sizes[channels] {
        return None;
    }
    let code = (ErrorCode::WRONG_AXIS, FindingVerdict::Suspicious);
    let message = format!(
        "{name}: {constant} has one number for each of the {} channels on axis {channels}, but lies on axis \
         {to}",
        sizes[channels]
    );
    let repair = reshape_repair(broadcast, position, (sizes, channels));
    Some(Finding::new(outline, number, code, message).with_repair(repair))
}

/// The finding about an operand that a broadcast node of its own expands. Programs of XLA take their
/// parameters as inputs, so a vector that is an input and is added counts as a constant.
fn expanded(outline: &Outline, facts: &Facts, number: usize, operand: usize) -> Option<Finding> {
    let (sizes, channels) = data(outline, facts, number)?;
    let (value, map) = root(outline, operand, sizes.len())?;
    let of_value = &outline.values[value];
    let own = of_value.value_type.sizes.as_deref()?;
    let is_input = own.len() == 1 && outline.inputs.contains(&value);
    let is_bias = is_input && adds(&outline.nodes[number].operator);
    let is_parameter = facts.is_constant(value) && !of_value.is_evenly_spaced;
    if !is_parameter && !is_bias {
        return None;
    }
    let mut wide = (0..own.len()).filter(|&axis| !own[axis].is(1));
    let (Some(axis), None) = (wide.next(), wide.next()) else { return None };
    let to = *map.get(axis)?;
    if to == channels || own[axis] != sizes[channels] {
        return None;
    }
    let name = indim_graph::terminal::printable(&of_value.name);
    let message = format!(
        "{name}: {} has one number for each of the {} channels on axis {channels}, but lies on axis {to}",
        of_value.value_type, sizes[channels]
    );
    let code = (ErrorCode::WRONG_AXIS, FindingVerdict::Suspicious);
    let repair = format!("broadcast {name} along axis {channels}");
    Some(Finding::new(outline, number, code, message).with_repair(Some(repair)))
}

/// Whether an operation of StableHLO or HLO adds or subtracts. Factors that are inputs are often masks of
/// rows or columns, whose lengths may equal the number of channels.
fn adds(operator: &str) -> bool {
    matches!(operator.trim_start_matches("stablehlo."), "add" | "subtract")
}

/// The repair: the constant reshaped so that its elements lie on the channel axis. `None` if this
/// broadcast is illegal.
fn reshape_repair(
    broadcast: &OutlineBroadcast,
    position: usize,
    (sizes, channels): (&[SymbolicSize], usize),
) -> Option<String> {
    let mut operands = broadcast.operands.clone();
    let mut shape = vec![sizes[channels].clone()];
    shape.resize(sizes.len() - channels, SymbolicSize::known(1));
    let element = operands[position].1.element.clone();
    operands[position].1 = ValueType { element, sizes: Some(shape) };
    let (name, constant) = operands[position].clone();
    let tried = OutlineBroadcast::judge(broadcast.rule.clone(), operands, None, "repair");
    let is_legal = matches!(&tried.verdict, Verdict::Legal(form) if form.result == sizes);
    is_legal.then(|| format!("reshape {name} to {constant}"))
}

/// Adds the same repair to findings about illegal broadcasts of a constant with one number for each channel.
fn add_repairs(outline: &Outline, facts: &Facts, findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|it| it.verdict == FindingVerdict::Illegal) {
        let Some(number) = finding.node else { continue };
        let node = &outline.nodes[number];
        let Some(broadcast) = node.broadcasts.first() else { continue };
        let Some((sizes, channels)) = data(outline, facts, number) else { continue };
        for (position, operand) in node.operands.iter().enumerate() {
            let Some(operand) = operand.filter(|&operand| facts.is_constant(operand)) else {
                continue;
            };
            let own = outline.values[operand].value_type.sizes.as_deref();
            if own == Some(core::slice::from_ref(&sizes[channels])) {
                finding.repair = reshape_repair(broadcast, position, (sizes, channels));
            }
        }
    }
}
