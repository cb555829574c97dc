//! The plan of a streamed run: the axes that are cut and the piece shapes that move the fewest bytes.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use indim_cpu::{Executable, compile};
use indim_graph::terminal::printable;
use indim_graph::{Graph, NodeKind, remove_unused};
use indim_transforms::chunks::{CutPolicy, Cuts, InputSlice, SlicedGraph};

use crate::carried::main_programs;
use crate::cost::{cost, decoded_bytes, stored_bytes};
use crate::counter::with_counters_as_inputs;
use crate::error::{Obstacle, StreamError};
use crate::extents::{CutOrder, carried_bytes, held_bytes, is_in_order, largest_pieces};
use crate::input::StorageInfo;
use crate::job::{CutGraph, Job, JobOperand};
use crate::options::StreamOptions;
use crate::programs::{ProgramKey, program_graph};
use crate::rows::RowOrder;

/// Maximum number of cuts that are tried in all combinations; cuts of longer axes come first.
const MAX_CUTS: usize = 5;

/// Memory budgets of a job, in bytes, for which piece shapes are tried; the last is the whole limit. Small
/// pieces stay in the caches between reading, computing and writing; large pieces need fewer reads.
const JOB_BUDGET_BYTES: [usize; 3] = [32 << 20, 256 << 20, usize::MAX];

/// Maximum number of attempts, each with smaller pieces, to leave room for the compiled programs within
/// the limit.
const MAX_ATTEMPTS: usize = 8;

/// Maximum number of higher limits that are tried to find a sufficient one for the message.
const MAX_TRIED_LIMITS: usize = 24;

/// A program over arrays in files, cut into passes and pieces that fit a memory limit.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_ops::{DType, ReduceOp};
/// use indim_stream::{Plan, StorageInfo, StreamOptions};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [1 << 20, 100])?; // 800 MiB
/// let total = b.reduce(ReduceOp::Add, &x, 0)?;
/// let graph = b.finish(&[b.sub(&x, &total, &[1])?])?;
///
/// let stored = [StorageInfo::default()];
/// let options = StreamOptions::new().memory_limit(64 << 20);
/// let plan = Plan::new(&graph, &stored, &stored, &options)?;
/// assert_eq!((plan.passes(), plan.readings()), (2, vec![("x", 2)]));
/// assert!(plan.held_bytes() <= 64 << 20);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    pub(crate) graph: Graph,
    /// The input slice that each parameter of the graph stands for; a counter is a slice of no input.
    pub(crate) input_slices: Vec<InputSlice>,
    pub(crate) passes: Vec<Pass>,
    /// Memory of the results that stay in memory from pass to pass.
    result_bytes: ResultBytes,
    input_bytes: usize,
}

/// A job with its pieces.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) job: Job,
    /// The shape of its pieces, except the last along each axis.
    pub(crate) piece: Vec<usize>,
    /// The programs that run most often for pieces of that shape.
    pub(crate) executables: Vec<(ProgramKey, Executable)>,
}

impl Pass {
    fn new(job: Job, piece: Vec<usize>, options: &StreamOptions<'_>) -> Result<Self, StreamError> {
        let compiled = main_programs(&job, &piece).into_iter().map(|key| {
            let executable = compile(&program_graph(&job, &key)?, &options.compile)?;
            Ok((key, executable))
        });
        let executables = compiled.collect::<Result<_, StreamError>>()?;
        Ok(Pass { job, piece, executables })
    }

    /// Memory of the programs without their inputs and outputs, in bytes. The compiled programs count twice,
    /// because pieces of other shapes have programs of their own.
    fn program_bytes(&self) -> usize {
        let executables = self.executables.iter().map(|(_, executable)| executable);
        let running = executables.clone().map(|executable| {
            let forecast = executable.forecast();
            let registers = forecast.register_bytes.saturating_mul(thread_count());
            forecast.temporary_bytes.saturating_add(registers)
        });
        let programs = executables.map(Executable::held_bytes).fold(0, usize::saturating_add);
        running.max().unwrap_or(0).saturating_add(programs.saturating_mul(2))
    }

