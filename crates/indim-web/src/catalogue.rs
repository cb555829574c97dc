//! The rules, and the form fields of each.

use indim_shape::{Attribute, ReductionRuleName, RuleChoice, RuleSetName};
use serde::Serialize;

#[derive(Serialize)]
struct Catalogue {
    rules: Vec<Rule>,
    reductions: Vec<ReductionRuleEntry>,
}

#[derive(Serialize)]
struct Rule {
    name: &'static str,
    summary: &'static str,
    attributes: Vec<&'static str>,
    /// Whether the rule broadcasts one operand to a target.
    is_target_rule: bool,
}

#[derive(Serialize)]
struct ReductionRuleEntry {
    name: &'static str,
    summary: &'static str,
    attributes: &'static [&'static str],
    /// Whether reduced axes stay by default.
    keeps_axes: bool,
}

/// The rules for broadcasts and for reductions: name, summary and attributes.
///
/// ```
/// assert!(indim_web::catalogue().starts_with(r#"{"rules":[{"name":"as-written","#));
/// ```
pub fn catalogue() -> String {
    let rules = RuleChoice::all().map(|choice| Rule {
        name: choice.as_str(),
        summary: choice.summary(),
        attributes: attributes(choice).iter().map(|attribute| attribute.as_str()).collect(),
        is_target_rule: matches!(choice, RuleChoice::Named(name) if name.is_target_rule()),
    });
    let reductions = ReductionRuleName::ALL.iter().map(|&name| ReductionRuleEntry {
        name: name.as_str(),
        summary: summary(name),
        attributes: reduction_attributes(name),
        keeps_axes: name == ReductionRuleName::Onnx,
    });
    let catalogue = Catalogue { rules: rules.collect(), reductions: reductions.collect() };
    serde_json::to_string(&catalogue).expect("invariant: names are texts")
}

fn attributes(choice: RuleChoice) -> &'static [Attribute] {
    match choice {
        RuleChoice::AsWritten => &[Attribute::Dims, Attribute::Axis],
        // The form has no field for the names of axes: the shapes of the operands contain them.
        RuleChoice::Named(RuleSetName::Named) => &[],
        // A rule that broadcasts one operand to a target has a name, and so a row, of its own.
        RuleChoice::Named(name) => RuleSetName::attributes(name),
    }
}

/// A summary of one line.
fn summary(name: ReductionRuleName) -> &'static str {
    match name {
        ReductionRuleName::Numpy => "One axis, several or all; negative ones count from the end",
        ReductionRuleName::ArrayApi => "As NumPy, but a scalar has no axis",
        ReductionRuleName::Xla => "`dimensions` counted from the front; none stays",
        ReductionRuleName::StableHlo => "As XLA",
        ReductionRuleName::Onnx => "An attribute or an input, by the opset; axes stay unless told",
        ReductionRuleName::OpenVino => "A list with at least one axis",
        ReductionRuleName::Pdpd => "Paddle: one axis, several or all; an empty list is refused",
        _ => "",
    }
}

fn reduction_attributes(name: ReductionRuleName) -> &'static [&'static str] {
    match name {
        ReductionRuleName::Xla | ReductionRuleName::StableHlo => &["axes"],
        ReductionRuleName::Onnx => {
            &["axes", "axes_input", "keepdims", "noop_with_empty_axes", "opset", "sum"]
        }
        _ => &["axes", "keepdims"],
    }
}
