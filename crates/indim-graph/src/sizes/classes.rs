//! Classes of axes with equal sizes, derived from the nodes.

use indim_shape::Shape;

use super::facts::SizeFacts;
use super::guards::MAX_SYMBOL_SIZE;
use crate::graph::{Graph, Node, NodeKind, ValueId};

/// Why an axis has the size it has, where that is a number.
pub(super) type Reason = &'static str;

/// The axes of all values, joined where they have one size for certain.
pub(super) struct Classes {
    /// The offset of each value's axes in the lists below.
    starts: Vec<usize>,
    /// The axis with which each one is joined; itself for the last in such a chain.
    joined: Vec<usize>,
    /// The reason why the size is a number.
    reasons: Vec<Option<Reason>>,
}

impl Classes {
    pub(super) fn of(graph: &Graph, facts: &SizeFacts) -> Classes {
        let mut starts = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (_, node) in graph.iter() {
            starts.push(count);
            count += node.array_type.shape.rank();
        }
        let mut classes =
            Classes { starts, joined: (0..count).collect(), reasons: vec![None; count] };
        for (value, node) in graph.iter() {
            classes.pin_special(value, &node.array_type.shape);
            classes.add(graph, value, node);
        }
        for (value, axis, reason) in
            facts.pinned().filter(|(value, ..)| value.index() < graph.len())
        {
            classes.pin(value, axis, reason);
        }
        let named = facts.named().iter().filter(|(value, ..)| value.index() < graph.len());
        for &(value, axis, name) in named.clone() {
            let mut same = named.clone().filter(|(.., other)| *other == name);
            if let Some(&(first, of_first, _)) = same.next() {
                classes.join((value, axis), (first, of_first));
            }
        }
        for (value, other) in facts.equal() {
            if value.index() < graph.len() && other.index() < graph.len() {
                classes.join_all(graph, value, other);
            }
        }
        classes
    }

    /// The class of an axis: equal for axes of one size.
    pub(super) fn class(&mut self, value: ValueId, axis: usize) -> usize {
        self.last(self.starts[value.index()] + axis)
    }

    /// Why the axes of a class have a number for a size.
    pub(super) fn reason(&self, class: usize) -> Option<Reason> {
        self.reasons[class]
    }

    fn last(&mut self, mut axis: usize) -> usize {
        while self.joined[axis] != axis {
            // Halves the way for those who come later.
            self.joined[axis] = self.joined[self.joined[axis]];
            axis = self.joined[axis];
        }
        axis
    }

    fn pin(&mut self, value: ValueId, axis: usize, reason: Reason) {
        let class = self.class(value, axis);
        self.reasons[class].get_or_insert(reason);
    }

    fn pin_all(&mut self, graph: &Graph, value: ValueId, reason: Reason) {
        (0..rank(graph, value)).for_each(|axis| self.pin(value, axis, reason));
    }

    /// Pins the axes of sizes that no symbol may stand for.
    fn pin_special(&mut self, value: ValueId, shape: &Shape) {
        for (axis, &size) in shape.iter().enumerate() {
            let reason = match size {
                0 => "an axis without elements is one of its own kind",
                1 => "an axis of size 1 may be expanded",
                size if size > MAX_SYMBOL_SIZE => "its indices do not fit in 32 bits",
                _ => continue,
            };
            self.pin(value, axis, reason);
        }
    }

    fn join(&mut self, (value, axis): (ValueId, usize), (other, of_other): (ValueId, usize)) {
        let (class, other) = (self.class(value, axis), self.class(other, of_other));
        if class != other {
            self.joined[class] = other;
            let reason = self.reasons[other].or(self.reasons[class]);
            self.reasons[other] = reason;
        }
    }

    /// Two values of one shape.
    fn join_all(&mut self, graph: &Graph, value: ValueId, other: ValueId) {
        let ranks = [value, other].map(|value| rank(graph, value));
        for axis in 0..ranks[0].min(ranks[1]) {
            self.join((value, axis), (other, axis));
        }
    }

