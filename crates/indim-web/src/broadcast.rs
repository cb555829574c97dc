//! A broadcast under a rule: its drawing, its explicit form, and its form under the other rules; or its error
//! with repairs.

use indim::explain::ExplainedBroadcast;
use indim_shape::{
    AnyRule, Attribute, AttributeError, Attributes, AxisNames, Broadcast, Diagnostic, ErrorCode,
    Repair, RepairReason, RuleChoice, RuleConversion, Shape, ShapeError, convert_broadcast,
    diagnose, find_repairs,
};
use serde::{Deserialize, Serialize};

use crate::picture::Picture;
use crate::report::Refusal;
use crate::request::{OperandText, answered, check_count, list, number, shape};
use crate::state::{BroadcastState, FormOffer, State};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BroadcastRequest {
    rule: String,
    operands: Vec<OperandText>,
    dims: Option<String>,
    axis: Option<String>,
    broadcast: Option<bool>,
    target: Option<String>,
    /// Whether the answer includes the drawing as an SVG document.
    #[serde(default)]
    svg: bool,
}

#[derive(Serialize)]
struct BroadcastResponse {
    ok: bool,
    #[serde(flatten)]
    explained: BroadcastAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
}

/// The answer for a legal broadcast.
#[derive(Serialize)]
pub(crate) struct BroadcastAnswer {
    rule: String,
    shape: Vec<usize>,
    maps: Vec<Vec<usize>>,
    title: String,
    picture: Picture,
    /// A line for each operand.
    explicit: Vec<String>,
    same: Vec<FormOffer>,
    not: Vec<InexpressibleRules>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The reason why some rules cannot express a broadcast or a reduction.
#[derive(Serialize)]
pub(crate) struct InexpressibleRules {
    pub(crate) rules: Vec<&'static str>,
    pub(crate) reason: String,
}

/// Draws a broadcast of operands under a rule, with the attributes as texts; see the example of the crate.
///
/// ```
/// let request = r#"{"rule": "xla", "dims": "0",
///     "operands": [{"name": "x", "shape": "2, 3"}, {"name": "v", "shape": "3"}]}"#;
/// let answer = indim_web::broadcast(request);
/// assert!(answer.starts_with(r#"{"ok":false,"code":"dim-size-mismatch","label":"X7""#), "{answer}");
/// ```
pub fn broadcast(request: &str) -> String {
    answered(request, |request: BroadcastRequest| request.answer())
}

impl BroadcastRequest {
    fn answer(&self) -> Result<BroadcastResponse, Box<Refusal>> {
        check_count(self.operands.len())?;
        let choice: RuleChoice = self.rule.parse().map_err(|error| {
            let diagnostic = Diagnostic::new(ErrorCode::UNKNOWN_RULE, format!("{error}"));
            Refusal::of_field(&diagnostic, "rule")
        })?;
        let (mut names, mut shapes, mut axis_names) = (Vec::new(), Vec::new(), Vec::new());
        for (index, operand) in self.operands.iter().enumerate() {
            let (plain, of_axes) = operand.split_names(index)?;
            let (name, shape) = plain.read(index)?;
            axis_names.push(of_axes.unwrap_or_else(|| AxisNames::unnamed(shape.rank())));
            names.push(name);
            shapes.push(shape);
        }
        let is_named = axis_names.iter().any(AxisNames::has_any);
        let attributes = Attributes {
            dims: list(self.dims.as_deref(), "dims")?,
            axis: number(self.axis.as_deref(), "axis")?,
            broadcast: self.broadcast,
            target: shape(self.target.as_deref(), "target")?,
            names: is_named.then_some(axis_names),
        };
        let rule = choice
            .with_attributes(&attributes)
            .map_err(|error| refuse_attributes(error, choice, &attributes, &shapes))?;
        let target = attributes.target.as_ref();
        let form = rule
            .elaborate(&shapes, target)
            .map_err(|error| refuse_shapes(&error, "broadcast", &names).of_no_operation())?;
        let explained = ExplainedBroadcast::of_rule(rule_text(&rule, target), names, form);
        let svg = self.svg.then(|| explained.to_svg());
        let rule = rule.name().map_or_else(String::new, |name| name.to_string());
        Ok(BroadcastResponse { ok: true, explained: BroadcastAnswer::new(rule, &explained), svg })
    }
}

/// The rule with its attributes.
fn rule_text(rule: &AnyRule, target: Option<&Shape>) -> String {
    match (rule, target) {
        (AnyRule::Target(rule), Some(target)) => format!("{rule} target={target}"),
        (AnyRule::Elementwise(rule), _) => rule.to_string(),
        _ => rule.to_string(),
    }
}

impl BroadcastAnswer {
    /// The answer for a broadcast under the rule of this name, which may be empty.
    pub(crate) fn new(rule: String, explained: &ExplainedBroadcast) -> Self {
        let form = explained.form();
        let (same, not) = under_rules(explained);
        BroadcastAnswer {
            rule,
            shape: form.result().to_vec(),
            maps: form.maps().iter().map(|map| map.to_vec()).collect(),
            title: explained.title(),
            picture: Picture::of_broadcast(form, explained.labels()),
            explicit: explicit_lines(form, explained.labels()),
            same,
            not,
            warning: explained.outer_product_warning(),
        }
    }
}

fn explicit_lines(form: &Broadcast, names: &[(String, String)]) -> Vec<String> {
    let line = |(index, (name, _)): (usize, &(String, String))| {
        let (shape, map) = (&form.operands()[index], &form.maps()[index]);
        format!("broadcast_in_dim({name} {shape}, dims={map}) -> {}", form.result())
    };
    names.iter().enumerate().map(line).collect()
}

/// The broadcast as each rule states it, and the reasons why some rules cannot, each with these rules.
fn under_rules(explained: &ExplainedBroadcast) -> (Vec<FormOffer>, Vec<InexpressibleRules>) {
    let form = explained.form();
    let (mut same, mut not): (Vec<FormOffer>, Vec<InexpressibleRules>) = (Vec::new(), Vec::new());
    for (name, text) in explained.under_other_rules() {
        match (text, convert_broadcast(form, name)) {
            (Ok(text), Ok(conversion)) => {
                same.extend(offer(text, None, &conversion, form.operands()))
            }
            (Err(reason), _) => match not.iter_mut().find(|known| known.reason == reason) {
                Some(known) => known.rules.push(name.as_str()),
                None => not.push(InexpressibleRules { rules: vec![name.as_str()], reason }),
            },
            (Ok(_), Err(_)) => {}
        }
    }
    (same, not)
}

fn offer(
    text: String,
    reason: Option<String>,
    conversion: &RuleConversion,
    operands: &[Shape],
) -> Option<FormOffer> {
    let RuleConversion { rule, reshapes, target } = conversion;
    let state = BroadcastState::of_rule(rule, reshapes, target.as_ref(), operands)?;
    Some(FormOffer { text, reason, state: State::Broadcast(state) })
}

/// The answer for shapes that a rule refuses: the report, a picture of the shapes with their axes
/// aligned as the rule aligns them, and repairs.
pub(crate) fn refuse_shapes(
    error: &ShapeError,
    operation: &str,
    names: &[(String, String)],
) -> Box<Refusal> {
    let labels: Vec<_> = names
        .iter()
        .map(|(name, element_type)| indim_shape::OperandLabel::new(name, element_type))
        .collect();
    let mut diagnostic = diagnose(error, operation, &labels);
    if cfg!(target_pointer_width = "32") && error.code() == "too-large" {
        diagnostic.remark(
            "note",
            "memory is addressed with 32 bits in the browser, where 64 bits are usual elsewhere: there the \
             limit is 2^63 - 1 bytes",
        );
    }
    let mut refusal = Refusal::new(&diagnostic);
    refusal.label = Some(error.label());
    refusal.picture = Some(Picture::of_error(error, names));
    refusal.repairs = find_repairs(error)
        .iter()
        .filter_map(|repair| repair_offer(repair, names, error.shapes()))
        .collect();
    refusal
}

fn repair_offer(
    repair: &Repair,
    names: &[(String, String)],
    operands: &[Shape],
) -> Option<FormOffer> {
    let Repair { rule, reshapes, target, result, reason, .. } = repair;
    let mut text = rule_text(rule, target.as_ref());
    for ((name, _), shape) in names.iter().zip(reshapes) {
        if let Some(shape) = shape {
            text += &format!(", {name} reshaped to {shape}");
        }
    }
    text += &format!(" gives {result}");
    let name = |operand: usize| names.get(operand).map_or("", |(name, _)| name);
    let reason = reason.and_then(|reason| match reason {
        RepairReason::OnlyAxisOfSize { operand, size } => {
            let whose = operand.map_or("the target", name);
            Some(format!("the only axis of {whose} of size {size}"))
        }
        RepairReason::OnlyPlacement { operand } => {
            Some(format!("the only place for {}", name(operand)))
        }
        _ => None,
    });
    let state = BroadcastState::of_rule(rule, reshapes, target.as_ref(), operands)?;
    Some(FormOffer { text, reason, state: State::Broadcast(state) })
}

/// The answer for wrong attributes. If the rule lacks an attribute, the answer has one repair, which
/// omits this attribute.
fn refuse_attributes(
    error: AttributeError,
    choice: RuleChoice,
    given: &Attributes,
    shapes: &[Shape],
) -> Box<Refusal> {
    let mut diagnostic = Diagnostic::new(error.error_code(), error.to_string());
    diagnostic.help(error.advice());
    let mut refusal = Refusal::new(&diagnostic);
    refusal.field = error.attribute().map(|attribute| attribute.to_string());
    if let AttributeError::Foreign { attribute, .. } = error {
        let mut left = given.clone();
        match attribute {
            Attribute::Dims => left.dims = None,
            Attribute::Axis => left.axis = None,
            Attribute::Broadcast => left.broadcast = None,
            Attribute::Target => left.target = None,
            Attribute::Names => left.names = None,
            // No repair for an attribute that this page does not know.
            _ => return refusal,
        }
        let state = State::Broadcast(BroadcastState::new(choice.as_str(), &left, shapes));
        let text = format!("{choice} without `{attribute}`");
        refusal.repairs.push(FormOffer { text, reason: None, state });
    }
    refusal
}