    fn held_bytes(&self) -> usize {
        held_bytes(&self.job, &self.piece).saturating_add(self.program_bytes())
    }
}

impl Plan {
    /// The plan for a graph with this storage of inputs and outputs.
    ///
    /// # Errors
    /// `memory-limit` if even small pieces need more memory, or the program cannot be cut;
    /// `too-many-readings`.
    ///
    /// # Panics
    /// If there is not one [`StorageInfo`] for each parameter and each output.
    pub fn new(
        graph: &Graph,
        inputs: &[StorageInfo],
        outputs: &[StorageInfo],
        options: &StreamOptions<'_>,
    ) -> Result<Self, StreamError> {
        let variants = GraphVariant::variants(graph, inputs, outputs)?;
        let search = PlanSearch { variants: &variants, outputs, options };
        let limit = search.limit();
        let refused = match search.plan_within(limit)? {
            Ok(plan) => return Ok(plan),
            Err(refused) => refused,
        };
        let enough = search.sufficient_limit(limit, refused)?;
        Err(StreamError::MemoryLimit {
            enough: enough.map(|bytes| bytes.saturating_add(options.input_bytes)),
            limit: options.memory_limit,
            obstacles: variants.last().map_or(Vec::new(), GraphVariant::obstacles),
        })
    }

    /// Like [`Plan::new`], but `None` if the limit is too low, without the search for a sufficient limit. For
    /// callers that have an alternative to streaming.
    ///
    /// # Errors
    /// `too-many-readings`.
    ///
    /// # Panics
    /// If there is not one [`StorageInfo`] for each parameter and each output.
    pub fn within_limit(
        graph: &Graph,
        inputs: &[StorageInfo],
        outputs: &[StorageInfo],
        options: &StreamOptions<'_>,
    ) -> Result<Option<Self>, StreamError> {
        let variants = GraphVariant::variants(graph, inputs, outputs)?;
        let search = PlanSearch { variants: &variants, outputs, options };
        Ok(search.plan_within(search.limit())?.ok())
    }

    /// The number of passes that read stored inputs, in part or as a whole.
    pub fn passes(&self) -> usize {
        self.passes.iter().filter(|pass| !self.inputs_read(pass).is_empty()).count()
    }

    /// The names of the stored inputs, each with the number of passes that read it.
    pub fn readings(&self) -> Vec<(&str, usize)> {
        let passes: Vec<BTreeSet<usize>> =
            self.passes.iter().map(|pass| self.inputs_read(pass)).collect();
        let inputs: BTreeSet<usize> = passes.iter().flatten().copied().collect();
        let count = |input: usize| passes.iter().filter(|read| read.contains(&input)).count();
        inputs.into_iter().map(|input| (self.input_name(input), count(input))).collect()
    }

    /// The names of the chunked inputs, each with the average number of times that a chunk is decoded.
    pub fn decodings(&self) -> Vec<(&str, f64)> {
        let mut decoded: BTreeMap<usize, (u128, Vec<usize>)> = BTreeMap::new();
        for pass in &self.passes {
            for (operand, stored) in &pass.job.inputs {
                let (Some(input), Some(chunks)) = (self.input_of(operand, stored), &stored.chunks)
                else {
                    continue;
                };
                let bytes = decoded_bytes(&pass.job, operand, stored, &pass.piece).unwrap_or(0);
                decoded.entry(input).or_insert_with(|| (0, chunks.clone())).0 += bytes;
            }
        }
        let average = |(input, (bytes, chunks)): (usize, (u128, Vec<usize>))| {
            let whole = &self.graph[self.graph.parameters()[input]].array_type;
            (self.input_name(input), bytes as f64 / stored_bytes(whole, &chunks).max(1) as f64)
        };
        decoded.into_iter().map(average).collect()
    }

