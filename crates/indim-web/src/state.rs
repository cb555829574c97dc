//! Contents with which a button fills the form: a repair, or the same broadcast under another rule.

use indim_shape::{AnyRule, Attributes, AxisNames, Shape};
use serde::Serialize;

/// A choice: its text, and the contents of the form after it.
#[derive(Serialize)]
pub(crate) struct FormOffer {
    pub(crate) text: String,
    /// The reason why the user may have meant it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) state: State,
}

/// The contents of a form, by its kind.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum State {
    Broadcast(BroadcastState),
    Reduction(ReductionState),
}

#[derive(Serialize)]
pub(crate) struct BroadcastState {
    pub(crate) rule: String,
    pub(crate) shapes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dims: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) axis: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) broadcast: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct ReductionState {
    pub(crate) rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) axes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) axes_input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keepdims: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noop_with_empty_axes: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<bool>,
}

impl BroadcastState {
    /// The contents for a rule with these attributes and shapes.
    pub(crate) fn new(rule: impl Into<String>, attributes: &Attributes, shapes: &[Shape]) -> Self {
        let names = attributes.names.as_deref().unwrap_or_default();
        let named = |(operand, shape): (usize, &Shape)| shape_text(shape, names.get(operand));
        BroadcastState {
            rule: rule.into(),
            shapes: shapes.iter().enumerate().map(named).collect(),
            dims: attributes.dims.as_deref().map(list_text),
            axis: attributes.axis.map(|axis| axis.to_string()),
            broadcast: attributes.broadcast,
            target: attributes.target.as_ref().map(Shape::to_string),
        }
    }

    /// The contents for a rule with reshaped operands, and a target if it has one; `None` for a rule without
    /// a name.
    pub(crate) fn of_rule(
        rule: &AnyRule,
        reshapes: &[Option<Shape>],
        target: Option<&Shape>,
        operands: &[Shape],
    ) -> Option<Self> {
        let reshaped = |(index, shape): (usize, &Shape)| {
            reshapes.get(index).cloned().flatten().unwrap_or_else(|| shape.clone())
        };
        let shapes: Vec<Shape> = operands.iter().enumerate().map(reshaped).collect();
        let attributes = Attributes { target: target.cloned(), ..rule.attributes() };
        Some(BroadcastState::new(rule.name()?.as_str(), &attributes, &shapes))
    }
}

/// A shape with the known names of its axes: `[time: 2, lat: 3]`.
fn shape_text(shape: &Shape, names: Option<&AxisNames>) -> String {
    let axis = |(axis, size): (usize, &usize)| match names.and_then(|names| names.get(axis)) {
        Some(name) => format!("{name}: {size}"),
        None => size.to_string(),
    };
    let axes: Vec<String> = shape.iter().enumerate().map(axis).collect();
    format!("[{}]", axes.join(", "))
}

/// The entries, separated by commas.
pub(crate) fn list_text(entries: &[i64]) -> String {
    entries.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
