//! Cuts: the axes of values that are cut together, and their legal positions.

use indim_ops::{DTypeClass, Op};

use crate::graph::{Graph, Node, NodeKind, ValueId};

/// The legal positions of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutPolicy {
    /// Between any two elements.
    Anywhere,
    /// Into pieces of `512 * 2^k` elements, the last may be shorter: a sum by the fixed tree runs
    /// along an axis.
    Aligned,
    /// Nowhere: something needs all elements along an axis at once.
    Nowhere,
}

/// Axes that are cut together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of elements along each of the axes.
    pub size: usize,
    /// The legal positions.
    pub place: CutPolicy,
}

/// The cuts of a graph. An axis of size 1 has none.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::chunks::{Cuts, CutPolicy};
/// use indim_ops::{DType, ReduceOp};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [1000, 3])?;
/// let v = b.parameter("v", DType::F64, [3])?;
/// let graph = b.finish(&[b.reduce(ReduceOp::Add, b.sub(&x, &v, &[1])?, 0)?])?;
///
/// let cuts = Cuts::of(&graph);
/// let [x, v] = [graph.parameters()[0], graph.parameters()[1]];
/// assert_eq!(cuts.axes(x)[1], cuts.axes(v)[0]); // what meets is cut alike
/// let [rows, columns] = [cuts.axes(x)[0].unwrap(), cuts.axes(x)[1].unwrap()];
/// assert_eq!(cuts.cuts()[rows].place, CutPolicy::Aligned); // a sum runs along it
/// assert_eq!(cuts.cuts()[columns].place, CutPolicy::Anywhere);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cuts {
    /// For each value the cut of each axis.
    axes: Vec<Vec<Option<usize>>>,
    cuts: Vec<Cut>,
}

impl Cuts {
    /// The cuts of a graph, numbered as its parameters have them first.
    pub fn of(graph: &Graph) -> Cuts {
        Joined::of(graph, false).finish(graph)
    }

    /// The cuts.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The cut of each axis of a value; none where its size is 1.
    ///
    /// # Panics
    /// When the graph has no such value.
    pub fn axes(&self, value: ValueId) -> &[Option<usize>] {
        &self.axes[value.index()]
    }
}

/// For each value of a graph a number for each of its axes. Axes that meet have one number, also where one of
/// size 1 is expanded: what says something of each index along the one says it of the other.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::chunks::meeting_axes;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [5, 3])?;
/// let v = b.parameter("v", DType::F64, [1])?;
/// let graph = b.finish(&[b.numpy().sub(&x, &v)?])?;
/// let axes = meeting_axes(&graph);
/// let [x, v] = [graph.parameters()[0], graph.parameters()[1]];
/// assert_eq!(axes[x.index()][1], axes[v.index()][0]);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn meeting_axes(graph: &Graph) -> Vec<Vec<usize>> {
    let mut joined = Joined::of(graph, true);
    let mut numbers = |(value, node): (ValueId, &Node)| {
        let first = joined.first[value.index()];
        (first..first + node.array_type.shape.rank()).map(|axis| joined.root(axis)).collect()
    };
    graph.iter().map(&mut numbers).collect()
}

