//! Cuts: the axes of values that are cut together, and their legal positions.

use indim_graph::{Graph, Node, NodeKind, ValueId};

use super::reduction::ChunkReduction;

/// The legal positions of a cut along an axis, from the loosest policy to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutPolicy {
    /// Between any two elements.
    Anywhere,
    /// Into pieces of `512 * 2^k` elements, each beginning at a multiple of its length; the last may be
    /// shorter. Each piece is then a node of the fixed tree of a sum along the axis.
    Aligned,
    /// Nowhere: some operation needs all elements along an axis at once.
    Nowhere,
}

/// Axes that are cut together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of elements along each of the axes that are cut together.
    pub size: usize,
    /// The legal positions.
    pub policy: CutPolicy,
}

/// The cuts of a graph. An axis of size 1 has none.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_transforms::chunks::{Cuts, CutPolicy};
/// use indim_ops::{DType, ReduceOp};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [1000, 3])?;
/// let v = b.parameter("v", DType::F64, [3])?;
/// let graph = b.finish(&[b.reduce(ReduceOp::Add, b.sub(&x, &v, &[1])?, 0)?])?;
///
/// let cuts = Cuts::of(&graph);
/// let [x, v] = [graph.parameters()[0], graph.parameters()[1]];
/// assert_eq!(cuts.axes(x)[1], cuts.axes(v)[0]); // one cut, because the operands meet
/// let [rows, columns] = [cuts.axes(x)[0].unwrap(), cuts.axes(x)[1].unwrap()];
/// assert_eq!(cuts.cuts()[rows].policy, CutPolicy::Aligned); // a sum runs along it
/// assert_eq!(cuts.cuts()[columns].policy, CutPolicy::Anywhere);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cuts {
    /// The cut of each axis of each value.
    axes: Vec<Vec<Option<usize>>>,
    cuts: Vec<Cut>,
}

impl Cuts {
    /// The cuts of a graph, numbered in the order in which they first occur: in the parameters, then in the
    /// other values.
    pub fn of(graph: &Graph) -> Cuts {
        AxisForest::of(graph, false).finish(graph)
    }

    /// The cuts.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The cut of each axis of a value; `None` for an axis of size 1.
    ///
    /// # Panics
    /// If the graph has no such value.
    pub fn axes(&self, value: ValueId) -> &[Option<usize>] {
        &self.axes[value.index()]
    }
}

/// The class of each axis of each value, as a number. Axes that operations traverse together have one
/// class, also if one of them has size 1 and is broadcast. So labels of the indices along one axis of a
/// class are valid for every axis of the class.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_transforms::chunks::axis_classes;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [5, 3])?;
/// let v = b.parameter("v", DType::F64, [1])?;
/// let graph = b.finish(&[b.numpy().sub(&x, &v)?])?;
/// let axes = axis_classes(&graph);
/// let [x, v] = [graph.parameters()[0], graph.parameters()[1]];
/// assert_eq!(axes[x.index()][1], axes[v.index()][0]);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn axis_classes(graph: &Graph) -> Vec<Vec<usize>> {
    let mut forest = AxisForest::of(graph, true);
    let mut classes = |(value, node): (ValueId, &Node)| {
        let first_axis = forest.first_axis[value.index()];
        (first_axis..first_axis + node.array_type.shape.rank())
            .map(|axis| forest.root(axis))
            .collect()
    };
    graph.iter().map(&mut classes).collect()
}

/// The axes that a reshape preserves, as pairs of an axis in `from` and an axis in `to`.
pub(super) fn preserved_axes(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if from.contains(&0) {
        return pairs;
    }
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        if from[i] == 1 || to[j] == 1 {
            (i, j) = (i + usize::from(from[i] == 1), j + usize::from(from[i] != 1));
            continue;
        }
        let (begin, mut left, mut right) = ((i, j), from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        // Axes that are merged or split: advance until both sides have the same number of elements.
        while left != right {
            if left < right {
                (left, i) = (left * from[i], i + 1);
            } else {
                (right, j) = (right * to[j], j + 1);
            }
        }
        if (i, j) == (begin.0 + 1, begin.1 + 1) {
            pairs.push(begin);
        }
    }
    pairs
}

/// A union-find forest over all axes of all values.
struct AxisForest {
    /// The index of each value's first axis in `parents` and `policies`.
    first_axis: Vec<usize>,
    parents: Vec<usize>,
    /// The policy of each class of axes, at the root of its tree.
    policies: Vec<CutPolicy>,
    /// Whether an axis of size 1 is joined to the axis that it is broadcast to.
    joins_expanded: bool,
}

impl AxisForest {
    fn of(graph: &Graph, joins_expanded: bool) -> AxisForest {
        let mut forest = AxisForest::new(graph, joins_expanded);
        for (value, node) in graph.iter() {
            forest.add(graph, value, node);
        }
        forest
    }

