//! Graphs in which counters are parameters, so that the axes of the counters can be cut.
//!
//! A counter is an array of the numbers 0, 1, 2, ... along one axis. A chunk of a counter holds the chunk's
//! positions in the whole axis, not numbers from 0. An `iota` becomes a broadcast of a counter. A reduction
//! along several axes that a reshape merged, such as an arg-reduction over several axes, becomes a sequence
//! of reductions along one axis each. An arg-reduction then computes the index of the extreme from counters.

use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::{AxisMap, Shape};

use indim_graph::{Array, Graph, GraphAssembler, Node, NodeKind, ValueId, VerifyErrorKind};

/// A graph with counters as parameters.
///
/// ```
/// use indim_builder::{ReduceOptions, Reduction, GraphBuilder};
/// use indim_transforms::chunks::{CounterGraph, Cuts, CutPolicy};
/// use indim_graph::{Array, evaluate};
/// use indim_ops::DType;
///
/// // The position of the largest element in all of `x`.
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [2, 3])?;
/// let graph = b.finish(&[b.along(Reduction::ArgMax, &x, &ReduceOptions::default())?])?;
/// let of_x = |graph| Cuts::of(graph).cuts()[0].policy;
/// assert_eq!(of_x(&graph), CutPolicy::Nowhere);
///
/// let counter_graph = CounterGraph::of(&graph).unwrap();
/// assert_eq!(of_x(&counter_graph.graph), CutPolicy::Anywhere);
/// let rows = counter_graph.graph.parameters()[1];
/// assert_eq!(counter_graph.graph[rows].array_type.to_string(), "i64[2]");
/// let x = Array::new([2, 3], vec![1.0, 7.0, 2.0, 3.0, 4.0, 7.0])?;
/// let rows = Array::new([2], vec![0_i64, 1])?;
/// assert_eq!(evaluate(&counter_graph.graph, &[x, rows])?, [Array::from_scalar(1_i64)]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CounterGraph {
    /// The graph. Its parameters are those of the original graph, then one for each counter: an `i64[n]` of
    /// the numbers from 0 to `n - 1`.
    pub graph: Graph,
    /// Reductions of this graph that should be computed chunk by chunk even if a chunk has the whole axis,
    /// so that the later stages read only their results.
    pub first_reductions: Vec<ValueId>,
}

impl CounterGraph {
    /// Replaces the counters of a graph by parameters.
    ///
    /// # Errors
    /// If an array would be too large.
    pub fn of(graph: &Graph) -> Result<CounterGraph, VerifyErrorKind> {
        let mut rewriter =
            CounterRewriter { assembler: GraphAssembler::new(), first_reductions: Vec::new() };
        let is_read = values_read(graph);
        let mut renamed = vec![ValueId::from_index(0); graph.len()];
        // Counters follow the existing parameters.
        let is_parameter = |node: &Node| matches!(node.kind, NodeKind::Parameter { .. });
        for &value in graph.parameters() {
            let node = &graph[value];
            renamed[value.index()] =
                rewriter.assembler.add(node.kind.clone(), &[], node.array_type.clone())?;
        }
        for (value, node) in graph.iter() {
            if is_read[value.index()] && !is_parameter(node) {
                renamed[value.index()] = rewriter.add(graph, node, &renamed)?;
            }
        }
        let outputs = graph.outputs().iter().map(|output| renamed[output.index()]).collect();
        let CounterRewriter { assembler, first_reductions } = rewriter;
        Ok(CounterGraph { graph: assembler.finish(outputs)?, first_reductions })
    }
}

struct CounterRewriter {
    assembler: GraphAssembler,
    first_reductions: Vec<ValueId>,
}

/// Adjacent axes that a reshape merges into the axis of a reduction.
struct MergedAxes<'a> {
    op: ReduceOp,
    operand: ValueId,
    shape: &'a Shape,
    axes: core::ops::Range<usize>,
}

