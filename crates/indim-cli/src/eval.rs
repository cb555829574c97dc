//! `indim eval`: an expression over files and literals, printed or written to a file.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use indim::explain::broadcasts;
use indim::{
    ArrayType, ArrayView, ArrayViewMut, Buffer, CompileError, CompileOptions, Diagnostic,
    Executable, Level, RuleChoice, RunError, RunOptions, compile,
};

use crate::bare::refuse_attributes;
use crate::byte_size::parse_byte_size;
use crate::destination::{Destination, Format};
use crate::expression::{build_graph, no_misspelt_option};
use crate::failure::Failure;
use crate::output::warn_of_outer_products;
use crate::progress::Progress;
use crate::rule::rule_of_operations;
use crate::show::Show;
use crate::source::{Source, in_binding, split_binding};

/// More threads than any machine has processors only cost time and memory to start.
const MAXIMUM_THREADS: i64 = 1024;

/// Evaluate an expression over arrays.
#[derive(Debug, Args)]
#[command(after_help = "\
A SOURCE is a .npy file, archive.npz:member, or a literal such as [[1,2,3],[4,5,6]] or f32([1.5,2]).

  indim eval '(x - m) / s' x=data/iris.npy m=data/iris_mean.npy s=data/iris_std.npy
  indim eval 'add(X, v, dims=[1])' X='[[1,2,3],[4,5,6]]' v='[7,8,9]' --rule xla
  indim eval 'where(x > 0, x, exp(x) - 1)' x=x.npy -o elu.npy")]
pub(crate) struct Eval {
    /// The expression.
    #[arg(allow_hyphen_values = true, value_parser = no_misspelt_option)]
    expression: String,
    /// What its names stand for.
    #[arg(value_name = "NAME=SOURCE")]
    bindings: Vec<String>,
    /// The rule of every operation.
    #[arg(long, value_name = "RULE", value_parser = rule_of_operations(), default_value_t)]
    rule: RuleChoice,
    /// Write the result instead of printing it: to a .npy file, a .npz file with the member arr_0, or as .npy
    /// to standard output (`-`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many threads compute; all processors when absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAXIMUM_THREADS))]
    threads: Option<u16>,
    /// Refuse a run that would hold more memory: bytes, or a number with KiB, MiB, GiB, TiB or KB, MB, GB,
    /// TB. Large .npy files, which are read where they are, and a result that is written to one do not count.
    #[arg(long, value_name = "SIZE", value_parser = parse_byte_size)]
    memory_limit: Option<usize>,
    /// Warn of outer products, where the result is far larger than every operand.
    #[arg(long)]
    warn_outer_product: bool,
    #[command(flatten)]
    show: Show,
}

impl Eval {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let output = self.output.as_deref();
        let format = output.map_or(Ok(Format::Npy), Format::of)?;
        let sources = self.open_sources()?;
        let types: Vec<(&str, ArrayType)> =
            sources.iter().map(|(name, source)| (*name, source.array_type())).collect();
        let executable = self.compile(&types)?;
        self.show.check(&executable.outputs()[0])?;
        let destination = output.map(|path| Destination::open(path, format)).transpose()?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0).into());
        let pool =
            threads.build().map_err(|error| Diagnostic::new("threads", error.to_string()))?;
        let computation =
            Computation { executable, sources, memory_limit: self.memory_limit, pool };
        match destination {
            None => self.show.print(&computation.result()?)?,
            Some(destination) => computation.deliver(destination)?,
        }
        Ok(())
    }

    fn open_sources(&self) -> Result<Vec<(&str, Source)>, Diagnostic> {
        let mut memory_left = self.memory_limit.unwrap_or(usize::MAX);
        let mut open = |text| {
            let (name, source) = split_binding(text)?;
            let source =
                Source::open(source, memory_left).map_err(|error| in_binding(name, error))?;
            memory_left = memory_left.saturating_sub(source.held_bytes());
            Ok((name, source))
        };
        self.bindings.iter().map(|text| open(text)).collect()
    }

    fn compile(&self, types: &[(&str, ArrayType)]) -> Result<Executable, Failure> {
        let rule = self.rule.of_expression().map_err(refuse_attributes)?;
        let graph = build_graph(&self.expression, types, rule.as_ref())?;
        if self.warn_outer_product {
            warn_of_outer_products(&broadcasts(&graph));
        }
        let level = Level::from_environment()
            .map_err(|error| Diagnostic::new("level", error.to_string()))?;
        let memory_limit = self.memory_limit;
        let options = CompileOptions { level, memory_limit, ..CompileOptions::default() };
        Ok(compile(&graph, &options).map_err(CompileError::diagnostic)?)
    }
}

/// What is to be computed, and how.
struct Computation<'a> {
    executable: Executable,
    sources: Vec<(&'a str, Source)>,
    memory_limit: Option<usize>,
    pool: rayon::ThreadPool,
}

impl Computation<'_> {
    /// The result, in new memory.
    fn result(&self) -> Result<Buffer, Diagnostic> {
        self.run(|inputs, options| {
            let mut results = self.executable.run_with(inputs, options)?;
            Ok(results.remove(0))
        })
    }

    /// Writes the result to where it belongs, or computes it there.
    fn deliver(&self, mut destination: Destination) -> Result<(), Diagnostic> {
        let array_type = &self.executable.outputs()[0];
        match destination.map(array_type)? {
            Some(output) => self.run_into(output)?,
            None => destination.write(&self.result()?)?,
        }
        destination.finish(array_type)
    }

    fn run_into(&self, output: ArrayViewMut<'_>) -> Result<(), Diagnostic> {
        let outputs = &mut [output];
        self.run(|inputs, options| self.executable.run_into_with(inputs, outputs, options))
    }

    /// Runs on the threads asked for, and makes sure that the inputs are still what they were.
    fn run<T: Send>(
        &self,
        run: impl FnOnce(&[ArrayView<'_>], &RunOptions<'_>) -> Result<T, RunError> + Send,
    ) -> Result<T, Diagnostic> {
        let inputs: Vec<ArrayView<'_>> = self.sources.iter().map(|(_, s)| s.view()).collect();
        let held = self.sources.iter().map(|(_, source)| source.held_bytes());
        let bar = Progress::of_elements(points(&self.executable));
        let progress = |elements: usize| {
            bar.advance(elements);
            ControlFlow::Continue(())
        };
        let options = RunOptions {
            memory_limit: self.memory_limit,
            input_bytes: held.fold(0, usize::saturating_add),
            progress: &progress,
            ..RunOptions::default()
        };
        let result = self.pool.install(|| run(&inputs, &options));
        drop(bar);
        let result = result.map_err(|error| error.diagnostic())?;
        self.sources.iter().try_for_each(|(name, source)| source.check_unchanged(name))?;
        Ok(result)
    }
}

/// How many elements are computed, of all loop nests together.
fn points(executable: &Executable) -> usize {
    let nests = executable.nests().iter();
    nests
        .map(|nest| nest.shape.element_count().unwrap_or(usize::MAX))
        .fold(0, usize::saturating_add)
}