    /// The maximum over all inputs of the average number of times that one pass decodes a chunk; 1 without
    /// chunks.
    pub fn max_decodings(&self) -> f64 {
        let readings = self.readings();
        let passes = |name: &str| readings.iter().find(|(of, _)| *of == name).map_or(1, |it| it.1);
        let decodings = self.decodings().into_iter();
        decodings.map(|(name, times)| times / passes(name).max(1) as f64).fold(1.0, f64::max)
    }

    /// Whether a run certainly reads each element of the input with this index at most once. `false`
    /// also if a run reads several slices of the input, and if a job has several pieces along an axis
    /// that does not cut the input.
    pub fn reads_once(&self, input: usize) -> bool {
        let reads = self.passes.iter().flat_map(|pass| {
            let of_input = |(operand, stored): &&(JobOperand, StorageInfo)| {
                self.input_of(operand, stored) == Some(input)
            };
            pass.job.inputs.iter().filter(of_input).map(move |(operand, _)| (pass, operand))
        });
        let visits = reads.map(|(pass, operand)| {
            let counts = pass.job.piece_counts(&pass.piece).into_iter().enumerate();
            let others = counts.filter(|(axis, _)| !operand.axes.contains(&Some(*axis)));
            others.map(|(_, count)| count).fold(1, usize::saturating_mul)
        });
        visits.fold(0, usize::saturating_add) <= 1
    }

    /// The stored inputs that a pass reads.
    fn inputs_read(&self, pass: &Pass) -> BTreeSet<usize> {
        let input = |(operand, stored): &(JobOperand, StorageInfo)| self.input_of(operand, stored);
        pass.job.inputs.iter().filter_map(input).collect()
    }

    /// The stored input that an operand reads, whole or in part.
    fn input_of(&self, operand: &JobOperand, stored: &StorageInfo) -> Option<usize> {
        match self.graph[operand.value].kind {
            NodeKind::Parameter { index, .. } if !stored.is_in_memory => {
                self.input_slices[index].input
            }
            _ => None,
        }
    }

    /// The name of an input. Parameters for inputs precede those for slices of inputs.
    fn input_name(&self, input: usize) -> &str {
        self.graph.parameter_name(input)
    }

    /// The number of pieces of all passes.
    pub fn pieces(&self) -> usize {
        let pieces = |pass: &Pass| pass.job.piece_counts(&pass.piece).iter().product::<usize>();
        self.passes.iter().map(pieces).fold(0, usize::saturating_add)
    }

    /// Peak memory of a run, in bytes.
    pub fn held_bytes(&self) -> usize {
        let passes = self.passes.iter().map(Pass::held_bytes).max().unwrap_or(0);
        self.result_bytes.peak_with_job(passes).saturating_add(self.input_bytes)
    }

    /// The number of elements that all passes process: the sum of the numbers that `progress` receives.
    pub fn elements(&self) -> usize {
        let elements = |pass: &Pass| pass.job.shape.element_count().unwrap_or(usize::MAX);
        self.passes.iter().map(elements).fold(0, usize::saturating_add)
    }
}

/// One line for each pass, and for each job that reads only results of passes.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut number = 0;
        for (index, pass) in self.passes.iter().enumerate() {
            let (job, count) =
                (&pass.job, pass.job.piece_counts(&pass.piece).iter().product::<usize>());
            if index > 0 {
                writeln!(formatter)?;
            }
            let read = self.inputs_read(pass);
            if read.is_empty() {
                write!(formatter, "from memory: ")?;
            } else {
                number += 1;
                let names = read.into_iter().map(|input| printable(self.input_name(input)));
                let names = names.collect::<Vec<_>>().join(", ");
                write!(formatter, "pass {number} of {}, reading {names}: ", self.passes())?;
            }
            let plural = if count == 1 { "" } else { "s" };
            let piece = indim_shape::Shape::from(&pass.piece[..]);
            write!(formatter, "{} in {count} piece{plural} of {piece}", job.shape)?;
            if let Some((axis, _)) = job.reduced {
                write!(formatter, ", combined along axis {axis}")?;
                if let bytes @ 1.. = carried_bytes(job, &pass.piece) {
                    write!(formatter, ", with {bytes} bytes carried from piece to piece")?;
                }
            }
        }
        Ok(())
    }
}