    fn new(graph: &Graph, joins_expanded: bool) -> AxisForest {
        let mut first_axis = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (_, node) in graph.iter() {
            first_axis.push(count);
            count += node.array_type.shape.rank();
        }
        let policies = vec![CutPolicy::Anywhere; count];
        AxisForest { first_axis, parents: (0..count).collect(), policies, joins_expanded }
    }

    /// The root of the class of an axis.
    fn root(&mut self, mut axis: usize) -> usize {
        while self.parents[axis] != axis {
            self.parents[axis] = self.parents[self.parents[axis]];
            axis = self.parents[axis];
        }
        axis
    }

    /// Joins the classes of two axes; the stricter policy holds.
    fn join(&mut self, (x, x_axis): (ValueId, usize), (y, y_axis): (ValueId, usize)) {
        let x = self.root(self.first_axis[x.index()] + x_axis);
        let y = self.root(self.first_axis[y.index()] + y_axis);
        let (parent, child) = (x.min(y), x.max(y));
        self.parents[child] = parent;
        self.policies[parent] = self.policies[parent].max(self.policies[child]);
    }

    /// Makes the policy of the class of an axis at least as strict as `policy`.
    fn restrict(&mut self, value: ValueId, axis: usize, policy: CutPolicy) {
        let root = self.root(self.first_axis[value.index()] + axis);
        self.policies[root] = self.policies[root].max(policy);
    }

    /// Joins pairs of an axis of `operand` and an axis of `value`; the other axes of both are cut nowhere.
    fn join_pairs(
        &mut self,
        graph: &Graph,
        (operand, value): (ValueId, ValueId),
        pairs: &[(usize, usize)],
    ) {
        for &(from, to) in pairs {
            self.join((operand, from), (value, to));
        }
        for axis in 0..graph[operand].array_type.shape.rank() {
            if pairs.iter().all(|&(from, _)| from != axis) {
                self.restrict(operand, axis, CutPolicy::Nowhere);
            }
        }
        for axis in 0..graph[value].array_type.shape.rank() {
            if pairs.iter().all(|&(_, to)| to != axis) {
                self.restrict(value, axis, CutPolicy::Nowhere);
            }
        }
    }

