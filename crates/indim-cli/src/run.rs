//! `indim run`: a program in a file of another system, over files, literals and standard input.

use std::path::PathBuf;

use clap::Args;
use indim::formats::Bound;

use crate::computation::Resources;
use crate::failure::Failure;
use crate::model::{bind, load, refused};
use crate::output::say;
use crate::outputs::Outputs;
use crate::program::Program;
use crate::show::Show;
use crate::source::{Opened, open_all, read_pipe};

/// Run a program in a file: StableHLO, HLO, OpenVINO IR or ONNX.
#[derive(Debug, Args)]
#[command(after_help = "\
The format is seen in the file's content. A SOURCE is what `indim eval` takes: a .npy file,
archive.npz:member, model.safetensors:tensor, a literal, `-`, or a file of another format, such as
picture.png. Sources without a name are bound to the inputs in their order.

  indim run model.onnx x.npy
  indim run model.onnx images=batch.npz:x -o result.npy
  indim run step.mlir w.npy g.npy 'lr=f32(0.1)' -o results.npz
  indim run model.xml x.npy -o results/")]
pub(crate) struct Run {
    /// The program.
    file: PathBuf,
    /// What its inputs are.
    #[arg(value_name = "[NAME=]SOURCE")]
    inputs: Vec<String>,
    /// Which function of the file runs, where it has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Write the result instead of printing it: to a .npy file, or as .npy to standard output (`-`). With a
    /// name, the result of that name; may be given several times then, and no file appears before all are
    /// complete. A .npz or .safetensors file takes all results under their names, a folder all as files of
    /// their names.
    #[arg(short, long, value_name = "[NAME=]FILE")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    show: Show,
}

impl Run {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let outputs = Outputs::parse(&self.output)?;
        let model = load(&self.file, self.function.as_deref())?;
        let (outputs, chosen) = outputs.among(model.outputs())?;
        let names: Vec<String> =
            chosen.iter().map(|&output| model.outputs()[output].clone()).collect();

        let bound = bind(&model, &self.inputs)?;
        let is_given: Vec<bool> = bound.iter().map(|(_, source)| source.is_some()).collect();
        let given: Vec<(&str, &str)> =
            bound.into_iter().filter_map(|(name, source)| Some((name, source?))).collect();
        let (opened, memory_left) = open_all(&given, self.resources.memory_limit)?;
        let (sources, memory_left) = read_pipe(opened, memory_left)?;
        let types = bound_types(&model, &is_given, &sources)?;

        let program = model.program(&types).map_err(|error| refused(&error, &model))?;
        program.remarks.iter().for_each(|remark| say(&format!("note: {remark}")));
        let program = Program {
            graph: &program.graph.returning(chosen),
            labels: &names,
            members: &names,
            axis_names: &[],
            resources: &self.resources,
            show: &self.show,
        };
        program.run(sources, memory_left, &outputs)
    }
}

/// What the inputs of the model are given: a source, or nothing.
fn bound_types(
    model: &indim::formats::LoadedModel,
    is_given: &[bool],
    sources: &[(&str, Opened)],
) -> Result<Vec<Bound>, Failure> {
    let mut sources = sources.iter();
    let bound = |(index, &is_given): (usize, &bool)| {
        match is_given.then(|| sources.next()).flatten() {
            Some((_, Opened::Read(source))) => {
                let bound = model.bound_input(index, &source.view());
                bound.map_err(|error| refused(&error, model).into())
            }
            // Large: it says no shape.
            Some((_, source)) => Ok(Bound::Type(source.array_type())),
            None => Ok(Bound::Default),
        }
    };
    is_given.iter().enumerate().map(bound).collect()
}
