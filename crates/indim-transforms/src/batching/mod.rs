//! Vectorised graphs: one graph that computes another one for every element of a batch, like JAX's `vmap`.
//!
//! A value that depends on a batched parameter has the batch as its first axis. Any other value is computed
//! once for the whole batch. Each element of a result has the bits of the unbatched graph, because no
//! operation combines elements of the batch.
//!
//! Read `walk.rs` first: the rule of each kind of node. `indexing.rs` has the rules of gathers and scatters,
//! `control.rs` those of loops and branches.

mod control;
mod indexing;
mod walk;

use core::panic::Location;

use indim_graph::signature::existing_axis;
use indim_graph::{Graph, GraphError, GraphErrorKind, SizeFacts, remove_unused};

use crate::BuildResult;
use indexing::moved_axis;
use indim_builder::{GraphBuilder, NodeAccess, Value};
use walk::{BatchValue, Batcher};

/// The name of the operation in errors.
const VMAP: &str = "vmap";

/// Graphs that compute other graphs for every element of a batch.
pub trait Vectorize {
    /// The graph that computes this one for `size` elements, like JAX's `vmap`.
    ///
    /// `in_axes` has an entry for each parameter: the position of the batch axis in the new parameter, or
    /// `None` for a parameter that all elements share. `out_axes` has an entry for each output: the position
    /// of the batch axis in the result, or `None` for an output that is the same for all elements. A negative
    /// position counts from the end.
    ///
    /// A loop whose condition differs between elements runs until it is false for all of them. If such a
    /// loop, or a branch whose index differs, can fail at run time (an index out of range, a limit of
    /// steps), the elements are computed one after another instead.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_transforms::Vectorize;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let [x, v] = ["x", "v"].map(|name| b.parameter(name, DType::F64, [2]).unwrap());
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x * &v, 0)?])?;
    ///
    /// let rows = graph.vmap(3, &[Some(0), None], &[Some(0)])?;
    /// let x = Array::new([3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let v = Array::new([2], vec![1.0, 10.0])?;
    /// assert_eq!(evaluate(&rows, &[x, v])?[0].elements::<f64>(), Ok(&[21.0, 43.0, 65.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `wrong-operand-count` unless each parameter and each output has an entry; `axis-out-of-range`;
    /// `batched-output` for an output that differs between elements and has the axis `None`; `region-limit`;
    /// E5 `too-large`.
    fn vmap(
        &self,
        size: usize,
        in_axes: &[Option<i64>],
        out_axes: &[Option<i64>],
    ) -> Result<Graph, GraphError>;
}

impl Vectorize for Graph {
    #[track_caller]
    fn vmap(
        &self,
        size: usize,
        in_axes: &[Option<i64>],
        out_axes: &[Option<i64>],
    ) -> Result<Graph, GraphError> {
        let caller = Location::caller();
        let vectorized = vectorized((self, None), size, in_axes, out_axes);
        let (graph, _) = vectorized.map_err(|error| error.at(caller))?;
        Ok(remove_unused(&graph).into_owned())
    }
}

/// Like [`Vectorize::vmap`], with the facts about the sizes of the graph: the sizes that vary in the graph,
/// and the size of the batch, vary in the result. `facts` are those of the graph's builder.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::DType;
/// use indim_transforms::vmap_with_facts;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [4])?;
/// let graph = b.finish(&[x.exp()])?;
/// let axes = [Some(0)];
/// let (rows, facts) = vmap_with_facts((&graph, &b.size_facts()), 3, &axes, &axes)?;
/// let symbolic = SymbolicGraph::new(&rows, &facts);
/// assert_eq!(symbolic.guards().to_string(), "x: [n, m]; n, m >= 2");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
///
/// # Errors
/// Those of [`Vectorize::vmap`].
#[track_caller]
pub fn vmap_with_facts(
    (graph, facts): (&Graph, &SizeFacts),
    size: usize,
    in_axes: &[Option<i64>],
    out_axes: &[Option<i64>],
) -> Result<(Graph, SizeFacts), GraphError> {
    let caller = Location::caller();
    vectorized((graph, Some(facts)), size, in_axes, out_axes).map_err(|error| error.at(caller))
}