    /// Joins the axes that a node traverses together. This may join axes of size 1 to other axes; `finish`
    /// drops those of size 1.
    fn add(&mut self, graph: &Graph, value: ValueId, node: &Node) {
        let shape = &node.array_type.shape;
        match &node.kind {
            NodeKind::Parameter { .. } => {}
            NodeKind::Constant(_) => {
                (0..shape.rank()).for_each(|axis| self.restrict(value, axis, CutPolicy::Nowhere));
            }
            NodeKind::Iota { axis } => self.restrict(value, *axis, CutPolicy::Nowhere),
            NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast => {
                for &operand in node.operands.iter() {
                    (0..shape.rank()).for_each(|axis| self.join((operand, axis), (value, axis)));
                }
            }
            NodeKind::Scan { axis, .. } => {
                let operand = node.operands[0];
                (0..shape.rank()).for_each(|axis| self.join((operand, axis), (value, axis)));
                self.restrict(operand, *axis, CutPolicy::Nowhere);
            }
            NodeKind::BroadcastInDim(map) => {
                let operand = node.operands[0];
                for (axis, &to) in map.iter().enumerate() {
                    if self.joins_expanded || graph[operand].array_type.shape[axis] == shape[to] {
                        self.join((operand, axis), (value, to));
                    }
                }
            }
            NodeKind::Reshape => {
                let operand = node.operands[0];
                let pairs = preserved_axes(&graph[operand].array_type.shape, shape);
                self.join_pairs(graph, (operand, value), &pairs);
            }
            NodeKind::Reduce { axis, .. } => {
                let operand = node.operands[0];
                for result_axis in 0..shape.rank() {
                    let operand_axis = result_axis + usize::from(result_axis >= *axis);
                    self.join((operand, operand_axis), (value, result_axis));
                }
                self.restrict(operand, *axis, reduction_policy(graph, value, *axis));
            }
            NodeKind::Slice(slices) => {
                let operand = node.operands[0];
                let from = &graph[operand].array_type.shape;
                let whole_axes =
                    (0..shape.rank()).filter(|&axis| slices[axis].is_whole(from[axis]));
                let pairs: Vec<_> = whole_axes.map(|axis| (axis, axis)).collect();
                self.join_pairs(graph, (operand, value), &pairs);
            }
            NodeKind::Window { axis, .. } => {
                let outer_axes = 0..shape.rank() - 1;
                let pairs: Vec<_> =
                    outer_axes.filter(|other| other != axis).map(|a| (a, a)).collect();
                self.join_pairs(graph, (node.operands[0], value), &pairs);
            }
            NodeKind::Concatenate { axis } => {
                let pairs: Vec<_> =
                    (0..shape.rank()).filter(|other| other != axis).map(|a| (a, a)).collect();
                for &operand in node.operands.iter() {
                    self.join_pairs(graph, (operand, value), &pairs);
                }
            }
            NodeKind::Take { axis, .. } => self.add_take(graph, value, node, *axis),
            NodeKind::Scatter { axis, .. } => self.add_scatter(graph, value, node, *axis),
            NodeKind::Sort { axis, .. } => {
                for &key in node.operands.iter() {
                    (0..shape.rank()).for_each(|other| self.join((key, other), (value, other)));
                }
                self.restrict(value, *axis, CutPolicy::Nowhere);
            }
            NodeKind::SearchSorted { .. } => {
                let [table, values] = [node.operands[0], node.operands[1]];
                self.restrict(table, 0, CutPolicy::Nowhere);
                (0..shape.rank()).for_each(|axis| self.join((values, axis), (value, axis)));
            }
            // Regions may move elements along any axis.
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                for &other in node.operands.iter().chain([&value]) {
                    let axes = 0..graph[other].array_type.shape.rank();
                    axes.for_each(|axis| self.restrict(other, axis, CutPolicy::Nowhere));
                }
            }
            NodeKind::Contract { summed } => {
                let [x, y] = [node.operands[0], node.operands[1]];
                for axis in 0..shape.rank() + summed {
                    self.join((x, axis), (y, axis));
                    match axis < shape.rank() {
                        true => self.join((x, axis), (value, axis)),
                        false => self.restrict(x, axis, reduction_policy(graph, value, axis)),
                    }
                }
            }
        }
    }

    fn add_take(&mut self, graph: &Graph, value: ValueId, node: &Node, axis: usize) {
        let [operand, indices] = [node.operands[0], node.operands[1]];
        let index_rank = graph[indices].array_type.shape.rank();
        for from in 0..graph[operand].array_type.shape.rank() {
            match from.cmp(&axis) {
                core::cmp::Ordering::Less => self.join((operand, from), (value, from)),
                core::cmp::Ordering::Equal => self.restrict(operand, from, CutPolicy::Nowhere),
                core::cmp::Ordering::Greater => {
                    self.join((operand, from), (value, from + index_rank - 1));
                }
            }
        }
        (0..index_rank).for_each(|from| self.join((indices, from), (value, axis + from)));
    }

    /// Each element of the result of a scatter needs all indices and all updates along their axes.
    fn add_scatter(&mut self, graph: &Graph, value: ValueId, node: &Node, axis: usize) {
        let [operand, indices, updates] = [0, 1, 2].map(|index| node.operands[index]);
        let index_rank = graph[indices].array_type.shape.rank();
        for result_axis in 0..graph[value].array_type.shape.rank() {
            self.join((operand, result_axis), (value, result_axis));
            match result_axis.cmp(&axis) {
                core::cmp::Ordering::Less => {
                    self.join((updates, result_axis), (value, result_axis))
                }
                core::cmp::Ordering::Equal => self.restrict(value, result_axis, CutPolicy::Nowhere),
                core::cmp::Ordering::Greater => {
                    self.join((updates, result_axis + index_rank - 1), (value, result_axis))
                }
            }
        }
        for index_axis in 0..index_rank {
            self.restrict(indices, index_axis, CutPolicy::Nowhere);
            self.restrict(updates, axis + index_axis, CutPolicy::Nowhere);
        }
    }

    /// The cuts, without axes of size 1. An axis without elements cannot be cut.
    fn finish(mut self, graph: &Graph) -> Cuts {
        let (mut cut_indices, mut cuts) = (vec![None; self.parents.len()], Vec::new());
        let mut axes: Vec<Vec<Option<usize>>> = vec![Vec::new(); graph.len()];
        // Parameters come first, wherever they are in the graph.
        let others = graph.iter().map(|(value, _)| value);
        for value in graph.parameters().iter().copied().chain(others) {
            if !axes[value.index()].is_empty() {
                continue;
            }
            for (axis, &size) in graph[value].array_type.shape.iter().enumerate() {
                let root = self.root(self.first_axis[value.index()] + axis);
                let policy = if size == 0 { CutPolicy::Nowhere } else { self.policies[root] };
                let cut = (size != 1).then(|| {
                    *cut_indices[root].get_or_insert_with(|| {
                        cuts.push(Cut { size, policy });
                        cuts.len() - 1
                    })
                });
                axes[value.index()].push(cut);
            }
        }
        Cuts { axes, cuts }
    }
}

/// The legal positions of cuts along an axis of the operands that the result lacks.
fn reduction_policy(graph: &Graph, value: ValueId, axis: usize) -> CutPolicy {
    match ChunkReduction::of(graph, value).filter(|reduction| reduction.axis == axis) {
        Some(reduction) => reduction.policy(graph, value),
        None => CutPolicy::Nowhere,
    }
}
