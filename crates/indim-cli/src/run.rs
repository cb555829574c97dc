//! `indim run`: a program in a file of another system, over files, literals and standard input.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use indim::errors::Diagnostic;
use indim::formats::{
    InputBinding, LoadError, LoadedModel, ModelInput, ProgramPart, ReadOptions, StagedModel,
};
use indim::literal::named_type;
use indim::{ArrayView, RunOptions};
use indim_graph::terminal::printable;

use crate::computation::Resources;
use crate::failure::Failure;
use crate::model::{bind, load_diagnostic, load_to_run, program_error};
use crate::output::print_message;
use crate::outputs::Outputs;
use crate::program::Program;
use crate::show::PrintArgs;
use crate::source::{
    LoadedOperand, OpenOperand, OpenedSources, map_files, open_all, read_all, read_pipe,
};

/// Run a model: a StableHLO, HLO, OpenVINO IR or ONNX file.
#[derive(Debug, Args)]
#[command(after_help = "\
A SOURCE is an array:
  x.npy                    a file: .npy, Zarr, PNG, TIFF or a column of a table, as in `indim eval`
  archive.npz:member       an array of an archive; also model.safetensors:tensor
  '[[1, 2], [3, 4]]'       a literal; it takes the element type of its input if no element changes
  'f32([1.5, 2])'          a literal of a stated element type
  -                        a .npy array from standard input

Examples:
  indim run model.onnx x.npy
  indim run model.onnx images=batch.npz:x -o result.npy
  indim run step.mlir w.npy g.npy 'lr=f32(0.1)' -o results.npz
  indim run model.xml x.npy -o results/
  indim run model.onnx --from features=features.npy --to scores -o scores.npy")]
pub(crate) struct Run {
    /// The model file. Its content determines the format.
    file: PathBuf,
    /// The array for each input of the model. Sources without NAME= go to the inputs in their order.
    #[arg(value_name = "[NAME=]SOURCE")]
    inputs: Vec<String>,
    /// The function to run, if the file has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Start at the value NAME inside the model, and take its elements from SOURCE. Nodes before it do not
    /// run, so indim need not support them. Repeat the option for several values.
    #[arg(long, value_name = "NAME=SOURCE")]
    from: Vec<String>,
    /// Stop at the value NAME inside the model, and make it the result, instead of the model's own results.
    /// Repeat the option for several values.
    #[arg(long, value_name = "NAME")]
    to: Vec<String>,
    /// Write the result to FILE instead of printing it; `-` writes .npy to standard output. Of several
    /// results, NAME=FILE writes one, and the option can be repeated; a .npz or .safetensors file, or a
    /// folder, takes all of them under their names. A folder is created if FILE ends with `/`. No file
    /// appears before all are complete.
    #[arg(short, long, value_name = "[NAME=]FILE")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    show: PrintArgs,
}

impl Run {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let timing = self.resources.timing();
        let outputs = Outputs::parse(&self.output)?;
        let options = ReadOptions::new().function(self.function.clone()).part(self.part()?);
        let staged = load_to_run(&self.file, &options)?;
        let model = staged.last();
        let (outputs, selected) = outputs.select(model.outputs())?;
        let names: Vec<String> =
            selected.iter().map(|&output| model.outputs()[output].clone()).collect();

        let arguments: Vec<String> = self.inputs.iter().chain(&self.from).cloned().collect();
        let bound = bind(staged.inputs(), &arguments)?;
        let mut is_bound: Vec<bool> = bound.iter().map(|(_, source)| source.is_some()).collect();
        let mut bindings: Vec<(&str, &str)> =
            bound.into_iter().filter_map(|(name, source)| Some((name, source?))).collect();
        let (operands, memory_left) = open_all(&bindings, self.resources.memory_limit)?;
        let operands = with_declared_types(operands, &bindings, staged.inputs());
        let (mut sources, mut memory_left) = read_pipe(operands, memory_left)?;
        if staged.has_stages() {
            (sources, memory_left) = run_stages(&staged, sources, memory_left, &self.resources)?;
            let is_source =
                |input: &ModelInput| sources.iter().any(|(name, _)| *name == input.name);
            is_bound = model.inputs().iter().map(is_source).collect();
            // No argument states a value of an earlier stage.
            bindings.clear();
        }
        let types = bind_sources(model, &is_bound, &sources)?;

        let program = model.program(&types);
        let program =
            program.map_err(|error| run_diagnostic(&error, model, &bindings, &sources))?;
        program.remarks.iter().for_each(|remark| print_message(&format!("note: {remark}")));
        let program = Program {
            graph: &program.graph.with_outputs(selected),
            labels: &names,
            members: &names,
            axis_names: &[],
            resources: &self.resources,
            show: &self.show,
            timing: &timing,
        };
        timing.mark("open");
        program.run(sources, memory_left, &outputs)
    }

    /// The part of the program between `--from` and `--to`.
    fn part(&self) -> Result<ProgramPart, Failure> {
        let name = |text: &String| match text.split_once('=') {
            Some((name, _)) if !name.is_empty() => Ok(name.to_owned()),
            _ => Err(Failure::Usage(format!(
                "--from takes NAME=SOURCE, as in 'scores=scores.npy': {}",
                printable(text)
            ))),
        };
        let from = self.from.iter().map(name).collect::<Result<_, _>>()?;
        Ok(ProgramPart { from, to: self.to.clone() })
    }
}