/// The number of computing threads: that of the current pool.
fn thread_count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// A graph that computes the outputs, and the storage of its parameters. The variants are the unchanged
/// graph, and graphs in which slices of inputs or counters are parameters.
struct GraphVariant {
    sliced: SlicedGraph,
    cuts: Cuts,
    inputs: Vec<StorageInfo>,
}

impl GraphVariant {
    /// All variants of a graph for this storage of inputs and outputs.
    fn variants(
        graph: &Graph,
        inputs: &[StorageInfo],
        outputs: &[StorageInfo],
    ) -> Result<Vec<GraphVariant>, StreamError> {
        assert_eq!(inputs.len(), graph.parameters().len(), "one for each parameter");
        assert_eq!(outputs.len(), graph.outputs().len(), "one for each output");
        let graph = remove_unused(graph).into_owned();
        let sliced = SlicedGraph::of(&graph).map_err(StreamError::Graph)?;
        let variants: Vec<SlicedGraph> =
            [Some(SlicedGraph::with_whole_inputs(graph)), sliced].into_iter().flatten().collect();
        let counted = variants.iter().map(with_counters_as_inputs).collect::<Result<Vec<_>, _>>();
        let counted = counted.map_err(StreamError::Graph)?.into_iter().flatten();
        Ok(variants.into_iter().chain(counted).map(|it| GraphVariant::new(it, inputs)).collect())
    }

    fn new(sliced: SlicedGraph, inputs: &[StorageInfo]) -> Self {
        let stored = |slice: &InputSlice| {
            slice.input.map_or_else(StorageInfo::default, |input| inputs[input].clone())
        };
        let inputs = sliced.slices.iter().map(stored).collect();
        GraphVariant { cuts: Cuts::of(&sliced.graph), sliced, inputs }
    }

    fn obstacles(&self) -> Vec<Obstacle> {
        Obstacle::all(&self.sliced.graph, &self.cuts)
    }
}

/// A search for the cheapest plan among the variants of a graph.
struct PlanSearch<'a> {
    variants: &'a [GraphVariant],
    outputs: &'a [StorageInfo],
    options: &'a StreamOptions<'a>,
}

/// A lower bound of the bytes that any plan holds, if known.
struct MemoryLowerBound(Option<usize>);

impl PlanSearch<'_> {
    /// The bytes that a plan may hold, without those that the caller holds.
    fn limit(&self) -> usize {
        self.options.memory_limit.saturating_sub(self.options.input_bytes)
    }

    /// The cheapest plan that holds at most `limit` bytes, without those that the caller holds.
    fn plan_within(&self, limit: usize) -> Result<Result<Plan, MemoryLowerBound>, StreamError> {
        let mut for_pieces = limit;
        for _ in 0..MAX_ATTEMPTS {
            let (way, chosen) = cheapest(self.variants, self.outputs, for_pieces)?;
            let CutChoice { jobs, result_bytes, .. } = match chosen {
                Ok(chosen) => chosen,
                Err(min_bytes) => {
                    let with_programs = min_bytes.saturating_add(limit - for_pieces);
                    return Ok(Err(MemoryLowerBound(Some(with_programs))));
                }
            };
            let passes = jobs.into_iter().map(|(job, piece)| Pass::new(job, piece, self.options));
            let passes: Vec<Pass> = passes.collect::<Result<_, _>>()?;
            let held = passes.iter().map(Pass::held_bytes).max().unwrap_or(0);
            if result_bytes.peak_with_job(held) <= limit {
                let (graph, input_slices) = (way.sliced.graph.clone(), way.sliced.slices.clone());
                let input_bytes = self.options.input_bytes;
                return Ok(Ok(Plan { graph, input_slices, passes, result_bytes, input_bytes }));
            }
            // Leaves room for the programs, which shrink with the pieces.
            let programs = passes.iter().map(Pass::program_bytes).max().unwrap_or(0);
            let pieces = held - programs.min(held);
            let share = pieces as f64 / held.max(1) as f64;
            let scaled = (limit.saturating_sub(result_bytes.total) as f64 * share * 0.9) as usize;
            for_pieces = scaled.saturating_add(result_bytes.total).min(for_pieces / 10 * 9);
        }
        Ok(Err(MemoryLowerBound(None)))
    }

    /// A sufficient limit above `limit`, which is too low. Each attempt is a tenth higher, or as high as the
    /// known lower bound.
    fn sufficient_limit(
        &self,
        mut limit: usize,
        mut refused: MemoryLowerBound,
    ) -> Result<Option<usize>, StreamError> {
        for _ in 0..MAX_TRIED_LIMITS {
            let higher = limit.saturating_add(limit / 10).saturating_add(1);
            limit = refused.0.unwrap_or(0).max(higher);
            match self.plan_within(limit)? {
                Ok(_) => return Ok(Some(limit)),
                Err(holds) => refused = holds,
            }
        }
        Ok(None)
    }
}

