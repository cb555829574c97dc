//! Sources of operands: the base of an operand, in memory or computed by another instruction of the nest.

use std::collections::HashMap;

use indim_graph::literal::integer_range;
use indim_graph::{Node, NodeKind, ShapedGraph, Size, SymbolicShape, TakeMode, ValueId};
use indim_ops::{DType, Fact, contraction_widens, conversion_through};

use crate::view::{View, is_leaf, is_unit_reshape};
use crate::view_base::ViewBases;

/// The source of an instruction's operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueSource {
    /// Read from a parameter, a constant or a counter.
    Leaf(ValueId, View),
    /// Read from the buffer that an earlier nest wrote, under this shape, which a reshape may have changed.
    Materialized(ValueId, View, SymbolicShape),
    /// Computed in this nest.
    Computed(ValueId, View),
}

/// The source of `value`, which a nest sees under `view`.
fn resolve(graph: &ShapedGraph<'_>, bases: &ViewBases, value: ValueId, view: View) -> ValueSource {
    let base = bases.get(value);
    let view = base.seen_through(view);
    let Node { kind, operands, .. } = &graph[base.value];
    let shape = || graph.shape(base.value).clone();
    match kind {
        NodeKind::Reshape => ValueSource::Materialized(bases.reshaped(operands[0]), view, shape()),
        NodeKind::Reduce { .. } | NodeKind::Concatenate { .. } => {
            ValueSource::Materialized(base.value, view, shape())
        }
        _ if bases.is_alone(graph, base.value) => {
            ValueSource::Materialized(base.value, view, shape())
        }
        kind if is_leaf(kind) => ValueSource::Leaf(base.value, view),
        _ if base.is_expanded && !is_cheaper_to_recompute(graph, bases, base.value) => {
            ValueSource::Materialized(base.value, view, shape())
        }
        _ => ValueSource::Computed(base.value, view),
    }
}

/// Whether recomputing a value at every point costs less than materialising it: it is one cheap operation
/// on one array in memory, so a consumer reads that array in place of the value.
fn is_cheaper_to_recompute(graph: &ShapedGraph<'_>, bases: &ViewBases, value: ValueId) -> bool {
    let NodeKind::Elementwise(op) = graph[value].kind else { return false };
    let operands = || graph[value].operands.iter().map(|&operand| bases.get(operand).value);
    let is_array =
        |operand: &ValueId| graph.shape(*operand).iter().any(|&size| size != Size::Known(1));
    let is_one_array = || {
        let mut arrays = operands().filter(is_array);
        let first = arrays.next();
        arrays.all(|array| Some(array) == first)
    };
    op.is(Fact::Cheap) && operands().all(|operand| is_leaf(&graph[operand].kind)) && is_one_array()
}

/// An operand with the view under which the nest sees it.
#[derive(Debug, Clone)]
pub(crate) struct OperandView {
    pub(crate) value: ValueId,
    pub(crate) view: View,
    /// Whether it must be read from memory, even if it is cheap to recompute.
    pub(crate) is_in_memory: bool,
    /// Whether it is a factor of a contraction, which also reads elements of narrower types.
    pub(crate) is_factor: bool,
    /// Whether it must be in memory under its own axes, and not seen through views.
    pub(crate) is_whole: bool,
}

impl OperandView {
    pub(crate) fn new(value: ValueId, view: View) -> OperandView {
        OperandView { value, view, is_in_memory: false, is_factor: false, is_whole: false }
    }

    pub(crate) fn in_memory(value: ValueId, view: View) -> OperandView {
        OperandView { is_in_memory: true, ..OperandView::new(value, view) }
    }

    /// The operand before its widening conversions, if it is a factor of a contraction and has any.
    pub(crate) fn unwidened(
        &self,
        graph: &ShapedGraph<'_>,
        bases: &ViewBases,
    ) -> Option<OperandView> {
        let narrow = self.unwidened_once(graph, bases)?;
        Some(narrow.unwidened(graph, bases).unwrap_or(narrow))
    }

    /// The operand before its last widening conversion; `None` if it has none, or is no factor of a
    /// contraction.
    fn unwidened_once(&self, graph: &ShapedGraph<'_>, bases: &ViewBases) -> Option<OperandView> {
        let base = bases.get(self.value);
        let Node { kind: NodeKind::Convert, operands, array_type } = &graph[base.value] else {
            return None;
        };
        let narrow = graph[operands[0]].array_type.dtype;
        (self.is_factor && contraction_widens(narrow, array_type.dtype)).then(|| OperandView {
            value: operands[0],
            view: base.seen_through(self.view.clone()),
            ..*self
        })
    }

