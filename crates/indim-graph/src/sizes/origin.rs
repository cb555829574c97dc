//! Origins of sizes: the axes of parameters that have a size, or the operation that added an axis of size 1.

use super::classes::{Axis, SizeClasses};
use super::derivation::Derivation;
use super::facts::{SizeFacts, ValueAxis};
use crate::graph::{Graph, Node, NodeKind, ValueId};

/// The origin of the size of an axis. It is the same for all sizes of the parameters with which the same
/// operations make the same broadcasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeOrigin {
    /// The axes of parameters that have this size.
    Parameters(Vec<ValueAxis>),
    /// The axis was added with the size 1.
    One,
    /// Unknown.
    Unknown,
}

impl SizeFacts {
    /// The origin of the size of this axis, as nodes and facts state it.
    pub fn origin(&self, graph: &Graph, axis: ValueAxis) -> SizeOrigin {
        origin(self, &mut SizeClasses::of(graph, self), graph, axis)
    }
}

fn origin(
    facts: &SizeFacts,
    classes: &mut SizeClasses,
    graph: &Graph,
    (value, axis): Axis,
) -> SizeOrigin {
    let class = classes.class(value, axis);
    let axes = |of: ValueId| (0..graph[of].array_type.shape.rank()).map(move |axis| (of, axis));
    let all = graph.iter().flat_map(|(of, _)| axes(of));
    let same: Vec<Axis> = all.filter(|&(of, axis)| classes.class(of, axis) == class).collect();
    if same.iter().any(|axis| may_differ(facts, classes, graph, *axis)) {
        return SizeOrigin::Unknown;
    }
    let is_parameter = |(of, _): &Axis| graph.parameters().contains(of);
    let parameters: Vec<Axis> = same.iter().copied().filter(is_parameter).collect();
    if !parameters.is_empty() {
        return SizeOrigin::Parameters(parameters);
    }
    let is_added = graph[value].array_type.shape[axis] == 1
        && same.iter().all(|&(of, _)| keeps_units(graph, &graph[of]));
    if is_added { SizeOrigin::One } else { SizeOrigin::Unknown }
}

/// Whether an axis may have the size of the others of its class in the first call alone: a slice that was
/// whole then may be cut for other sizes, and a reshape had these sizes by chance.
fn may_differ(facts: &SizeFacts, classes: &SizeClasses, graph: &Graph, axis: Axis) -> bool {
    matches!(graph[axis.0].kind, NodeKind::Slice(_))
        || facts.slices().iter().any(|slice| (slice.result, slice.axis) == axis)
        || classes.derivations().iter().any(|(of, derivation)| *of == axis && !is_same(derivation))
}

/// Whether a derivation gives the size of its source: `reshape(-1)` of a vector.
fn is_same(derivation: &Derivation<Axis>) -> bool {
    matches!(derivation, Derivation::Quotient { of, by } if of.len() == 1 && by.is_empty())
}

/// Whether an axis of size 1 of a node either was added with this size, or is one of its operands.
fn keeps_units(graph: &Graph, node: &Node) -> bool {
    match &node.kind {
        NodeKind::Constant(_)
        | NodeKind::Iota { .. }
        | NodeKind::Elementwise(_)
        | NodeKind::Convert
        | NodeKind::Bitcast
        | NodeKind::BroadcastInDim(_)
        | NodeKind::Reduce { .. }
        | NodeKind::Scan { .. }
        | NodeKind::Sort { .. }
        | NodeKind::Contract { .. } => true,
        // It is unknown which of several axes of size 1 were added.
        NodeKind::Reshape => {
            let of = &graph[node.operands[0]].array_type.shape;
            of.iter().eq(node.array_type.shape.iter().filter(|size| **size != 1))
        }
        _ => false,
    }
}
