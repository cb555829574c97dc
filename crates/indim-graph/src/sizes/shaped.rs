//! Graphs with the symbolic shape of each value, and how passes carry these shapes.
//!
//! The nodes of a graph have numbers as sizes. A pass tells which value of its result replaces which value
//! of its operand (`Tracker`), and a value has the shape of the value that it replaces. So shapes follow
//! values and axes. No number of a node is ever taken for a symbol.

use core::ops::Deref;
use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt};

use super::classes::SizeClasses;
use super::facts::SizeFacts;
use super::size::{Size, SymbolicShape};
use crate::graph::{Graph, ValueId};
use crate::passes::{self, Tracker};

/// A graph with the symbolic shape of each value, as lowering reads it.
///
/// The sizes in the nodes are numbers: those of the symbols are representatives, at least 2, which differ
/// from each other and from every other number of the graph, so that passes never merge values whose shapes
/// are equal by coincidence.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::{DType, ReduceOp};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [4, 3])?;
/// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x, 1)?.exp()])?;
/// let shaped = SymbolicGraph::new(&graph, &b.size_facts()).shaped().optimize();
/// assert_eq!(shaped.shape(shaped.parameters()[0]).to_string(), "[s0, s1]");
/// assert_eq!(shaped.shape(shaped.outputs()[0]).to_string(), "[s0]");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShapedGraph<'g> {
    graph: Cow<'g, Graph>,
    shapes: Shapes,
}

/// The symbolic shape of each value of a graph.
#[derive(Debug, Clone)]
struct Shapes(Vec<SymbolicShape>);

impl Tracker for Shapes {
    fn follow(&mut self, before: &Graph, after: &Graph, renamed: &[Option<ValueId>]) {
        let mut shapes: Vec<Option<SymbolicShape>> = vec![None; after.len()];
        let replaced = self.0.iter().zip(renamed).filter_map(|(old, new)| Some((old, (*new)?)));
        let old_outputs = before.outputs().iter().map(|output| &self.0[output.index()]);
        for (old, new) in replaced.chain(old_outputs.zip(after.outputs().iter().copied())) {
            shapes[new.index()].get_or_insert_with(|| old.clone());
        }
        if shapes.contains(&None) {
            add_missing(after, &mut shapes);
        }
        self.0 = shapes.into_iter().flatten().collect();
    }
}

/// Adds the shapes of values that a pass has added without replacing a value, such as an operand broadcast
/// to fewer axes. The nodes that connect such a value to the others tell which of its axes are theirs.
fn add_missing(graph: &Graph, shapes: &mut [Option<SymbolicShape>]) {
    let mut classes = SizeClasses::of(graph, &SizeFacts::default());
    let mut symbols: HashMap<usize, Size> = HashMap::new();
    for (value, _) in graph.iter() {
        for (axis, &size) in shapes[value.index()].iter().flat_map(|shape| shape.iter().enumerate())
        {
            if let Size::Symbol(_) = size {
                let known = *symbols.entry(classes.class(value, axis)).or_insert(size);
                debug_assert_eq!(known, size, "one class of axes has two symbols");
            }
        }
    }
    for (value, node) in graph.iter() {
        shapes[value.index()].get_or_insert_with(|| {
            let size = |(axis, &size): (usize, &usize)| {
                symbols.get(&classes.class(value, axis)).copied().unwrap_or(Size::Known(size))
            };
            node.array_type.shape.iter().enumerate().map(size).collect()
        });
    }
}

impl<'g> ShapedGraph<'g> {
    /// A graph whose sizes are all numbers.
    pub fn concrete(graph: &'g Graph) -> ShapedGraph<'g> {
        let mut shapes: Vec<SymbolicShape> = Vec::with_capacity(graph.len());
        // Equal shapes share their sizes: a graph has many nodes and few shapes.
        let mut distinct: HashMap<&[usize], SymbolicShape> = HashMap::new();
        for (_, node) in graph.iter() {
            let sizes = node.array_type.shape.sizes();
            // Most nodes have the shape of an operand, which saves a search.
            let has_sizes = |of: &&ValueId| graph[**of].array_type.shape.sizes() == sizes;
            shapes.push(match node.operands.iter().find(has_sizes) {
                Some(operand) => shapes[operand.index()].clone(),
                None => distinct.entry(sizes).or_insert_with(|| sizes.into()).clone(),
            });
        }
        ShapedGraph { graph: Cow::Borrowed(graph), shapes: Shapes(shapes) }
    }

    /// A graph whose values have these shapes.
    pub(super) fn new(graph: Graph, shapes: Vec<SymbolicShape>) -> ShapedGraph<'static> {
        debug_assert_eq!(graph.len(), shapes.len());
        ShapedGraph { graph: Cow::Owned(graph), shapes: Shapes(shapes) }
    }

    /// The symbolic shape of a value.
    pub fn shape(&self, value: ValueId) -> &SymbolicShape {
        &self.shapes.0[value.index()]
    }

    /// The graph with representative sizes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The graph after the passes of [`optimize`](crate::optimize).
    #[must_use]
    pub fn optimize(&self) -> ShapedGraph<'static> {
        let mut shapes = self.shapes.clone();
        let graph = passes::optimize_with(&self.graph, &mut shapes);
        ShapedGraph { graph: Cow::Owned(graph), shapes }.verified()
    }

    /// The graph in the form of [`expand_for_loops`](crate::expand_for_loops).
    pub fn expand_for_loops(&self) -> Cow<'_, ShapedGraph<'g>> {
        let mut shapes = self.shapes.clone();
        match passes::expand_for_loops_with(&self.graph, &mut shapes) {
            Some(graph) => Cow::Owned(ShapedGraph { graph: Cow::Owned(graph), shapes }.verified()),
            None => Cow::Borrowed(self),
        }
    }

    /// Checks that each shape has a symbol exactly where the node has the symbol's representative. Debug
    /// builds call it after passes.
    ///
    /// # Panics
    /// If a pass has added a value with the size of a symbol, and no node connects this axis to others.
    pub fn verify(&self) {
        let mut representatives: HashMap<usize, Size> = HashMap::new();
        for (value, node) in self.iter() {
            let sizes = self.shape(value).iter().zip(node.array_type.shape.iter());
            let symbols = sizes.filter(|(size, _)| size.symbol().is_some());
            representatives.extend(symbols.map(|(&size, &number)| (number, size)));
        }
        let size =
            |number: &usize| representatives.get(number).copied().unwrap_or(Size::Known(*number));
        for (value, node) in self.iter() {
            let expected: SymbolicShape = node.array_type.shape.iter().map(size).collect();
            assert_eq!(*self.shape(value), expected, "{value:?} of {}", self.graph());
        }
    }

    /// The graph itself, which debug builds verify.
    fn verified(self) -> Self {
        if cfg!(debug_assertions) {
            self.verify();
        }
        self
    }
}

impl Deref for ShapedGraph<'_> {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}
