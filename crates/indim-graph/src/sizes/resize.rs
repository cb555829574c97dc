//! Symbolic graphs: one graph, resized to any sizes of its symbols.

use foldhash::{HashMap, HashMapExt, HashSet};
use indim_ops::ArrayType;

use super::classes::{Axis, PinReason, SizeClasses};
use super::counts::{SymbolicCount, as_parameters};
use super::facts::SizeFacts;
use super::guards::{Guards, guards};
use super::shaped::ShapedGraph;
use super::size::Size;
use super::symbols::{Symbols, sizes};
use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::views::{AxisSlice, SymbolicStart};

/// A graph with symbolic sizes: each size is a number or a symbol.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let graph = b.finish(&[2.0 * &x])?;
/// let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
/// let other = symbolic.resized(&[100, 7]);
/// assert_eq!(other[other.outputs()[0]].array_type.to_string(), "f32[100, 7]");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SymbolicGraph {
    graph: Graph,
    /// The size of each axis of each value.
    sizes: Vec<Vec<Size>>,
    guards: Guards,
    /// The number that represents each symbol in the passes.
    representatives: Vec<usize>,
    /// The constants that depend on symbols.
    counts: Vec<SymbolicCount>,
    /// The results of slices whose first index has a fixed distance from the end of the operand's axis.
    from_end: HashSet<Axis>,
    /// The first indices of slices that are parts of concatenations.
    part_starts: HashMap<Axis, SymbolicStart>,
}

/// The reason if all sizes are numbers because some size depends on the inputs in an unsupported way.
const UNSUPPORTED_SIZE: PinReason =
    "a size depends on those of the inputs in a way that is not supported";
/// The reason if all sizes are numbers because arrays of representative sizes would not fit into memory.
const TOO_LARGE: PinReason = "the arrays of the program have too many axes of different sizes";
/// The reason if all sizes are numbers because the start of a part is the sum of too many sizes, or one node
/// is two slices that differ for other sizes.
const UNKNOWN_START: PinReason =
    "a part of a concatenation has no start that is known for all sizes";
/// The reason if all sizes are numbers because only an axis of size 0 keeps an array within memory.
const TOO_LARGE_IF_NONEMPTY: PinReason =
    "an array without elements has other axes that are too long to vary";

impl SymbolicGraph {
    /// Finds the symbols of a graph. `facts` are the facts about sizes that only its builder knows.
    pub fn new(graph: &Graph, facts: &SizeFacts) -> SymbolicGraph {
        let mut classes = SizeClasses::of(graph, facts);
        let symbols = Symbols::find(graph, &mut classes).unwrap_or_default();
        let mut symbolic = SymbolicGraph::with(graph, &mut classes, symbols, UNSUPPORTED_SIZE);
        let none = |classes: &mut SizeClasses, reason| {
            SymbolicGraph::with(graph, classes, Symbols::default(), reason)
        };
        if !symbolic.guards.symbols_fit(&symbolic.representatives) {
            symbolic = none(&mut classes, TOO_LARGE);
        } else if !symbolic.add_part_starts(&classes) {
            symbolic = none(&mut classes, UNKNOWN_START);
        } else if !symbolic.accepts_own_sizes() {
            symbolic = none(&mut classes, TOO_LARGE_IF_NONEMPTY);
        }
        let named_axes =
            facts.named_axes().iter().filter(|(value, ..)| value.index() < graph.len());
        for &(value, axis, name) in named_axes {
            let name = facts.size_names().nth(name).unwrap_or_default().to_owned();
            match symbolic.sizes[value.index()][axis] {
                Size::Symbol(symbol) => symbolic.guards.name(symbol, name),
                Size::Known(_) => {
                    symbolic.guards.name_number(name, graph.parameters(), value, axis)
                }
            }
        }
        let size = |value: ValueId, axis: usize| symbolic.sizes[value.index()][axis];
        let counts = facts.counts().filter(|(value, _)| value.index() < graph.len());
        let counts = counts.filter_map(|count| SymbolicCount::new(graph, count, size)).collect();
        symbolic.counts = counts;
        symbolic
    }

    /// The graph with these symbols. Other sizes are numbers, with the reason of their class or else
    /// `reason`.
    fn with(
        graph: &Graph,
        classes: &mut SizeClasses,
        symbols: Symbols,
        reason: PinReason,
    ) -> SymbolicGraph {
        let sizes = sizes(graph, classes, &symbols);
        let mut reasons = Vec::with_capacity(graph.parameters().len());
        for &parameter in graph.parameters() {
            let axes = 0..graph[parameter].array_type.shape.rank();
            let reason_of = |axis| {
                let class = classes.class(parameter, axis);
                classes.reason(class).unwrap_or(reason)
            };
            reasons.push(axes.map(reason_of).collect());
        }
        let guards = guards(graph, &sizes, reasons, &symbols);
        let representatives = symbols.representatives;
        let from_end = classes.slices_from_end().clone();
        let (graph, counts, part_starts) = (graph.clone(), Vec::new(), HashMap::new());
        SymbolicGraph { graph, sizes, guards, representatives, counts, from_end, part_starts }
    }

    /// Whether the sizes of the graph itself meet the guards. They do not if only an axis of size 0 keeps an
    /// array within memory.
    fn accepts_own_sizes(&self) -> bool {
        let parameters = self.graph.parameters().iter();
        let shapes = parameters.map(|&parameter| self.graph[parameter].array_type.shape.sizes());
        self.guards.symbols(&shapes.collect::<Vec<&[usize]>>()).is_ok()
    }

