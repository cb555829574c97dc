//! The program of a stage for chunks of any size: a graph with open sizes along the stage's axes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp};
use indim_shape::{AxisMap, Shape};

use indim_graph::{Array, AxisSlice, Graph, GraphAssembler, NodeKind, ValueId, VerifyErrorKind};

use super::demand::{StageAxes, operand_axes};
use super::reduction::ChunkReduction;

/// The size of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateSize {
    /// The same for all chunks.
    Fixed(usize),
    /// The size of the chunk along this axis of the stage.
    Chunk(usize),
}

#[derive(Debug, Clone)]
struct TemplateNode {
    kind: NodeKind,
    operands: Vec<usize>,
    dtype: DType,
    sizes: Vec<TemplateSize>,
}

/// A graph with open sizes. Its parameters come first.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    nodes: Vec<TemplateNode>,
    outputs: Vec<usize>,
    /// The node index of each reduced value, with its reduction; empty unless the stage reduces chunks.
    reductions: Vec<(usize, ReduceOp)>,
    /// Whether the stage contracts chunks.
    is_contraction: bool,
}

/// A value with the stage axes of one of its uses.
pub(super) type ValueUse = (ValueId, StageAxes);

impl Template {
    /// The template that computes the demanded values from `inputs`. Also returns the index of the node of
    /// each use of a value.
    pub(super) fn new(
        graph: &Graph,
        demanded: &BTreeMap<ValueId, Vec<StageAxes>>,
        inputs: &[ValueUse],
    ) -> (Template, HashMap<ValueUse, usize>) {
        let mut template = Template::default();
        let mut node_indices: HashMap<ValueUse, usize> = HashMap::new();
        for (index, (value, axes)) in inputs.iter().enumerate() {
            let kind = NodeKind::Parameter { index, name: format!("x{index}") };
            node_indices
                .insert((*value, axes.clone()), template.add(graph, *value, kind, vec![], axes));
        }
        for (&value, uses) in demanded {
            let node = &graph[value];
            for axes in uses {
                if node_indices.contains_key(&(value, axes.clone())) {
                    continue;
                }
                let operand = |(position, &operand): (usize, &ValueId)| {
                    node_indices[&(operand, operand_axes(graph, node, position, axes))]
                };
                let operands = node.operands.iter().enumerate().map(operand).collect();
                let node_index = template.add(graph, value, node.kind.clone(), operands, axes);
                node_indices.insert((value, axes.clone()), node_index);
            }
        }
        (template, node_indices)
    }

    /// Adds a node of this kind with the type of `value`, sized by the chunk along the stage axes in `axes`.
    /// Returns its position.
    fn add(
        &mut self,
        graph: &Graph,
        value: ValueId,
        kind: NodeKind,
        operands: Vec<usize>,
        axes: &[Option<usize>],
    ) -> usize {
        let ArrayType { dtype, shape } = &graph[value].array_type;
        let size = |(&axis, &size): (&Option<usize>, &usize)| {
            axis.map_or(TemplateSize::Fixed(size), TemplateSize::Chunk)
        };
        let sizes = axes.iter().zip(shape.iter()).map(size).collect();
        self.push(kind, &operands, *dtype, sizes)
    }

    /// Adds the value at `node_index` to the outputs.
    pub(super) fn add_output(&mut self, node_index: usize) {
        self.outputs.push(node_index);
    }

    /// Adds the partial results of a reduction of the values at `node_indices` to the outputs; the reduced
    /// axis stays, with size 1. `dtype` is the element type of the results.
    pub(super) fn add_partial_outputs(
        &mut self,
        node_indices: &[usize],
        ChunkReduction { op, axis, is_contraction }: ChunkReduction,
        dtype: DType,
    ) {
        if is_contraction {
            self.is_contraction = true;
            self.add_contraction_output(node_indices, axis, dtype);
            return;
        }
        let node_index = node_indices[0];
        self.reductions.push((node_index, op));
        self.add_reduction_output(node_index, op, axis);
        if op.is_arg_reduction() {
            self.add_reduction_output(node_index, op.extremum(), axis);
            self.add_length_output(node_index, axis);
        }
    }

    /// Whether every reduction is a fold of chunks.
    pub(super) fn is_fold(&self) -> bool {
        !self.is_contraction && self.reductions.iter().all(|(_, op)| !op.is_arg_reduction())
    }

