//! Programs over arrays in chunks, for `indim/_dask.py` and `indim/_cubed.py`: the legal cuts, the stages,
//! and the program of each stage for given chunk sizes. Other processes receive only the text of the graph,
//! and derive everything else from it.

use std::sync::{Arc, Mutex, PoisonError};

use indim::array::Order;
use indim::broadcast::AxisMap;
use indim::errors::Diagnostic;
use indim::graph::ReduceOp;
use indim::text::parse_graph;
use indim::{Array, ArrayType, DType, Graph};
use indim_graph::{GraphAssembler, NodeKind, ValueId, VerifyErrorKind};
use indim_transforms::chunks::{
    ChunkReduction, CounterGraph, Cut, CutPolicy, Cuts, InputSlice, SlicedGraph, Stage,
    axis_classes, combine, fold_lanes, lane_groups, partial_count, stages, whole_blocks,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::computation::CompiledVariant;
use crate::error::computation_error;
use crate::internal_error::guard;
use crate::model::as_stored;
use crate::operand::Operand;
use crate::run::run;

/// Maximum number of chunk sizes for which a stage caches programs.
const MAX_CACHED_PROGRAMS: usize = 16;

/// Key of a program: the types of its inputs, and the sizes of the stage's axes. The key of a program
/// over lanes appends further numbers to the sizes; the last one is its purpose, such as `MAKE_LANES`.
type ProgramKey = (Vec<ArrayType>, Vec<usize>);

/// Compiled programs with their keys, least recently used first.
#[derive(Default)]
struct ProgramCache(Mutex<Vec<(ProgramKey, Arc<CompiledVariant>)>>);

impl ProgramCache {
    /// The program for these sizes, compiled now if there is none.
    fn find_or_compile(
        &self,
        py: Python<'_>,
        sizes: ProgramKey,
        graph: impl FnOnce(&ProgramKey) -> PyResult<Graph>,
    ) -> PyResult<Arc<CompiledVariant>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut cache = lock();
            if let Some(found) = cache.iter().rposition(|(known, _)| *known == sizes) {
                cache[found..].rotate_left(1);
                return Ok(Arc::clone(&cache[cache.len() - 1].1));
            }
        }
        let graph = graph(&sizes)?;
        check_types(&graph, &sizes.0)?;
        let compiled = CompiledVariant::new(|| Ok(as_stored(&graph)?));
        let compiled = Arc::new(compiled.map_err(|error| computation_error(py, &error))?);
        let mut cache = lock();
        let oldest = (cache.len() >= MAX_CACHED_PROGRAMS).then(|| cache.remove(0));
        cache.push((sizes, Arc::clone(&compiled)));
        drop(cache);
        // Evicted programs are freed after the lock is released, because that may take long.
        drop(oldest);
        Ok(compiled)
    }

    /// Runs the program on these chunks.
    fn run<'py>(
        &self,
        py: Python<'py>,
        chunks: &[Bound<'py, PyAny>],
        sizes: Vec<usize>,
        graph: impl FnOnce(&ProgramKey) -> PyResult<Graph>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.run_into(py, chunks, 0, sizes, graph)
    }

    /// Like [`ProgramCache::run`]; the first `overwritten` results are written into the first
    /// `overwritten` chunks.
    fn run_into<'py>(
        &self,
        py: Python<'py>,
        chunks: &[Bound<'py, PyAny>],
        overwritten: usize,
        sizes: Vec<usize>,
        graph: impl FnOnce(&ProgramKey) -> PyResult<Graph>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        guard(py, || {
            let operand = |chunk: &Bound<'py, PyAny>| Operand::from_python(chunk, "chunk");
            let mut operands: Vec<Operand<'py>> =
                chunks.iter().map(operand).collect::<PyResult<_>>()?;
            operands.iter_mut().try_for_each(Operand::refresh_dtype)?;
            let array_type = |operand: &Operand<'py>| match operand {
                Operand::Array(array) => Ok(array.array_type().clone()),
                Operand::Number(_) | Operand::Constant(_) => {
                    Err(PyTypeError::new_err("a chunk is a number, not an array"))
                }
            };
            let types = operands.iter().map(array_type).collect::<PyResult<_>>()?;
            let compiled = self.find_or_compile(py, (types, sizes), graph)?;
            let outputs =
                operands[..overwritten.min(operands.len())].iter().map(|operand| match operand {
                    Operand::Array(array) => Some(array.clone()),
                    Operand::Number(_) | Operand::Constant(_) => None,
                });
            let outputs: Vec<_> = outputs.collect();
            let results = run(py, &compiled, &operands, &outputs, Order::K, || {
                "a stage over chunks".to_owned()
            })?;
            Ok(results.into_iter().map(|array| array.into_object()).collect())
        })
    }
}

