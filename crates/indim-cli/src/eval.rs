//! `indim eval`: an expression over files and literals, printed or written to a file.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use indim::explain::broadcasts;
use indim::files::{write_npy, write_npy_to};
use indim::print::array_text;
use indim::{ArrayType, ArrayView, Buffer, CompileOptions, Executable, Level, RunOptions, compile};

use crate::byte_size::parse_byte_size;
use crate::expression::{build_graph, parse_expression};
use crate::failure::Failure;
use crate::output::{print, warn_of_outer_products};
use crate::report::Report;
use crate::rule::Rule;
use crate::source::{Source, split_binding};

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
    #[arg(allow_hyphen_values = true, value_parser = parse_expression)]
    expression: String,
    /// What its names stand for.
    #[arg(value_name = "NAME=SOURCE")]
    bindings: Vec<String>,
    /// The rule of every operation; without it, `dims=` makes an operation xla, `axis=` pdpd, and the others are numpy.
    #[arg(long)]
    rule: Option<Rule>,
    /// Write the result as a .npy file (`-`: to standard output) instead of printing it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many threads compute; all processors when absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAXIMUM_THREADS))]
    threads: Option<u16>,
    /// Refuse a run that would hold more memory beside its inputs: bytes, or a number with KiB, MiB, GiB or TiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_byte_size)]
    memory_limit: Option<usize>,
    /// Warn of outer products, where the result is far larger than every operand.
    #[arg(long)]
    warn_outer_product: bool,
}

impl Eval {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let sources = self.open_sources()?;
        let types: Vec<(&str, ArrayType)> =
            sources.iter().map(|(name, source)| (*name, source.array_type())).collect();
        let executable = self.compile(&types)?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0).into());
        let pool = threads.build().map_err(|error| format!("error[threads]: {error}"))?;
        let views: Vec<ArrayView<'_>> = sources.iter().map(|(_, source)| source.view()).collect();
        let result = pool.install(|| run_with_bar(&executable, &views, self.memory_limit))?;
        Ok(self.deliver(&result)?)
    }

    fn open_sources(&self) -> Result<Vec<(&str, Source)>, String> {
        self.bindings
            .iter()
            .map(|text| {
                let (name, source) = split_binding(text)?;
                Ok((name, Source::open(source)?))
            })
            .collect()
    }

    fn compile(&self, types: &[(&str, ArrayType)]) -> Result<Executable, Report> {
        let graph = build_graph(&self.expression, types, self.rule)?;
        if self.warn_outer_product {
            warn_of_outer_products(&broadcasts(&graph));
        }
        let level = Level::from_environment().map_err(|error| format!("error[level]: {error}"))?;
        let options = CompileOptions { level, ..CompileOptions::default() };
        compile(&graph, &options).map_err(|error| Report::from(&error))
    }

    fn deliver(&self, result: &Buffer) -> Result<(), String> {
        let output = match self.output.as_deref() {
            None => return print(format!("{}\n", array_text(result)).as_bytes()),
            Some(output) => output,
        };
        if output == Path::new("-") {
            let mut bytes = Vec::new();
            write_npy_to(&mut bytes, result.array_type(), result.bytes())
                .map_err(|error| format!("error[io]: {error}"))?;
            return print(&bytes);
        }
        write_npy(output, result.array_type(), result.bytes())
            .map_err(|error| format!("error[{}]: {error}", error.code()))
    }
}

/// Runs, with a bar on the terminal when it takes long enough for one to be seen.
fn run_with_bar(
    executable: &Executable,
    inputs: &[ArrayView<'_>],
    memory_limit: Option<usize>,
) -> Result<Buffer, String> {
    let points: usize = executable
        .nests()
        .iter()
        .map(|nest| nest.shape.element_count().unwrap_or(usize::MAX))
        .fold(0, usize::saturating_add);
    let bar = if io::stderr().is_terminal() { bar(points) } else { ProgressBar::hidden() };
    let done = AtomicUsize::new(0);
    let progress = |elements: usize| {
        let done = done.fetch_add(elements, Ordering::Relaxed) + elements;
        if bar.elapsed() > Duration::from_millis(500) {
            bar.set_position(done as u64);
        }
        ControlFlow::Continue(())
    };
    let options = RunOptions { memory_limit, progress: &progress };
    let results = executable.run_with(inputs, &options);
    bar.finish_and_clear();
    let mut results = results.map_err(|error| format!("error[{}]: {error}", error.code()))?;
    Ok(results.remove(0))
}

fn bar(points: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {percent}% of {len} elements, {eta} left");
    ProgressBar::new(points as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