impl CounterRewriter {
    /// Adds the rewritten node; `renamed` has the new value of each earlier value.
    fn add(
        &mut self,
        graph: &Graph,
        node: &Node,
        renamed: &[ValueId],
    ) -> Result<ValueId, VerifyErrorKind> {
        let ArrayType { dtype, shape } = &node.array_type;
        match &node.kind {
            NodeKind::Iota { axis } => {
                let counter = self.counter(shape[*axis])?;
                let counter_type = ArrayType::new(*dtype, [shape[*axis]]);
                let counter = match dtype {
                    DType::I64 => counter,
                    _ => self.assembler.add(NodeKind::Convert, &[counter], counter_type)?,
                };
                self.broadcast(counter, &[*axis], shape)
            }
            NodeKind::Reduce { op, axis } => match merged_axes(graph, *op, *axis, node.operands[0])
            {
                Some(merged) => {
                    let operand = renamed[merged.operand.index()];
                    self.reduce_axes(&MergedAxes { operand, ..merged })
                }
                None => self.copy(node, renamed),
            },
            _ => self.copy(node, renamed),
        }
    }

    fn copy(&mut self, node: &Node, renamed: &[ValueId]) -> Result<ValueId, VerifyErrorKind> {
        let operands: Vec<ValueId> =
            node.operands.iter().map(|operand| renamed[operand.index()]).collect();
        self.assembler.add(node.kind.clone(), &operands, node.array_type.clone())
    }

    /// Adds a parameter for a counter: the numbers from 0 to `size - 1`.
    fn counter(&mut self, size: usize) -> Result<ValueId, VerifyErrorKind> {
        let index = self.assembler.parameter_count();
        // Names in expressions cannot begin with `#`. Names in model files can, so a name that is taken
        // gets an apostrophe.
        let mut name = format!("#{index}");
        while self.assembler.has_parameter(&name) {
            name.push('\'');
        }
        let kind = NodeKind::Parameter { index, name };
        self.assembler.add(kind, &[], ArrayType::new(DType::I64, [size]))
    }

    /// The reduction along one axis after another, the last axis first.
    fn reduce_axes(&mut self, merged: &MergedAxes<'_>) -> Result<ValueId, VerifyErrorKind> {
        let mut axes = merged.axes.clone().rev();
        let last = axes.next().expect("invariant: several axes");
        // The `extremum` of a fold is the fold itself.
        let mut folded = self.reduce(merged.op.extremum(), merged.operand, last)?;
        if !merged.op.is_arg_reduction() {
            for axis in axes {
                folded = self.reduce(merged.op, folded, axis)?;
            }
            return Ok(folded);
        }
        let mut index = self.reduce(merged.op, merged.operand, last)?;
        self.first_reductions.push(index);
        let mut row_elements = merged.shape[last];
        for axis in axes {
            let size = merged.shape[axis];
            (index, folded) =
                self.arg_reduce(merged.op, (index, folded), (axis, size, row_elements))?;
            row_elements *= size;
        }
        Ok(index)
    }

    /// The index of the first extreme over `axis` and the inner axes, and the extreme. The operand has
    /// `size` rows of `row_elements` elements along these axes; `folded` has the extreme of each row,
    /// `index` its index in the row.
    fn arg_reduce(
        &mut self,
        op: ReduceOp,
        (index, folded): (ValueId, ValueId),
        (axis, size, row_elements): (usize, usize, usize),
    ) -> Result<(ValueId, ValueId), VerifyErrorKind> {
        let ArrayType { dtype, shape } = self.assembler[folded].array_type.clone();
        let extreme = self.reduce(op.extremum(), folded, axis)?;
        let kept_axes: Vec<usize> = (0..shape.rank()).filter(|&other| other != axis).collect();
        let extremes = self.broadcast(extreme, &kept_axes, &shape)?;
        let mut is_extreme = self.elementwise(Op::Eq, &[folded, extremes])?;
        if dtype.is_float() {
            // If any element is NaN, the extreme is NaN, and no element equals it.
            let is_nan = self.elementwise(Op::Ne, &[folded, folded])?;
            is_extreme = self.elementwise(Op::Or, &[is_extreme, is_nan])?;
        }
        let row = self.counter(size)?;
        let row = self.broadcast(row, &[axis], &shape)?;
        let row_elements = self.number(i64::try_from(row_elements).unwrap_or(i64::MAX), &shape)?;
        let row_start = self.elementwise(Op::Mul, &[row, row_elements])?;
        let index = self.elementwise(Op::Add, &[row_start, index])?;
        let no_index = self.number(i64::MAX, &shape)?;
        let index = self.elementwise(Op::Select, &[is_extreme, index, no_index])?;
        Ok((self.reduce(ReduceOp::Min, index, axis)?, extreme))
    }

