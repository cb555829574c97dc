//! `indim convert`: one rule set's broadcast in the words of another.

use clap::Args;
use indim::{Diagnostic, RuleChoice, RuleSetName, Shape, express};

use crate::bare::{AttributeOptions, elaborate, operand_labels};
use crate::failure::Failure;
use crate::output::print;
use crate::report::Report;
use crate::rule::{any_rule, rule_set};
use crate::shapes::parse_type;

/// Say a broadcast of one rule set under another.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  indim convert --from numpy --to xla 2,3 3
  indim convert --from pdpd --axis 1 --to numpy 1x3x224x224 3
  indim convert --from bidirectional --target 2x1x6 --to stablehlo-broadcast-in-dim 3x1")]
pub(crate) struct Convert {
    /// The rule set that is known.
    #[arg(long, value_name = "RULE", value_parser = any_rule())]
    from: RuleChoice,
    /// The rule set that is wanted.
    #[arg(long, value_name = "RULE", value_parser = rule_set())]
    to: RuleSetName,
    #[command(flatten)]
    attributes: AttributeOptions,
    /// The operands' shapes: 2x3, [2,3] or f32[2,3]; [] for a scalar.
    #[arg(required = true, value_name = "SHAPE")]
    shapes: Vec<String>,
}

impl Convert {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let types =
            self.shapes.iter().map(|text| parse_type(text)).collect::<Result<Vec<_>, _>>()?;
        let operands: Vec<Shape> = types.iter().map(|(_, shape)| shape.clone()).collect();
        let (_, form) = elaborate(self.from, &self.attributes, &operands)?;
        let form =
            form.map_err(|error| Report::of_shapes(&error, "convert", &operand_labels(&types)))?;
        let said = express(&form, self.to)
            .map_err(|reason| Diagnostic::new("inexpressible", reason.to_string()))?;
        Ok(print(format!("{said}\n").as_bytes())?)
    }
}
