//! Broadcasts. An operand that OpenVINO broadcasts by NumPy's rule is only aligned, not materialised:
//! its axes move to the positions of their result axes, between axes of size 1.

use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_model::ReductionMatcher;
use indim_ops::Op;
use indim_shape::{AxisMap, RuleSet, Shape, sort_few_by_key};

use crate::write::file::WriterPort;
use crate::write::idiom::{Idiom, idiom};
use crate::write::layer_writer::LayerWriter;
use crate::write::merge_reductions::reduction;

/// The values of a graph that are written to the file.
pub(super) struct WritePlan {
    is_written: Vec<bool>,
    /// Number of uses of each value.
    pub(super) uses: Vec<usize>,
    /// The idiom whose result is this value, and its operand.
    idioms: Vec<Option<(Idiom, ValueId)>>,
}

impl WritePlan {
    pub(super) fn of(graph: &Graph) -> WritePlan {
        let (mut is_written, uses) = (vec![false; graph.len()], graph.use_counts());
        let mut idioms: Vec<Option<(Idiom, ValueId)>> = Vec::new();
        idioms.resize_with(graph.len(), || None);
        let mut along = ReductionMatcher::default();
        graph.outputs().iter().for_each(|output| is_written[output.index()] = true);
        for (value, node) in graph.iter().rev() {
            is_written[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
            if is_written[value.index()] {
                let idiom = idiom(graph, value, &uses, &mut along);
                let read = idiom.as_ref().map(|(idiom, x)| match idiom {
                    Idiom::Product(product) => product.operands().to_vec(),
                    _ => vec![*x],
                });
                for operand in read.unwrap_or_else(|| operands(graph, node, &uses)) {
                    is_written[operand.index()] = true;
                }
                idioms[value.index()] = idiom;
            }
        }
        WritePlan { is_written, uses, idioms }
    }

    pub(super) fn is_written(&self, value: ValueId) -> bool {
        self.is_written[value.index()]
    }

    /// The idiom whose result is this value, and its operand.
    pub(super) fn idiom(&self, value: ValueId) -> Option<(Idiom, ValueId)> {
        self.idioms[value.index()].clone()
    }
}

/// Values that a node reads in the file. For an aligned operand this is the source of its broadcast; for
/// merged reductions it is the operand of the innermost one.
fn operands<'g>(graph: &'g Graph, node: &'g Node, uses: &[usize]) -> Vec<ValueId> {
    let read = |(position, &operand): (usize, &ValueId)| match node.kind {
        NodeKind::Reduce { op, axis } => reduction(graph, node, (op, axis), uses).0,
        _ => aligned_source(graph, node, position).map_or(operand, |(shown, _)| shown),
    };
    node.operands.iter().enumerate().map(read).collect()
}

/// The source of a broadcast operand and its axis map, if alignment suffices.
pub(super) fn aligned_source<'g>(
    graph: &'g Graph,
    node: &Node,
    position: usize,
) -> Option<(ValueId, &'g AxisMap)> {
    let is_broadcasting = match node.kind {
        // PReLU broadcasts only its slope.
        NodeKind::Elementwise(Op::Prelu) => position > 0,
        NodeKind::Elementwise(_) => node.operands.len() > 1,
        _ => false,
    };
    let (shown, map) = broadcast(graph, node.operands[position])?;
    // NumPy's rule cannot make a result axis that no operand has. One operand is then materialised with
    // this axis: the operand with the most source elements.
    (is_broadcasting && (broadcasts_to_result(graph, node) || position != largest(graph, node)))
        .then_some((shown, map))
}

/// The operand whose source has the most elements.
fn largest(graph: &Graph, node: &Node) -> usize {
    let count = |operand: ValueId| {
        let shown = broadcast(graph, operand).map_or(operand, |(shown, _)| shown);
        graph[shown].array_type.shape.element_count().unwrap_or(usize::MAX)
    };
    let positions = (0..node.operands.len()).rev();
    positions.max_by_key(|&position| count(node.operands[position])).unwrap_or(0)
}

/// The operand and the axis map of a value that is a broadcast; this operand is the source of the
/// broadcast.
fn broadcast(graph: &Graph, value: ValueId) -> Option<(ValueId, &AxisMap)> {
    match &graph[value].kind {
        NodeKind::BroadcastInDim(map) => Some((graph[value].operands[0], map)),
        _ => None,
    }
}

/// Whether the aligned operands broadcast to the shape of the node.
fn broadcasts_to_result(graph: &Graph, node: &Node) -> bool {
    let rank = node.array_type.shape.rank();
    let aligned = |&operand: &ValueId| match broadcast(graph, operand) {
        Some((shown, map)) => aligned_shape(&graph[shown].array_type.shape, map, rank),
        None => node.array_type.shape.clone(),
    };
    let shapes: Vec<Shape> = node.operands.iter().map(aligned).collect();
    RuleSet::Numpy.elaborate(&shapes).is_ok_and(|met| *met.result() == node.array_type.shape)
}

/// A shape of rank `rank`: the sizes of `shape` at the axes in the map, else 1.
fn aligned_shape(shape: &Shape, map: &AxisMap, rank: usize) -> Shape {
    let mut sizes = vec![1; rank];
    map.iter().zip(shape.iter()).for_each(|(&axis, &size)| sizes[axis] = size);
    sizes.into()
}

/// The result axes in ascending order, and the operand axes in the same order.
fn ascending(map: &AxisMap) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..map.len()).collect();
    sort_few_by_key(&mut order, |&axis| map[axis]);
    (order.iter().map(|&axis| map[axis]).collect(), order)
}

impl LayerWriter {
    /// Aligns the axes of a value for NumPy's rule; leading axes can be missing.
    pub(super) fn aligned(&mut self, x: &WriterPort, map: &AxisMap, rank: usize) -> WriterPort {
        let shape = aligned_shape(&x.array_type.shape, map, rank);
        let (axes, order) = ascending(map);
        let sorted = self.transpose(x, &order);
        let is_trailing =
            axes.iter().rev().enumerate().all(|(back, &axis)| axis + back + 1 == rank);
        if is_trailing { sorted } else { self.reshape(&sorted, &shape) }
    }

    /// Materialises a broadcast.
    pub(super) fn broadcast_to(
        &mut self,
        x: &WriterPort,
        map: &AxisMap,
        shape: &Shape,
    ) -> WriterPort {
        let (axes, order) = ascending(map);
        let sorted = self.transpose(x, &order);
        match aligned_shape(&x.array_type.shape, map, shape.rank()) == *shape {
            true => self.reshape(&sorted, shape),
            false => self.broadcast(&sorted, &axes, shape),
        }
    }
}
