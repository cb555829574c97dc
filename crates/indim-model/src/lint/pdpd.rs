//! Axes of OpenVINO's pdpd rule that OpenVINO itself ignores or reads differently.

use indim_shape::{AnyRule, ErrorCode, RuleSet};

use super::finding::{Finding, FindingVerdict};
use crate::outline::{
    NodeRole, Outline, OutlineBroadcast, OutlineNode, SymbolicSize, ValueType, Verdict,
};

/// The attribute with the axis of element-wise operations.
const AXIS: &str = "auto_broadcast.auto_broadcast_axis";

pub(super) fn find(outline: &Outline, findings: &mut Vec<Finding>) {
    for (number, node) in outline.nodes.iter().enumerate() {
        for broadcast in &node.broadcasts {
            if let Some((message, repair)) = problem(node, broadcast) {
                let code = (ErrorCode::PDPD_AXIS, FindingVerdict::Suspicious);
                let finding = Finding::new(outline, number, code, message);
                findings.push(finding.with_repair(repair));
            }
        }
    }
}

/// The message and the repair of a finding about the axis of a broadcast, if there is a problem.
fn problem(node: &OutlineNode, broadcast: &OutlineBroadcast) -> Option<(String, Option<String>)> {
    match &broadcast.rule {
        AnyRule::Elementwise(RuleSet::Pdpd { axis: None }) => absent_axis_problem(broadcast),
        AnyRule::Elementwise(RuleSet::Pdpd { .. }) => unsupported_axis_problem(node, broadcast),
        AnyRule::Elementwise(RuleSet::Numpy) => ignored_axis_problem(node, broadcast),
        _ => None,
    }
}

/// An absent axis: OpenVINO documents -1, and its reader takes 0.
fn absent_axis_problem(broadcast: &OutlineBroadcast) -> Option<(String, Option<String>)> {
    let documented_form = broadcast.form()?;
    let judged = judge_under(broadcast, RuleSet::Pdpd { axis: Some(0) });
    let is_same =
        matches!(&judged.verdict, Verdict::Legal(form) if form.maps == documented_form.maps);
    (!is_same).then(|| {
        let message =
            "the axis is absent: OpenVINO documents -1, but its reader takes 0, on which the \
                       second operand lies elsewhere or does not fit"
                .to_owned();
        let sizes = |operand: usize| broadcast.operands.get(operand)?.1.sizes.as_ref();
        let offset = sizes(0).zip(sizes(1)).map(|(a, b)| a.len().saturating_sub(b.len()));
        (message, offset.map(|axis| format!("write {AXIS}=\"{axis}\"")))
    })
}

/// A comparison, a logical operation or a selection: OpenVINO computes it by another rule.
fn unsupported_axis_problem(
    node: &OutlineNode,
    broadcast: &OutlineBroadcast,
) -> Option<(String, Option<String>)> {
    let is_affected = node.role == NodeRole::Predicate || node.operator == "Select";
    let sizes = |(_, value_type): &(String, ValueType)| value_type.sizes.clone();
    let shapes: Vec<Option<Vec<SymbolicSize>>> = broadcast.operands.iter().map(sizes).collect();
    let is_same = shapes.windows(2).all(|pair| pair[0] == pair[1]);
    if !is_affected || is_same {
        return None;
    }
    let numpy = judge_under(broadcast, RuleSet::Numpy);
    let agrees_with_numpy = matches!((&numpy.verdict, broadcast.form()), (Verdict::Legal(form), Some(own))
        if form.maps == own.maps);
    (!agrees_with_numpy).then(|| {
        let message = format!(
            "OpenVINO ignores the axis of {} under pdpd, and refuses the operands or computes them by the \
             rule numpy",
            node.operator
        );
        (message, Some("reshape the second operand, and use the rule numpy".to_owned()))
    })
}

/// An axis under the rule numpy, which has none.
fn ignored_axis_problem(
    node: &OutlineNode,
    broadcast: &OutlineBroadcast,
) -> Option<(String, Option<String>)> {
    let (_, text) = node.attributes.iter().find(|(name, _)| name == AXIS)?;
    let axis: i64 = text.trim().parse().ok()?;
    let own = broadcast.form()?;
    let judged = judge_under(broadcast, RuleSet::Pdpd { axis: Some(axis) });
    let form = judged.form().filter(|form| form.maps != own.maps)?;
    let message = format!(
        "the axis {axis} is ignored under the rule numpy; under pdpd the second operand would lie on {}",
        form.maps.get(1)?
    );
    Some((message, Some("write auto_broadcast=\"pdpd\", or remove the axis".to_owned())))
}

fn judge_under(broadcast: &OutlineBroadcast, rule: RuleSet) -> OutlineBroadcast {
    OutlineBroadcast::judge(rule.into(), broadcast.operands.clone(), None, "other")
}
