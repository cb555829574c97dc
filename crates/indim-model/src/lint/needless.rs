//! Nodes that change nothing: expansions that the broadcasts of their users make anyway, and reshapes
//! that cancel.

use indim_shape::ErrorCode;

use super::facts::Facts;
use super::finding::{Finding, FindingVerdict};
use crate::outline::{NodeRole, Outline, OutlineBroadcast, OutlineNode, SymbolicSize, Verdict};

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
    let sizes = before.sizes.as_deref()?;
    let without = Replaced { outline, facts, slices_left: MAX_SLICES };
    users.iter().all(|&user| without.is_same(user, result, sizes)).then(|| {
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

/// Maximum number of slices between an expansion and the operations that broadcast it.
const MAX_SLICES: usize = 4;

/// Maximum number of operands of an operation that is judged again for each of them.
const MAX_OPERANDS: usize = 64;

/// A model in which the operand of an expansion replaces its result.
struct Replaced<'o> {
    outline: &'o Outline,
    facts: &'o Facts,
    slices_left: usize,
}

impl Replaced<'_> {
    /// Whether the node `user` has the same result shape if `value` has the sizes `before`. A slice along
    /// other axes, such as one of positions, has them too; then its users count.
    fn is_same(&self, user: usize, value: usize, before: &[SymbolicSize]) -> bool {
        let user = &self.outline.nodes[user];
        if user.operator == "Slice" {
            return self.is_same_after(user, value, before).unwrap_or(false);
        }
        let is_elementwise = matches!(user.role, NodeRole::Elementwise | NodeRole::Predicate);
        let [broadcast] = &user.broadcasts[..] else { return false };
        let Verdict::Legal(form) = &broadcast.verdict else { return false };
        let count = broadcast.operands.len();
        if !is_elementwise || count != user.operands.len() || count > MAX_OPERANDS {
            return false;
        }
        let mut operands = broadcast.operands.clone();
        for (operand, index) in operands.iter_mut().zip(&user.operands) {
            if *index == Some(value) {
                operand.1.sizes = Some(before.to_vec());
            }
        }
        let tried = OutlineBroadcast::judge(broadcast.rule.clone(), operands, None, "repair");
        matches!(&tried.verdict, Verdict::Legal(tried) if tried.result == form.result)
    }

    /// The same for the users of a slice of `value`, which keeps the axes that the expansion repeats.
    fn is_same_after(
        &self,
        slice: &OutlineNode,
        value: usize,
        before: &[SymbolicSize],
    ) -> Option<bool> {
        let slices_left = self.slices_left.checked_sub(1)?;
        let result = (*slice.results.first()?)?;
        let sizes = |value: usize| self.outline.values[value].value_type.sizes.as_deref();
        let (expanded, sliced) = (sizes(value)?, sizes(result)?);
        let is_operand = slice.operands.first() == Some(&Some(value));
        if !is_operand || before.len() != expanded.len() || sliced.len() != expanded.len() {
            return None;
        }
        let mut own = sliced.to_vec();
        for (axis, size) in own.iter_mut().enumerate() {
            if before[axis] != expanded[axis] {
                (*size == expanded[axis]).then_some(())?;
                *size = before[axis].clone();
            }
        }
        let users = self.facts.only_users(result);
        let inner = Replaced { slices_left, ..*self };
        Some(!users.is_empty() && users.iter().all(|&user| inner.is_same(user, result, &own)))
    }
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
