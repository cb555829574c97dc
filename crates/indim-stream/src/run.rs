//! The run of a plan.

use core::ops::ControlFlow;
use std::collections::HashMap;
use std::sync::Arc;

use indim_cpu::{Array, ArrayView};
use indim_graph::{Graph, NodeKind, ValueId};
use indim_io::{ArrayRegion, MemoryResult, MemorySink, Sink, Source, StoreError};
use indim_ops::ArrayType;
use indim_shape::Shape;
use indim_transforms::chunks::InputSlice;

use crate::carried::{CarriedReduction, PieceInput};
use crate::counter::IndexSource;
use crate::error::StreamError;
use crate::input::{StorageInfo, StreamInput};
use crate::job::{Job, JobOperand, JobOutput};
use crate::options::StreamOptions;
use crate::pair_tree::PairTree;
use crate::pipeline::pipeline;
use crate::plan::{Pass, Plan};
use crate::programs::Programs;
use crate::rows::{Piece, RowOrder};

/// Computes a graph piece by piece: reads the inputs, writes the outputs, and, once all outputs are
/// complete, gives them their names.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_cpu::ArrayView;
/// use indim_ops::{ArrayType, DType};
/// use indim_io::{MemorySink, Sink};
/// use indim_stream::{StreamInput, StreamOptions, run};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [3])?;
/// let graph = b.finish(&[2.0 * x])?;
/// let (sink, doubled) = MemorySink::new(ArrayType::new(DType::F32, [3]))?;
/// let x = StreamInput::InMemory(ArrayView::from(&[1.0f32, 2.0, 3.0]));
/// let plan = run(&graph, &[x], vec![Box::new(sink) as Box<dyn Sink>], &StreamOptions::default())?;
/// assert_eq!((plan.passes(), plan.pieces()), (0, 1)); // all inputs are in memory
/// assert_eq!(doubled.take().unwrap().elements::<f32>(), Ok(&[2.0, 4.0, 6.0][..]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`Plan::new`] and [`Plan::run`], and those of sinks. No output appears before all of them are
/// complete.
///
/// # Panics
/// Like [`Plan::new`] and [`Plan::run`].
pub fn run(
    graph: &Graph,
    inputs: &[StreamInput<'_>],
    mut sinks: Vec<Box<dyn Sink>>,
    options: &StreamOptions<'_>,
) -> Result<Plan, StreamError> {
    let read: Vec<StorageInfo> = inputs.iter().map(StorageInfo::input).collect();
    let written: Vec<StorageInfo> = sinks.iter().map(|sink| StorageInfo::output(&**sink)).collect();
    let plan = Plan::new(graph, &read, &written, options)?;
    plan.run(inputs, &mut sinks, options)?;
    let complete = sinks.into_iter().map(|sink| sink.complete()).collect::<Result<Vec<_>, _>>()?;
    complete.into_iter().try_for_each(|result| result.commit())?;
    Ok(plan)
}

/// The data read for a piece: for each input an array for each region of the piece, or one array for all
/// regions if the reduced axis does not cut the input. `None` for operands in memory.
type PieceData = Vec<Option<Arc<Vec<Array>>>>;

/// The regions of an input that were read for the last piece, with their data, in case the next piece
/// needs the same regions.
type LastRead = Option<(Vec<ArrayRegion>, Arc<Vec<Array>>)>;

/// The data of one operand of a job.
#[derive(Debug, Clone, Copy)]
enum OperandData<'a> {
    /// An input in memory.
    InMemory(&'a ArrayView<'a>),
    /// A result of an earlier pass.
    EarlierResult(&'a Array),
    /// A slice of a source, which begins at these indices.
    Stored(&'a dyn Source, &'a [usize]),
}

/// The data of one parameter: an input, a slice of an input, or a counter, which is a source. `Stored`
/// has the indices at which the slice begins.
enum ParameterData<'a> {
    InMemory(ArrayView<'a>),
    Stored(&'a dyn Source, &'a [usize]),
}

impl Plan {
    /// Runs the plan: reads the inputs and writes every element of the outputs, which the caller completes
    /// afterwards. The threads of the current rayon pool compute; one more thread reads, and one writes.
    ///
    /// # Errors
    /// Those of sources, runs and sinks; `file-changed` if an input changed during the run; `stopped`.
    ///
    /// # Panics
    /// If the inputs and sinks differ from the graph's parameters and outputs in number or type.
    pub fn run(
        &self,
        inputs: &[StreamInput<'_>],
        sinks: &mut [Box<dyn Sink>],
        options: &StreamOptions<'_>,
    ) -> Result<(), StreamError> {
        self.check(inputs, sinks);
        let sizes =
            self.graph.parameters().iter().map(|&value| &self.graph[value].array_type.shape);
        let counter = |(slice, shape): (&InputSlice, &Shape)| match slice.input {
            Some(_) => None,
            None => Some(IndexSource::new(shape[0])),
        };
        let counters: Vec<Option<IndexSource>> =
            self.input_slices.iter().zip(sizes).map(counter).collect();
        let parameters: Vec<ParameterData<'_>> = self
            .input_slices
            .iter()
            .zip(self.graph.parameters())
            .zip(&counters)
            .map(|((slice, &value), counter)| {
                let shape = &self.graph[value].array_type.shape;
                match (slice.input.map(|input| &inputs[input]), counter) {
                    (Some(StreamInput::InMemory(view)), _) => {
                        ParameterData::InMemory(view.part(&slice.starts, shape))
                    }
                    (Some(StreamInput::Stored(source)), _) => {
                        ParameterData::Stored(*source, &slice.starts)
                    }
                    (None, Some(counter)) => ParameterData::Stored(counter, &slice.starts),
                    (None, None) => unreachable!("a parameter is an input or a counter"),
                }
            })
            .collect();
        let mut earlier_results: HashMap<ValueId, Array> = HashMap::new();
        for pass in &self.passes {
            let operands = |(operand, _): &(JobOperand, _)| match self.graph[operand.value].kind {
                NodeKind::Parameter { index, .. } => match &parameters[index] {
                    ParameterData::InMemory(view) => OperandData::InMemory(view),
                    ParameterData::Stored(source, starts) => OperandData::Stored(*source, starts),
                },
                _ => OperandData::EarlierResult(&earlier_results[&operand.value]),
            };
            let operands: Vec<OperandData<'_>> = pass.job.inputs.iter().map(operands).collect();
            let running = RunningPass { pass, operands: &operands, options };
            let results = match pass.job.reduced {
                Some((axis, _)) => running.reduce(axis, sinks)?,
                None => {
                    running.map(sinks)?;
                    Vec::new()
                }
            };
            earlier_results.extend(results);
        }
        let stored = inputs.iter().filter_map(|input| match input {
            StreamInput::Stored(source) => Some(source),
            StreamInput::InMemory(_) => None,
        });
        Ok(stored.into_iter().try_for_each(|source| source.check_unchanged())?)
    }

    fn check(&self, inputs: &[StreamInput<'_>], sinks: &[Box<dyn Sink>]) {
        let types = |values: &[ValueId]| -> Vec<ArrayType> {
            values.iter().map(|&value| self.graph[value].array_type.clone()).collect()
        };
        let operands: Vec<ArrayType> =
            inputs.iter().map(|input| input.array_type().clone()).collect();
        // The parameters after these are slices of inputs and counters.
        let parameters = &self.graph.parameters()[..operands.len()];
        assert_eq!(operands, types(parameters), "inputs of the types of the parameters");
        let written: Vec<ArrayType> = sinks.iter().map(|sink| sink.array_type().clone()).collect();
        assert_eq!(written, types(self.graph.outputs()), "sinks of the types of the outputs");
    }
}

/// A running pass.
struct RunningPass<'a> {
    pass: &'a Pass,
    operands: &'a [OperandData<'a>],
    options: &'a StreamOptions<'a>,
}

impl<'a> RunningPass<'a> {
    /// The function that reads the inputs of a piece. A region that the last piece had too is not read again.
    fn reader(&self) -> impl FnMut(&Piece) -> Result<PieceData, StreamError> + Send {
        let (job, operands) = (&self.pass.job, self.operands);
        let mut last: Vec<LastRead> = vec![None; operands.len()];
        move |piece| {
            let each = job.inputs.iter().zip(operands).zip(&mut last);
            let read = each.map(|(((operand, _), data), last)| {
                let OperandData::Stored(source, starts) = data else { return Ok(None) };
                let regions = regions_of(job, operand, piece).iter();
                let regions: Vec<ArrayRegion> = regions
                    .map(|region| region_of_array(&operand.region(region), starts))
                    .collect();
                if let Some((_, buffers)) = last.as_ref().filter(|(of, _)| *of == regions) {
                    return Ok(Some(Arc::clone(buffers)));
                }
                // Frees the last regions before the next are read.
                *last = None;
                let buffers = Arc::new(match &regions[..] {
                    [region] => vec![source.read(region)?],
                    regions => source.read_each(regions)?,
                });
                // Only an operand that some cut axis does not cut can need the same regions again.
                if operand.axes.iter().flatten().count()
                    < job.is_cut.iter().filter(|&&it| it).count()
                {
                    *last = Some((regions, Arc::clone(&buffers)));
                }
                Ok(Some(buffers))
            });
            read.collect::<Result<_, StoreError>>().map_err(StreamError::from)
        }
    }

    /// The views of an input: one for each region of a piece, or one for the piece if the reduced axis
    /// does not cut the input.
    fn views<'v>(
        &'v self,
        input: usize,
        piece: &Piece,
        read: &'v Option<Arc<Vec<Array>>>,
    ) -> Vec<ArrayView<'v>> {
        let (job, data) = (&self.pass.job, &self.operands[input]);
        let operand = &job.inputs[input].0;
        let of_part = |view: &ArrayView<'v>| {
            let regions = regions_of(job, operand, piece).iter();
            regions.map(|region| view_of_region(view, &operand.region(region))).collect()
        };
        match (data, read) {
            (_, Some(buffers)) => buffers.iter().map(Array::view).collect(),
            (OperandData::InMemory(view), None) => of_part(view),
            (OperandData::EarlierResult(buffer), None) => of_part(&buffer.view()),
            (OperandData::Stored(..), None) => unreachable!("stored operands have been read"),
        }
    }

    /// Reports progress, which may stop the run.
    fn advance(&self, piece: &Piece) -> Result<(), StreamError> {
        match (self.options.progress)(piece.element_count()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(StreamError::Stopped),
        }
    }

    /// Computes a piece from the data read for it.
    fn compute(
        &self,
        piece: &Piece,
        read: &PieceData,
        programs: &mut Programs<'_>,
    ) -> Result<Vec<Array>, StreamError> {
        let views: Vec<ArrayView<'_>> = (read.iter().enumerate())
            .flat_map(|(input, read)| self.views(input, piece, read))
            .collect();
        let results = programs.run(piece.regions[0].extents(), &views)?;
        self.advance(piece)?;
        Ok(results)
    }

    /// Computes each piece and writes its results.
    fn map(&self, sinks: &mut [Box<dyn Sink>]) -> Result<(), StreamError> {
        let outputs = &self.pass.job.outputs;
        let mut programs =
            Programs::new(&self.pass.job, &self.pass.executables, &self.options.compile);
        let compute = |piece: &Piece, read: PieceData| self.compute(piece, &read, &mut programs);
        let write = |piece: &Piece, results: Vec<Array>| {
            for (output, result) in outputs.iter().zip(&results) {
                for &(sink, _) in &output.sinks {
                    sinks[sink].write(&piece.regions[0], result)?;
                }
            }
            Ok(())
        };
        let pieces = self.pass.job.pieces(&self.pass.piece);
        pipeline(pieces, self.reader(), compute, write)
    }

    /// Combines the results of pieces along an axis; returns the results that later passes read.
    fn reduce(
        &self,
        axis: usize,
        sinks: &mut [Box<dyn Sink>],
    ) -> Result<Vec<(ValueId, Array)>, StreamError> {
        let job = &self.pass.job;
        let mut programs =
            Programs::new(&self.pass.job, &self.pass.executables, &self.options.compile);
        let mut gathered = ReductionOutputs::new(job, sinks)?;
        let (mut tree, mut carried) = (PairTree::default(), CarriedReduction::new(job, axis));
        let combine = |piece: &Piece, read: PieceData| {
            let complete = match job.row_order {
                RowOrder::Independent => {
                    let results = self.compute(piece, &read, &mut programs)?;
                    tree.add(0, Some(results), &mut programs)?;
                    match piece.is_last {
                        true => Some(tree.finish_each(&mut programs)?),
                        false => None,
                    }
                }
                RowOrder::Carried | RowOrder::LaneGroups(_) => {
                    let inputs: Vec<PieceInput<'_>> =
                        (0..read.len()).map(|input| self.input(input, piece, &read)).collect();
                    let complete = carried.add(piece, &inputs, &mut programs)?;
                    self.advance(piece)?;
                    complete
                }
            };
            complete.map_or(Ok(()), |results| gathered.add(&piece.regions[0], results))
        };
        let pieces = job.pieces(&self.pass.piece);
        pipeline(pieces, self.reader(), combine, |_, ()| Ok(()))?;
        gathered.finish()
    }

    /// An input of a piece, as `CarriedReduction::add` takes it.
    fn input<'v>(&'v self, input: usize, piece: &Piece, read: &'v PieceData) -> PieceInput<'v> {
        let operand = &self.pass.job.inputs[input].0;
        let mut views = self.views(input, piece, &read[input]);
        match self.pass.job.reduced_axes(operand) {
            axes if axes.is_empty() => PieceInput::Common(views.swap_remove(0)),
            axes => PieceInput::Regions(views, axes),
        }
    }
}

