//! Graphs with the symbolic shape of each value, and how passes carry these shapes.
//!
//! The nodes of a graph have numbers as sizes. A pass tells which value of its result replaces which value
//! of its operand (`Renamed`), and a value has the shape of the value that it replaces. So shapes follow
//! values and axes. No number of a node is ever taken for a symbol.

use core::ops::Deref;
use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::classes::SizeClasses;
use super::facts::SizeFacts;
use super::size::{Size, SymbolicShape};
use crate::graph::{Graph, ValueId};
use crate::passes::{self, Renamed, Tracker};

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
    fn follow(&mut self, before: &Graph, after: &Graph, renamed: Renamed<'_>) {
        let mut shapes: Vec<Option<SymbolicShape>> = vec![None; after.len()];
        let outputs = before.outputs().iter().copied().zip(after.outputs().iter().copied());
        for (old, new) in renamed.pairs().chain(outputs) {
            shapes[new.index()].get_or_insert_with(|| self.0[old.index()].clone());
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
    let mut representatives: HashSet<usize> = HashSet::new();
    for (value, node) in graph.iter() {
        for (axis, &size) in shapes[value.index()].iter().flat_map(|shape| shape.iter().enumerate())
        {
            if let Size::Symbol(_) = size {
                representatives.insert(node.array_type.shape[axis]);
                let known = *symbols.entry(classes.class(value, axis)).or_insert(size);
                debug_assert_eq!(known, size, "one class of axes has two symbols");
            }
        }
    }
    let is_live = passes::live_values(graph);
    for (value, node) in graph.iter() {
        shapes[value.index()].get_or_insert_with(|| {
            let size = |(axis, &size): (usize, &usize)| {
                symbols.get(&classes.class(value, axis)).copied().unwrap_or_else(|| {
                    // A pass whose new values no node connects to the others would fix a size here. Nothing
                    // connects a value that the pass does not use; it is dropped.
                    debug_assert!(
                        !is_live[value.index()] || !representatives.contains(&size),
                        "axis {axis} of {value} has the size of a symbol, and no node says which"
                    );
                    Size::Known(size)
                })
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
        ShapedGraph { graph: Cow::Owned(graph), shapes }
    }

    /// The graph in the form of [`expand_for_loops`](crate::expand_for_loops).
    pub fn expand_for_loops(&self) -> Cow<'_, ShapedGraph<'g>> {
        let mut shapes = self.shapes.clone();
        match passes::expand_for_loops_with(&self.graph, &mut shapes) {
            Some(graph) => Cow::Owned(ShapedGraph { graph: Cow::Owned(graph), shapes }),
            None => Cow::Borrowed(self),
        }
    }
}

impl Deref for ShapedGraph<'_> {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}
