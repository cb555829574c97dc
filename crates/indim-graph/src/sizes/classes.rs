//! Classes of axes with equal sizes, derived from nodes and facts. A class with an axis of a parameter
//! becomes a symbol, unless a reason requires that its size stays a number.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use indim_shape::Shape;

use super::derivation::Derivation;
use super::facts::{SizeFacts, SlicePadding, SlicedPart};
use super::guards::MAX_SYMBOL_SIZE;
use crate::graph::{Graph, Node, NodeKind, ValueId};

/// The reason why a size is a number and not a symbol, as text for messages.
pub(super) type PinReason = &'static str;

/// A union-find forest over the axes of all values: axes in one class always have equal sizes.
pub(super) struct SizeClasses {
    /// The offset of each value's axes in the lists below.
    starts: Vec<usize>,
    /// The parent of each axis; a root is its own parent.
    parents: Vec<usize>,
    /// For each root, the reason why the size is a number; `None` if it may vary.
    reasons: Vec<Option<PinReason>>,
    /// Sizes that follow from others, each with the axis that has the size.
    derivations: Vec<(Axis, Derivation<Axis>)>,
    /// The results of slices and reshapes that have a derivation instead of pins.
    derived: HashSet<Axis>,
    /// The results of slices whose first index has a fixed distance from the end of the operand's axis.
    from_end: HashSet<Axis>,
    /// The results of slices that are parts of concatenations, each with the axes of the parts before it. One
    /// node may be several parts.
    parts: HashMap<Axis, Vec<Vec<Axis>>>,
    /// The results of slices whose bounds are known as written.
    written: HashSet<Axis>,
}

/// An axis of a value.
pub(super) type Axis = (ValueId, usize);

impl SizeClasses {
    pub(super) fn of(graph: &Graph, facts: &SizeFacts) -> SizeClasses {
        let mut starts = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (_, node) in graph.iter() {
            starts.push(count);
            count += node.array_type.shape.rank();
        }
        let mut classes = SizeClasses {
            starts,
            parents: (0..count).collect(),
            reasons: vec![None; count],
            derivations: Vec::new(),
            derived: HashSet::new(),
            from_end: HashSet::new(),
            parts: HashMap::new(),
            written: HashSet::new(),
        };
        classes.add_derivations(graph, facts);
        for (value, node) in graph.iter() {
            classes.pin_special_sizes(value, &node.array_type.shape);
            classes.add(graph, value, node);
        }
        // The builder may have added values after it finished this graph.
        for (value, axis, reason) in
            facts.pinned().filter(|(value, ..)| value.index() < graph.len())
        {
            classes.pin(value, axis, reason);
        }
        let named_axes =
            facts.named_axes().iter().filter(|(value, ..)| value.index() < graph.len());
        for &(value, axis, name) in named_axes.clone() {
            let mut same = named_axes.clone().filter(|(.., other)| *other == name);
            if let Some(&(first, first_axis, _)) = same.next() {
                classes.join((value, axis), (first, first_axis));
            }
        }
        for &((value, first), (other, other_first)) in facts.equal_shapes() {
            if value.index() < graph.len() && other.index() < graph.len() {
                classes.join_from(graph, (value, first), (other, other_first));
            }
        }
        for &(axis, other) in facts.equal_axes() {
            if axis.0.index() < graph.len() && other.0.index() < graph.len() {
                classes.join(axis, other);
            }
        }
        classes.pin_starts(graph);
        // Sources come before the sizes that follow from them.
        classes.derivations.sort_by_key(|&(axis, _)| axis);
        classes
    }

