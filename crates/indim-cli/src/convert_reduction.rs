//! `indim convert-reduction`: translates the axes of a reduction between systems.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indim::errors::Diagnostic;
use indim_oracle::ReductionAttributes;
use indim_shape::{ErrorCode, ReductionRuleName, convert_reduction};

use crate::bare::{List, parse_list};
use crate::failure::Failure;
use crate::output::print;
use indim_text::parse_type;

/// Translate the axes of a reduction from one system to another.
#[derive(Debug, Args)]
#[command(after_help = "\
If the target is onnx, the result is for opset 18, in which the axes are an input.

Examples:
  indim convert-reduction --from numpy --axes=-1 --keepdims true --to xla 4x3
  indim convert-reduction --from onnx --opset 11 --axes 0,1 --to array-api 4x3
  indim convert-reduction --from onnx --opset 18 --axes-input 1 --to openvino 4x3")]
pub(crate) struct ConvertReduction {
    /// The rule to translate from.
    #[arg(long, value_name = "RULE", value_parser = rule())]
    from: ReductionRuleName,
    /// The rule to translate to.
    #[arg(long, value_name = "RULE", value_parser = rule())]
    to: ReductionRuleName,
    /// The axes to reduce, such as 0,2; by default all axes, or the default of the rule.
    #[arg(long, value_name = "LIST", value_parser = parse_list, allow_hyphen_values = true)]
    axes: Option<List>,
    /// ONNX: the axes to reduce, such as 0,2, if the operator takes them as its second input instead of an
    /// attribute: ReduceSum from opset 13 on, the other reductions from opset 18 on. Use --axes for the
    /// attribute.
    #[arg(long, value_name = "LIST", value_parser = parse_list, allow_hyphen_values = true)]
    axes_input: Option<List>,
    /// Whether the reduced axes stay, with size 1 [default: true for onnx, else false].
    #[arg(long, value_name = "BOOL")]
    keepdims: Option<bool>,
    /// ONNX: whether a reduction without axes reduces no axis instead of all axes [default: false].
    #[arg(long, value_name = "BOOL")]
    noop_with_empty_axes: Option<bool>,
    /// ONNX: the opset of the operator [default: 18].
    #[arg(long, value_name = "N")]
    opset: Option<u32>,
    /// ONNX: the operator is ReduceSum.
    #[arg(long)]
    sum: bool,
    /// The shape of the operand: 2x3, [2,3] or f32[2,3]; [] for a scalar.
    #[arg(value_name = "SHAPE")]
    shape: String,
}

fn rule() -> impl TypedValueParser<Value = ReductionRuleName> {
    let names = ReductionRuleName::ALL.iter().map(|name| name.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<ReductionRuleName>())
}

impl ConvertReduction {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (_, operand) = parse_type(&self.shape)?;
        if self.sum && self.from != ReductionRuleName::Onnx {
            return Err(Failure::Usage(format!(
                "--sum: rule `{}` asks for no function",
                self.from
            )));
        }
        let list = |list: &Option<List>| list.clone().map(|list| list.0);
        let attributes = ReductionAttributes {
            axes: list(&self.axes),
            axes_input: list(&self.axes_input),
            keepdims: self.keepdims,
            noop_with_empty_axes: self.noop_with_empty_axes,
            opset: self.opset,
        };
        let rule = attributes.rule(self.from, self.sum, operand.rank()).map_err(Failure::Usage)?;
        let form =
            rule.elaborate(&operand).map_err(|error| error.diagnostic("convert-reduction"))?;
        let translation = convert_reduction(&form, self.to)
            .map_err(|reason| Diagnostic::new(ErrorCode::INEXPRESSIBLE, reason.to_string()))?;
        Ok(print(format!("{translation}\n").as_bytes())?)
    }
}
