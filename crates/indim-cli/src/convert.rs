//! `indim convert`: translates a broadcast between rule sets, or a program between formats.

use std::path::Path;

use clap::Args;
use indim::broadcast::{RuleChoice, RuleSetName, convert_broadcast};
use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::ModelFormat;

use indim_graph::terminal::printable;

use crate::bare::{AttributeOptions, BareOperand, elaborate, operand_labels};
use crate::convert_program::ProgramOptions;
use crate::failure::Failure;
use crate::output::print;
use crate::report::Report;
use crate::rule::{any_rule, rule_set_or_format};

/// Translate a broadcast from one rule set to another, or convert a model file to another format.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  indim convert --from numpy --to xla 2,3 3
  indim convert --from pdpd --axis 1 --to numpy 1x3x224x224 3
  indim convert --from bidirectional --target 2x1x6 --to stablehlo-broadcast-in-dim 3x1
  indim convert model.onnx --to stablehlo -o model.mlir
  indim convert step.mlir --to openvino --exact -o step.xml
  indim convert model.onnx x=f32[8,3] --to hlo")]
pub(crate) struct Convert {
    /// The rule set to translate from. Leave it out to convert a model file.
    #[arg(long, value_name = "RULE", value_parser = any_rule())]
    from: Option<RuleChoice>,
    /// The rule set to translate to, or the format of the new file.
    #[arg(long, value_name = "RULE | FORMAT", value_parser = rule_set_or_format())]
    to: String,
    #[command(flatten)]
    attributes: AttributeOptions,
    #[command(flatten)]
    program: ProgramOptions,
    /// The shape of each operand: 2x3, [2,3] or f32[2,3]; [] for a scalar. Or the model file, then NAME=TYPE
    /// for each input whose type the file leaves open.
    #[arg(required = true, value_name = "SHAPE | FILE")]
    operands: Vec<String>,
}

impl Convert {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self.from {
            Some(from) => self.convert_shapes(from),
            None => self.convert_program(),
        }
    }

    fn convert_program(&self) -> Result<(), Failure> {
        if !self.attributes.is_empty() {
            return Err(Failure::Usage("a program carries its own rules".to_owned()));
        }
        let [file, types @ ..] = self.operands.as_slice() else { return Ok(()) };
        if !Path::new(file).exists() {
            let message =
                format!("`{}` is not a file; shapes are converted --from RULE", printable(file));
            return Err(Failure::Usage(message));
        }
        let Some(format) = ModelFormat::named(&self.to) else {
            let formats = ModelFormat::ALL.map(ModelFormat::name).join(", ");
            let message = format!("a program is written --to one of these: {formats}");
            return Err(Failure::Usage(message));
        };
        self.program.convert(file, format, types)
    }

    fn convert_shapes(&self, from: RuleChoice) -> Result<(), Failure> {
        let Ok(to) = self.to.parse::<RuleSetName>() else {
            let message = format!("{} is a format of files, and no rule for shapes", self.to);
            return Err(Failure::Usage(message));
        };
        let operands = self.operands.iter().map(|text| BareOperand::parse(text));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let (_, form) = elaborate(from, &self.attributes, &operands)?;
        let form =
            form.map_err(|error| Report::of_shapes(&error, "convert", &operand_labels(&operands)))?;
        let translation = convert_broadcast(&form, to)
            .map_err(|reason| Diagnostic::new(ErrorCode::INEXPRESSIBLE, reason.to_string()))?;
        Ok(print(format!("{translation}\n").as_bytes())?)
    }
}