/// Returns the sources, in which a literal without a type takes the type of its input if that changes no
/// element.
fn with_declared_types<'a>(
    sources: Vec<(&'a str, OpenOperand)>,
    bindings: &[(&str, &str)],
    inputs: &[ModelInput],
) -> Vec<(&'a str, OpenOperand)> {
    let declared = |name: &str| inputs.iter().find(|input| input.name == name)?.dtype;
    let of =
        |((name, source), (_, text)): ((&'a str, OpenOperand), &(&str, &str))| match declared(name)
        {
            Some(dtype) => (name, source.with_declared_type(text, dtype)),
            None => (name, source),
        };
    sources.into_iter().zip(bindings).map(of).collect()
}

/// Runs all stages of a model but the last. Returns the sources of the last one in the order of its inputs,
/// and the bytes of the memory limit that are left.
fn run_stages<'m>(
    staged: &'m StagedModel,
    sources: Vec<(&str, OpenOperand)>,
    memory_left: usize,
    resources: &Resources,
) -> Result<OpenedSources<'m>, Failure> {
    let (sources, memory_left) = map_files(sources, memory_left)?;
    let mut loaded: HashMap<&str, LoadedOperand> =
        read_all(sources, memory_left)?.into_iter().collect();
    let mut values = {
        let view = |input: &ModelInput| Some(loaded.get(input.name.as_str())?.view());
        let inputs: Vec<Option<ArrayView<'_>>> = staged.inputs().iter().map(view).collect();
        let held = loaded.values().map(LoadedOperand::held_bytes).fold(0, usize::saturating_add);
        let options = RunOptions::new().memory_limit(resources.memory_limit).input_bytes(held);
        let values = resources.pool()?.install(|| staged.run_stages(&inputs, &options));
        values.map_err(|error| load_diagnostic(&error, staged.last()))?
    };
    let mut sources = Vec::new();
    for input in staged.last().inputs() {
        let name = input.name.as_str();
        let value = values.remove(name).map(LoadedOperand::Whole);
        if let Some(operand) = value.or_else(|| loaded.remove(name)) {
            sources.push((name, OpenOperand::Read(operand)));
        }
    }
    Ok((sources, memory_left))
}

/// The error of a program over these sources; an error of the program itself precedes a missing input.
fn run_diagnostic(
    error: &LoadError,
    model: &LoadedModel,
    bindings: &[(&str, &str)],
    sources: &[(&str, OpenOperand)],
) -> Diagnostic {
    if error.code() == "input-missing"
        && let Some(program_error) = program_error(model)
    {
        return program_error.diagnostic();
    }
    let mut diagnostic = load_diagnostic(error, model);
    if error.code() == "input-type" {
        let helps = bindings.iter().zip(sources);
        helps.filter_map(|(binding, (_, source))| typed_literal(binding, source, model)).for_each(
            |typed| {
                diagnostic.help(format!(
                    "write {typed}: a literal keeps its own type where some element would change"
                ));
            },
        );
    }
    diagnostic
}

/// The argument with the declared type of its input around an untyped literal of another type: `x='f32(1)'`.
fn typed_literal(
    (name, text): &(&str, &str),
    source: &OpenOperand,
    model: &LoadedModel,
) -> Option<String> {
    let dtype = model.inputs().iter().find(|input| input.name == *name)?.dtype?;
    let OpenOperand::Read(LoadedOperand::Literal(literal)) = source else { return None };
    let is_untyped = named_type(text).is_ok_and(|named| named.is_none());
    let is_other = is_untyped && literal.dtype() != dtype;
    is_other.then(|| format!("{}='{dtype}({})'", printable(name), printable(text)))
}

/// The binding of each input of the model: to the type or elements of its source, or to its default if no
/// source is given.
fn bind_sources(
    model: &LoadedModel,
    is_bound: &[bool],
    sources: &[(&str, OpenOperand)],
) -> Result<Vec<InputBinding>, Failure> {
    let mut sources = sources.iter();
    let bound = |(index, &is_bound): (usize, &bool)| {
        match is_bound.then(|| sources.next()).flatten() {
            Some((_, OpenOperand::Read(source))) => {
                let bound = model.bound_input(index, &source.view());
                bound.map_err(|error| load_diagnostic(&error, model).into())
            }
            // Sources read by regions are too large to determine a shape.
            Some((_, source)) => Ok(InputBinding::Type(source.array_type())),
            None => Ok(InputBinding::Default),
        }
    };
    is_bound.iter().enumerate().map(bound).collect()
}
