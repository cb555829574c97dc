//! Computations over files larger than memory, piece by piece.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use indim::array::set_memory_pool_limit;
use indim::errors::{Diagnostic, ErrorCode};
use indim::files::ResultMetadata;
use indim::stream::{
    CompleteResult, MemoryResult, MemorySink, Plan, Sink, Source, StorageInfo, StoreError,
    StoreErrorKind, StreamError, StreamInput, StreamOptions,
};
use indim::{Array, ArrayType, Graph, compile};
use indim_graph::terminal::printable;

use crate::computation::Resources;
use crate::destination::Destination;
use crate::output::print_message;
use crate::outputs::Outputs;
use crate::progress::TerminalProgress;
use crate::source::OpenOperand;

/// Maximum size of all inputs and results, in bytes, for one run over whole arrays, if the memory limit
/// allows that run.
const MAX_WHOLE_RUN_BYTES: usize = 256 << 20;

/// The default memory limit, in bytes; more does not speed up a disk.
const DEFAULT_MEMORY_BYTES: usize = 256 << 20;

/// Maximum number of times that a chunk is decoded in each pass, on average, before `plan_in_chunks`
/// halves the chunks of results. A plan that still exceeds it gives a warning.
const MAX_DECODINGS: f64 = 2.0;

/// A planned run that computes results piece by piece.
pub(crate) struct StreamedRun {
    plan: Plan,
    /// The results, with chunks small enough for the limit.
    pub(crate) results: Vec<(ArrayType, ResultMetadata)>,
    options: StreamOptions<'static>,
    pool: rayon::ThreadPool,
    /// Whether standard input is read into memory before the run.
    pub(crate) holds_pipes: bool,
}

/// The run mode of a computation: streamed, or as a whole.
pub(crate) enum RunMode {
    StreamedRun(Box<StreamedRun>),
    /// In one run: the arrays are small, or none is read by regions.
    Whole,
    /// In one run, because no plan exists, for this reason.
    NotStreamed(StreamError),
}

/// Chooses the run mode of a graph over these sources, whose results go to `outputs` or are printed.
///
/// # Errors
/// `threads`; an unknown level or executor in the environment; errors of planning, except that a memory
/// limit or the limit on rereading is exceeded.
pub(crate) fn choose_run_mode(
    graph: &Graph,
    sources: &[(&str, OpenOperand)],
    outputs: &Outputs<'_>,
    results: &[(ArrayType, ResultMetadata)],
    resources: &Resources,
) -> Result<RunMode, Diagnostic> {
    let types = output_types(graph);
    if output_storage(outputs, results).is_none() {
        return Ok(RunMode::Whole);
    }
    let read = sources.iter().map(|(_, source)| source);
    let has_pipe = read.clone().any(OpenOperand::is_pipe);
    let has_file = read.clone().any(|source| source.stored_source().is_some());
    if !has_pipe && !has_file {
        return Ok(RunMode::Whole);
    }
    let array_bytes = read.clone().map(OpenOperand::array_type).chain(types.iter().cloned());
    let array_bytes =
        array_bytes.map(|array_type| bytes(&array_type)).fold(0, usize::saturating_add);
    let pool = resources.pool()?;
    let is_small = array_bytes
        <= resources.memory_limit.unwrap_or(MAX_WHOLE_RUN_BYTES).min(MAX_WHOLE_RUN_BYTES);
    let whole_read = whole_read_bytes(read.clone());
    let threads = pool.current_num_threads();
    if is_small && fits_as_a_whole(graph, array_bytes, whole_read, threads, resources)? {
        return Ok(RunMode::Whole);
    }
    let planner = StreamPlanner { graph, sources, outputs, results, resources };
    let mut plan_error = None;
    // First plan to read a pipe once, in its order. A program that reads it again or in another order
    // needs the pipe in memory.
    for holds_pipes in [has_pipe.then_some(false), has_file.then_some(true)].into_iter().flatten() {
        match pool.install(|| planner.plan(holds_pipes))? {
            Ok(planned) => {
                let PlannedRun { plan, results, options } = planned;
                let run = StreamedRun { plan, results, options, pool, holds_pipes };
                return Ok(RunMode::StreamedRun(Box::new(run)));
            }
            Err(error) => plan_error = error,
        }
    }
    Ok(plan_error.map_or(RunMode::Whole, RunMode::NotStreamed))
}

