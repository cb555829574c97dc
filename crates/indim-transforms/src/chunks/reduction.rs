//! Nodes that can be computed chunk by chunk along an axis that the result lacks: reductions, and
//! contractions with one summed axis.

use indim_graph::{Graph, NodeKind, ValueId};
use indim_ops::ReduceOp;

use super::cuts::CutPolicy;

/// How a node is computed over chunks of its operands along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkReduction {
    /// The operation that combines the results of neighbouring chunks.
    pub op: ReduceOp,
    /// The axis of the operands; the result lacks it.
    pub axis: usize,
    /// Whether each chunk is contracted, not reduced.
    pub is_contraction: bool,
}

impl ChunkReduction {
    /// The reduction of a node; `None` if its operands must be whole along each axis that the result lacks.
    ///
    /// A contraction of several axes longer than 1 has none: its blocks of 512 products would not end where
    /// a chunk ends.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::{DType, ReduceOp};
    /// use indim_transforms::chunks::ChunkReduction;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [1000, 3])?;
    /// let graph = b.finish(&[b.contract(&x, &x, 1)?])?;
    /// let product = ChunkReduction::of(&graph, graph.outputs()[0]).unwrap();
    /// assert_eq!((product.op, product.axis), (ReduceOp::Add, 1));
    /// assert_eq!(ChunkReduction::of(&graph, graph.parameters()[0]), None);
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Panics
    /// If the graph has no such value.
    pub fn of(graph: &Graph, value: ValueId) -> Option<ChunkReduction> {
        let node = &graph[value];
        match node.kind {
            NodeKind::Reduce { op, axis } => {
                Some(ChunkReduction { op, axis, is_contraction: false })
            }
            NodeKind::Contract { .. } => {
                let factors = &graph[node.operands[0]].array_type.shape;
                let mut axes = node.array_type.shape.rank()..factors.rank();
                let axis = axes.find(|&axis| factors[axis] != 1)?;
                let is_only = axes.all(|axis| factors[axis] == 1);
                is_only.then_some(ChunkReduction { op: ReduceOp::Add, axis, is_contraction: true })
            }
            _ => None,
        }
    }

    /// The legal positions of cuts along the axis.
    pub(super) fn policy(&self, graph: &Graph, value: ValueId) -> CutPolicy {
        // A contraction of `f32` adds the sums of its blocks in `f64`, the type of its result.
        let value = if self.is_contraction { value } else { graph[value].operands[0] };
        match self.op.is_ordered(graph[value].array_type.dtype) {
            true => CutPolicy::Aligned,
            false => CutPolicy::Anywhere,
        }
    }
}