    /// Adds the slices and reshapes that the builder knows.
    fn add_derivations(&mut self, graph: &Graph, facts: &SizeFacts) {
        for slice in facts.slices().iter().filter(|slice| slice.result.index() < graph.len()) {
            let (of, bounds) = ((slice.operand, slice.axis), slice.bounds);
            let size = graph[slice.operand].array_type.shape[slice.axis];
            let Some(own) = bounds.slice(size) else {
                self.pin(of.0, of.1, "a slice of it is clamped to its size");
                self.pin(slice.result, slice.axis, "a slice has this size");
                continue;
            };
            let (start, is_whole) = (bounds.start_of(&own, size), own.is_whole(size));
            let result = (slice.result, slice.axis);
            let is_from_end = bounds.starts_from_end();
            // One node may have several bounds as written, which agree only for this size.
            let has_other_start =
                self.derived.contains(&result) && self.from_end.contains(&result) != is_from_end;
            let has_no_start = is_whole || own.count() == 0;
            if has_other_start || (is_from_end && has_no_start) {
                self.pin(of.0, of.1, "a slice of it is taken");
            } else if is_from_end {
                self.from_end.insert(result);
            }
            let derivation = Derivation::Slice { of, bounds, start, is_whole };
            self.add_derivation(slice.operand, result, derivation);
            self.written.insert(result);
        }
        for reshape in facts.reshapes().iter().filter(|of| of.result.index() < graph.len()) {
            let axes = |value: ValueId| (0..rank(graph, value)).map(move |axis| (value, axis));
            let target = (reshape.result, reshape.inferred);
            let by = axes(reshape.result).filter(|axis| *axis != target).collect();
            let of = axes(reshape.operand).collect();
            self.add_derivation(reshape.operand, target, Derivation::Quotient { of, by });
        }
        for part in facts.parts() {
            if part.values().all(|value| value.index() < graph.len()) {
                self.add_part(part);
            }
        }
        for padding in facts.paddings() {
            if padding.values().all(|value| value.index() < graph.len()) {
                self.add_padding(facts, padding);
            }
        }
    }

    /// Adds a slice that is a part of a concatenation.
    fn add_part(&mut self, part: &SlicedPart) {
        let (result, axis) = ((part.result, part.axis), part.axis);
        self.join(result, (part.part, axis));
        let before: Vec<Axis> = part.before.iter().map(|&value| (value, axis)).collect();
        if part.result != part.operand {
            self.derived.insert(result);
            // One node may be several parts.
            let starts = self.parts.entry(result).or_default();
            if !starts.contains(&before) {
                starts.push(before);
            }
        }
    }

    /// Makes the sizes before a part numbers if that of the concatenation is one: the node of the part may
    /// also be a slice with a fixed start.
    fn pin_starts(&mut self, graph: &Graph) {
        for ((value, axis), before) in self.parts.clone() {
            let class = self.class(graph[value].operands[0], axis);
            if self.reason(class).is_some() {
                let before = before.into_iter().flatten();
                before.for_each(|(of, axis)| self.pin(of, axis, "a slice of it is taken"));
            }
        }
    }

    /// The slices that are parts of concatenations, each with the axes of the parts before it.
    pub(super) fn parts(&self) -> &HashMap<Axis, Vec<Vec<Axis>>> {
        &self.parts
    }

    /// Whether the bounds of a slice are known as written.
    pub(super) fn is_written(&self, axis: Axis) -> bool {
        self.written.contains(&axis)
    }

    /// Adds the sizes of the arrays before and after the elements of a slice. At most one of them varies with
    /// the size of the sliced axis; the other one is a number that the bounds of the slice state. Those of a
    /// part of a concatenation follow from the other parts.
    fn add_padding(&mut self, facts: &SizeFacts, padding: &SlicePadding) {
        let SlicePadding { slice: [operand, result], axis, low, middle, high } = *padding;
        let of = (operand, result, axis);
        let rest = |other: Option<ValueId>| {
            let by = [Some(middle), other].into_iter().flatten().map(|value| (value, axis));
            Some(Derivation::Difference { of: (operand, axis), by: by.collect() })
        };
        let mut parts = facts.parts().iter();
        let part = parts.find(|part| (part.operand, part.result, part.axis) == of);
        let mut slices = facts.slices().iter();
        let slice = slices.find(|slice| (slice.operand, slice.result, slice.axis) == of);
        let (of_low, of_high) = match (part, slice.map(|slice| slice.bounds)) {
            (Some(part), _) => {
                let before = part.before.iter().map(|&value| (value, axis)).collect();
                (Some(Derivation::Sum { of: before }), rest(low))
            }
            (None, Some(bounds)) => match (bounds.has_fixed_low(), bounds.has_fixed_high()) {
                (true, false) => (None, rest(low)),
                (false, true) => (rest(high), None),
                _ => (None, None),
            },
            (None, None) => (None, None),
        };
        for (side, derivation) in [(low, of_low), (high, of_high)] {
            match (side, derivation) {
                (Some(side), Some(derivation)) => {
                    self.add_derivation(operand, (side, axis), derivation);
                }
                (Some(side), None) => self.pin(side, axis, "a padding has this size"),
                (None, _) => {}
            }
        }
    }

