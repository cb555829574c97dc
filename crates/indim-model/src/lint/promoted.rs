//! Outer products, intended or not: broadcasts that expand every one of at least two operands.

use std::collections::HashSet;

use indim_shape::{ErrorCode, RuleSet};

use super::chain::root_through_reshapes;
use super::facts::Facts;
use super::finding::{Finding, FindingVerdict};
use crate::outline::{
    NodeRole, Outline, OutlineBroadcast, OutlineNode, SymbolicForm, SymbolicSize, Verdict,
};

pub(super) fn find(outline: &Outline, facts: &Facts, findings: &mut Vec<Finding>) {
    for (number, node) in outline.nodes.iter().enumerate() {
        if !matches!(node.role, NodeRole::Elementwise | NodeRole::Predicate) {
            continue;
        }
        for broadcast in &node.broadcasts {
            let values = node.operands.iter().flatten().copied().collect();
            let through = Roots::of(outline, node, broadcast);
            let (broadcast, values) = match &through {
                Some(roots) => (&roots.broadcast, roots.values.clone()),
                None => (broadcast, values),
            };
            findings.extend(finding_of(outline, facts, (number, &values), broadcast));
        }
    }
}

/// The operands of a node before the separate broadcast nodes that a lowering writes, and the broadcast
/// of these operands.
struct Roots {
    values: Vec<usize>,
    broadcast: OutlineBroadcast,
}

impl Roots {
    /// `None` unless each operand is the result of a broadcast.
    fn of(outline: &Outline, node: &OutlineNode, broadcast: &OutlineBroadcast) -> Option<Roots> {
        let result = broadcast.form()?.result.clone();
        let (mut values, mut operands, mut maps) = (Vec::new(), Vec::new(), Vec::new());
        for &operand in node.operands.iter().flatten() {
            let (root, map) = root_through_reshapes(outline, operand, result.len())?;
            let value = &outline.values[root];
            operands
                .push((indim_graph::terminal::printable(&value.name), value.value_type.clone()));
            values.push(root);
            maps.push(map);
        }
        let verdict = Verdict::Legal(SymbolicForm { result, maps });
        Some(Roots {
            values,
            broadcast: OutlineBroadcast { rule: RuleSet::Numpy.into(), operands, verdict },
        })
    }
}

/// The finding about one broadcast, if any.
fn finding_of(
    outline: &Outline,
    facts: &Facts,
    (number, values): (usize, &[usize]),
    broadcast: &OutlineBroadcast,
) -> Option<Finding> {
    let node = &outline.nodes[number];
    let expanding: Vec<usize> =
        (0..broadcast.operands.len()).filter(|&operand| broadcast.expands(operand)).collect();
    // A scalar always expands, so only arrays count.
    let is_array = |&operand: &usize| rank(broadcast, operand) > 0;
    let expanding: Vec<usize> = expanding.into_iter().filter(is_array).collect();
    if expanding.len() < 2 || expanding.len() < broadcast.operands.len() {
        return None;
    }
    let (first, second) = (expanding[0], expanding[1]);
    let (low, high) = match rank(broadcast, first) < rank(broadcast, second) {
        true => (first, second),
        false => (second, first),
    };
    match is_promoted(broadcast, low, high)
        && !is_intended(outline, facts, (node, values), [low, high])
    {
        true => Some(promotion_finding(outline, number, broadcast, [low, high])),
        false => outer_product(outline, facts, (number, values), broadcast),
    }
}

fn rank(broadcast: &OutlineBroadcast, operand: usize) -> usize {
    sizes(broadcast, operand).len()
}

fn sizes(broadcast: &OutlineBroadcast, operand: usize) -> &[SymbolicSize] {
    broadcast.operands[operand].1.sizes.as_deref().unwrap_or(&[])
}

/// Whether the operand of lower rank lacks an axis of size n, and has an axis of size n where the other
/// has 1: `[n]` meets `[n, 1]`, `[n, d]` meets `[n, 1, d]`.
fn is_promoted(broadcast: &OutlineBroadcast, low: usize, high: usize) -> bool {
    let (low_sizes, high_sizes) = (sizes(broadcast, low), sizes(broadcast, high));
    let (Some(form), true) = (broadcast.form(), low_sizes.len() + 1 == high_sizes.len()) else {
        return false;
    };
    let to_result = |operand: usize, axis: usize| form.maps[operand][axis];
    let low_axis_of =
        |axis: usize| (0..low_sizes.len()).find(|&low_axis| to_result(low, low_axis) == axis);
    let missing_axis =
        (0..high_sizes.len()).find(|&axis| low_axis_of(to_result(high, axis)).is_none());
    let Some(missing_axis) = missing_axis.filter(|&axis| !high_sizes[axis].is(1)) else {
        return false;
    };
    // In the operand of higher rank, the axis after the missing one must have size 1. The axis of the
    // operand of lower rank that meets it must have the missing size.
    let next = (missing_axis + 1..high_sizes.len()).find(|&axis| high_sizes[axis].is(1));
    let low_axis = next.and_then(|next| low_axis_of(to_result(high, next)));
    let others = (missing_axis + 1..high_sizes.len()).filter(|&axis| Some(axis) != next);
    let mut others = others.map(|axis| {
        low_axis_of(to_result(high, axis)).map(|low_axis| (&low_sizes[low_axis], &high_sizes[axis]))
    });
    low_axis.is_some_and(|low_axis| may_be_same(&low_sizes[low_axis], &high_sizes[missing_axis]))
        && next == Some(missing_axis + 1)
        && others.all(|pair| pair.is_some_and(|(a, b)| a == b))
}