/// A computation to be planned.
struct StreamPlanner<'a> {
    graph: &'a Graph,
    sources: &'a [(&'a str, OpenOperand)],
    outputs: &'a Outputs<'a>,
    results: &'a [(ArrayType, ResultMetadata)],
    resources: &'a Resources,
}

/// A plan, the results with chunks small enough for the limit, and the options of the run.
struct PlannedRun {
    plan: Plan,
    results: Vec<(ArrayType, ResultMetadata)>,
    options: StreamOptions<'static>,
}

impl StreamPlanner<'_> {
    /// The plan, with pipes held in memory (`holds_pipes`) or read once in their order. The inner error
    /// is the reason why no plan exists; it is `None` if the program does not read each pipe once.
    fn plan(
        &self,
        holds_pipes: bool,
    ) -> Result<Result<PlannedRun, Option<StreamError>>, Diagnostic> {
        let read = self.sources.iter().map(|(_, source)| source);
        let is_in_memory = |source: &OpenOperand| match source.is_pipe() {
            true => holds_pipes,
            false => source.stored_source().is_none(),
        };
        let in_memory = read.clone().filter(|source| is_in_memory(source));
        let bytes_held = in_memory.map(|source| bytes(&source.array_type()));
        let input_bytes = bytes_held.fold(0, usize::saturating_add);
        let default = DEFAULT_MEMORY_BYTES.saturating_add(input_bytes);
        let limit = self.resources.memory_limit.unwrap_or(default);
        // Pieces get 5/8 of the memory beyond the inputs: two pieces of the inputs and two of the
        // results exist at once. The memory pool may retain the other 3/8 between pieces: two of these
        // four, rounded up.
        let memory_limit = limit - limit.saturating_sub(input_bytes) / 8 * 3;
        let inputs = read.map(|source| match is_in_memory(source) {
            true => StorageInfo { is_in_memory: true, ..StorageInfo::default() },
            false => StorageInfo::input(&source.input()),
        });
        let inputs: Vec<StorageInfo> = inputs.collect();
        let options = StreamOptions::new().memory_limit(memory_limit).input_bytes(input_bytes);
        let options = options.compile(self.resources.compile_options()?);
        Ok(match plan_in_chunks(self.graph, &inputs, self.outputs, self.results, &options) {
            Ok((plan, results)) => {
                let mut pipes = (0..inputs.len()).filter(|&input| self.sources[input].1.is_pipe());
                match holds_pipes || pipes.all(|input| plan.reads_once(input)) {
                    true => Ok(PlannedRun { plan, results, options }),
                    false => Err(None),
                }
            }
            Err(StreamError::MemoryLimit { enough, obstacles, .. }) => {
                // `enough` is for pieces alone. Scale by 8/5 to add the memory that the pool retains.
                let with_pool_bytes = |bytes: usize| {
                    let pieces = bytes.saturating_sub(input_bytes);
                    rounded_up(input_bytes.saturating_add(pieces.div_ceil(5).saturating_mul(8)))
                };
                let enough = enough.map(with_pool_bytes);
                Err(Some(StreamError::MemoryLimit { enough, limit, obstacles }))
            }
            Err(error @ StreamError::RereadLimit) => Err(Some(error)),
            Err(error) => return Err(error.diagnostic()),
        })
    }
}

/// The bytes in memory while sources are read as a whole: their arrays, and the decoder of the largest.
fn whole_read_bytes<'a>(sources: impl Iterator<Item = &'a OpenOperand> + Clone) -> usize {
    let arrays = sources.clone().map(|source| bytes(&source.array_type()));
    let decoding = sources.filter_map(OpenOperand::stored_source).map(Source::scratch_bytes);
    arrays.fold(decoding.max().unwrap_or(0), usize::saturating_add)
}