    /// Adds the size of an axis of a value that a builder made from `operand`. If it is the operand itself,
    /// its own node has the reasons for its size.
    fn add_derivation(&mut self, operand: ValueId, axis: Axis, derivation: Derivation<Axis>) {
        if axis.0 != operand {
            self.derived.insert(axis);
        }
        self.derivations.push((axis, derivation));
    }

    /// The sizes that follow from others, each with the axis that has the size.
    pub(super) fn derivations(&self) -> &[(Axis, Derivation<Axis>)] {
        &self.derivations
    }

    /// The results of slices whose first index has a fixed distance from the end of the operand's axis.
    pub(super) fn slices_from_end(&self) -> &HashSet<Axis> {
        &self.from_end
    }

    /// The class of an axis.
    pub(super) fn class(&mut self, value: ValueId, axis: usize) -> usize {
        self.root(self.starts[value.index()] + axis)
    }

    /// The reason why the size of a class is a number; `None` if it may vary.
    pub(super) fn reason(&self, class: usize) -> Option<PinReason> {
        self.reasons[class]
    }

    fn root(&mut self, mut axis: usize) -> usize {
        while self.parents[axis] != axis {
            // Path halving.
            self.parents[axis] = self.parents[self.parents[axis]];
            axis = self.parents[axis];
        }
        axis
    }

    /// Makes the size of an axis a number; the first reason of a class is kept.
    pub(super) fn pin(&mut self, value: ValueId, axis: usize, reason: PinReason) {
        let class = self.class(value, axis);
        self.reasons[class].get_or_insert(reason);
    }

    fn pin_all(&mut self, graph: &Graph, value: ValueId, reason: PinReason) {
        (0..rank(graph, value)).for_each(|axis| self.pin(value, axis, reason));
    }

    /// Pins axes whose size cannot be a symbol.
    fn pin_special_sizes(&mut self, value: ValueId, shape: &Shape) {
        for (axis, &size) in shape.iter().enumerate() {
            let reason = match size {
                0 => "an axis of size 0 needs a program of its own",
                1 => "an axis of size 1 may be broadcast",
                size if size > MAX_SYMBOL_SIZE => "its indices do not fit in 32 bits",
                _ => continue,
            };
            self.pin(value, axis, reason);
        }
    }

    /// Merges the classes of two axes, which always have equal sizes.
    pub(super) fn join(
        &mut self,
        (value, axis): (ValueId, usize),
        (other, other_axis): (ValueId, usize),
    ) {
        let (class, other) = (self.class(value, axis), self.class(other, other_axis));
        if class != other {
            self.parents[class] = other;
            let reason = self.reasons[other].or(self.reasons[class]);
            self.reasons[other] = reason;
        }
    }

    /// Joins the axes of two values in order, as many as the value of lower rank has.
    fn join_all(&mut self, graph: &Graph, value: ValueId, other: ValueId) {
        self.join_from(graph, (value, 0), (other, 0));
    }

    /// Joins the axes of two values in order, from these axes on.
    fn join_from(&mut self, graph: &Graph, (value, first): Axis, (other, other_first): Axis) {
        let axes = (first..rank(graph, value)).zip(other_first..rank(graph, other));
        axes.for_each(|(axis, other_axis)| self.join((value, axis), (other, other_axis)));
    }