/// Whether two sizes are the same, or the file leaves both open, so that they have no names to compare.
fn may_be_same(first: &SymbolicSize, second: &SymbolicSize) -> bool {
    first == second || (first.is_open() && second.is_open())
}

/// Whether the program makes the outer product on purpose: the node is a comparison, the operand of
/// higher rank is a reshape or an expansion, both operands are constants, or the result is combined with
/// another matrix of its sizes, as in the distances of all pairs of points.
fn is_intended(
    outline: &Outline,
    facts: &Facts,
    (node, values): (&OutlineNode, &[usize]),
    operands: [usize; 2],
) -> bool {
    let value = |operand: usize| values.get(operand).copied();
    let [low, high] = operands.map(value);
    let (Some(low), Some(high)) = (low, high) else { return true };
    node.role == NodeRole::Predicate
        || is_shaped(outline, high)
        || (facts.is_constant(low) && facts.is_constant(high))
        || is_combined(outline, facts, node)
}

/// Maximum number of values that the search for a dependency visits.
const MAX_VISITED: usize = 256;

/// Whether a user of the node's result has another operand of the same sizes that does not depend on it, and
/// is not itself the result of such a promotion: a cross-entropy adds two of them.
fn is_combined(outline: &Outline, facts: &Facts, node: &OutlineNode) -> bool {
    let Some(&Some(result)) = node.results.first() else { return false };
    let Some(sizes) = &outline.values[result].value_type.sizes else { return false };
    facts.only_users(result).iter().map(|&user| &outline.nodes[user]).any(|user| {
        let mut operands = user.operands.iter().flatten().copied();
        user.role == NodeRole::Elementwise
            && operands.any(|operand| {
                outline.values[operand].value_type.sizes.as_ref() == Some(sizes)
                    && !depends(outline, operand, result)
                    && !makes_promotion(outline, operand)
            })
    })
}

/// Whether the node that makes a value promotes the rank of an operand that the program has not reshaped, and
/// that has no source in common with the other operand.
fn makes_promotion(outline: &Outline, value: usize) -> bool {
    let Some(node) = outline.values[value].producer.map(|producer| &outline.nodes[producer]) else {
        return false;
    };
    let ([Some(first), Some(second)], [broadcast]) = (&node.operands[..], &node.broadcasts[..])
    else {
        return false;
    };
    let is_column = |low: usize, high: usize, value: usize| {
        is_promoted(broadcast, low, high) && !is_shaped(outline, value)
    };
    node.role == NodeRole::Elementwise
        && (is_column(0, 1, *second) || is_column(1, 0, *first))
        && !have_common_source(outline, *first, *second)
}