/// A choice of cuts: jobs, each with its piece shape.
struct CutChoice {
    jobs: Vec<(Job, Vec<usize>)>,
    result_bytes: ResultBytes,
    cost: u128,
}

/// The variant that moves the fewest bytes, with its jobs. If no variant fits into `limit`, the variant
/// that needs the least memory, with this memory in bytes.
fn cheapest<'a>(
    variants: &'a [GraphVariant],
    outputs: &[StorageInfo],
    limit: usize,
) -> Result<(&'a GraphVariant, Result<CutChoice, usize>), StreamError> {
    let of_way = |way: &'a GraphVariant| {
        let (graph, cuts) = (&way.sliced.graph, &way.cuts);
        let whole = CutGraph { graph, cuts, inputs: &way.inputs, outputs };
        Ok((way, choose_cuts(&whole, limit)?))
    };
    let chosen = variants.iter().map(of_way).collect::<Result<Vec<_>, StreamError>>()?;
    // If none fits, the variant that holds the least memory.
    let order = |chosen: &Result<CutChoice, usize>| match chosen {
        Ok(chosen) => (false, chosen.cost),
        Err(min_bytes) => (true, *min_bytes as u128),
    };
    let cheapest = chosen.into_iter().min_by_key(|(_, chosen)| order(chosen));
    Ok(cheapest.expect("invariant: the unchanged graph is a variant"))
}

