//! `indim eval`: an expression over files, literals and standard input, printed or written to files.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use indim::explain::broadcasts;
use indim::files::CompleteOutput;
use indim::{
    ArrayType, ArrayView, ArrayViewMut, Buffer, CompileError, CompileOptions, Diagnostic,
    Executable, Expression, Level, RuleChoice, RunError, RunOptions, compile,
};
use indim_graph::remove_unused;

use crate::bare::refuse_attributes;
use crate::byte_size::parse_byte_size;
use crate::destination::Destination;
use crate::expression::{build_graph, check_names, no_misspelt_option, parse_expression};
use crate::failure::Failure;
use crate::output::warn_of_outer_products;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::rule::rule_of_operations;
use crate::show::Show;
use crate::source::{Opened, Source, in_binding, is_standard_input, split_binding};

/// More threads than any machine has processors only cost time and memory to start.
const MAXIMUM_THREADS: i64 = 1024;

/// Evaluate an expression over arrays.
#[derive(Debug, Args)]
#[command(after_help = "\
A SOURCE is a .npy file, archive.npz:member, a literal such as [[1,2,3],[4,5,6]] or f32([1.5,2]), or `-`: a
.npy array from standard input. Statements that give values names stand before the expression, each on a line
of its own or followed by `;`.

  indim eval '(x - mean(x, axis=0)) / std(x, axis=0)' x=data/iris.npy
  indim eval 'add(X, v, dims=[1])' X='[[1,2,3],[4,5,6]]' v='[7,8,9]' --rule xla
  indim eval 'where(x > 0, x, exp(x) - 1)' x=x.npy -o elu.npy
  indim eval 'low = min(x); high = max(x)' x=x.npy -o low=low.npy -o high=high.npy
  indim eval 'low, high = min(x), max(x)' x=x.npy -o range.npz
  cat x.npy | indim eval 'x * 2' x=- -o - | indim eval 'sum(x)' x=-")]
pub(crate) struct Eval {
    /// The expression, maybe with statements before it.
    #[arg(allow_hyphen_values = true, value_parser = no_misspelt_option)]
    expression: String,
    /// What its names stand for.
    #[arg(value_name = "NAME=SOURCE")]
    bindings: Vec<String>,
    /// The rule of every operation.
    #[arg(long, value_name = "RULE", value_parser = rule_of_operations(), default_value_t)]
    rule: RuleChoice,
    /// Write the result instead of printing it: to a .npy file, or as .npy to standard output (`-`). With a
    /// name, the value of that name; may be given several times then, and no file appears before all are
    /// complete. A .npz file takes all results under their names, those without one as arr_0, arr_1, ...
    #[arg(short, long, value_name = "[NAME=]FILE")]
    output: Vec<PathBuf>,
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
        let outputs = Outputs::parse(&self.output)?;
        let expression = outputs.of(parse_expression(&self.expression)?)?;
        let bindings = self.bindings(&expression)?;
        let (sources, memory_left) = self.open_sources(&bindings)?;
        let types: Vec<(&str, ArrayType)> =
            sources.iter().map(|(name, source)| (*name, source.array_type())).collect();
        let executable = self.compile(&expression, &types)?;
        self.show.check(executable.outputs())?;
        let destinations = outputs.open()?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0).into());
        let pool =
            threads.build().map_err(|error| Diagnostic::new("threads", error.to_string()))?;
        let sources = read(sources, memory_left)?;
        let computation =
            Computation { executable, sources, memory_limit: self.memory_limit, pool };
        match destinations.is_empty() {
            true => self.show.print(&labels(&expression), &computation.results()?)?,
            false => computation.deliver(destinations, &members(&expression))?,
        }
        Ok(())
    }

    /// The names with their sources, of which one at most is standard input.
    fn bindings(&self, expression: &Expression) -> Result<Vec<(&str, &str)>, Failure> {
        let bindings = self.bindings.iter().map(|text| split_binding(text));
        let bindings = bindings.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&str> = bindings.iter().map(|(name, _)| *name).collect();
        check_names(expression, &names)?;
        match bindings.iter().filter(|(_, source)| is_standard_input(source)).count() {
            0 | 1 => Ok(bindings),
            _ => Err(Failure::Usage(
                "standard input holds one array: only one name can be `-`".to_owned(),
            )),
        }
    }

    /// Opens the sources, and says how much memory is left for what has not been read of them.
    fn open_sources<'a>(
        &self,
        bindings: &[(&'a str, &str)],
    ) -> Result<OpenedSources<'a>, Diagnostic> {
        let mut memory_left = self.memory_limit.unwrap_or(usize::MAX);
        let mut open = |(name, source): &(&'a str, &str)| {
            let source =
                Opened::open(source, memory_left).map_err(|error| in_binding(name, error))?;
            memory_left = memory_left.saturating_sub(source.held_bytes());
            Ok((*name, source))
        };
        let sources = bindings.iter().map(&mut open).collect::<Result<_, _>>()?;
        Ok((sources, memory_left))
    }

    fn compile(
        &self,
        expression: &Expression,
        types: &[(&str, ArrayType)],
    ) -> Result<Executable, Failure> {
        let rule = self.rule.of_expression().map_err(refuse_attributes)?;
        let graph = build_graph(expression, types, rule.as_ref())?;
        if self.warn_outer_product {
            warn_of_outer_products(&broadcasts(&remove_unused(&graph)));
        }
        let level = Level::from_environment()
            .map_err(|error| Diagnostic::new("level", error.to_string()))?;
        let memory_limit = self.memory_limit;
        let options = CompileOptions { level, memory_limit, ..CompileOptions::default() };
        Ok(compile(&graph, &options).map_err(CompileError::diagnostic)?)
    }
}

