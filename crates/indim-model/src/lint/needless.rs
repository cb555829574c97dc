//! Nodes that change nothing: expansions that the broadcasts of their users make anyway, and reshapes
//! that cancel.

use indim_shape::ErrorCode;

use super::facts::Facts;
use super::finding::{Finding, FindingVerdict};
use crate::outline::{NodeRole, Outline, OutlineBroadcast, OutlineNode, ValueType, Verdict};

pub(super) fn find(outline: &Outline, facts: &Facts, findings: &mut Vec<Finding>) {
    for (number, node) in outline.nodes.iter().enumerate() {
        let finding = match node.role {
            NodeRole::Expand => expansion(outline, facts, number, node),
            NodeRole::Reshape => pair(outline, facts, number, node),
            _ => None,
        };
        findings.extend(finding);
    }
}

/// The finding about an expansion that the broadcast of each user makes anyway.
fn expansion(
    outline: &Outline,
    facts: &Facts,
    number: usize,
    node: &OutlineNode,
) -> Option<Finding> {
    let (operand, result) = ((*node.operands.first()?)?, (*node.results.first()?)?);
    let before = &outline.values[operand].value_type;
    let after = outline.values[result].value_type.sizes.as_ref()?;
    let own = before.sizes.as_ref()?;
    let offset = after.len().checked_sub(own.len())?;
    let is_repeated = own.iter().zip(&after[offset..]).all(|(a, b)| a == b || a.is(1));
    let users = facts.only_users(result);
    if !is_repeated || users.is_empty() {
        return None;
    }
    users.iter().all(|&user| is_same_without(outline, user, result, before)).then(|| {
        let code = (ErrorCode::NEEDLESS_EXPAND, FindingVerdict::Advice);
        let labels: Vec<String> =
            users.iter().take(4).map(|&it| outline.label(&outline.nodes[it])).collect();
        let message = format!(
            "{} writes {}, which the broadcast of {} does without a copy",
            node.operator,
            outline.typed(result),
            labels.join(", ")
        );
        let repair = Some(format!("use {} itself", outline.typed(operand)));
        Finding::new(outline, number, code, message).with_repair(repair)
    })
}

/// Whether the node `user` has the same result shape if it uses the expansion's operand, of type
/// `before`, in place of `value`.
fn is_same_without(outline: &Outline, user: usize, value: usize, before: &ValueType) -> bool {
    let user = &outline.nodes[user];
    let is_elementwise = matches!(user.role, NodeRole::Elementwise | NodeRole::Predicate);
    let [broadcast] = &user.broadcasts[..] else { return false };
    let Verdict::Legal(form) = &broadcast.verdict else { return false };
    let mut operands = broadcast.operands.clone();
    if !is_elementwise || operands.len() != user.operands.len() {
        return false;
    }
    for (operand, index) in operands.iter_mut().zip(&user.operands) {
        if *index == Some(value) {
            operand.1.sizes.clone_from(&before.sizes);
        }
    }
    let tried = OutlineBroadcast::judge(broadcast.rule.clone(), operands, None, "repair");
    matches!(&tried.verdict, Verdict::Legal(tried) if tried.result == form.result)
}

/// The finding about a reshape of a reshape that restores the shape of the first one's operand.
fn pair(outline: &Outline, facts: &Facts, number: usize, node: &OutlineNode) -> Option<Finding> {
    let (middle, result) = ((*node.operands.first()?)?, (*node.results.first()?)?);
    let first = &outline.nodes[outline.values[middle].producer?];
    let is_pair = first.role == NodeRole::Reshape
        && first.region == node.region
        && facts.only_users(middle) == [number];
    let operand = (*first.operands.first()?)?;
    let (before, after) = (&outline.values[operand].value_type, &outline.values[result].value_type);
    let is_back = before.sizes.is_some() && before.sizes == after.sizes;
    if !is_pair || !is_back || facts.is_constant(operand) {
        return None;
    }
    let code = (ErrorCode::CANCELLING_RESHAPES, FindingVerdict::Advice);
    let message =
        format!("{} undoes {}: the type is {after} again", node.operator, outline.label(first));
    let repair = Some(format!("use {} itself", outline.typed(operand)));
    Some(Finding::new(outline, number, code, message).with_repair(repair))
}