/// Whether one value that is no constant determines both: the program then compares all pairs of its rows,
/// such as the overlaps of boxes.
fn have_common_source(outline: &Outline, first: usize, second: usize) -> bool {
    let sources = |value: usize| {
        let (mut worklist, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = worklist.pop().filter(|_| seen.len() < MAX_VISITED) {
            let producer = outline.values[value].producer.map(|producer| &outline.nodes[producer]);
            let is_constant = producer.is_some_and(|node| node.role == NodeRole::Constant);
            if is_constant || outline.values[value].is_constant || !seen.insert(value) {
                continue;
            }
            worklist.extend(producer.into_iter().flat_map(OutlineNode::read));
        }
        seen
    };
    !sources(first).is_disjoint(&sources(second))
}

/// Whether a reshape or an expansion makes the value.
fn is_shaped(outline: &Outline, value: usize) -> bool {
    let producer = outline.values[value].producer.map(|producer| &outline.nodes[producer].role);
    matches!(producer, Some(NodeRole::Reshape | NodeRole::Expand))
}

/// Whether the program inserted or moved an axis of size 1 that expands: `x[:, None] * y`, `x + x.T`.
fn has_inserted_axis(outline: &Outline, values: &[usize], broadcast: &OutlineBroadcast) -> bool {
    let Some(form) = broadcast.form() else { return false };
    let expands_inside = |operand: usize| {
        let mut axes = form.maps[operand].iter().zip(sizes(broadcast, operand));
        axes.any(|(&to, size)| size.is(1) && !form.result[to].is(1))
    };
    let mut expanding = (0..values.len()).filter(|&operand| expands_inside(operand));
    expanding.any(|operand| is_arranged(outline, values[operand]))
}

/// Maximum number of element-wise nodes between a reshape and its use.
const MAX_STEPS: usize = 8;

/// Whether a reshape, an expansion or a transposition makes the value, before some nodes that keep its shape.
fn is_arranged(outline: &Outline, mut value: usize) -> bool {
    for _ in 0..MAX_STEPS {
        let Some(node) = outline.values[value].producer.map(|producer| &outline.nodes[producer])
        else {
            return false;
        };
        match (&node.role, node.operands.first()) {
            (NodeRole::Reshape | NodeRole::Expand | NodeRole::Transpose(_), _) => return true,
            (NodeRole::SameShape, Some(&Some(operand))) => value = operand,
            _ => return false,
        }
    }
    false
}

/// Whether a value is computed from another one, or might be after many steps.
fn depends(outline: &Outline, value: usize, on: usize) -> bool {
    let (mut worklist, mut is_seen) = (vec![value], HashSet::new());
    while let Some(value) = worklist.pop() {
        if value == on || is_seen.len() == MAX_VISITED {
            return true;
        }
        // Operands have lower indices than results, so that lower values do not depend on `on`.
        if value > on && is_seen.insert(value) {
            let producer = outline.values[value].producer.map(|producer| &outline.nodes[producer]);
            worklist.extend(producer.iter().flat_map(|node| node.operands.iter().flatten()));
        }
    }
    false
}

fn promotion_finding(
    outline: &Outline,
    number: usize,
    broadcast: &OutlineBroadcast,
    [low, high]: [usize; 2],
) -> Finding {
    let code = (ErrorCode::RANK_PROMOTED, FindingVerdict::Suspicious);
    let named = |operand: usize| {
        let (name, value_type) = &broadcast.operands[operand];
        format!("{name}: {value_type}")
    };
    let result = result_text(broadcast);
    let message = format!(
        "{} meets {}: both expand, and the result is {result}, probably an unintended outer product",
        named(high),
        named(low)
    );
    let finding = Finding::new(outline, number, code, message);
    finding.with_repair(column(broadcast, [low, high]))
}

fn result_text(broadcast: &OutlineBroadcast) -> String {
    SymbolicSize::list_text(broadcast.form().map_or(&[], |form| &form.result))
}

/// The repair: a reshape that inserts an axis of size 1 into the operand of lower rank, at the last axis
/// of size 1 of the other operand. `None` unless the result then has the other operand's shape.
fn column(broadcast: &OutlineBroadcast, [low, high]: [usize; 2]) -> Option<String> {
    let mut operands = broadcast.operands.clone();
    let high_sizes = sizes(broadcast, high).to_vec();
    let axis = high_sizes.iter().rposition(|size| size.is(1))?;
    operands[low].1.sizes.as_mut()?.insert(axis, SymbolicSize::known(1));
    let shape = operands[low].1.clone();
    let tried = OutlineBroadcast::judge(broadcast.rule.clone(), operands, None, "repair");
    let is_legal = tried.form().is_some_and(|form| {
        let sizes = form.result.iter().zip(&high_sizes);
        form.result.len() == high_sizes.len() && sizes.into_iter().all(|(a, b)| may_be_same(a, b))
    });
    let name = &broadcast.operands[low].0;
    is_legal
        .then(|| format!("reshape {name} to {shape}: the result is then {}", result_text(&tried)))
}

fn outer_product(
    outline: &Outline,
    facts: &Facts,
    (number, values): (usize, &[usize]),
    broadcast: &OutlineBroadcast,
) -> Option<Finding> {
    // Comparisons and masks of all pairs are common.
    if outline.nodes[number].role == NodeRole::Predicate
        || values.iter().all(|&operand| facts.is_constant(operand))
        || has_inserted_axis(outline, values, broadcast)
    {
        return None;
    }
    let code = (ErrorCode::OUTER_PRODUCT, FindingVerdict::Advice);
    let bytes =
        broadcast.repeated_bytes().map_or(String::new(), |it| format!(", {it} bytes repeated"));
    let result = result_text(broadcast);
    let message = format!("every operand expands: the result is {result}{bytes}");
    Some(Finding::new(outline, number, code, message))
}