    /// The equalities between a node's axes and those of its operands.
    fn add(&mut self, graph: &Graph, value: ValueId, node: &Node) {
        let shape = &node.array_type.shape;
        match &node.kind {
            NodeKind::Parameter { .. } => {}
            NodeKind::Constant(_) => self.pin_all(graph, value, "a constant has this size"),
            NodeKind::Iota { .. } => {
                self.pin_all(graph, value, "the indices along an axis are counted")
            }
            NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast => {
                node.operands.iter().for_each(|&operand| self.join_all(graph, value, operand));
            }
            NodeKind::BroadcastInDim(map) => {
                let operand = node.operands[0];
                let sizes = &graph[operand].array_type.shape;
                for (axis, (&target, &size)) in map.iter().zip(sizes.iter()).enumerate() {
                    // An axis of size 1 is a number, so it states nothing about the result.
                    if size == shape[target] && size != 1 {
                        self.join((operand, axis), (value, target));
                    }
                }
            }
            NodeKind::Reshape => self.add_reshape(graph, value, node.operands[0]),
            NodeKind::Reduce { axis, .. } => {
                let operand = node.operands[0];
                for left in 0..shape.rank() {
                    self.join((operand, left + usize::from(left >= *axis)), (value, left));
                }
            }
            NodeKind::Slice(slices) => {
                let operand = node.operands[0];
                let sizes = &graph[operand].array_type.shape;
                for (axis, (slice, &size)) in slices.iter().zip(sizes.iter()).enumerate() {
                    if slice.is_whole(size) {
                        self.join((operand, axis), (value, axis));
                    } else {
                        self.pin(operand, axis, "a slice of it is taken");
                        self.pin(value, axis, "a slice has this size");
                    }
                }
            }
            NodeKind::Concatenate { axis } => {
                for &part in node.operands.iter() {
                    let others = (0..shape.rank()).filter(|other| other != axis);
                    others.for_each(|other| self.join((part, other), (value, other)));
                    self.pin(part, *axis, "it is concatenated with others");
                }
                self.pin(value, *axis, "a concatenation has this size");
            }
            NodeKind::Take { axis, .. } => self.add_take(graph, value, *axis, node),
            NodeKind::ScatterAdd { axis, .. } => {
                self.join_all(graph, value, node.operands[0]);
                self.add_take(graph, node.operands[2], *axis, node);
            }
        }
    }

    /// A reshape that only adds or drops axes of size 1 keeps the others.
    fn add_reshape(&mut self, graph: &Graph, value: ValueId, operand: ValueId) {
        let larger = |of: ValueId| {
            let sizes = graph[of].array_type.shape.iter().copied().enumerate();
            sizes.filter(|&(_, size)| size != 1).collect::<Vec<(usize, usize)>>()
        };
        let (from, to) = (larger(operand), larger(value));
        let sizes =
            |axes: &[(usize, usize)]| axes.iter().map(|axis| axis.1).collect::<Vec<usize>>();
        if sizes(&from) == sizes(&to) {
            for (&(axis, _), &(target, _)) in from.iter().zip(&to) {
                self.join((operand, axis), (value, target));
            }
        } else {
            self.pin_all(graph, operand, "it is reshaped");
            self.pin_all(graph, value, "a reshape has this size");
        }
    }

    /// The axes of the indices stand in the place of the one along which elements are taken.
    fn add_take(&mut self, graph: &Graph, value: ValueId, axis: usize, node: &Node) {
        let (table, indices) = (node.operands[0], node.operands[1]);
        let (table_rank, taken) = (rank(graph, table), rank(graph, indices));
        self.pin(table, axis, "elements are taken along it");
        (0..axis).for_each(|axis| self.join((table, axis), (value, axis)));
        (0..taken).for_each(|of| self.join((indices, of), (value, axis + of)));
        (axis + 1..table_rank).for_each(|of| self.join((table, of), (value, of + taken - 1)));
    }
}

fn rank(graph: &Graph, value: ValueId) -> usize {
    graph[value].array_type.shape.rank()
}
