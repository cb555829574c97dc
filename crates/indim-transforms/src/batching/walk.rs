//! The rule of each kind of node: how it computes all elements of the batch at once.

use indim_graph::{
    AxisSlice, Graph, GraphError, GraphErrorKind, Node, NodeKind, SizeFacts, ValueId,
};
use indim_ops::ArrayType;
use indim_shape::{AxisMap, Shape};

use super::control::ControlResults;
use super::{VMAP, vmap_error};
use crate::BuildResult;
use indim_builder::{GraphBuilder, NodeAccess, Value};

/// A value of the vectorised graph.
#[derive(Debug, Clone)]
pub(super) struct BatchValue {
    pub(super) value: Value,
    /// Whether the batch is its first axis. Otherwise the value is the same for all elements.
    pub(super) is_batched: bool,
}

/// Adds vectorised nodes to a builder.
pub(super) struct Batcher<'a> {
    pub(super) b: &'a GraphBuilder,
    /// The number of elements of the batch.
    pub(super) size: usize,
    /// The size facts of the graph's builder, if its sizes may vary.
    pub(super) facts: Option<&'a SizeFacts>,
}

impl Batcher<'_> {
    /// Adds the nodes of `graph` with these values of its parameters; returns its outputs.
    pub(super) fn graph(
        &self,
        graph: &Graph,
        parameters: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        let values = self.values(graph, parameters)?;
        Ok(graph.outputs().iter().map(|output| values[output.index()].clone()).collect())
    }

    /// Adds the nodes of `graph` with these values of its parameters; returns the value of each node.
    pub(super) fn values(
        &self,
        graph: &Graph,
        parameters: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        let mut values: Vec<BatchValue> = Vec::with_capacity(graph.len());
        let mut controls = ControlResults::of(graph);
        for (value, node) in graph.iter() {
            let operands: Vec<BatchValue> =
                node.operands.iter().map(|operand| values[operand.index()].clone()).collect();
            values.push(match &node.kind {
                NodeKind::Parameter { index, .. } => parameters[*index].clone(),
                NodeKind::Constant(count) if self.facts.is_some_and(|of| of.is_count(value)) => {
                    BatchValue { value: self.b.add_distinct(count), is_batched: false }
                }
                _ if operands.iter().all(|operand| !operand.is_batched) => {
                    self.shared(node, &operands)?
                }
                NodeKind::While { result, .. } | NodeKind::Branch { result, .. } => {
                    self.control((value, node), &operands, &mut controls)?[*result].clone()
                }
                NodeKind::Take { axis, mode } => {
                    self.take(*axis, *mode, &operands[0], &operands[1])?
                }
                NodeKind::Scatter { op, axis, mode } => {
                    self.scatter((*op, *axis, *mode), &operands)?
                }
                NodeKind::SearchSorted { .. } => self.search(node, &operands)?,
                _ => self.with_batch_axis(node, &operands)?,
            });
        }
        Ok(values)
    }

    /// A node of values that all elements share.
    fn shared(&self, node: &Node, operands: &[BatchValue]) -> Result<BatchValue, GraphError> {
        let operands = self.ids_of(operands.iter().map(|operand| &operand.value))?;
        let value = self.b.add_node(node.kind.clone(), &operands, node.array_type.clone());
        Ok(BatchValue { value, is_batched: false })
    }

    /// A node of the same kind whose operands and result have the batch as an additional first axis.
    fn with_batch_axis(
        &self,
        node: &Node,
        operands: &[BatchValue],
    ) -> Result<BatchValue, GraphError> {
        let operands = operands.iter().map(|operand| self.batched(operand));
        let operands = operands.collect::<Result<Vec<Value>, GraphError>>()?;
        let array_type = self.batched_type(&node.array_type)?;
        let kind = after_batch_axis(&node.kind, self.size);
        let value = self.b.add_node(kind, &self.ids_of(&operands)?, array_type);
        Ok(BatchValue { value, is_batched: true })
    }

    /// A search in one table, which all elements share, or in the table of each element.
    fn search(&self, node: &Node, operands: &[BatchValue]) -> Result<BatchValue, GraphError> {
        if operands[0].is_batched {
            return Ok(self.one_by_one(node, operands)?.swap_remove(0));
        }
        let operands = self.ids_of(operands.iter().map(|operand| &operand.value))?;
        let array_type = self.batched_type(&node.array_type)?;
        let value = self.b.add_node(node.kind.clone(), &operands, array_type);
        Ok(BatchValue { value, is_batched: true })
    }

    /// The value with the batch as its first axis; a value that all elements share is broadcast.
    pub(super) fn batched(&self, value: &BatchValue) -> BuildResult {
        if value.is_batched {
            return Ok(value.value.clone());
        }
        let id = self.b.id(VMAP, &value.value)?;
        let of = value.value.array_type()?;
        let map = (1..=of.shape.rank()).collect::<Vec<usize>>();
        let result = self.batched_type(&of)?;
        self.b.checked_broadcast(VMAP, id, &AxisMap::from(map), &result.shape)
    }

    /// The type with the batch as an additional first axis; E5 `too-large` if it does not fit into memory.
    pub(super) fn batched_type(&self, of: &ArrayType) -> Result<ArrayType, GraphError> {
        let sizes = core::iter::once(self.size).chain(of.shape.iter().copied());
        let batched = ArrayType::new(of.dtype, sizes.collect::<Shape>());
        match batched.shape.byte_count(of.dtype.size()) {
            Ok(_) => Ok(batched),
            Err(error) => Err(vmap_error(GraphErrorKind::Shape(Box::new(error)))),
        }
    }

    pub(super) fn ids_of<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
    ) -> Result<Vec<ValueId>, GraphError> {
        values.into_iter().map(|value| self.b.id(VMAP, value)).collect()
    }
}

/// The kind of a node whose operands and result have the batch, of this size, as an additional first axis.
fn after_batch_axis(kind: &NodeKind, size: usize) -> NodeKind {
    let mut kind = kind.clone();
    match &mut kind {
        NodeKind::BroadcastInDim(map) => {
            let shifted = map.iter().map(|axis| axis + 1);
            *map = AxisMap::from(core::iter::once(0).chain(shifted).collect::<Vec<usize>>());
        }
        NodeKind::Slice(slices) => {
            let whole = core::iter::once(AxisSlice::whole(size));
            *slices = whole.chain(slices.iter().copied()).collect();
        }
        NodeKind::Reduce { axis, .. }
        | NodeKind::Scan { axis, .. }
        | NodeKind::Sort { axis, .. }
        | NodeKind::Window { axis, .. }
        | NodeKind::Concatenate { axis } => *axis += 1,
        NodeKind::Elementwise(_)
        | NodeKind::Convert
        | NodeKind::Bitcast
        | NodeKind::Reshape
        | NodeKind::Contract { .. } => {}
        NodeKind::Parameter { .. }
        | NodeKind::Constant(_)
        | NodeKind::Iota { .. }
        | NodeKind::Take { .. }
        | NodeKind::Scatter { .. }
        | NodeKind::SearchSorted { .. }
        | NodeKind::While { .. }
        | NodeKind::Branch { .. } => {
            unreachable!("invariant: `Batcher::graph` has a rule for nodes of this kind")
        }
    }
    kind
}