    /// Whether combining with the identity changes no value. A complex product by 1 can turn an infinity into
    /// a NaN.
    pub(super) fn has_exact_identities(&self) -> bool {
        let is_exact = |&(node_index, op): &(usize, ReduceOp)| {
            op.operation() != Op::Mul || self.nodes[node_index].dtype.class() != DTypeClass::Complex
        };
        self.reductions.iter().all(is_exact)
    }

    fn add_reduction_output(&mut self, node_index: usize, op: ReduceOp, axis: usize) {
        let TemplateNode { dtype, mut sizes, .. } = self.nodes[node_index].clone();
        let dtype = op.result_dtype(dtype);
        sizes.remove(axis);
        let reduced = self.push(NodeKind::Reduce { op, axis }, &[node_index], dtype, sizes.clone());
        sizes.insert(axis, TemplateSize::Fixed(1));
        let output = self.push(NodeKind::Reshape, &[reduced], dtype, sizes);
        self.outputs.push(output);
    }

    /// Adds the sum of products of two values along `axis` and the axes behind it to the outputs. The result
    /// keeps them, with size 1.
    fn add_contraction_output(&mut self, factors: &[usize], axis: usize, dtype: DType) {
        let mut sizes = self.nodes[factors[0]].sizes.clone();
        let summed = sizes.len() - axis;
        sizes.truncate(axis);
        let sum = self.push(NodeKind::Contract { summed }, factors, dtype, sizes.clone());
        sizes.resize(axis + summed, TemplateSize::Fixed(1));
        let output = self.push(NodeKind::Reshape, &[sum], dtype, sizes);
        self.outputs.push(output);
    }

    /// Adds the number of elements along the axis to the outputs: a sum of ones.
    fn add_length_output(&mut self, node_index: usize, axis: usize) {
        let (length, rank) =
            (self.nodes[node_index].sizes[axis], self.nodes[node_index].sizes.len());
        let one = NodeKind::Constant(Array::from_scalar(1_i64));
        let one = self.push(one, &[], DType::I64, Vec::new());
        let broadcast = NodeKind::BroadcastInDim(AxisMap::from(Vec::new()));
        let ones = self.push(broadcast, &[one], DType::I64, vec![length]);
        let sum = NodeKind::Reduce { op: ReduceOp::Add, axis: 0 };
        let sum = self.push(sum, &[ones], DType::I64, Vec::new());
        let output =
            self.push(NodeKind::Reshape, &[sum], DType::I64, vec![TemplateSize::Fixed(1); rank]);
        self.outputs.push(output);
    }

    fn push(
        &mut self,
        kind: NodeKind,
        operands: &[usize],
        dtype: DType,
        sizes: Vec<TemplateSize>,
    ) -> usize {
        self.nodes.push(TemplateNode { kind, operands: operands.to_vec(), dtype, sizes });
        self.nodes.len() - 1
    }

