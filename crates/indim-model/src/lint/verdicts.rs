//! Findings from the verdicts on broadcasts, from errors of nodes, and from types that the file states.

use std::collections::{BTreeMap, HashMap, HashSet};

use indim_shape::{Diagnostic, ErrorCode};

use super::finding::{Finding, FindingVerdict};
use crate::outline::{NamedCondition, Outline, TypeSource, Verdict};

/// Maximum number of node labels that one sentence lists.
const MAX_LISTED: usize = 4;

pub(super) fn find(outline: &Outline, findings: &mut Vec<Finding>) {
    let mut conditions: HashSet<&NamedCondition> = HashSet::new();
    let mut unknown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, node) in outline.nodes.iter().enumerate() {
        for problem in &node.problems {
            findings.push(illegal(outline, number, problem));
        }
        for condition in node.conditions.iter().filter(|condition| conditions.insert(condition)) {
            findings.push(legal_if(outline, (number, "node"), condition));
        }
        for broadcast in &node.broadcasts {
            match &broadcast.verdict {
                Verdict::Legal(_) => {}
                Verdict::Illegal(diagnostic) => findings.push(illegal(outline, number, diagnostic)),
                Verdict::LegalIf(_, all) => {
                    for condition in all.iter().filter(|condition| conditions.insert(condition)) {
                        findings.push(legal_if(outline, (number, "broadcast"), condition));
                    }
                }
                Verdict::Unknown => {
                    let cause = outline.cause_of(node);
                    unknown.entry(cause.unwrap_or(number)).or_default().push(number);
                }
            }
        }
    }
    findings.extend(
        unknown.into_iter().filter_map(|(cause, nodes)| unknown_type(outline, cause, &nodes)),
    );
    two_sizes(outline, findings);
    for contradiction in &outline.contradictions {
        let code = (ErrorCode::TYPE_MISMATCH, FindingVerdict::Contradiction);
        let message = contradiction.message.clone();
        findings.push(match contradiction.node {
            Some(node) => Finding::new(outline, node, code, message),
            None => Finding::of_value(outline, contradiction, code),
        });
    }
}

/// Findings about names of sizes for which the nodes of the graph need different numbers. Nodes of
/// regions do not count, because a run may skip them, nor do names of open sizes, which are not the file's.
fn two_sizes(outline: &Outline, findings: &mut Vec<Finding>) {
    let mut values: HashMap<&str, (Vec<i64>, usize)> = HashMap::new();
    for (number, node) in outline.nodes.iter().enumerate().filter(|(_, it)| it.region.is_empty()) {
        let of_broadcasts = node.broadcasts.iter().flat_map(|it| match &it.verdict {
            Verdict::LegalIf(_, conditions) => &conditions[..],
            _ => &[],
        });
        for condition in of_broadcasts.chain(&node.conditions) {
            let Some((name, own)) = condition.values() else { continue };
            if name.contains(['[', '(']) {
                continue;
            }
            let (common, first) = values.entry(name).or_insert_with(|| (own.clone(), number));
            let before = common.clone();
            common.retain(|value| own.contains(value));
            if common.is_empty() && !before.is_empty() {
                let numbers = |values: &[i64]| {
                    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
                    texts.join(" or ")
                };
                let (before, own) = (numbers(&before), numbers(&own));
                let label = outline.label(&outline.nodes[*first]);
                let message = format!(
                    "the size {name} must be {before} for the nodes from {label} on, and {own} for this node"
                );
                let code = (ErrorCode::TYPE_MISMATCH, FindingVerdict::Contradiction);
                findings.push(Finding::new(outline, number, code, message));
            }
        }
    }
}

fn illegal(outline: &Outline, number: usize, diagnostic: &Diagnostic) -> Finding {
    let code = (diagnostic.code, FindingVerdict::Illegal);
    let message = diagnostic.headline.clone();
    let finding = Finding::new(outline, number, code, message);
    let mut drawing = diagnostic.clone();
    let is_repair =
        |(title, text): &(String, String)| title == "help" && text.starts_with("reshape ");
    let repair = drawing.remarks.iter().position(is_repair).map(|at| drawing.remarks.remove(at).1);
    Finding { drawing: Some(drawing), repair, ..finding }
}

fn legal_if(
    outline: &Outline,
    (number, subject): (usize, &str),
    condition: &NamedCondition,
) -> Finding {
    let shown = condition.shown();
    let (verdict, message) = match condition.is_degenerate() {
        true => {
            let [first, second] = &condition.sizes;
            let message = format!("sizes {first} and {second} meet: legal only if {shown}");
            (FindingVerdict::Suspicious, message)
        }
        false => {
            let message =
                format!("the {subject} is legal if {shown}; the file does not say that this holds");
            (FindingVerdict::LegalIf, message)
        }
    };
    let code = (ErrorCode::SIZES_MAY_DIFFER, verdict);
    Finding::new(outline, number, code, message)
}

/// Whether a value is an input of the model whose rank the file does not state.
fn is_input_of_any_rank(outline: &Outline, value: usize) -> bool {
    let of_value = &outline.values[value];
    of_value.producer.is_none() && !of_value.is_internal && of_value.value_type.sizes.is_none()
}

/// One finding, at the node `cause`, for all `nodes` with broadcasts that are unknown because of it.
fn unknown_type(outline: &Outline, cause: usize, nodes: &[usize]) -> Option<Finding> {
    let node = &outline.nodes[cause];
    // The error of this node was reported already.
    if node.is_illegal() {
        return None;
    }
    let code = (ErrorCode::UNKNOWN_TYPE, FindingVerdict::Unknown);
    let is_open = |&&result: &&usize| {
        let value = &outline.values[result];
        matches!(value.source, TypeSource::UnknownBecauseOf(_)) && !value.value_type.is_known()
    };
    let input =
        node.operands.iter().flatten().find(|&&operand| is_input_of_any_rank(outline, operand));
    let value = input.or_else(|| node.results.iter().flatten().find(is_open));
    let value = value.map(|&value| indim_graph::terminal::printable(&outline.values[value].name));
    let mut labels: Vec<String> =
        nodes.iter().take(MAX_LISTED).map(|&it| outline.label(&outline.nodes[it])).collect();
    if nodes.len() > MAX_LISTED {
        labels.push(format!("{} more", nodes.len() - MAX_LISTED));
    }
    let labels = labels.join(", ");
    let message = match &value {
        Some(value) => {
            let what = match input {
                Some(_) => "an input of the model".to_owned(),
                None => format!("a result of {}", outline.label(node)),
            };
            format!(
                "the type of {value}, {what}, is stated nowhere, so that the broadcasts of {labels} are \
                 unknown"
            )
        }
        None => format!(
            "the type of an operand is stated nowhere, so that the broadcasts of {labels} are unknown"
        ),
    };
    let repair = value.map(|value| format!("state the type: --declare '{value}=f32[2, N]'"));
    Some(Finding::new(outline, cause, code, message).with_repair(repair))
}