/// Refuses chunks whose types differ from the metadata of their array.
fn check_types(graph: &Graph, types: &[ArrayType]) -> PyResult<()> {
    let expected: Vec<&ArrayType> =
        graph.parameters().iter().map(|&value| &graph[value].array_type).collect();
    for (actual, expected) in types.iter().zip(&expected) {
        if actual != *expected {
            return Err(PyTypeError::new_err(format!(
                "a chunk is {actual}, but its array says {expected}"
            )));
        }
    }
    match types.len() == expected.len() {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "{} chunks for a program of {} inputs",
            types.len(),
            expected.len()
        ))),
    }
}

/// A value of the graph: its number, the name of its element type in indim (`f32`), its sizes, and the
/// number of the cut of each axis, or `None` for an axis without a cut, such as one of size 1.
type ChunkedValueDescription = (usize, &'static str, Vec<usize>, Vec<Option<usize>>);

/// A stage, as a tuple: the sizes and the cuts of its axes; its inputs (the number of a value, and the axis
/// of the stage that cuts each of its axes); its outputs (a value, and for a reduction its name and the
/// number of partial results per chunk); the reduced axis; and whether lanes can be carried along that axis
/// (lanes with elements, lanes that may be empty).
type StageDescription = (
    Vec<usize>,
    Vec<Option<usize>>,
    Vec<(usize, Vec<Option<usize>>)>,
    Vec<(ChunkedValueDescription, Option<(&'static str, usize)>)>,
    Option<usize>,
    (bool, bool),
);

/// A program over arrays in chunks.
#[pyclass(frozen, name = "_ChunkedProgram", module = "indim._indim")]
pub(crate) struct ChunkedProgram {
    graph: Graph,
    cuts: Cuts,
    /// Cuts of reductions that get stages of their own: see [`ChunkedProgram::first_cuts`].
    first_cuts: Vec<usize>,
    /// The input slice that each parameter stands for; whole inputs come first.
    input_slices: Vec<InputSlice>,
    /// The whole program, for arrays of one chunk.
    whole: ProgramCache,
}

impl ChunkedProgram {
    fn describe(&self, value: ValueId) -> ChunkedValueDescription {
        let ArrayType { dtype, shape } = &self.graph[value].array_type;
        (value.index(), dtype.name(), shape.to_vec(), self.cuts.axes(value).to_vec())
    }

    fn plan_stages(&self, is_cut: &[bool]) -> PyResult<Vec<Stage>> {
        if is_cut.len() != self.cuts.cuts().len() {
            return Err(PyValueError::new_err("one answer for each cut"));
        }
        stages(&self.graph, &self.cuts, is_cut).map_err(|error| {
            let diagnostic = Diagnostic::new(error.error_code(), error.to_string());
            PyValueError::new_err(diagnostic.to_string())
        })
    }
}

#[pymethods]
impl ChunkedProgram {
    /// The program of a graph in text form. With `counted`, counters such as `iota` become parameters, so
    /// that their axes can be cut. With `sliced`, slices of inputs become parameters.
    #[new]
    #[pyo3(signature = (text, counted=false, sliced=false))]
    fn new(py: Python<'_>, text: &str, counted: bool, sliced: bool) -> PyResult<Self> {
        let invalid = |error: VerifyErrorKind| PyValueError::new_err(error.to_string());
        let graph = py.detach(|| parse_graph(text));
        let graph = graph.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let slices = match sliced {
            true => py.detach(|| SlicedGraph::of(&graph)).map_err(invalid)?,
            false => None,
        };
        let SlicedGraph { graph, slices: input_slices } =
            slices.unwrap_or_else(|| SlicedGraph::with_whole_inputs(graph));
        if !counted {
            let cuts = Cuts::of(&graph);
            let (first_cuts, whole) = (Vec::new(), ProgramCache::default());
            return Ok(ChunkedProgram { graph, cuts, first_cuts, input_slices, whole });
        }
        let counted = py.detach(|| CounterGraph::of(&graph));
        let CounterGraph { graph, first_reductions } = counted.map_err(invalid)?;
        let cuts = Cuts::of(&graph);
        let reduced = |value: ValueId| {
            let axis = ChunkReduction::of(&graph, value)?.axis;
            cuts.axes(graph[value].operands[0])[axis]
        };
        let mut first_cuts: Vec<usize> = first_reductions.into_iter().filter_map(reduced).collect();
        first_cuts.retain(|&cut| cuts.cuts()[cut].policy != CutPolicy::Nowhere);
        Ok(ChunkedProgram { graph, cuts, first_cuts, input_slices, whole: ProgramCache::default() })
    }

    /// The slices among its parameters, which follow the whole inputs: the number of the input, and along
    /// each axis the start and the size.
    fn slices(&self) -> Vec<(usize, Vec<(usize, usize)>)> {
        let parameters = self.graph.parameters().iter().zip(&self.input_slices).enumerate();
        let slices = parameters.filter_map(|(index, (&value, part))| {
            let input = part.input.filter(|&input| input != index)?;
            let sizes = self.graph[value].array_type.shape.iter().copied();
            Some((input, part.starts.iter().copied().zip(sizes).collect()))
        });
        slices.collect()
    }

    /// Cuts of reductions that get stages of their own even in one chunk, so that later stages read less.
    fn first_cuts(&self) -> Vec<usize> {
        self.first_cuts.clone()
    }

    /// The first lane of each group of `group` neighbouring lanes, in the order in which groups are
    /// combined by pairs.
    #[staticmethod]
    fn lane_groups(group: usize) -> PyResult<Vec<usize>> {
        match matches!(group, 1 | 2 | 4 | 8 | 16 | 32) {
            true => Ok(lane_groups(group)),
            false => Err(PyValueError::new_err("a group has 1, 2, 4, 8, 16 or 32 lanes")),
        }
    }

    /// The number of rows of the largest node of the summation tree that begins at row `start` and ends
    /// by row `end`; `None` if no whole block begins there.
    #[staticmethod]
    fn whole_blocks(start: usize, end: usize) -> Option<usize> {
        whole_blocks(start, end)
    }

    /// Runs the whole program on arrays of one chunk.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        arrays: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.whole.run(py, &arrays, Vec::new(), |_| Ok(self.graph.clone()))
    }

    /// The inputs.
    fn parameters(&self) -> Vec<ChunkedValueDescription> {
        self.graph.parameters().iter().map(|&value| self.describe(value)).collect()
    }

    /// The results.
    fn outputs(&self) -> Vec<ChunkedValueDescription> {
        self.graph.outputs().iter().map(|&value| self.describe(value)).collect()
    }

    /// For the axes of the inputs and of the results, a class number: axes that operations align have the
    /// same one.
    fn axis_classes(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let axes = axis_classes(&self.graph);
        let of = |values: &[ValueId]| values.iter().map(|it| axes[it.index()].clone()).collect();
        (of(self.graph.parameters()), of(self.graph.outputs()))
    }

    /// The size of each cut, and its legal positions.
    fn cuts(&self) -> Vec<(usize, &'static str)> {
        let describe = |cut: &Cut| {
            let policy = match cut.policy {
                CutPolicy::Anywhere => "anywhere",
                CutPolicy::Aligned => "aligned",
                CutPolicy::Nowhere => "nowhere",
            };
            (cut.size, policy)
        };
        self.cuts.cuts().iter().map(describe).collect()
    }

    /// The stages; `is_cut` says for each cut whether it is made.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn stages(&self, is_cut: Vec<bool>) -> PyResult<Vec<StageDescription>> {
        let describe = |stage: Stage| {
            let carries = (stage.carries_lanes(), stage.carries_empty_lanes());
            let inputs = stage.inputs.into_iter().map(|input| (input.value.index(), input.axes));
            let output = |&value: &ValueId| (self.describe(value), self.combination(value));
            let outputs = stage.outputs.iter().map(output).collect();
            (stage.shape, stage.cuts, inputs.collect(), outputs, stage.reduced, carries)
        };
        Ok(self.plan_stages(&is_cut)?.into_iter().map(describe).collect())
    }

    /// The program of stage `number`.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn stage(&self, is_cut: Vec<bool>, number: usize) -> PyResult<ChunkProgram> {
        let mut stages = self.plan_stages(&is_cut)?;
        match number < stages.len() {
            true => {
                let stage = stages.swap_remove(number);
                let reduction = |&value: &ValueId| {
                    let op = ChunkReduction::of(&self.graph, value)?.op;
                    Some((op, self.graph[value].array_type.dtype))
                };
                let reductions = stage.outputs.iter().filter_map(reduction).collect();
                Ok(ChunkProgram {
                    stage,
                    reductions,
                    programs: ProgramCache::default(),
                    lanes: ProgramCache::default(),
                })
            }
            false => Err(PyIndexError::new_err("no such stage")),
        }
    }
}

