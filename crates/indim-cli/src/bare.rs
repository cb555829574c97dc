//! A rule and its attributes without an operation, as `explain` and `convert` take them.

use clap::Args;
use indim::broadcast::{
    AnyRule, Attribute, AttributeError, Attributes, AxisNames, Broadcast, RuleChoice,
};
use indim::errors::{Diagnostic, ShapeError};
use indim::{DType, Shape};

use crate::failure::Failure;
use indim_text::{parse_integers, parse_type, split_axis_names};

/// The attributes of a rule.
#[derive(Debug, Args)]
pub(crate) struct AttributeOptions {
    /// The result axis of each axis of the operand that is broadcast, such as 0,2. The rules call this list
    /// `broadcast_dimensions` (xla), `axes_mapping` (explicit) or `dimensions` (hlo-broadcast).
    #[arg(long, value_name = "LIST", value_parser = parse_list, allow_hyphen_values = true)]
    dims: Option<List>,
    /// The result axis of the first axis of the operand that is broadcast, for rules pdpd, onnx-legacy and
    /// pdpd-broadcast.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    axis: Option<i64>,
    /// The shape to broadcast to, for rules that broadcast one operand to a target.
    #[arg(long, value_name = "SHAPE", value_parser = parse_target)]
    target: Option<Shape>,
}

impl AttributeOptions {
    /// Whether no attribute is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.attributes().is_empty()
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            dims: self.dims.clone().map(|list| list.0),
            axis: self.axis,
            target: self.target.clone(),
            ..Attributes::default()
        }
    }
}

/// The error for an option that the rule does not have, with the options that it has.
pub(crate) fn refuse_attributes(error: AttributeError) -> Failure {
    let option = match error.attribute() {
        Some(Attribute::Names) => "the names of axes: ".to_owned(),
        Some(name) => format!("--{name}: "),
        None => String::new(),
    };
    Failure::Usage(format!("{option}{error}; {}", error.advice()))
}

/// An operand without a name: its element type if known, its shape, and the names of its axes if given.
pub(crate) struct BareOperand {
    dtype: Option<DType>,
    pub(crate) shape: Shape,
    axis_names: Option<AxisNames>,
}

impl BareOperand {
    /// Reads `f32[2, 3]`, `2x3`, `f32[time: 2, lat: 3]`.
    pub(crate) fn parse(text: &str) -> Result<BareOperand, Diagnostic> {
        let (type_text, axis_names) = split_axis_names(text)?;
        let (dtype, shape) = parse_type(&type_text)?;
        Ok(BareOperand { dtype, shape, axis_names })
    }
}

/// Names for operands without names, and their element types if known.
pub(crate) fn operand_labels(operands: &[BareOperand]) -> Vec<(String, String)> {
    let label = |(index, operand): (usize, &BareOperand)| {
        let dtype = operand.dtype.map_or("", |dtype| dtype.name());
        (format!("operand {index}"), dtype.to_owned())
    };
    operands.iter().enumerate().map(label).collect()
}

/// The axis names of each operand; `None` if no operand has names.
fn axis_names(operands: &[BareOperand]) -> Option<Vec<AxisNames>> {
    let has_names = operands.iter().any(|operand| operand.axis_names.is_some());
    let names = |operand: &BareOperand| {
        let unnamed = || AxisNames::unnamed(operand.shape.rank());
        operand.axis_names.clone().unwrap_or_else(unnamed)
    };
    has_names.then(|| operands.iter().map(names).collect())
}

/// A list in one argument; clap would make several arguments of a `Vec`.
#[derive(Debug, Clone)]
pub(crate) struct List(pub(crate) Vec<i64>);

pub(crate) fn parse_list(text: &str) -> Result<List, String> {
    parse_integers(text).map(List)
}

fn parse_target(text: &str) -> Result<Shape, String> {
    parse_type(text)
        .map(|(_, shape)| shape)
        .map_err(|error| error.to_string().trim_end().to_owned())
}

/// Elaborates a rule with these attributes on operands. Returns the rule with its attributes as text, and
/// the explicit form or the shape error.
pub(crate) fn elaborate(
    rule: RuleChoice,
    options: &AttributeOptions,
    operands: &[BareOperand],
) -> Result<(String, Result<Broadcast, ShapeError>), Failure> {
    let attributes = Attributes { names: axis_names(operands), ..options.attributes() };
    let rule = rule.with_attributes(&attributes).map_err(refuse_attributes)?;
    let target = attributes.target.as_ref();
    let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape.clone()).collect();
    let form = rule.elaborate(&shapes, target);
    let rule_text = match (&rule, target) {
        (AnyRule::Elementwise(rule), _) => rule.to_string(),
        (AnyRule::Target(rule), Some(target)) => format!("{rule} target={target}"),
        _ => rule.to_string(),
    };
    Ok((rule_text, form))
}