/// Sources with their names, and how much memory is left.
type OpenedSources<'a> = (Vec<(&'a str, Opened)>, usize);

/// Reads what has not been read of the sources.
fn read<'a>(
    sources: Vec<(&'a str, Opened)>,
    limit: usize,
) -> Result<Vec<(&'a str, Source)>, Diagnostic> {
    let read = |(name, source): (&'a str, Opened)| match source.read(limit) {
        Ok(source) => Ok((name, source)),
        Err(error) => Err(in_binding(name, error)),
    };
    sources.into_iter().map(read).collect()
}

/// What the results are called where there are several: by their names, or by their positions.
fn labels(expression: &Expression) -> Vec<String> {
    let mut taken = HashSet::new();
    let label = |(position, name): (usize, Option<&str>)| {
        let name = name.filter(|name| taken.insert((*name).to_owned()));
        name.map_or_else(|| position.to_string(), str::to_owned)
    };
    expression.results().into_iter().enumerate().map(label).collect()
}

/// What the results are called in an archive: by their names, or by their positions as `numpy.savez` does.
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

/// What is to be computed, and how.
struct Computation<'a> {
    executable: Executable,
    sources: Vec<(&'a str, Source)>,
    memory_limit: Option<usize>,
    pool: rayon::ThreadPool,
}

impl Computation<'_> {
    /// The results, in new memory.
    fn results(&self) -> Result<Vec<Buffer>, Diagnostic> {
        self.run(|inputs, options| self.executable.run_with(inputs, options))
    }

    /// Computes the results where they belong, or writes them there: each to its own destination, or all to
    /// one archive, where they are called `members`. No file appears before all are complete.
    fn deliver(
        &self,
        mut destinations: Vec<Destination>,
        members: &[String],
    ) -> Result<(), Diagnostic> {
        let types = self.executable.outputs();
        let share = types.len() / destinations.len();
        let mapped = destinations.iter_mut().zip(types).map(|(to, of)| to.map(of).transpose());
        // With one that is no memory, all are written as one writes to a pipe.
        match mapped.collect::<Option<Result<Vec<_>, _>>>() {
            Some(outputs) => self.run_into(&mut outputs?)?,
            None => {
                let results = self.results()?;
                let shares = results.chunks(share).zip(members.chunks(share));
                for (to, (results, members)) in destinations.iter_mut().zip(shares) {
                    to.write(results, members)?;
                }
            }
        }
        let completed = destinations.into_iter().zip(types.chunks(share));
        let completed = completed.map(|(to, of)| to.complete(of)).collect::<Result<Vec<_>, _>>()?;
        let put = |file: CompleteOutput| file.put_in_place().map_err(|error| error.diagnostic());
        completed.into_iter().flatten().try_for_each(put)
    }

    fn run_into(&self, outputs: &mut [ArrayViewMut<'_>]) -> Result<(), Diagnostic> {
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
