//! A rule and its attributes without an operation, as `explain` and `convert` take them.

use clap::Args;
use indim::{Broadcast, DType, RuleSet, RuleSetName, Shape, ShapeError, TargetRule};

use crate::failure::Failure;
use crate::shapes::{parse_integers, parse_type};

/// The attributes of a rule.
#[derive(Debug, Args)]
pub(crate) struct Attributes {
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

impl Attributes {
    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.dims.is_none() && self.axis.is_none() && self.target.is_none()
    }

    /// Refuses an attribute that the rule does not have: whoever gives it expects it to matter.
    fn check(&self, rule: RuleSetName) -> Result<(), Failure> {
        use RuleSetName as Name;
        let takes_dims = matches!(
            rule,
            Name::Xla
                | Name::Explicit
                | Name::XlaBroadcastInDim
                | Name::StableHloBroadcastInDim
                | Name::HloBroadcast
        );
        let takes_axis = matches!(rule, Name::Pdpd | Name::PdpdBroadcast | Name::OnnxLegacy);
        let takes_target = !matches!(rule, Name::None | Name::OnnxLegacy);
        let given = [
            ("--dims", self.dims.is_some() && !takes_dims),
            ("--axis", self.axis.is_some() && !takes_axis),
            ("--target", self.target.is_some() && !takes_target),
        ];
        match given.iter().find(|(_, is_foreign)| *is_foreign) {
            Some((name, _)) => Err(Failure::Usage(format!("the rule {rule} has no {name}"))),
            None => Ok(()),
        }
    }
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
struct List(Vec<i64>);

fn parse_list(text: &str) -> Result<List, String> {
    parse_integers(text).map(List)
}

fn parse_target(text: &str) -> Result<Shape, String> {
    parse_type(text).map(|(_, shape)| shape)
}

/// A rule set with attributes, elaborated on some operands, and what it is called with them.
pub(crate) fn elaborate(
    rule: RuleSetName,
    attributes: &Attributes,
    operands: &[Shape],
) -> Result<(String, Result<Broadcast, ShapeError>), Failure> {
    let rule = with_target(rule, attributes.target.is_some());
    attributes.check(rule)?;
    let dims = attributes.dims.clone().map_or_else(Vec::new, |list| list.0);
    let axis = attributes.axis;
    let elementwise = match rule {
        RuleSetName::None => RuleSet::None,
        RuleSetName::Numpy => RuleSet::Numpy,
        RuleSetName::Xla => RuleSet::Xla { dims },
        RuleSetName::StableHlo => RuleSet::StableHlo,
        RuleSetName::Pdpd => RuleSet::Pdpd { axis },
        RuleSetName::OnnxLegacy => RuleSet::OnnxLegacy { broadcast: true, axis },
        _ => {
            let (name, rule) = (rule, target_rule(rule, dims, axis));
            let (Some(target), [data]) = (&attributes.target, operands) else {
                return Err(Failure::Usage(format!(
                    "the rule {name} takes one shape and --target"
                )));
            };
            return Ok((format!("{rule} target={target}"), rule.elaborate(data, target)));
        }
    };
    Ok((elementwise.to_string(), elementwise.elaborate(operands)))
}

/// The rule of the same system that broadcasts to a target, if there is one.
fn with_target(rule: RuleSetName, has_target: bool) -> RuleSetName {
    match rule {
        _ if !has_target => rule,
        RuleSetName::Numpy => RuleSetName::Unidirectional,
        RuleSetName::Pdpd => RuleSetName::PdpdBroadcast,
        RuleSetName::Xla => RuleSetName::XlaBroadcastInDim,
        RuleSetName::StableHlo => RuleSetName::StableHloBroadcastInDim,
        _ => rule,
    }
}

fn target_rule(rule: RuleSetName, dims: Vec<i64>, axis: Option<i64>) -> TargetRule {
    match rule {
        RuleSetName::Bidirectional => TargetRule::Bidirectional,
        RuleSetName::Explicit => TargetRule::Explicit { axes: dims },
        RuleSetName::PdpdBroadcast => TargetRule::Pdpd { axis },
        RuleSetName::XlaBroadcast => TargetRule::XlaBroadcast,
        RuleSetName::XlaBroadcastInDim => TargetRule::XlaBroadcastInDim { dims },
        RuleSetName::StableHloBroadcastInDim => TargetRule::StableHloBroadcastInDim { dims },
        RuleSetName::HloBroadcast => TargetRule::HloBroadcast { dims },
        _ => TargetRule::Unidirectional,
    }
}