/// The regions of a piece for which an operand is read: only the first if the reduced axis does not cut it.
fn regions_of<'p>(job: &Job, operand: &JobOperand, piece: &'p Piece) -> &'p [ArrayRegion] {
    if job.reduced_axes(operand).is_empty() { &piece.regions[..1] } else { &piece.regions }
}

/// Outputs of a reducing job: sinks, and memory for later passes.
struct ReductionOutputs<'a> {
    job: &'a Job,
    sinks: &'a mut [Box<dyn Sink>],
    later_results: Vec<Option<(Box<dyn Sink>, MemoryResult)>>,
}

impl<'a> ReductionOutputs<'a> {
    fn new(job: &'a Job, sinks: &'a mut [Box<dyn Sink>]) -> Result<Self, StreamError> {
        let keep = |output: &JobOutput| {
            let sink = || MemorySink::new(output.operand.array_type.clone());
            let sink = output.is_read_later.then(sink).transpose();
            sink.map(|sink| sink.map(|(sink, result)| (Box::new(sink) as Box<dyn Sink>, result)))
        };
        let later_results = job.outputs.iter().map(keep).collect::<Result<_, _>>();
        let later_results = later_results.map_err(indim_cpu::RunError::from)?;
        Ok(ReductionOutputs { job, sinks, later_results })
    }

