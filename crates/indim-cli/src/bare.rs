//! A rule and its attributes without an operation, as `explain` and `convert` take them.

use clap::Args;
use indim::{AnyRule, AttributeError, Attributes, Broadcast, DType, RuleChoice, Shape, ShapeError};

use crate::failure::Failure;
use indim_text::{parse_integers, parse_type};

/// The attributes of a rule.
#[derive(Debug, Args)]
pub(crate) struct AttributeOptions {
    /// `broadcast_dimensions` of xla, `axes_mapping` of explicit, and the like: 0,2
    #[arg(long, value_name = "LIST", value_parser = parse_list, allow_hyphen_values = true)]
    dims: Option<List>,
    /// The axis of pdpd and onnx-legacy.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    axis: Option<i64>,
    /// The shape to broadcast to, for the rules that have one.
    #[arg(long, value_name = "SHAPE", value_parser = parse_target)]
    target: Option<Shape>,
}

impl AttributeOptions {
    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given().is_empty()
    }

    fn given(&self) -> Attributes {
        Attributes {
            dims: self.dims.clone().map(|list| list.0),
            axis: self.axis,
            broadcast: None,
            target: self.target.clone(),
        }
    }
}

/// The option that does not belong, and what does.
pub(crate) fn refuse_attributes(error: AttributeError) -> Failure {
    let option = error.attribute().map_or(String::new(), |name| format!("--{name}: "));
    Failure::Usage(format!("{option}{error}; {}", error.advice()))
}

/// What operands without names are called, and their element types where those are known.
pub(crate) fn operand_labels(types: &[(Option<DType>, Shape)]) -> Vec<(String, String)> {
    let label = |(index, (dtype, _)): (usize, &(Option<DType>, Shape))| {
        (format!("operand {index}"), dtype.map_or("", |dtype| dtype.name()).to_owned())
    };
    types.iter().enumerate().map(label).collect()
}

/// One argument that holds a list, which clap would otherwise take for several arguments.
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

/// A rule with attributes, elaborated on some operands, and what it is called with them.
pub(crate) fn elaborate(
    rule: RuleChoice,
    attributes: &AttributeOptions,
    operands: &[Shape],
) -> Result<(String, Result<Broadcast, ShapeError>), Failure> {
    let given = attributes.given();
    let rule = rule.with_attributes(&given).map_err(refuse_attributes)?;
    let target = given.target.as_ref();
    let form = rule.elaborate(operands, target);
    let named = match (&rule, target) {
        (AnyRule::Elementwise(rule), _) => rule.to_string(),
        (AnyRule::Target(rule), Some(target)) => format!("{rule} target={target}"),
        _ => rule.to_string(),
    };
    Ok((named, form))
}