impl ChunkedProgram {
    /// The reduction that combines the results of chunks, and the number of partial results per chunk.
    fn combination(&self, value: ValueId) -> Option<(&'static str, usize)> {
        let op = ChunkReduction::of(&self.graph, value)?.op;
        Some((op.name(), partial_count(op)))
    }
}

/// The program of one stage, compiled for the chunk sizes that occur.
#[pyclass(frozen, name = "_ChunkProgram", module = "indim._indim")]
pub(crate) struct ChunkProgram {
    stage: Stage,
    /// The reductions, and the element types of their results.
    reductions: Vec<(ReduceOp, DType)>,
    programs: ProgramCache,
    /// Programs that make lanes, add to them and fold them.
    lanes: ProgramCache,
}

/// Purposes of programs over lanes: the last number of their keys, `ProgramKey`.
const MAKE_LANES: usize = 0;
const FOLD_LANES: usize = 1;
const ADD_TO_LANES: usize = 2;

#[pymethods]
impl ChunkProgram {
    /// Runs the stage on these chunks; `sizes` is the shape of the stage.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        chunks: Vec<Bound<'py, PyAny>>,
        sizes: Vec<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        if sizes.len() != self.stage.shape.len() {
            return Err(PyValueError::new_err("one size for each axis of the stage"));
        }
        self.programs.run(py, &chunks, sizes, |(_, sizes)| {
            let graph = self.stage.program(sizes);
            graph.map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }

    /// Empty lanes of these sizes, one array for each output.
    fn new_lanes<'py>(
        &self,
        py: Python<'py>,
        mut sizes: Vec<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        sizes.push(MAKE_LANES);
        self.lanes.run(py, &[], sizes, |(_, sizes)| {
            let types = self.lane_types(&sizes[..sizes.len() - 1]);
            new_lanes(&types).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }

    /// Adds `count` chunks of the shape `sizes` to the lanes, in place. Along the reduced axis a chunk
    /// has one element for each lane.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn add_to_lanes<'py>(
        &self,
        py: Python<'py>,
        lanes: Vec<Bound<'py, PyAny>>,
        chunks: Vec<Bound<'py, PyAny>>,
        mut sizes: Vec<usize>,
        count: usize,
    ) -> PyResult<()> {
        if sizes.len() != self.stage.shape.len() || !self.stage.carries_lanes() {
            return Err(PyValueError::new_err("one size for each axis of a stage with lanes"));
        }
        sizes.extend([count, ADD_TO_LANES]);
        let all = [&lanes[..], &chunks[..]].concat();
        let run = self.lanes.run_into(py, &all, lanes.len(), sizes, |(_, sizes)| {
            let graph = self.stage.lanes_program(&sizes[..sizes.len() - 2], count);
            graph.map_err(|error| PyValueError::new_err(error.to_string()))
        });
        run.map(drop)
    }

    /// Folds lanes that have elements along the reduced axis; continues from `folded`, the result of the
    /// lanes before them, if there is one.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn fold_lanes<'py>(
        &self,
        py: Python<'py>,
        folded: Vec<Bound<'py, PyAny>>,
        lanes: Vec<Bound<'py, PyAny>>,
        mut sizes: Vec<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let axis = self.stage.reduced.filter(|&axis| sizes.get(axis).is_some_and(|&size| size > 0));
        let axis = axis.ok_or_else(|| PyValueError::new_err("lanes of a stage that reduces"))?;
        let has_folded = !folded.is_empty();
        let each = lanes.iter().enumerate().flat_map(|(index, lanes)| {
            folded.get(index).into_iter().chain([lanes]).cloned().collect::<Vec<_>>()
        });
        sizes.extend([usize::from(has_folded), FOLD_LANES]);
        self.lanes.run(py, &each.collect::<Vec<_>>(), sizes, |(_, sizes)| {
            let types = self.lane_types(&sizes[..sizes.len() - 2]);
            let graph = fold_lanes(&types, axis, has_folded);
            graph.map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }
}

impl ChunkProgram {
    fn lane_types(&self, sizes: &[usize]) -> Vec<(ReduceOp, ArrayType)> {
        let of = |&(op, dtype): &(ReduceOp, DType)| (op, ArrayType::new(dtype, sizes.to_vec()));
        self.reductions.iter().map(of).collect()
    }
}

/// The graph that makes empty lanes.
fn new_lanes(types: &[(ReduceOp, ArrayType)]) -> Result<Graph, VerifyErrorKind> {
    let mut assembler = GraphAssembler::new();
    let mut outputs = Vec::new();
    for (op, array_type) in types {
        let identity = Array::identity(*op, array_type.dtype);
        let identity = identity.expect("invariant: reductions with lanes are folds");
        let scalar = identity.array_type().clone();
        let scalar = assembler.add(NodeKind::Constant(identity), &[], scalar)?;
        let scalar_broadcast = NodeKind::BroadcastInDim(AxisMap::from(Vec::new()));
        outputs.push(assembler.add(scalar_broadcast, &[scalar], array_type.clone())?);
    }
    assembler.finish(outputs)
}

/// Combines the partial results of chunks.
#[pyclass(frozen, name = "_Combination", module = "indim._indim")]
pub(crate) struct Combination {
    op: ReduceOp,
    programs: ProgramCache,
}

#[pymethods]
impl Combination {
    #[new]
    fn new(reduction: &str) -> PyResult<Self> {
        let op = reduction.parse().map_err(|_| PyValueError::new_err("no such reduction"))?;
        Ok(Combination { op, programs: ProgramCache::default() })
    }

    /// Combines partial results, in chunk order, by pairs of neighbours, level by level; a last one
    /// without a neighbour passes to the next level unchanged.
    #[expect(clippy::needless_pass_by_value, reason = "given by Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        chunks: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        if chunks.is_empty() || !chunks.len().is_multiple_of(partial_count(self.op)) {
            return Err(PyValueError::new_err(
                "each chunk needs the same number of partial results",
            ));
        }
        self.programs.run(py, &chunks, Vec::new(), |(types, _)| {
            self.graph(types).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }
}

impl Combination {
    fn graph(&self, types: &[ArrayType]) -> Result<Graph, VerifyErrorKind> {
        let mut assembler = GraphAssembler::new();
        let mut parameters = Vec::with_capacity(types.len());
        for (index, array_type) in types.iter().enumerate() {
            let kind = NodeKind::Parameter { index, name: format!("x{index}") };
            parameters.push(assembler.add(kind, &[], array_type.clone())?);
        }
        let groups = parameters.chunks(partial_count(self.op));
        let mut partials: Vec<Vec<ValueId>> = groups.map(<[ValueId]>::to_vec).collect();
        while partials.len() > 1 {
            let combined = partials.chunks(2).map(|pair| match pair {
                [x, y] => combine(&mut assembler, self.op, x, y),
                alone => Ok(alone[0].clone()),
            });
            partials = combined.collect::<Result<_, _>>()?;
        }
        assembler.finish(partials.swap_remove(0))
    }
}
