//! `indim eval`: an expression over files, literals and standard input, printed or written to files.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use indim::broadcast::{AxisNames, RuleChoice};
use indim::explain::{InputType, TypedInput, broadcasts, build_typed};
use indim::text::Expression;
use indim::{Graph, Value};
use indim_graph::remove_unused;

use crate::axis_names::{axis_names_of, check_rule, split_source};
use crate::bare::refuse_attributes;
use crate::computation::Resources;
use crate::expression::{check_names, input_error_report, not_an_option, parse_expression};
use crate::failure::Failure;
use crate::output::warn_of_outer_products;
use crate::outputs::Outputs;
use crate::program::Program;
use crate::rule::rule_of_operations;
use crate::show::PrintArgs;
use crate::source::{open_all, split_binding_or_suggest};

/// Evaluate an expression over arrays.
#[derive(Debug, Args)]
#[command(after_help = "\
A SOURCE is one of:
  x.npy                          an array file
  archive.npz:member             an array in an archive, also model.safetensors:tensor
  climate.zarr/temperature       a Zarr array
  image.png, grid.tif            an image; grid.tif:2 is a page of a TIFF file, counted from 0
  table.csv:height               a column of a CSV table
  [[1,2,3],[4,5,6]]              a literal, also with a type: f32([1.5,2])
  -                              a .npy array from standard input

For `--rule named`, axis names can follow a SOURCE, as in x.npy[time,lat]; a Zarr array has its own names.
Statements before the expression assign names to values. Each statement ends with its line or with `;`.

Examples:
  indim eval '(x - mean(x, axis=0)) / std(x, axis=0)' x=data/iris.npy
  indim eval 'add(X, v, dims=[1])' X='[[1,2,3],[4,5,6]]' v='[7,8,9]' --rule xla
  indim eval 'x - mean(x, axis=time)' 'x=x.npy[time, lat]' --rule named
  indim eval 'where(x > 0, x, exp(x) - 1)' x=x.npy -o elu.npy
  indim eval 'low = min(x); high = max(x)' x=x.npy -o low=low.npy -o high=high.npy
  indim eval 'low, high = min(x), max(x)' x=x.npy -o range.npz
  indim eval 'nir, red = f32(b[..., 3]), f32(b[..., 2]); (nir - red) / (nir + red)' b=bands.tif -o ndvi.tif
  indim eval 'mean(t, axis=0)' t=climate.zarr/temperature -o mean.zarr
  cat x.npy | indim eval 'x * 2' x=- -o - | indim eval 'sum(x)' x=-")]
pub(crate) struct Eval {
    /// The expression. Statements can precede it.
    #[arg(allow_hyphen_values = true, value_parser = not_an_option)]
    expression: String,
    /// The array for each name in the expression.
    #[arg(value_name = "NAME=SOURCE")]
    bindings: Vec<String>,
    /// The broadcasting rule of every operation.
    #[arg(long, value_name = "RULE", value_parser = rule_of_operations(), default_value_t)]
    rule: RuleChoice,
    /// Write the result to FILE instead of printing it; the ending .npy, .zarr, .png or .tif sets the format,
    /// and `-` writes .npy to standard output. NAME=FILE writes the value NAME; repeat the option for several
    /// values. A .npz or .safetensors file takes all results under their names; results without a name are
    /// arr_0, arr_1, ... No file appears before all are complete.
    #[arg(short, long, value_name = "[NAME=]FILE")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    resources: Resources,
    /// Warn if all operands of a broadcast expand, and its result is far larger than each of them.
    #[arg(long)]
    warn_outer_product: bool,
    #[command(flatten)]
    show: PrintArgs,
}

/// Names with their sources, and the axis names given for each.
type Bindings<'a> = (Vec<(&'a str, &'a str)>, Vec<Option<AxisNames>>);

impl Eval {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let timing = self.resources.timing();
        let outputs = Outputs::parse(&self.output)?;
        let expression = outputs.select_results(parse_expression(&self.expression)?)?;
        let (bindings, axis_names) = self.bindings(&expression)?;
        let (sources, memory_left) = open_all(&bindings, self.resources.memory_limit)?;
        let mut inputs = Vec::with_capacity(sources.len());
        for ((name, source), argument_names) in sources.iter().zip(axis_names) {
            let input_type = InputType::Known(source.array_type());
            inputs.push(TypedInput {
                name,
                input_type,
                axis_names: axis_names_of(source, argument_names),
            });
        }
        let (graph, axis_names) = self.graph(&expression, &inputs)?;
        let program = Program {
            graph: &graph,
            labels: &labels(&expression),
            members: &members(&expression),
            axis_names: &axis_names,
            resources: &self.resources,
            show: &self.show,
            timing: &timing,
        };
        timing.mark("open");
        program.run(sources, memory_left, &outputs)
    }

    /// The names with their sources, and the axis names given for each.
    fn bindings(&self, expression: &Expression) -> Result<Bindings<'_>, Failure> {
        let missing = self.first_unbound(expression).unwrap_or("x");
        let bindings = self.bindings.iter().map(|text| split_binding_or_suggest(missing, text));
        let mut bindings = bindings.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&str> = bindings.iter().map(|(name, _)| *name).collect();
        check_names(expression, &names)?;
        let mut axis_names = Vec::with_capacity(bindings.len());
        for (name, source) in &mut bindings {
            let (plain, names) = split_source(source);
            if names.is_some() {
                check_rule(name, self.rule)?;
            }
            *source = plain;
            axis_names.push(names);
        }
        Ok((bindings, axis_names))
    }

    /// The first name in the expression that no argument binds.
    fn first_unbound<'e>(&self, expression: &'e Expression) -> Option<&'e str> {
        let is_bound = |name: &str| {
            let named = self.bindings.iter().filter_map(|text| text.split_once('='));
            named.into_iter().any(|(bound, _)| bound.trim() == name)
        };
        expression.names().into_iter().find(|name| !is_bound(name))
    }

    /// The graph, and the axis names of each result.
    fn graph(
        &self,
        expression: &Expression,
        inputs: &[TypedInput<'_>],
    ) -> Result<(Graph, Vec<AxisNames>), Failure> {
        let rule = self.rule.of_expression().map_err(refuse_attributes)?;
        let (graph, results) = build_typed(expression, inputs, rule.as_ref())
            .map_err(|error| input_error_report(&error, expression))?;
        if self.warn_outer_product {
            warn_of_outer_products(&broadcasts(&remove_unused(&graph)));
        }
        Ok((graph, results.iter().map(Value::axis_names).collect()))
    }
}

/// The labels of several results: their names, or their positions if they have no name or an earlier
/// result has the same name.
fn labels(expression: &Expression) -> Vec<String> {
    let mut names_used = HashSet::new();
    let label = |(position, name): (usize, Option<&str>)| {
        let name = name.filter(|name| names_used.insert((*name).to_owned()));
        name.map_or_else(|| position.to_string(), str::to_owned)
    };
    expression.results().into_iter().enumerate().map(label).collect()
}

/// The names of the results in an archive: their own, or positions as in `numpy.savez`.
fn members(expression: &Expression) -> Vec<String> {
    let mut members = labels(expression);
    for index in 0..members.len() {
        if members[index].starts_with(|c: char| c.is_ascii_digit()) {
            let mut name = format!("arr_{index}");
            while members.contains(&name) {
                name.push('_');
            }
            members[index] = name;
        }
    }
    members
}