/// Whether one run over the whole stays within the limit: inputs and outputs take `array_bytes` bytes,
/// and reading takes `whole_read` bytes before it.
fn fits_as_a_whole(
    graph: &Graph,
    array_bytes: usize,
    whole_read: usize,
    threads: usize,
    resources: &Resources,
) -> Result<bool, Diagnostic> {
    let Some(limit) = resources.memory_limit else { return Ok(true) };
    if whole_read > limit {
        return Ok(false);
    }
    // A run over the whole reports compilation errors.
    let Ok(executable) = compile(graph, &resources.compile_options()?) else { return Ok(true) };
    let left = limit.checked_sub(array_bytes);
    Ok(left.is_some_and(|left| executable.check_memory_limit(left, threads, false).is_ok()))
}

/// Rounds a number of bytes up for a message, by less than 1/32.
fn rounded_up(bytes: usize) -> usize {
    let unit = bytes.checked_next_power_of_two().map_or(1, |above| (above / 64).max(1));
    bytes.checked_next_multiple_of(unit).unwrap_or(bytes)
}

/// Halves chunks of the results until a plan stays within the limit and does not decode chunks of inputs
/// wastefully often. Returns the plan with the fewest decodings, and the results with their chunks.
fn plan_in_chunks(
    graph: &Graph,
    inputs: &[StorageInfo],
    outputs: &Outputs<'_>,
    results: &[(ArrayType, ResultMetadata)],
    options: &StreamOptions<'_>,
) -> Result<(Plan, Vec<(ArrayType, ResultMetadata)>), StreamError> {
    let mut halved_results = results.to_vec();
    let mut best: Option<(Plan, Vec<(ArrayType, ResultMetadata)>)> = None;
    loop {
        let storage = output_storage(outputs, &halved_results).unwrap_or_default();
        if let Some(plan) = Plan::within_limit(graph, inputs, &storage, options)? {
            let decodings = plan.max_decodings();
            if best.as_ref().is_none_or(|(best, _)| decodings < best.max_decodings()) {
                best = Some((plan, halved_results.clone()));
            }
            if decodings <= MAX_DECODINGS {
                break;
            }
        }
        if !outputs.halve_chunks(&mut halved_results) {
            break;
        }
    }
    match best {
        Some(best) => Ok(best),
        None => {
            // The error states which limit is enough.
            let storage = output_storage(outputs, &halved_results).unwrap_or_default();
            Ok((Plan::new(graph, inputs, &storage, options)?, halved_results))
        }
    }
}

/// The types of the outputs.
pub(crate) fn output_types(graph: &Graph) -> Vec<ArrayType> {
    graph.outputs().iter().map(|&output| graph[output].array_type.clone()).collect()
}

/// The storage of the results: each at its destination, or all in memory for printing; `None` if one cannot
/// be written piece by piece.
fn output_storage(
    outputs: &Outputs<'_>,
    results: &[(ArrayType, ResultMetadata)],
) -> Option<Vec<StorageInfo>> {
    if outputs.is_empty() {
        // Gathering holds each result twice.
        let storage = |(array_type, _): &(ArrayType, ResultMetadata)| StorageInfo {
            scratch_bytes: bytes(array_type).saturating_mul(2),
            ..StorageInfo::default()
        };
        return Some(results.iter().map(storage).collect());
    }
    outputs.storage(results).filter(|storage| storage.len() == results.len())
}

/// The diagnostic of a failed run.
fn with_advice(error: &StreamError) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    if diagnostic.code == ErrorCode::OUT_OF_MEMORY {
        diagnostic.help("pieces take less memory under a smaller `--memory-limit`");
    }
    diagnostic
}

fn bytes(array_type: &ArrayType) -> usize {
    array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX)
}