/// The jobs that move the fewest bytes and hold at most `limit` bytes. If there are none, the least
/// memory of all combinations of cuts, in bytes.
fn choose_cuts(
    whole: &CutGraph<'_>,
    limit: usize,
) -> Result<Result<CutChoice, usize>, StreamError> {
    let mut best: Option<(u128, CutChoice)> = None;
    let mut min_bytes = usize::MAX;
    for is_cut in combinations(whole.cuts) {
        let mut jobs = match whole.jobs(&is_cut) {
            Ok(jobs) => jobs,
            // Another combination of cuts may need fewer readings.
            Err(error) if is_cut.contains(&true) => {
                let _ = error;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let result_bytes = ResultBytes::of(&jobs);
        let for_pieces = limit.saturating_sub(result_bytes.total);
        let pieces: Vec<_> = jobs.iter_mut().map(|job| cheapest_pieces(job, for_pieces)).collect();
        let held = jobs.iter().zip(&pieces).map(|(job, (piece, _))| held_bytes(job, piece)).max();
        let held = result_bytes.peak_with_job(held.unwrap_or(0));
        let total = pieces
            .iter()
            .map(|(_, cost)| *cost)
            .try_fold(0, |total: u128, cost| Some(total.saturating_add(cost?)));
        match total.filter(|_| held <= limit) {
            None => min_bytes = min_bytes.min(held.max(limit.saturating_add(1))),
            Some(total) if best.as_ref().is_none_or(|(cost, _)| total < *cost) => {
                let pieces = pieces.into_iter().map(|(piece, _)| piece);
                let jobs = jobs.into_iter().zip(pieces).collect();
                best = Some((total, CutChoice { jobs, result_bytes, cost: total }));
            }
            Some(_) => {}
        }
    }
    Ok(best.map(|(_, chosen)| chosen).ok_or(min_bytes))
}

/// The shape of the cheapest pieces of a job, and their cost. If no pieces fit into `limit`, the cost is
/// `None`. Sets the row order of the job to that of the pieces.
fn cheapest_pieces(job: &mut Job, limit: usize) -> (Vec<usize>, Option<u128>) {
    let mut best: Option<(RowOrder, Vec<usize>, u128)> = None;
    let mut smallest: Option<(RowOrder, Vec<usize>, usize)> = None;
    for order in job.row_orders() {
        job.row_order = order;
        for wanted in JOB_BUDGET_BYTES {
            for cut_order in CutOrder::ALL {
                let piece = largest_pieces(job, wanted.min(limit), cut_order);
                let held = held_bytes(job, &piece);
                if !is_in_order(job, &piece) {
                    continue;
                }
                if held > limit {
                    if smallest.as_ref().is_none_or(|(_, _, bytes)| held < *bytes) {
                        smallest = Some((order, piece, held));
                    }
                    continue;
                }
                let cost = cost(job, &piece);
                if best.as_ref().is_none_or(|(_, _, known)| cost < *known) {
                    best = Some((order, piece, cost));
                }
            }
        }
    }
    match (best, smallest) {
        (Some((order, piece, cost)), _) => {
            job.row_order = order;
            (piece, Some(cost))
        }
        (None, Some((order, piece, _))) => {
            job.row_order = order;
            (piece, None)
        }
        (None, None) => {
            job.row_order = RowOrder::Independent;
            (largest_pieces(job, limit, CutOrder::First), None)
        }
    }
}

/// All combinations of cuts, beginning with no cut.
fn combinations(cuts: &Cuts) -> Vec<Vec<bool>> {
    let cuts = cuts.cuts();
    let can_be_cut = |index: &usize| match cuts[*index].policy {
        CutPolicy::Nowhere => false,
        CutPolicy::Aligned | CutPolicy::Anywhere => cuts[*index].size > 1,
    };
    let mut longest: Vec<usize> = (0..cuts.len()).filter(can_be_cut).collect();
    longest.sort_by_key(|&index| core::cmp::Reverse(cuts[index].size));
    longest.truncate(MAX_CUTS);
    let combination = |bits: usize| {
        let mut is_cut = vec![false; cuts.len()];
        let chosen = longest.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        chosen.for_each(|(_, &cut)| is_cut[cut] = true);
        is_cut
    };
    (0..1 << longest.len()).map(combination).collect()
}

/// Bytes of results that later jobs read.
#[derive(Debug, Clone, Copy, Default)]
struct ResultBytes {
    /// Bytes of all results.
    total: usize,
    /// Bytes of the largest result, which is held twice when its job ends.
    largest: usize,
}

impl ResultBytes {
    fn of(jobs: &[Job]) -> Self {
        let outputs =
            jobs.iter().flat_map(|job| &job.outputs).filter(|output| output.is_read_later);
        let bytes = outputs.map(|output| {
            let array_type = &output.operand.array_type;
            array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(usize::MAX)
        });
        bytes.fold(ResultBytes::default(), |result_bytes, bytes| ResultBytes {
            total: result_bytes.total.saturating_add(bytes),
            largest: result_bytes.largest.max(bytes),
        })
    }

    /// Peak memory, in bytes, if a job holds `job_bytes` while it runs.
    fn peak_with_job(self, job_bytes: usize) -> usize {
        self.total.saturating_add(self.largest.max(job_bytes))
    }
}