    fn reduce(
        &mut self,
        op: ReduceOp,
        operand: ValueId,
        axis: usize,
    ) -> Result<ValueId, VerifyErrorKind> {
        let ArrayType { dtype, shape } = &self.assembler[operand].array_type;
        let sizes = (0..shape.rank()).filter(|&other| other != axis).map(|other| shape[other]);
        let array_type = ArrayType::new(op.result_dtype(*dtype), sizes.collect::<Shape>());
        self.assembler.add(NodeKind::Reduce { op, axis }, &[operand], array_type)
    }

    fn elementwise(&mut self, op: Op, operands: &[ValueId]) -> Result<ValueId, VerifyErrorKind> {
        let last = *operands.last().expect("invariant: operations have operands");
        let ArrayType { dtype, shape } = self.assembler[last].array_type.clone();
        let array_type = ArrayType::new(op.result_dtype(dtype), shape);
        self.assembler.add(NodeKind::Elementwise(op), operands, array_type)
    }

    fn number(&mut self, number: i64, shape: &Shape) -> Result<ValueId, VerifyErrorKind> {
        let number = Array::from_scalar(number);
        let array_type = number.array_type().clone();
        let number = self.assembler.add(NodeKind::Constant(number), &[], array_type)?;
        self.broadcast(number, &[], shape)
    }

    fn broadcast(
        &mut self,
        value: ValueId,
        axes: &[usize],
        shape: &Shape,
    ) -> Result<ValueId, VerifyErrorKind> {
        let ArrayType { dtype, shape: of_value } = &self.assembler[value].array_type;
        if of_value == shape {
            return Ok(value);
        }
        let array_type = ArrayType::new(*dtype, shape.clone());
        let kind = NodeKind::BroadcastInDim(AxisMap::from(axes.to_vec()));
        self.assembler.add(kind, &[value], array_type)
    }
}

/// The values that the rewritten graph reads: those that the outputs depend on, without a reshape that is
/// read only by reductions along the axes that it merges.
fn values_read(graph: &Graph) -> Vec<bool> {
    let mut is_read = vec![false; graph.len()];
    graph.outputs().iter().for_each(|output| is_read[output.index()] = true);
    for (value, node) in graph.iter().rev() {
        if !is_read[value.index()] {
            continue;
        }
        let merged = match node.kind {
            NodeKind::Reduce { op, axis } => merged_axes(graph, op, axis, node.operands[0]),
            _ => None,
        };
        match merged {
            Some(merged) => is_read[merged.operand.index()] = true,
            None => node.operands.iter().for_each(|operand| is_read[operand.index()] = true),
        }
    }
    is_read
}

/// The axes that a reshape merged into `axis` of `operand`, if the reduction may run along them one by one.
fn merged_axes<'g>(
    graph: &'g Graph,
    op: ReduceOp,
    axis: usize,
    operand: ValueId,
) -> Option<MergedAxes<'g>> {
    let Node { kind: NodeKind::Reshape, operands, array_type } = &graph[operand] else {
        return None;
    };
    let (shape, reshaped) = (&graph[operands[0]].array_type.shape, &array_type.shape);
    let count = (shape.rank() + 1).checked_sub(reshaped.rank()).filter(|&count| count > 1)?;
    let axes = axis..axis + count;
    let is_whole = shape[..axis] == reshaped[..axis]
        && shape[axes.end..] == reshaped[axis + 1..]
        && !shape.contains(&0);
    // An ordered reduction has a fixed tree along the merged axis.
    (is_whole && !op.is_ordered(array_type.dtype)).then(|| MergedAxes {
        op,
        operand: operands[0],
        shape,
        axes,
    })
}