impl StreamedRun {
    /// Computes the results and writes them, to archives under the names `members`. No file appears
    /// before all are complete.
    pub(crate) fn write_results(
        &self,
        sources: &[(&str, OpenOperand)],
        destinations: Vec<Destination>,
        types: &[ArrayType],
        members: &[String],
    ) -> Result<(), Diagnostic> {
        // The number of results of each destination: all for an archive, otherwise one.
        let results_per_destination = types.len() / destinations.len();
        let shares =
            types.chunks(results_per_destination).zip(members.chunks(results_per_destination));
        let sinks = destinations.into_iter().zip(shares);
        let sinks = sinks.map(|(to, (types, members))| to.into_sinks(types, members));
        let sinks = sinks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        match self.run(sources, sinks) {
            Ok(complete) => complete
                .into_iter()
                .try_for_each(|result| result.commit().map_err(|error| error.diagnostic())),
            // A closed pipe is not an error.
            Err(StreamError::Store(StoreError { kind: StoreErrorKind::Io(error), .. }))
                if error.kind() == ErrorKind::BrokenPipe =>
            {
                Ok(())
            }
            Err(error) => Err(with_advice(&error)),
        }
    }

    /// The results, in memory.
    pub(crate) fn results(
        &self,
        sources: &[(&str, OpenOperand)],
        types: &[ArrayType],
    ) -> Result<Vec<Array>, Diagnostic> {
        let (mut sinks, mut results): (Vec<Box<dyn Sink>>, Vec<MemoryResult>) = Default::default();
        for array_type in types {
            let sink = MemorySink::new(array_type.clone());
            let (sink, result) = sink.map_err(|error| error.diagnostic())?;
            sinks.push(Box::new(sink));
            results.push(result);
        }
        let complete = self.run(sources, sinks).map_err(|error| with_advice(&error))?;
        let commit = |result: Box<dyn CompleteResult>| result.commit();
        complete.into_iter().try_for_each(commit).map_err(|error| error.diagnostic())?;
        Ok(results.iter().filter_map(MemoryResult::take).collect())
    }

    /// Prints a note on each input that is read several times, or whose chunks are decoded several times.
    fn print_rereads(&self) {
        let decoded = self.plan.decodings();
        let is_wasteful = self.plan.max_decodings() > MAX_DECODINGS;
        let mut rereads = Vec::new();
        for (name, passes) in self.plan.readings() {
            let chunks =
                decoded.iter().find(|(of, _)| *of == name).map_or(0.0, |(_, times)| *times);
            let name = printable(name);
            let read = match passes {
                1 => format!("`{name}` is read once"),
                _ => format!("`{name}` is read {passes} times"),
            };
            match chunks > 1.05 * passes as f64 {
                true => {
                    rereads.push(format!("{read}, and its chunks are decoded {chunks:.1} times"))
                }
                false if passes > 1 => rereads.push(read),
                false => {}
            }
        }
        if !rereads.is_empty() {
            let kind = if is_wasteful { "warning" } else { "note" };
            let advice = match is_wasteful {
                true => ": a higher `--memory-limit` or smaller chunks decode them less often",
                false => "",
            };
            print_message(&format!(
                "{kind}: computed piece by piece; {}{advice}",
                rereads.join(", ")
            ));
        }
    }

    fn run(
        &self,
        sources: &[(&str, OpenOperand)],
        mut sinks: Vec<Box<dyn Sink>>,
    ) -> Result<Vec<Box<dyn CompleteResult>>, StreamError> {
        set_memory_pool_limit(
            self.options.memory_limit.saturating_sub(self.options.input_bytes) / 5 * 3,
        );
        self.print_rereads();
        let inputs: Vec<StreamInput<'_>> =
            sources.iter().map(|(_, source)| source.input()).collect();
        let bar = TerminalProgress::of_elements(self.plan.elements());
        let progress = |elements: usize| {
            bar.advance(elements);
            ControlFlow::Continue(())
        };
        let options = self.options.clone().progress(&progress);
        self.pool.install(|| self.plan.run(&inputs, &mut sinks, &options))?;
        drop(bar);
        sinks.into_iter().map(|sink| Ok(sink.complete()?)).collect()
    }
}
