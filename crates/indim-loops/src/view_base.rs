//! Bases of views: the value at the end of a chain of broadcasts, slices, windows and reshapes. Each base is
//! found once, because a walk along the chain for every reader would be quadratic in its length.

use foldhash::{HashSet, HashSetExt};
use indim_graph::{Node, NodeKind, ShapedGraph, SymbolicShape, ValueId};

use crate::value_source::{converted_fold, is_standalone};
use crate::view::{View, is_unit_reshape};

/// The base of a view; for a value that is not a view, the value itself.
#[derive(Debug, Clone)]
pub(crate) struct ViewBase {
    /// The base: no broadcast, slice or window, and no reshape that only adds or drops axes of size 1.
    pub(crate) value: ValueId,
    /// The composed view onto the base; `None` if the value is its own base.
    view: Option<View>,
    /// Whether a broadcast or a window in the chain repeats elements.
    pub(crate) is_expanded: bool,
}

impl ViewBase {
    /// The view of a nest onto the base, from its `view` onto the value.
    pub(crate) fn seen_through(&self, view: View) -> View {
        match &self.view {
            Some(own) => view.compose(own),
            None => view,
        }
    }
}

/// The base of each value.
pub(crate) struct ViewBases {
    bases: Vec<ViewBase>,
    /// The end of each chain of reshapes: the value whose dense elements they show.
    reshaped: Vec<ValueId>,
    /// The conversions that are the only use of a contraction of floats.
    stored_conversions: HashSet<ValueId>,
}

impl ViewBases {
    pub(crate) fn of(graph: &ShapedGraph<'_>) -> Self {
        let count = graph.len();
        let (bases, reshaped) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let stored_conversions = stored_conversions(graph);
        let mut bases = ViewBases { bases, reshaped, stored_conversions };
        for (value, node) in graph.iter() {
            let base = bases.next(graph, value, node);
            bases.bases.push(base);
            let is_reshape = matches!(node.kind, NodeKind::Reshape);
            let reshaped = if is_reshape { bases.reshaped(node.operands[0]) } else { value };
            bases.reshaped.push(reshaped);
        }
        bases
    }

    pub(crate) fn get(&self, value: ValueId) -> &ViewBase {
        &self.bases[value.index()]
    }

    /// Whether a nest of its own computes a value: that of a standalone node, or a conversion that is the
    /// only use of a contraction of floats. The contraction stores the converted sums: wide sums in memory
    /// would take more memory and time.
    pub(crate) fn is_alone(&self, graph: &ShapedGraph<'_>, value: ValueId) -> bool {
        is_standalone(&graph[value].kind) || self.stored_conversions.contains(&value)
    }

    /// The end of the chain of reshapes that begins at `value`.
    pub(crate) fn reshaped(&self, value: ValueId) -> ValueId {
        self.reshaped[value.index()]
    }

    /// The base of `value`, from the bases of the values before it.
    fn next(&self, graph: &ShapedGraph<'_>, value: ValueId, node: &Node) -> ViewBase {
        let shape = graph.shape(value);
        let operand = || graph.shape(node.operands[0]);
        let (view, is_expanded) = match &node.kind {
            NodeKind::BroadcastInDim(map) => {
                (View::of_broadcast(map, operand(), shape), is_smaller(operand(), shape))
            }
            NodeKind::Reshape if is_unit_reshape(shape, operand()) => {
                (View::of_unit_reshape(shape, operand()), false)
            }
            NodeKind::Slice(slices) => (View::of_slice(slices, shape), false),
            NodeKind::Window { axis, window } => {
                (View::of_window(*axis, window, shape), is_smaller(operand(), shape))
            }
            _ => return ViewBase { value, view: None, is_expanded: false },
        };
        let shown = self.get(node.operands[0]);
        ViewBase {
            value: shown.value,
            view: Some(shown.seen_through(view)),
            is_expanded: is_expanded || shown.is_expanded,
        }
    }
}

/// The conversions of contractions of floats that a contraction can store, if no other node reads its sums.
fn stored_conversions(graph: &ShapedGraph<'_>) -> HashSet<ValueId> {
    let is_contraction = |value: ValueId| matches!(graph[value].kind, NodeKind::Contract { .. });
    if !graph.iter().any(|(value, _)| is_contraction(value)) {
        return HashSet::new();
    }
    let uses = graph.use_counts();
    let conversion = |(value, _): (ValueId, &Node)| {
        let sum = converted_fold(graph, value)?;
        (is_contraction(sum) && uses[sum.index()] == 1).then_some(value)
    };
    graph.iter().filter_map(conversion).collect()
}

/// Whether the operand of a broadcast or window has fewer elements than the result, which has its symbols.
fn is_smaller(operand: &SymbolicShape, result: &SymbolicShape) -> bool {
    let symbols =
        |shape: &SymbolicShape| shape.iter().filter(|size| size.symbol().is_some()).count();
    let numbers = |shape: &SymbolicShape| {
        let known = shape.iter().filter_map(|size| size.known());
        known.fold(1, usize::saturating_mul)
    };
    let added = symbols(result) - symbols(operand);
    added > 0 || numbers(operand) < numbers(result)
}