    /// An operand of a loop or branch.
    fn whole(graph: &ShapedGraph<'_>, value: ValueId) -> OperandView {
        let view = View::of_whole(graph.shape(value).rank());
        OperandView { is_whole: true, ..OperandView::in_memory(value, view) }
    }

    pub(crate) fn resolve(self, graph: &ShapedGraph<'_>, bases: &ViewBases) -> ValueSource {
        if self.is_whole {
            return match &graph[self.value].kind {
                NodeKind::Parameter { .. } | NodeKind::Constant(_) => {
                    ValueSource::Leaf(self.value, self.view)
                }
                _ => {
                    let shape = graph.shape(self.value).clone();
                    ValueSource::Materialized(self.value, self.view, shape)
                }
            };
        }
        let read = self.unwidened(graph, bases).unwrap_or(self);
        match resolve(graph, bases, read.value, read.view) {
            ValueSource::Computed(value, view) if read.is_in_memory => {
                ValueSource::Materialized(value, view, graph.shape(value).clone())
            }
            source => source,
        }
    }
}

/// The iteration shape of the nest that computes a materialised value, and its reduced axis.
pub(crate) fn iteration(graph: &ShapedGraph<'_>, value: ValueId) -> (SymbolicShape, Option<usize>) {
    let node = &graph[value];
    match node.kind {
        NodeKind::Reduce { axis, .. } => (graph.shape(node.operands[0]).clone(), Some(axis)),
        // The outer axes are those of the result, the inner axes those of the indices.
        NodeKind::Scatter { .. } => {
            let indices = graph.shape(node.operands[1]);
            (graph.shape(value).iter().chain(indices.iter()).copied().collect(), None)
        }
        NodeKind::Contract { .. } => (graph.shape(node.operands[0]).clone(), None),
        NodeKind::While { .. } | NodeKind::Branch { .. } => (SymbolicShape::scalar(), None),
        // The outer axes are those of the values, the inner axis is that of the table.
        NodeKind::SearchSorted { .. } => {
            let table = graph.shape(node.operands[0]);
            (graph.shape(value).iter().chain(table.iter()).copied().collect(), None)
        }
        _ => (graph.shape(value).clone(), None),
    }
}

/// The operands whose sources the nest of `value` needs, with their views: the operands of a computed node;
/// the operand of a reduction, before widening; for any other node the value itself.
pub(crate) fn operand_views(
    graph: &ShapedGraph<'_>,
    value: ValueId,
    view: &View,
) -> Vec<OperandView> {
    let node = &graph[value];
    let seen = |&value: &ValueId| OperandView::new(value, view.clone());
    match node.kind {
        NodeKind::Reduce { .. } => vec![reduced(graph, value, view.clone())],
        NodeKind::Take { axis, mode } => gather_operands(graph, value, view, axis, mode).to_vec(),
        NodeKind::Scatter { axis, .. } => scatter_operands(graph, node, view, axis).to_vec(),
        NodeKind::Contract { .. } => {
            let factor = |&value: &ValueId| OperandView {
                is_factor: true,
                ..OperandView::in_memory(value, view.clone())
            };
            node.operands.iter().map(factor).collect()
        }
        NodeKind::Scan { .. } => vec![OperandView::in_memory(node.operands[0], view.clone())],
        NodeKind::Sort { .. } => {
            let key = |&value: &ValueId| OperandView::in_memory(value, view.clone());
            node.operands.iter().map(key).collect()
        }
        NodeKind::While { .. } | NodeKind::Branch { .. } => {
            let whole = |&operand: &ValueId| OperandView::whole(graph, operand);
            node.operands.iter().map(whole).collect()
        }
        NodeKind::SearchSorted { .. } => {
            let rank = node.array_type.shape.rank();
            let [table, values] = [node.operands[0], node.operands[1]];
            vec![
                OperandView::in_memory(table, view.of_indices(rank, 1)),
                OperandView::in_memory(values, view.of_scattered_array(rank)),
            ]
        }
        _ if is_computed(&node.kind) => node.operands.iter().map(seen).collect(),
        _ => vec![seen(&value)],
    }
}

/// The operand of a reduction with its view.
pub(crate) fn reduced(graph: &ShapedGraph<'_>, value: ValueId, view: View) -> OperandView {
    OperandView::new(reduction_operand(graph, value), view)
}

/// The value that a reduction reads: its operand, or the operand of a widening conversion.
pub(crate) fn reduction_operand(graph: &ShapedGraph<'_>, value: ValueId) -> ValueId {
    let node = &graph[value];
    let operand = &graph[node.operands[0]];
    let widens = |narrow: ValueId| match node.kind {
        NodeKind::Reduce { op, .. } => {
            op.widens(graph[narrow].array_type.dtype, operand.array_type.dtype)
        }
        _ => false,
    };
    match operand.kind {
        NodeKind::Convert if widens(operand.operands[0]) => operand.operands[0],
        _ => node.operands[0],
    }
}

