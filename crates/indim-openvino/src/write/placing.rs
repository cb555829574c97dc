//! Broadcasts: where operands of an operation meet by NumPy's rule they need not be made, only lie right.

use indim_graph::{Graph, Node, NodeKind, ValueId};
use indim_model::ReductionMatcher;
use indim_ops::Op;
use indim_shape::{AxisMap, RuleSet, Shape};

use crate::write::file::Port;
use crate::write::idiom::{Idiom, idiom};
use crate::write::maker::Maker;
use crate::write::reducing::{reduction, uses};

/// Which values of a graph become values of the file.
pub(super) struct Placing {
    is_made: Vec<bool>,
    /// How often each value is used.
    pub(super) uses: Vec<usize>,
    /// What ends at each value that is written.
    idioms: Vec<Option<(Idiom, ValueId)>>,
}

impl Placing {
    pub(super) fn of(graph: &Graph) -> Placing {
        let (mut is_made, uses) = (vec![false; graph.len()], uses(graph));
        let mut idioms: Vec<Option<(Idiom, ValueId)>> = Vec::new();
        idioms.resize_with(graph.len(), || None);
        let mut along = ReductionMatcher::default();
        graph.outputs().iter().for_each(|output| is_made[output.index()] = true);
        for (value, node) in graph.iter().rev() {
            is_made[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
            if is_made[value.index()] {
                let idiom = idiom(graph, value, &uses, &mut along);
                let read = idiom.as_ref().map(|(_, x)| vec![*x]);
                for operand in read.unwrap_or_else(|| operands(graph, node, &uses)) {
                    is_made[operand.index()] = true;
                }
                idioms[value.index()] = idiom;
            }
        }
        Placing { is_made, uses, idioms }
    }

    pub(super) fn is_made(&self, value: ValueId) -> bool {
        self.is_made[value.index()]
    }

    /// The one operation that several nodes are, of which this is the last, and the value that it reads.
    pub(super) fn idiom(&self, value: ValueId) -> Option<(Idiom, ValueId)> {
        self.idioms[value.index()].clone()
    }
}

/// What a node reads in the file: of operands that only have to lie right, what these show; of reductions,
/// what the first of them reads.
fn operands<'g>(graph: &'g Graph, node: &'g Node, uses: &[usize]) -> Vec<ValueId> {
    let read = |(position, &operand): (usize, &ValueId)| match node.kind {
        NodeKind::Reduce { op, axis } => reduction(graph, node, (op, axis), uses).0,
        _ => shown_only(graph, node, position).map_or(operand, |(shown, _)| shown),
    };
    node.operands.iter().enumerate().map(read).collect()
}

/// What an operand shows, and where its axes land, if NumPy's rule does the rest.
pub(super) fn shown_only<'g>(
    graph: &'g Graph,
    node: &Node,
    position: usize,
) -> Option<(ValueId, &'g AxisMap)> {
    let is_meeting = match node.kind {
        // PReLU broadcasts its slope alone.
        NodeKind::Elementwise(Op::Prelu) => position > 0,
        NodeKind::Elementwise(_) => node.operands.len() > 1,
        _ => false,
    };
    let (shown, map) = broadcast(graph, node.operands[position])?;
    // Axes that only the result has must come from some operand: from the one with the most elements.
    (is_meeting && (meets(graph, node) || position != largest(graph, node))).then_some((shown, map))
}

/// The operand that shows the most elements.
fn largest(graph: &Graph, node: &Node) -> usize {
    let count = |operand: ValueId| {
        let shown = broadcast(graph, operand).map_or(operand, |(shown, _)| shown);
        graph[shown].array_type.shape.element_count().unwrap_or(usize::MAX)
    };
    let positions = (0..node.operands.len()).rev();
    positions.max_by_key(|&position| count(node.operands[position])).unwrap_or(0)
}

fn broadcast(graph: &Graph, value: ValueId) -> Option<(ValueId, &AxisMap)> {
    match &graph[value].kind {
        NodeKind::BroadcastInDim(map) => Some((graph[value].operands[0], map)),
        _ => None,
    }
}

/// Whether the operands, each with its axes where they land, give the node's shape by themselves.
fn meets(graph: &Graph, node: &Node) -> bool {
    let rank = node.array_type.shape.rank();
    let lying = |&operand: &ValueId| match broadcast(graph, operand) {
        Some((shown, map)) => lying_shape(&graph[shown].array_type.shape, map, rank),
        None => node.array_type.shape.clone(),
    };
    let shapes: Vec<Shape> = node.operands.iter().map(lying).collect();
    RuleSet::Numpy.elaborate(&shapes).is_ok_and(|met| *met.result() == node.array_type.shape)
}

/// A shape with axes of size 1 for those that its own do not land on.
fn lying_shape(shape: &Shape, map: &AxisMap, rank: usize) -> Shape {
    let mut sizes = vec![1; rank];
    map.iter().zip(shape.iter()).for_each(|(&axis, &size)| sizes[axis] = size);
    sizes.into()
}

/// Where axes land, in ascending order, and which axes those are.
fn ascending(map: &AxisMap) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..map.len()).collect();
    order.sort_by_key(|&axis| map[axis]);
    (order.iter().map(|&axis| map[axis]).collect(), order)
}

impl Maker {
    /// A value whose axes lie where they land, as NumPy's rule has it: axes in front may be left out.
    pub(super) fn lying(&mut self, x: &Port, map: &AxisMap, rank: usize) -> Port {
        let shape = lying_shape(&x.array_type.shape, map, rank);
        let (axes, order) = ascending(map);
        let sorted = self.transpose(x, &order);
        let is_trailing =
            axes.iter().rev().enumerate().all(|(back, &axis)| axis + back + 1 == rank);
        if is_trailing { sorted } else { self.reshape(&sorted, &shape) }
    }

    /// A value with all the elements that the explicit form shows.
    pub(super) fn spread(&mut self, x: &Port, map: &AxisMap, shape: &Shape) -> Port {
        let (axes, order) = ascending(map);
        let sorted = self.transpose(x, &order);
        match lying_shape(&x.array_type.shape, map, shape.rank()) == *shape {
            true => self.reshape(&sorted, shape),
            false => self.broadcast(&sorted, &axes, shape),
        }
    }
}