    /// The graph for chunks of these sizes along the axes of the stage.
    ///
    /// # Errors
    /// If no array can have such a size.
    pub(super) fn graph(&self, chunk: &[usize]) -> Result<Graph, VerifyErrorKind> {
        let mut assembler = GraphAssembler::new();
        let mut values: Vec<ValueId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = node.add(&mut assembler, &values, chunk)?;
            values.push(value);
        }
        assembler.finish(self.outputs.iter().map(|&output| values[output]).collect())
    }

    /// The graph that combines lanes with `count` chunks of these sizes. Its parameters are the lanes of
    /// each reduction, then for each input one parameter per chunk, or a single one if `is_common`.
    ///
    /// # Errors
    /// If no array can have such a size.
    pub(super) fn lanes_graph(
        &self,
        chunk: &[usize],
        is_common: &[bool],
        count: usize,
    ) -> Result<Graph, VerifyErrorKind> {
        let mut assembler = GraphAssembler::new();
        let parameter = |assembler: &mut GraphAssembler, array_type: ArrayType| {
            let index = assembler.parameter_count();
            let kind = NodeKind::Parameter { index, name: format!("x{index}") };
            assembler.add(kind, &[], array_type)
        };
        let mut lanes = Vec::with_capacity(self.reductions.len());
        for &(node_index, op) in &self.reductions {
            let node = &self.nodes[node_index];
            let array_type = ArrayType::new(op.result_dtype(node.dtype), node.shape(chunk));
            lanes.push(parameter(&mut assembler, array_type)?);
        }
        let inputs = &self.nodes[..is_common.len()];
        let mut chunk_values: Vec<Vec<ValueId>> = vec![Vec::with_capacity(inputs.len()); count];
        for (input, &is_common) in inputs.iter().zip(is_common) {
            let array_type = ArrayType::new(input.dtype, input.shape(chunk));
            let common = match is_common {
                true => Some(parameter(&mut assembler, array_type.clone())?),
                false => None,
            };
            for values in &mut chunk_values {
                values.push(match common {
                    Some(common) => common,
                    None => parameter(&mut assembler, array_type.clone())?,
                });
            }
        }
        let last = self.reductions.iter().map(|&(node_index, _)| node_index + 1).max().unwrap_or(0);
        for mut values in chunk_values {
            for node in &self.nodes[values.len().min(last)..last] {
                let value = node.add(&mut assembler, &values, chunk)?;
                values.push(value);
            }
            for (lanes, &(node_index, op)) in lanes.iter_mut().zip(&self.reductions) {
                let array_type = assembler[*lanes].array_type.clone();
                let operation = NodeKind::Elementwise(op.operation());
                *lanes = assembler.add(operation, &[*lanes, values[node_index]], array_type)?;
            }
        }
        assembler.finish(lanes)
    }
}

impl TemplateNode {
    fn shape(&self, chunk: &[usize]) -> Shape {
        let size = |size: &TemplateSize| match *size {
            TemplateSize::Fixed(size) => size,
            TemplateSize::Chunk(axis) => chunk[axis],
        };
        self.sizes.iter().map(size).collect::<Vec<usize>>().into()
    }

    /// Adds this node to a graph for chunks of these sizes. `values` are the values of the template's
    /// earlier nodes in that graph.
    fn add(
        &self,
        assembler: &mut GraphAssembler,
        values: &[ValueId],
        chunk: &[usize],
    ) -> Result<ValueId, VerifyErrorKind> {
        let operands: Vec<ValueId> = self.operands.iter().map(|&operand| values[operand]).collect();
        let array_type = ArrayType::new(self.dtype, self.shape(chunk));
        let of_operand =
            |assembler: &GraphAssembler| assembler[operands[0]].array_type.shape.to_vec();
        let kind = match &self.kind {
            NodeKind::Slice(slices) => {
                NodeKind::Slice(slices_of_chunk(slices, self, &of_operand(assembler)))
            }
            NodeKind::Reduce { op, axis }
                if is_empty_arg_reduction(*op, &of_operand(assembler), *axis) =>
            {
                return add_zeros(assembler, array_type);
            }
            kind => kind.clone(),
        };
        assembler.add(kind, &operands, array_type)
    }
}

/// Whether the node is an arg-reduction of a chunk without elements. Its partial result is the identity at
/// index 0. If all later elements equal the identity, the tie goes to index 0, which is right: the chunk
/// has length 0, so 0 is also the index of the first later element.
fn is_empty_arg_reduction(op: ReduceOp, shape: &[usize], axis: usize) -> bool {
    op.is_arg_reduction() && shape[axis] == 0
}

fn add_zeros(
    assembler: &mut GraphAssembler,
    array_type: ArrayType,
) -> Result<ValueId, VerifyErrorKind> {
    let zero = Array::from_scalar(0_i64);
    let scalar_type = zero.array_type().clone();
    let zero = assembler.add(NodeKind::Constant(zero), &[], scalar_type)?;
    let broadcast = NodeKind::BroadcastInDim(AxisMap::from(Vec::new()));
    assembler.add(broadcast, &[zero], array_type)
}

/// The slices of a chunk. Along a cut axis the slice is the whole chunk, because an axis can only be cut if
/// its slice is whole.
fn slices_of_chunk(slices: &[AxisSlice], node: &TemplateNode, shape: &[usize]) -> Arc<[AxisSlice]> {
    let of_axis = |(axis, slice): (usize, &AxisSlice)| match node.sizes[axis] {
        TemplateSize::Fixed(_) => *slice,
        TemplateSize::Chunk(_) => AxisSlice::whole(shape[axis]),
    };
    slices.iter().enumerate().map(of_axis).collect()
}
