//! Runs a computation over sources on threads, with a progress bar, and delivers its results.

use std::ops::ControlFlow;

use clap::Args;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::CompleteResult;
use indim::run::{ExecutorChoice, Level, UnknownExecutor, UnknownLevel};
use indim::{Array, ArrayView, ArrayViewMut, CompileOptions, Executable, RunError, RunOptions};
use indim_graph::terminal::printable;

use crate::byte_size::parse_byte_size;
use crate::destination::Destination;
use crate::progress::TerminalProgress;
use crate::source::LoadedOperand;
use crate::timing::Timing;

/// Maximum number of threads: more than any machine has processors. Further threads only cost time and
/// memory to start.
const MAX_THREADS: i64 = 1024;

/// The resources of a computation.
#[derive(Debug, Args)]
pub(crate) struct Resources {
    /// The number of threads [default: one for each processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    threads: Option<u16>,
    /// Maximum memory of the run: a number of bytes, or a number with KiB, MiB, GiB, TiB or KB, MB, GB, TB.
    /// Larger arrays are computed piece by piece. A run that cannot stay within the limit fails. Mapped .npy
    /// files, whether inputs or results, do not count.
    #[arg(long, value_name = "SIZE", value_parser = parse_byte_size)]
    pub(crate) memory_limit: Option<usize>,
    /// Print to standard error how long opening, compiling, computing and writing take.
    #[arg(long)]
    timing: bool,
}

impl Resources {
    /// The clock of `--timing`, started now.
    pub(crate) fn timing(&self) -> Timing {
        Timing::new(self.timing)
    }

    /// The compile options for these resources.
    pub(crate) fn compile_options(&self) -> Result<CompileOptions, Diagnostic> {
        Ok(compile_options()?.memory_limit(self.memory_limit))
    }

    /// The thread pool of the computation.
    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, Diagnostic> {
        let threads = self.threads.unwrap_or(0).into();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| {
            let message = format!("the system cannot start the threads: {error}");
            let mut error = Diagnostic::new(ErrorCode::THREADS, message);
            error.help("use fewer, with `--threads`");
            error
        })
    }
}

/// The compile options for this machine and the environment: `INDIM_LEVEL` and `INDIM_EXECUTOR`.
pub(crate) fn compile_options() -> Result<CompileOptions, Diagnostic> {
    let mut options = CompileOptions::new();
    if let Ok(name) = std::env::var("INDIM_LEVEL") {
        let level = name.parse::<Level>();
        let level_error =
            |error: UnknownLevel| Diagnostic::new(ErrorCode::LEVEL, error.to_string());
        options = options.level(level.map_err(level_error)?);
    }
    if let Some(name) = std::env::var_os("INDIM_EXECUTOR") {
        let executor = printable(&name.to_string_lossy()).parse::<ExecutorChoice>();
        let executor_error = |error: UnknownExecutor| {
            Diagnostic::new(ErrorCode::UNKNOWN_EXECUTOR, format!("INDIM_EXECUTOR: {error}"))
        };
        options = options.executor(executor.map_err(executor_error)?);
    }
    Ok(options)
}

/// A computation and its options.
pub(crate) struct Computation<'a> {
    executable: &'a Executable,
    sources: Vec<(&'a str, LoadedOperand)>,
    memory_limit: Option<usize>,
    timing: &'a Timing,
    pool: rayon::ThreadPool,
}

impl<'a> Computation<'a> {
    /// The computation over `sources`, which are bound to the inputs in their order.
    pub(crate) fn new(
        executable: &'a Executable,
        sources: Vec<(&'a str, LoadedOperand)>,
        resources: &Resources,
        timing: &'a Timing,
    ) -> Result<Self, Diagnostic> {
        let (pool, memory_limit) = (resources.pool()?, resources.memory_limit);
        Ok(Computation { executable, sources, memory_limit, timing, pool })
    }

    /// The results, in new memory.
    pub(crate) fn results(&self) -> Result<Vec<Array>, Diagnostic> {
        self.run(|inputs, options| self.executable.run_with(inputs, options))
    }

    /// Computes the results directly in mapped files if every destination can be mapped; else computes
    /// them in memory and writes them. An archive takes all results under the names `members`. No file
    /// appears before all files are complete.
    pub(crate) fn write_results(
        &self,
        mut destinations: Vec<Destination>,
        members: &[String],
    ) -> Result<(), Diagnostic> {
        let types = self.executable.outputs();
        // The number of results of each destination: all for an archive, otherwise one.
        let results_per_destination = types.len() / destinations.len();
        let mapped = destinations
            .iter_mut()
            .zip(types)
            .map(|(to, array_type)| to.map(array_type).transpose());
        // If one destination cannot be mapped, all are written after the run.
        match mapped.collect::<Option<Result<Vec<_>, _>>>() {
            Some(outputs) => self.run_into(&mut outputs?)?,
            None => {
                let results = self.results()?;
                let shares = results
                    .chunks(results_per_destination)
                    .zip(members.chunks(results_per_destination));
                for (to, (results, members)) in destinations.iter_mut().zip(shares) {
                    to.write(results, members)?;
                }
            }
        }
        let completed = destinations.into_iter().zip(types.chunks(results_per_destination));
        let completed = completed
            .map(|(to, array_type)| to.complete(array_type))
            .collect::<Result<Vec<_>, _>>()?;
        let commit =
            |result: Box<dyn CompleteResult>| result.commit().map_err(|error| error.diagnostic());
        completed.into_iter().flatten().try_for_each(commit)
    }

    fn run_into(&self, outputs: &mut [ArrayViewMut<'_>]) -> Result<(), Diagnostic> {
        self.run(|inputs, options| self.executable.run_into_with(inputs, outputs, options))
    }

    /// Runs on the requested threads, and checks afterwards that no input file changed.
    fn run<T: Send>(
        &self,
        run: impl FnOnce(&[ArrayView<'_>], &RunOptions<'_>) -> Result<T, RunError> + Send,
    ) -> Result<T, Diagnostic> {
        let inputs: Vec<ArrayView<'_>> = self.sources.iter().map(|(_, s)| s.view()).collect();
        let held = self.sources.iter().map(|(_, source)| source.held_bytes());
        let bar = TerminalProgress::of_elements(element_count(self.executable));
        let progress = |elements: usize| {
            bar.advance(elements);
            ControlFlow::Continue(())
        };
        let options = RunOptions::new()
            .memory_limit(self.memory_limit)
            .input_bytes(held.fold(0, usize::saturating_add))
            .progress(&progress);
        let result = self.pool.install(|| run(&inputs, &options));
        drop(bar);
        self.timing.mark("compute");
        let result = result.map_err(|error| error.diagnostic())?;
        self.sources.iter().try_for_each(|(name, source)| source.check_unchanged(name))?;
        Ok(result)
    }
}

/// The number of elements that all loop nests compute.
fn element_count(executable: &Executable) -> usize {
    let nests = executable.nests().iter();
    nests
        .map(|nest| nest.shape.concrete().element_count().unwrap_or(usize::MAX))
        .fold(0, usize::saturating_add)
}