/// Whether a node is an arg-reduction: its result is the index of an element.
pub(crate) fn is_arg_reduction(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Reduce { op, .. } if op.is_arg_reduction())
}

/// The operands of a gather: the table, which is in memory, and the indices. Indices are in memory if they
/// are checked before the nest runs, or if each selects more than one element.
fn gather_operands(
    graph: &ShapedGraph<'_>,
    value: ValueId,
    view: &View,
    axis: usize,
    mode: TakeMode,
) -> [OperandView; 2] {
    let (table, indices) = (graph[value].operands[0], graph[value].operands[1]);
    let size = indexed_size(graph, table, axis);
    let (dtype, shape) = (graph[indices].array_type.dtype, graph.shape(indices));
    let rank = shape.rank();
    let is_in_memory = is_checked(mode, dtype, size) || !is_unit_reshape(graph.shape(value), shape);
    [
        OperandView::in_memory(table, view.of_table(axis, rank, Size::Known(size))),
        OperandView { is_in_memory, ..OperandView::new(indices, view.of_indices(axis, rank)) },
    ]
}

/// The operands of a scatter. All are in memory.
fn scatter_operands(
    graph: &ShapedGraph<'_>,
    node: &Node,
    view: &View,
    axis: usize,
) -> [OperandView; 3] {
    let rank = node.array_type.shape.rank();
    let indices = graph.shape(node.operands[1]).rank();
    let in_memory = |operand: usize, view| OperandView::in_memory(node.operands[operand], view);
    [
        in_memory(0, view.of_scattered_array(rank)),
        in_memory(1, view.of_indices(rank, indices)),
        in_memory(2, view.of_updates(axis, rank)),
    ]
}

/// The size of the axis of a table or scattered array that indices select from.
pub(crate) fn indexed_size(graph: &ShapedGraph<'_>, table: ValueId, axis: usize) -> usize {
    graph.shape(table)[axis].known().expect("invariant: symbolic graphs pin indexed axes")
}

/// Whether indices of this type need a bounds check: some value is out of range for an axis of `size`
/// elements, and `mode` makes that an error.
pub(crate) fn is_checked(mode: TakeMode, dtype: DType, size: usize) -> bool {
    let fits = |index| mode.resolve(index, size).is_some();
    !integer_range(dtype).is_some_and(|(min, max)| fits(min) && fits(max))
}

/// Whether a node becomes an instruction.
pub(crate) fn is_computed(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Elementwise(_)
            | NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Take { .. }
            | NodeKind::Scatter { .. }
            | NodeKind::Contract { .. }
            | NodeKind::Scan { .. }
            | NodeKind::Sort { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. }
    )
}

/// For each loop or branch, which is a node for each of its results, the lowest node with the same regions
/// and operands.
// An array caches its hash. The cache changes neither the hash nor equality.
#[allow(clippy::mutable_key_type)]
pub(crate) fn first_results(graph: &ShapedGraph<'_>) -> HashMap<ValueId, ValueId> {
    let mut lowest = HashMap::new();
    let first = |(value, node): (ValueId, &Node)| {
        let mut kind = node.kind.clone();
        let (NodeKind::While { result, .. } | NodeKind::Branch { result, .. }) = &mut kind else {
            return None;
        };
        *result = 0;
        Some((value, *lowest.entry((kind, node.operands.clone())).or_insert(value)))
    };
    graph.iter().filter_map(first).collect()
}

/// Whether a node is a loop or a branch.
pub(crate) fn is_control(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::While { .. } | NodeKind::Branch { .. })
}

/// The reduction or contraction of a conversion that its end can compute, so that it stores the converted
/// values.
pub(crate) fn converted_fold(graph: &ShapedGraph<'_>, value: ValueId) -> Option<ValueId> {
    let NodeKind::Convert = graph[value].kind else { return None };
    let operand = graph[value].operands[0];
    let [from, to] = [operand, value].map(|value| graph[value].array_type.dtype);
    let ends_with_conversion = match graph[operand].kind {
        NodeKind::Reduce { op, .. } => !op.is_arg_reduction(),
        // A contraction of floats can be rounded to floats only; one of integers is stored in its own type.
        NodeKind::Contract { .. } => from.is_float() && to.is_float(),
        _ => false,
    };
    // A fold ends with at most one conversion kernel, so a conversion in two steps stays a nest.
    (ends_with_conversion && conversion_through(from, to).is_none()).then_some(operand)
}

/// Whether a node is computed by a nest of its own, which computes nothing else.
pub(crate) fn is_standalone(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Scatter { .. }
            | NodeKind::Contract { .. }
            | NodeKind::Scan { .. }
            | NodeKind::Sort { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. }
    )
}