/// Pairs of axes, of an operand and of what a reshape makes of it, along which the elements are the same.
pub(super) fn same_axes(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
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
        // Axes that are merged or taken apart: up to where as many elements are left in both.
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

/// Axes joined so far: a forest over all axes of all values.
struct Joined {
    /// The offset of each value's axes.
    first: Vec<usize>,
    parents: Vec<usize>,
    places: Vec<CutPolicy>,
    /// Whether axes of size 1 are joined to those that they are expanded to.
    joins_expanded: bool,
}

impl Joined {
    fn of(graph: &Graph, joins_expanded: bool) -> Joined {
        let mut joined = Joined::new(graph, joins_expanded);
        for (value, node) in graph.iter() {
            joined.add(graph, value, node);
        }
        joined
    }

    fn new(graph: &Graph, joins_expanded: bool) -> Joined {
        let mut first = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (_, node) in graph.iter() {
            first.push(count);
            count += node.array_type.shape.rank();
        }
        let places = vec![CutPolicy::Anywhere; count];
        Joined { first, parents: (0..count).collect(), places, joins_expanded }
    }

    fn root(&mut self, mut axis: usize) -> usize {
        while self.parents[axis] != axis {
            self.parents[axis] = self.parents[self.parents[axis]];
            axis = self.parents[axis];
        }
        axis
    }

    fn join(&mut self, (x, x_axis): (ValueId, usize), (y, y_axis): (ValueId, usize)) {
        let x = self.root(self.first[x.index()] + x_axis);
        let y = self.root(self.first[y.index()] + y_axis);
        let (kept, gone) = (x.min(y), x.max(y));
        self.parents[gone] = kept;
        self.places[kept] = self.places[kept].max(self.places[gone]);
    }

    fn place(&mut self, value: ValueId, axis: usize, place: CutPolicy) {
        let root = self.root(self.first[value.index()] + axis);
        self.places[root] = self.places[root].max(place);
    }

    /// The axes of two values that are not in `pairs` are cut nowhere.
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
                self.place(operand, axis, CutPolicy::Nowhere);
            }
        }
        for axis in 0..graph[value].array_type.shape.rank() {
            if pairs.iter().all(|&(_, to)| to != axis) {
                self.place(value, axis, CutPolicy::Nowhere);
            }
        }
    }

    /// Joins what the node walks together. Axes of size 1 may be joined to others: they are left out later.
    fn add(&mut self, graph: &Graph, value: ValueId, node: &Node) {
        let shape = &node.array_type.shape;
        match &node.kind {
            NodeKind::Parameter { .. } => {}
            NodeKind::Constant(_) => {
                (0..shape.rank()).for_each(|axis| self.place(value, axis, CutPolicy::Nowhere));
            }
            NodeKind::Iota { axis } => self.place(value, *axis, CutPolicy::Nowhere),
            NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast => {
                for &operand in node.operands.iter() {
                    (0..shape.rank()).for_each(|axis| self.join((operand, axis), (value, axis)));
                }
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
                let pairs = same_axes(&graph[operand].array_type.shape, shape);
                self.join_pairs(graph, (operand, value), &pairs);
            }
            NodeKind::Reduce { axis, .. } => {
                let operand = node.operands[0];
                for kept in 0..shape.rank() {
                    self.join((operand, kept + usize::from(kept >= *axis)), (value, kept));
                }
                self.place(operand, *axis, place_of_reduction(graph, node));
            }
            NodeKind::Slice(slices) => {
                let operand = node.operands[0];
                let from = &graph[operand].array_type.shape;
                let whole = (0..shape.rank()).filter(|&axis| slices[axis].is_whole(from[axis]));
                let pairs: Vec<_> = whole.map(|axis| (axis, axis)).collect();
                self.join_pairs(graph, (operand, value), &pairs);
            }
            NodeKind::Concatenate { axis } => {
                let pairs: Vec<_> =
                    (0..shape.rank()).filter(|other| other != axis).map(|a| (a, a)).collect();
                for &operand in node.operands.iter() {
                    self.join_pairs(graph, (operand, value), &pairs);
                }
            }
            NodeKind::Take { axis, .. } => self.add_take(graph, value, node, *axis),
            NodeKind::ScatterAdd { axis, .. } => self.add_scatter(graph, value, node, *axis),
        }
    }

    fn add_take(&mut self, graph: &Graph, value: ValueId, node: &Node, axis: usize) {
        let [operand, indices] = [node.operands[0], node.operands[1]];
        let added = graph[indices].array_type.shape.rank();
        for from in 0..graph[operand].array_type.shape.rank() {
            match from.cmp(&axis) {
                core::cmp::Ordering::Less => self.join((operand, from), (value, from)),
                core::cmp::Ordering::Equal => self.place(operand, from, CutPolicy::Nowhere),
                core::cmp::Ordering::Greater => {
                    self.join((operand, from), (value, from + added - 1));
                }
            }
        }
        (0..added).for_each(|from| self.join((indices, from), (value, axis + from)));
    }

    /// Each place needs all indices, and what is scattered along them.
    fn add_scatter(&mut self, graph: &Graph, value: ValueId, node: &Node, axis: usize) {
        let [operand, indices, updates] = [0, 1, 2].map(|index| node.operands[index]);
        let added = graph[indices].array_type.shape.rank();
        for of in 0..graph[value].array_type.shape.rank() {
            self.join((operand, of), (value, of));
            match of.cmp(&axis) {
                core::cmp::Ordering::Less => self.join((updates, of), (value, of)),
                core::cmp::Ordering::Equal => self.place(value, of, CutPolicy::Nowhere),
                core::cmp::Ordering::Greater => self.join((updates, of + added - 1), (value, of)),
            }
        }
        for of in 0..added {
            self.place(indices, of, CutPolicy::Nowhere);
            self.place(updates, axis + of, CutPolicy::Nowhere);
        }
    }

    /// The cuts, without axes of size 1. An axis without elements cannot be cut.
    fn finish(mut self, graph: &Graph) -> Cuts {
        let (mut numbers, mut cuts) = (vec![None; self.parents.len()], Vec::new());
        let mut axes: Vec<Vec<Option<usize>>> = vec![Vec::new(); graph.len()];
        // A parameter that is made late still comes first.
        let others = graph.iter().map(|(value, _)| value);
        for value in graph.parameters().iter().copied().chain(others) {
            if !axes[value.index()].is_empty() {
                continue;
            }
            for (axis, &size) in graph[value].array_type.shape.iter().enumerate() {
                let root = self.root(self.first[value.index()] + axis);
                let place = if size == 0 { CutPolicy::Nowhere } else { self.places[root] };
                let number = (size != 1).then(|| {
                    *numbers[root].get_or_insert_with(|| {
                        cuts.push(Cut { size, place });
                        cuts.len() - 1
                    })
                });
                axes[value.index()].push(number);
            }
        }
        Cuts { axes, cuts }
    }
}

/// The legal positions of a cut along a reduced axis.
fn place_of_reduction(graph: &Graph, node: &Node) -> CutPolicy {
    let NodeKind::Reduce { op, .. } = node.kind else { return CutPolicy::Anywhere };
    let class = graph[node.operands[0]].array_type.dtype.class();
    let is_float = matches!(class, DTypeClass::Float | DTypeClass::Complex);
    match op.operation() {
        Op::Add | Op::Mul if is_float => CutPolicy::Aligned,
        _ => CutPolicy::Anywhere,
    }
}