    /// Writes the complete results for one region along the kept axes. `piece` is the first region of the
    /// last piece that was reduced to them.
    fn add(&mut self, piece: &ArrayRegion, results: Vec<Array>) -> Result<(), StreamError> {
        for ((output, result), later_result) in
            self.job.outputs.iter().zip(results).zip(&mut self.later_results)
        {
            let region = output.operand.region(piece);
            let array_type = ArrayType::new(result.array_type().dtype, region.extents().clone());
            // The results have the reduced axis, with size 1; the outputs lack this axis.
            let result = Array::filled(array_type, |bytes| {
                bytes.copy_from_slice(result.bytes());
                Ok::<(), indim_cpu::ArrayError>(())
            });
            let result = result.map_err(indim_cpu::RunError::from)?;
            if let Some((sink, _)) = later_result {
                sink.write(&region, &result)?;
            }
            for &(sink, _) in &output.sinks {
                self.sinks[sink].write(&region, &result)?;
            }
        }
        Ok(())
    }

    /// The results that later passes read.
    fn finish(self) -> Result<Vec<(ValueId, Array)>, StreamError> {
        let mut results = Vec::new();
        for (output, later_result) in self.job.outputs.iter().zip(self.later_results) {
            let Some((sink, result)) = later_result else { continue };
            sink.finish()?;
            results.extend(result.take().map(|result| (output.operand.value, result)));
        }
        Ok(results)
    }
}

/// Converts a region of a slice of an array to a region of the array. The slice begins at `starts`.
fn region_of_array(region: &ArrayRegion, starts: &[usize]) -> ArrayRegion {
    let both = region.starts().iter().zip(starts);
    let starts: Vec<usize> = both.map(|(of_part, of_array)| of_part + of_array).collect();
    ArrayRegion::new(starts, region.extents().clone())
}

/// The view of a region of an array in memory.
fn view_of_region<'a>(view: &ArrayView<'a>, region: &ArrayRegion) -> ArrayView<'a> {
    view.part(region.starts(), region.extents())
}
