//! `indim explain`: what an expression or a bare rule does, as text, as JSON, as a drawing.

use std::path::PathBuf;

use clap::Args;
use indim::explain::{ExplainedBroadcast, Explanation};
use indim::{ArrayType, CompileOptions, Level, OperandLabel, RuleSetName, Shape, draw_error};

use crate::bare::{Attributes, elaborate};
use crate::eval::{build_graph, print};
use crate::rule::Rule;
use crate::shapes::{parse_array_type, parse_type};
use crate::source::{Source, split_binding};

/// Explain an expression over typed names, or a rule over shapes.
#[derive(Debug, Args)]
#[command(after_help = "\
  indim explain 'add(x, v, dims=[1])' x=f32[2,3] v=f32[3]
  indim explain 'exp(u) * tanh(v)' u=f32[1000,1] v=f32[2000] --svg outer.svg
  indim explain --rule pdpd --axis 1 f32[1,3,224,224] f32[3]")]
pub(crate) struct Explain {
    /// An expression followed by NAME=TYPE (or NAME=FILE), or shapes alone.
    #[arg(required = true, value_name = "EXPR | SHAPE")]
    arguments: Vec<String>,
    /// The rule of every operation, or the bare rule to explain.
    #[arg(long)]
    rule: Option<RuleSetName>,
    #[command(flatten)]
    attributes: Attributes,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Draw the broadcasts into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Warn of outer products, where the result is far larger than every operand.
    #[arg(long)]
    warn_outer_product: bool,
}

impl Explain {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), String> {
        match self.arguments.iter().map(|text| parse_type(text)).collect::<Result<Vec<_>, _>>() {
            Ok(types) => {
                let names = (0..types.len()).map(|index| format!("operand {index}"));
                let labels = names.zip(&types).map(|(name, (dtype, _))| {
                    (name, dtype.map_or_else(String::new, |dtype| dtype.name().to_owned()))
                });
                let shapes: Vec<Shape> = types.iter().map(|(_, shape)| shape.clone()).collect();
                self.explain_rule(labels.collect(), &shapes)
            }
            Err(_) => self.explain_expression(),
        }
    }

    fn explain_rule(&self, labels: Vec<(String, String)>, shapes: &[Shape]) -> Result<(), String> {
        let rule = self.rule.unwrap_or(RuleSetName::Numpy);
        let form = elaborate(rule, &self.attributes, shapes)?.map_err(|error| {
            let labels: Vec<OperandLabel<'_>> = labels
                .iter()
                .map(|(name, element_type)| OperandLabel { name, element_type })
                .collect();
            draw_error(&error, "broadcast", &labels)
        })?;
        let explained = ExplainedBroadcast::new(rule.as_str(), labels, form);
        self.warn(core::slice::from_ref(&explained));
        self.deliver(&explained.to_string(), || explained.to_json(), || explained.to_svg())
    }

    fn explain_expression(&self) -> Result<(), String> {
        let (expression, bindings) =
            self.arguments.split_first().ok_or("error[usage]: nothing to explain")?;
        let bindings =
            bindings.iter().map(|text| typed_name(text)).collect::<Result<Vec<_>, _>>()?;
        let graph = build_graph(expression, &bindings, self.expression_rule()?)?;
        let level = Level::from_environment().map_err(|error| format!("error[level]: {error}"))?;
        let options = CompileOptions { level, ..CompileOptions::default() };
        let explanation = Explanation::new(&graph, &options).map_err(|error| error.draw())?;
        self.warn(explanation.broadcasts());
        self.deliver(&explanation.to_string(), || explanation.to_json(), || explanation.to_svg())
    }

    fn expression_rule(&self) -> Result<Option<Rule>, String> {
        self.rule.map_or(Ok(None), |rule| match rule {
            RuleSetName::None => Ok(Some(Rule::None)),
            RuleSetName::Numpy => Ok(Some(Rule::Numpy)),
            RuleSetName::Xla => Ok(Some(Rule::Xla)),
            RuleSetName::Pdpd => Ok(Some(Rule::Pdpd)),
            other => Err(format!(
                "error[usage]: an expression has no rule {other}; it is numpy, xla, pdpd or none"
            )),
        })
    }

    fn warn(&self, broadcasts: &[ExplainedBroadcast]) {
        let lints = broadcasts.iter().filter(|_| self.warn_outer_product);
        for (broadcast, lint) in lints.filter_map(|b| Some((b, b.surprising_outer_product()?))) {
            eprintln!("warning[outer-product]: `{}`: {lint}", broadcast.operation());
        }
    }

    fn deliver(
        &self,
        text: &str,
        json: impl FnOnce() -> String,
        svg: impl FnOnce() -> String,
    ) -> Result<(), String> {
        if let Some(path) = &self.svg {
            indim::files::write_text(path, &svg())
                .map_err(|error| format!("error[{}]: {error}", error.code()))?;
        }
        let text = if self.json { json() } else { text.to_owned() };
        print(format!("{}\n", text.trim_end()).as_bytes())
    }
}

/// A name with its type, written out or taken from a file.
fn typed_name(text: &str) -> Result<(&str, ArrayType), String> {
    let (name, source) = split_binding(text)?;
    match parse_array_type(source) {
        Ok(array_type) => Ok((name, array_type)),
        Err(_) if source.contains(".np") => Ok((name, Source::open(source)?.array_type())),
        Err(error) => Err(error),
    }
}
