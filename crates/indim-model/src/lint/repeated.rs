//! Constants that repeat their elements, where a broadcast of fewer elements gives the same.

use indim_shape::ErrorCode;

use super::facts::Facts;
use super::finding::{Finding, FindingVerdict};
use crate::outline::{NodeRole, Outline, OutlineBroadcast, SymbolicSize, ValueType, Verdict};

/// Minimum bytes that a finding must save to be worth a change of the model.
const MIN_SAVED_BYTES: i64 = 4096;

pub(super) fn find(outline: &Outline, facts: &Facts, findings: &mut Vec<Finding>) {
    for (number, node) in outline.nodes.iter().enumerate() {
        let is_computed = matches!(node.role, NodeRole::Elementwise | NodeRole::Predicate);
        let ([broadcast], true) = (&node.broadcasts[..], is_computed) else { continue };
        if node.operands.iter().flatten().all(|&operand| facts.is_constant(operand)) {
            continue;
        }
        for (position, operand) in node.operands.iter().enumerate() {
            let Some(operand) = *operand else { continue };
            if facts.only_users(operand) == [number] {
                findings.extend(finding_of(outline, (number, broadcast), (position, operand)));
            }
        }
    }
}

/// The finding about one constant operand, if any.
fn finding_of(
    outline: &Outline,
    (number, broadcast): (usize, &OutlineBroadcast),
    (position, operand): (usize, usize),
) -> Option<Finding> {
    let repeated = &outline.values[operand].repeated_axes;
    let result = &broadcast.form()?.result;
    let (name, constant) = broadcast.operands.get(position)?;
    let mut sizes = constant.sizes.clone()?;
    // A smaller constant with equal elements is no mistake: weights begin so, and training changes them.
    let is_uniform = (0..sizes.len()).all(|axis| sizes[axis].is(1) || repeated.contains(&axis));
    if repeated.is_empty() || (is_uniform && sizes != *result) {
        return None;
    }
    let mut axes = Vec::new();
    for &axis in repeated {
        let before = core::mem::replace(sizes.get_mut(axis)?, SymbolicSize::known(1));
        match is_same(broadcast, position, &sizes) {
            true => axes.push(axis.to_string()),
            false => sizes[axis] = before,
        }
    }
    let saved = bytes(constant)? - bytes(&with_sizes(constant, &sizes))?;
    if axes.is_empty() || saved < MIN_SAVED_BYTES {
        return None;
    }
    let small = with_sizes(constant, &sizes);
    let noun = if axes.len() == 1 { "axis" } else { "axes" };
    let message = format!(
        "{name}: {constant} repeats its elements along {noun} {}: {small} broadcasts to the same, and saves \
         {saved} bytes",
        axes.join(", ")
    );
    let code = (ErrorCode::REPEATED_CONSTANT, FindingVerdict::Advice);
    let repair = Some(format!("store {name} as {small}"));
    Some(Finding::new(outline, number, code, message).with_repair(repair))
}

/// Whether the result is the same if the operand has these sizes.
fn is_same(broadcast: &OutlineBroadcast, position: usize, sizes: &[SymbolicSize]) -> bool {
    let mut operands = broadcast.operands.clone();
    operands[position].1.sizes = Some(sizes.to_vec());
    let tried = OutlineBroadcast::judge(broadcast.rule.clone(), operands, None, "repair");
    matches!((&tried.verdict, broadcast.form()), (Verdict::Legal(form), Some(own))
        if form.result == own.result)
}

fn with_sizes(value_type: &ValueType, sizes: &[SymbolicSize]) -> ValueType {
    ValueType { element: value_type.element.clone(), sizes: Some(sizes.to_vec()) }
}

fn bytes(value_type: &ValueType) -> Option<i64> {
    let count = SymbolicSize::product(value_type.sizes.as_deref()?)?.number()?;
    count.checked_mul(i64::try_from(value_type.dtype()?.size()).ok()?)
}
