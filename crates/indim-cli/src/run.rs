//! `indim run`: a program in a file of another system, over files, literals and standard input.

use std::path::PathBuf;

use clap::Args;
use indim::errors::Diagnostic;
use indim::formats::{InputBinding, LoadError, LoadedModel, ProgramPart, ReadOptions};
use indim::literal::named_type;
use indim_graph::terminal::shown;

use crate::computation::Resources;
use crate::failure::Failure;
use crate::model::{bind, fault_of_program, load_to_run, refused};
use crate::output::say;
use crate::outputs::Outputs;
use crate::program::Program;
use crate::show::PrintArgs;
use crate::source::{LoadedOperand, OpenOperand, open_all, read_pipe};

/// Run a program in a file: StableHLO, HLO, OpenVINO IR or ONNX.
#[derive(Debug, Args)]
#[command(after_help = "\
The content of a file determines its format. A SOURCE is one of `indim eval`: a .npy file,
archive.npz:member, model.safetensors:tensor, a literal, `-`, or a file of another format, such as
picture.png. Sources without a name are bound to the inputs in their order. A literal without a type,
such as [1, 3, 5], takes the type of its input if that changes no element.

  indim run model.onnx x.npy
  indim run model.onnx images=batch.npz:x -o result.npy
  indim run step.mlir w.npy g.npy 'lr=f32(0.1)' -o results.npz
  indim run model.xml x.npy -o results/
  indim run model.onnx --from features=features.npy --to scores -o scores.npy")]
pub(crate) struct Run {
    /// The program.
    file: PathBuf,
    /// Its inputs.
    #[arg(value_name = "[NAME=]SOURCE")]
    inputs: Vec<String>,
    /// The function of the file that runs, if it has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Start at this value of the program, with the elements of SOURCE. Nodes before it do not run, so indim
    /// need not support them. Repeat the option for several values.
    #[arg(long, value_name = "NAME=SOURCE")]
    from: Vec<String>,
    /// End at this value of the program, which becomes a result in place of the program's own. Repeat the
    /// option for several values.
    #[arg(long, value_name = "NAME")]
    to: Vec<String>,
    /// Write the result instead of printing it: to a .npy file, or as .npy to standard output (`-`).
    /// NAME=FILE writes the result of that name; repeat the option for several results. No file appears
    /// before all are complete. A .npz or .safetensors file takes all results under their names, a folder
    /// all as files of their names; a missing folder is made if its name ends with `/`.
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
        let model = load_to_run(&self.file, &options)?;
        let (outputs, chosen) = outputs.among(model.outputs())?;
        let names: Vec<String> =
            chosen.iter().map(|&output| model.outputs()[output].clone()).collect();

        let arguments: Vec<String> = self.inputs.iter().chain(&self.from).cloned().collect();
        let bound = bind(&model, &arguments)?;
        let is_given: Vec<bool> = bound.iter().map(|(_, source)| source.is_some()).collect();
        let given: Vec<(&str, &str)> =
            bound.into_iter().filter_map(|(name, source)| Some((name, source?))).collect();
        let (opened, memory_left) = open_all(&given, self.resources.memory_limit)?;
        let opened = as_declared(opened, &given, &model);
        let (sources, memory_left) = read_pipe(opened, memory_left)?;
        let types = bound_types(&model, &is_given, &sources)?;

        let program = model.program(&types);
        let program = program.map_err(|error| fault(&error, &model, &given, &sources))?;
        program.remarks.iter().for_each(|remark| say(&format!("note: {remark}")));
        let program = Program {
            graph: &program.graph.with_outputs(chosen),
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
                shown(text)
            ))),
        };
        let from = self.from.iter().map(name).collect::<Result<_, _>>()?;
        Ok(ProgramPart { from, to: self.to.clone() })
    }
}

/// Returns the sources, in which a literal without a type takes the type of its input if that changes no
/// element.
fn as_declared<'a>(
    sources: Vec<(&'a str, OpenOperand)>,
    given: &[(&str, &str)],
    model: &LoadedModel,
) -> Vec<(&'a str, OpenOperand)> {
    let declared = |name: &str| model.inputs().iter().find(|input| input.name == name)?.dtype;
    let of =
        |((name, source), (_, text)): ((&'a str, OpenOperand), &(&str, &str))| match declared(name)
        {
            Some(dtype) => (name, source.declared(text, dtype)),
            None => (name, source),
        };
    sources.into_iter().zip(given).map(of).collect()
}

/// The error of a program over these sources; an error of the program itself precedes a missing input.
fn fault(
    error: &LoadError,
    model: &LoadedModel,
    given: &[(&str, &str)],
    sources: &[(&str, OpenOperand)],
) -> Diagnostic {
    if error.code() == "input-missing"
        && let Some(own) = fault_of_program(model)
    {
        return own.diagnostic();
    }
    let mut diagnostic = refused(error, model);
    if error.code() == "input-type" {
        let helps = given.iter().zip(sources);
        helps.filter_map(|(given, (_, source))| typed(given, source, model)).for_each(|typed| {
            diagnostic.help(format!(
                "write {typed}: a literal keeps its own type where some element would change"
            ));
        });
    }
    diagnostic
}

/// The argument with the declared type of its input around an untyped literal of another type: `x='f32(1)'`.
fn typed((name, text): &(&str, &str), source: &OpenOperand, model: &LoadedModel) -> Option<String> {
    let dtype = model.inputs().iter().find(|input| input.name == *name)?.dtype?;
    let OpenOperand::Read(LoadedOperand::Literal(literal)) = source else { return None };
    let is_untyped = named_type(text).is_ok_and(|named| named.is_none());
    let is_other = is_untyped && literal.dtype() != dtype;
    is_other.then(|| format!("{}='{dtype}({})'", shown(name), shown(text)))
}

/// The binding of each input of the model: to the type or elements of its source, or to its default if no
/// source is given.
fn bound_types(
    model: &LoadedModel,
    is_given: &[bool],
    sources: &[(&str, OpenOperand)],
) -> Result<Vec<InputBinding>, Failure> {
    let mut sources = sources.iter();
    let bound = |(index, &is_given): (usize, &bool)| {
        match is_given.then(|| sources.next()).flatten() {
            Some((_, OpenOperand::Read(source))) => {
                let bound = model.bound_input(index, &source.view());
                bound.map_err(|error| refused(&error, model).into())
            }
            // Sources read by regions are too large to determine a shape.
            Some((_, source)) => Ok(InputBinding::Type(source.array_type())),
            None => Ok(InputBinding::Default),
        }
    };
    is_given.iter().enumerate().map(bound).collect()
}