fn vectorized(
    (graph, facts): (&Graph, Option<&SizeFacts>),
    size: usize,
    in_axes: &[Option<i64>],
    out_axes: &[Option<i64>],
) -> Result<(Graph, SizeFacts), GraphError> {
    check_count(graph.parameters().len(), in_axes.len())?;
    check_count(graph.outputs().len(), out_axes.len())?;
    let b = GraphBuilder::new();
    let batcher = Batcher { b: &b, size, facts };
    let parameters =
        (0..in_axes.len()).map(|index| parameter(graph, index, &batcher, in_axes[index]));
    let parameters = parameters.collect::<Result<Vec<BatchValue>, GraphError>>()?;
    let values = batcher.values(graph, &parameters)?;
    let outputs = graph.outputs().iter().zip(out_axes).enumerate();
    let outputs = outputs.map(|(index, (result, &axis))| {
        let result = &values[result.index()];
        output(&batcher, index, result, axis)
    });
    let outputs = outputs.collect::<Result<Vec<Value>, GraphError>>()?;
    if facts.is_some() {
        equate_batches(&b, parameters.iter().chain(&values), &outputs, out_axes);
    }
    let mut batch_facts = b.size_facts();
    if let Some(facts) = facts {
        let ids = batcher.ids_of(values.iter().map(|value| &value.value))?;
        let batched: Vec<usize> = values.iter().map(|value| value.is_batched.into()).collect();
        batch_facts.inline(facts, |of| Some((*ids.get(of.index())?, batched[of.index()])));
    }
    Ok((b.finish(&outputs)?, batch_facts))
}

/// States that the batch has one size in all values and outputs.
fn equate_batches<'v>(
    b: &GraphBuilder,
    values: impl Iterator<Item = &'v BatchValue>,
    outputs: &[Value],
    out_axes: &[Option<i64>],
) {
    let mut values = values.filter(|value| value.is_batched);
    let Some(first) = values.next() else { return };
    values.for_each(|value| b.equate_axes((&value.value, 0), (&first.value, 0)));
    for (output, axis) in outputs.iter().zip(out_axes) {
        let rank = output.array_type().map_or(0, |of| of.shape.rank());
        if let Some(axis) = axis.and_then(|axis| existing_axis(axis, rank).ok()) {
            b.equate_axes((output, axis), (&first.value, 0));
        }
    }
}

/// An error of `vmap` that concerns none of its operands.
fn vmap_error(kind: GraphErrorKind) -> GraphError {
    GraphError::new(kind, VMAP, Vec::new())
}

fn check_count(expected: usize, given: usize) -> Result<(), GraphError> {
    if expected == given {
        return Ok(());
    }
    Err(vmap_error(GraphErrorKind::WrongOperandCount { expected, given }))
}

/// Adds a parameter of `graph` to the builder, with the batch at `axis` of the array; in the value, the batch
/// is the first axis.
fn parameter(
    graph: &Graph,
    index: usize,
    batcher: &Batcher<'_>,
    axis: Option<i64>,
) -> Result<BatchValue, GraphError> {
    let (b, name) = (batcher.b, graph.parameter_name(index));
    let array_type = &graph[graph.parameters()[index]].array_type;
    let mut sizes = array_type.shape.to_vec();
    let Some(axis) = axis else {
        let value = b.parameter(name, array_type.dtype, sizes)?;
        return Ok(BatchValue { value, is_batched: false });
    };
    let axis = existing_axis(axis, sizes.len() + 1).map_err(vmap_error)?;
    sizes.insert(axis, batcher.size);
    let value = moved_axis(&b.parameter(name, array_type.dtype, sizes)?, axis, 0)?;
    Ok(BatchValue { value, is_batched: true })
}

/// The output `index`, with the batch at `axis`.
fn output(
    batcher: &Batcher<'_>,
    index: usize,
    result: &BatchValue,
    axis: Option<i64>,
) -> BuildResult {
    let b = batcher.b;
    let Some(axis) = axis else {
        return match result.is_batched {
            false => Ok(result.value.clone()),
            true => {
                let id = b.id(VMAP, &result.value)?;
                Err(b.error(VMAP, &[id], GraphErrorKind::BatchedOutput { output: index }))
            }
        };
    };
    let batched = batcher.batched(result)?;
    let rank = batched.array_type()?.shape.rank();
    let axis = existing_axis(axis, rank).map_err(vmap_error)?;
    moved_axis(&batched, 0, axis)
}