    /// The graph for its original sizes, which meet the guards.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The parameter sizes for which the graph is valid.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The size of each axis of a value.
    pub fn sizes(&self, value: ValueId) -> &[Size] {
        &self.sizes[value.index()]
    }

    /// The graph for these sizes of the symbols, in the order of [`Guards::symbols`].
    ///
    /// # Panics
    /// If the sizes are fewer than the symbols.
    pub fn resized(&self, symbols: &[usize]) -> Graph {
        self.resized_with(symbols, false)
    }

    /// Like [`SymbolicGraph::resized`]; slices have their symbolic starts if `has_symbolic_starts`.
    fn resized_with(&self, symbols: &[usize], has_symbolic_starts: bool) -> Graph {
        let nodes = self.graph.iter().map(|(value, node)| {
            let sizes = &self.sizes[value.index()];
            if let Some(count) = self.counts.iter().find(|count| count.value() == value) {
                return Node { kind: NodeKind::Constant(count.element(symbols)), ..node.clone() };
            }
            let is_slice = matches!(node.kind, NodeKind::Slice(_));
            if !is_slice && sizes.iter().all(|size| matches!(size, Size::Known(_))) {
                return node.clone();
            }
            let shape = sizes.iter().map(|size| size.resolve(symbols)).collect::<Vec<usize>>();
            let kind = match &node.kind {
                NodeKind::Slice(slices) => {
                    let slices = slices.iter().enumerate();
                    let resized = |(axis, slice)| {
                        let resized = self.resized_slice((value, axis), slice, symbols);
                        let start = self.symbolic_start((value, axis));
                        match start.filter(|_| has_symbolic_starts) {
                            Some(start) => resized.with_symbolic_start(start),
                            None => resized,
                        }
                    };
                    NodeKind::Slice(slices.map(resized).collect())
                }
                kind => kind.clone(),
            };
            let array_type = ArrayType::new(node.array_type.dtype, shape);
            Node { kind, operands: node.operands.clone(), array_type }
        });
        Graph::from_unverified(nodes.collect(), self.graph.outputs().to_vec())
    }

    /// The graph that is compiled for all sizes: [`SymbolicGraph::counts`] are scalar parameters after the
    /// parameters of the graph, and each value has its symbolic shape.
    pub fn shaped(&self) -> ShapedGraph<'static> {
        let graph = self.resized_with(&self.representatives, true);
        as_parameters(&graph, &self.sizes, &self.counts)
    }

    /// Adds the first indices of the parts of concatenations; `false` if one is unknown.
    fn add_part_starts(&mut self, classes: &SizeClasses) -> bool {
        for (&axis, parts) in classes.parts() {
            let mut starts = parts.iter().map(|before| self.start_after(before));
            let Some(Some(start)) = starts.next() else { return false };
            if !starts.all(|other| other == Some(start)) {
                return false;
            }
            if classes.is_written(axis) && self.written_start(axis) != Some(start) {
                return false;
            }
            self.part_starts.insert(axis, start);
        }
        true
    }

    /// The first index of a slice whose bounds are known as written.
    fn written_start(&self, (value, axis): Axis) -> Option<SymbolicStart> {
        let NodeKind::Slice(slices) = &self.graph[value].kind else { return None };
        let operand = self.graph[value].operands[0];
        let start = slices[axis].start() as isize;
        match self.sizes[operand.index()][axis] {
            Size::Symbol(symbol) if self.from_end.contains(&(value, axis)) => {
                let size = self.graph[operand].array_type.shape[axis] as isize;
                SymbolicStart::new(start - size, [(symbol, 1)])
            }
            _ => SymbolicStart::new(start, []),
        }
    }

    /// The first index of a part of a concatenation after these parts; `None` for too many symbols.
    fn start_after(&self, before: &[Axis]) -> Option<SymbolicStart> {
        let sizes = before.iter().map(|(value, axis)| self.sizes[value.index()][*axis]);
        let known = sizes.clone().filter_map(Size::known).sum::<usize>();
        SymbolicStart::new(known as isize, sizes.filter_map(Size::symbol).map(|symbol| (symbol, 1)))
    }

    /// The first index of a slice, if it depends on symbols.
    fn symbolic_start(&self, axis: Axis) -> Option<SymbolicStart> {
        let part_start = self.part_starts.get(&axis).copied();
        let start = part_start.or_else(|| self.written_start(axis))?;
        start.terms().next().map(|_| start)
    }

    /// The slice along an axis of `value` for these sizes of the symbols. Its step never varies.
    fn resized_slice(
        &self,
        (value, axis): Axis,
        slice: &AxisSlice,
        symbols: &[usize],
    ) -> AxisSlice {
        let operand = self.graph[value].operands[0];
        let (from, to) = (self.sizes[operand.index()][axis], self.sizes[value.index()][axis]);
        if let Some(start) = self.symbolic_start((value, axis)) {
            let term = |(symbol, factor): (usize, isize)| symbols[symbol] as isize * factor;
            let start = start.constant() + start.terms().map(term).sum::<isize>();
            return AxisSlice::new(start.max(0) as usize, to.resolve(symbols), slice.step());
        }
        match to {
            Size::Known(_) => *slice,
            Size::Symbol(_) if from == to => AxisSlice::whole(to.resolve(symbols)),
            Size::Symbol(_) => AxisSlice::new(slice.start(), to.resolve(symbols), slice.step()),
        }
    }

    /// The constants that depend on symbols.
    pub fn counts(&self) -> &[SymbolicCount] {
        &self.counts
    }
}