    /// Adds the equalities between a node's axes and those of its operands.
    fn add(&mut self, graph: &Graph, value: ValueId, node: &Node) {
        let shape = &node.array_type.shape;
        match &node.kind {
            NodeKind::Parameter { .. } => {}
            NodeKind::Constant(_) => self.pin_all(graph, value, "a constant has this size"),
            NodeKind::Iota { .. } => self.pin_all(graph, value, "an iota has this size"),
            NodeKind::Elementwise(_)
            | NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Scan { .. } => {
                node.operands.iter().for_each(|&operand| self.join_all(graph, value, operand));
            }
            NodeKind::BroadcastInDim(map) => {
                let operand = node.operands[0];
                let sizes = &graph[operand].array_type.shape;
                for (axis, (&target, &size)) in map.iter().zip(sizes.iter()).enumerate() {
                    // An axis of size 1 is pinned already.
                    if size == shape[target] && size != 1 {
                        self.join((operand, axis), (value, target));
                    }
                }
            }
            NodeKind::Reshape => self.add_reshape(graph, value, node.operands[0]),
            NodeKind::Reduce { axis, .. } => {
                let operand = node.operands[0];
                for result_axis in 0..shape.rank() {
                    let operand_axis = result_axis + usize::from(result_axis >= *axis);
                    self.join((operand, operand_axis), (value, result_axis));
                }
            }
            NodeKind::Slice(slices) => {
                let operand = node.operands[0];
                let sizes = &graph[operand].array_type.shape;
                for (axis, (slice, &size)) in slices.iter().zip(sizes.iter()).enumerate() {
                    if slice.is_whole(size) {
                        self.join((operand, axis), (value, axis));
                    } else if !self.derived.contains(&(value, axis)) {
                        self.pin(operand, axis, "a slice of it is taken");
                        self.pin(value, axis, "a slice has this size");
                    }
                }
            }
            NodeKind::Window { axis, .. } => {
                let operand = node.operands[0];
                let others = (0..rank(graph, operand)).filter(|other| other != axis);
                others.for_each(|other| self.join((operand, other), (value, other)));
                self.pin(operand, *axis, "windows of it are taken");
                self.pin(value, *axis, "it counts windows");
                self.pin(value, shape.rank() - 1, "a window has this size");
            }
            NodeKind::Concatenate { axis } => {
                for &part in node.operands.iter() {
                    let others = (0..shape.rank()).filter(|other| other != axis);
                    others.for_each(|other| self.join((part, other), (value, other)));
                }
                let of = node.operands.iter().map(|&part| (part, *axis)).collect();
                self.derivations.push(((value, *axis), Derivation::Sum { of }));
            }
            NodeKind::Take { axis, .. } => self.add_take(graph, value, *axis, node),
            NodeKind::Scatter { axis, .. } => {
                self.join_all(graph, value, node.operands[0]);
                self.add_take(graph, node.operands[2], *axis, node);
            }
            NodeKind::Sort { .. } => {
                node.operands.iter().for_each(|&key| self.join_all(graph, value, key));
            }
            NodeKind::SearchSorted { .. } => self.join_all(graph, value, node.operands[1]),
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                let operands = node.operands.iter();
                operands
                    .for_each(|&operand| self.pin_all(graph, operand, "a loop or branch reads it"));
                self.pin_all(graph, value, "a loop or branch has this size");
            }
            NodeKind::Contract { .. } => {
                self.join_all(graph, node.operands[0], node.operands[1]);
                self.join_all(graph, value, node.operands[0]);
            }
        }
    }

    /// For a reshape that only adds or drops axes of size 1, joins the class of each other axis with that of
    /// the operand's axis; for any other reshape without a derivation, pins all axes.
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
        } else if !(0..rank(graph, value)).any(|axis| self.derived.contains(&(value, axis))) {
            self.pin_all(graph, operand, "it is reshaped");
            self.pin_all(graph, value, "a reshape has this size");
        }
    }

    /// Adds the equalities of a gather with result `value`: the axes of the indices replace `axis`, which
    /// is pinned. For a scatter `value` is its updates, which have the shape of a gather.
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
