//! Sources of operands: the value behind all views, from memory or from another instruction of the nest.

use indim_graph::literal::integer_range;
use indim_graph::{Graph, Node, NodeKind, TakeMode, ValueId};
use indim_ops::{ArrayType, DType, Fact};
use indim_shape::Shape;

use crate::origin::Origins;
use crate::view::{View, is_leaf, is_unit_reshape};

/// The source of an instruction's operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Read from a parameter, a constant or a counter.
    Leaf(ValueId, View),
    /// Read from where an earlier nest kept it, under a shape of the same elements.
    Kept(ValueId, View, Shape),
    /// Computed in this nest.
    Computed(ValueId, View),
}

/// The value read or computed for `value`, behind all its views.
fn resolve(graph: &Graph, origins: &Origins, value: ValueId, view: View) -> Source {
    let origin = origins.get(value);
    let view = origin.seen_through(view);
    let Node { kind, operands, array_type } = &graph[origin.value];
    let shape = || array_type.shape.clone();
    match kind {
        NodeKind::Reshape => Source::Kept(origins.reshaped(operands[0]), view, shape()),
        NodeKind::Reduce { .. } | NodeKind::Concatenate { .. } | NodeKind::ScatterAdd { .. } => {
            Source::Kept(origin.value, view, shape())
        }
        kind if is_leaf(kind) => Source::Leaf(origin.value, view),
        _ if origin.is_expanded && !is_cheaper_again(graph, origins, origin.value) => {
            Source::Kept(origin.value, view, shape())
        }
        _ => Source::Computed(origin.value, view),
    }
}

/// Whether to compute a value wherever it is shown costs less than to write it and read it back: one cheap
/// operation on one array, which is read in its place.
fn is_cheaper_again(graph: &Graph, origins: &Origins, value: ValueId) -> bool {
    let NodeKind::Elementwise(op) = graph[value].kind else { return false };
    let operands = || graph[value].operands.iter().map(|&operand| origins.get(operand).value);
    let is_array =
        |operand: &ValueId| graph[*operand].array_type.shape.iter().any(|&size| size != 1);
    let is_one_array = || {
        let mut arrays = operands().filter(is_array);
        let first = arrays.next();
        arrays.all(|array| Some(array) == first)
    };
    op.is(Fact::Cheap) && operands().all(|operand| is_leaf(&graph[operand].kind)) && is_one_array()
}

/// A value that another is made of, as the nest of that one sees it.
#[derive(Debug, Clone)]
pub(crate) struct Sought {
    pub(crate) value: ValueId,
    pub(crate) view: View,
    /// Whether it is read from memory, at any cost of recomputation.
    pub(crate) is_in_memory: bool,
}

impl Sought {
    pub(crate) fn new(value: ValueId, view: View) -> Sought {
        Sought { value, view, is_in_memory: false }
    }

    pub(crate) fn resolve(self, graph: &Graph, origins: &Origins) -> Source {
        match resolve(graph, origins, self.value, self.view) {
            Source::Computed(value, view) if self.is_in_memory => {
                Source::Kept(value, view, graph[value].array_type.shape.clone())
            }
            source => source,
        }
    }
}

/// The iteration shape of the nest that computes a kept value, and its reduced axis.
pub(crate) fn iteration(graph: &Graph, value: ValueId) -> (Shape, Option<usize>) {
    let node = &graph[value];
    match node.kind {
        NodeKind::Reduce { axis, .. } => {
            (graph[node.operands[0]].array_type.shape.clone(), Some(axis))
        }
        // The indices lie behind the places.
        NodeKind::ScatterAdd { .. } => {
            let indices = &graph[node.operands[1]].array_type.shape;
            (node.array_type.shape.iter().chain(indices.iter()).copied().collect(), None)
        }
        _ => (node.array_type.shape.clone(), None),
    }
}

/// The values that are followed to their sources to have `value`, and how they are seen: the operands of a
/// computation; of a reduction its operand, or what is widened to it; else the value itself, which is kept as
/// it is seen.
pub(crate) fn sought(graph: &Graph, value: ValueId, view: &View) -> Vec<Sought> {
    let node = &graph[value];
    let seen = |&value: &ValueId| Sought::new(value, view.clone());
    match node.kind {
        NodeKind::Reduce { .. } => vec![reduced(graph, value, view.clone())],
        NodeKind::Take { axis, mode } => taken(graph, node, view, axis, mode).to_vec(),
        NodeKind::ScatterAdd { axis, .. } => scattered(graph, node, view, axis).to_vec(),
        _ if is_computed(&node.kind) => node.operands.iter().map(seen).collect(),
        _ => vec![seen(&value)],
    }
}

/// The operand of a reduction with its view.
pub(crate) fn reduced(graph: &Graph, value: ValueId, view: View) -> Sought {
    Sought::new(reduced_value(graph, value), view)
}

/// The value that a reduction reads: its operand, or what is widened to it.
pub(crate) fn reduced_value(graph: &Graph, value: ValueId) -> ValueId {
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

/// Whether a node says where an element is.
pub(crate) fn is_search(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Reduce { op, .. } if op.is_search())
}

/// The operands of a gather: the table, read from memory at any place, and its indices. Indices lie in memory
/// if they are checked before the run goes on, or if each of them names more than one element.
fn taken(graph: &Graph, node: &Node, view: &View, axis: usize, mode: TakeMode) -> [Sought; 2] {
    let (table, indices) = (node.operands[0], node.operands[1]);
    let size = graph[table].array_type.shape[axis];
    let ArrayType { dtype, shape } = &graph[indices].array_type;
    let rank = shape.rank();
    let is_in_memory =
        is_checked(mode, *dtype, size) || !is_unit_reshape(&node.array_type.shape, shape);
    [
        Sought { value: table, view: view.of_table(axis, rank, size), is_in_memory: true },
        Sought { value: indices, view: view.of_indices(axis, rank), is_in_memory },
    ]
}

/// The operands of a scatter, which all lie in memory.
fn scattered(graph: &Graph, node: &Node, view: &View, axis: usize) -> [Sought; 3] {
    let rank = node.array_type.shape.rank();
    let indices = graph[node.operands[1]].array_type.shape.rank();
    let in_memory =
        |operand: usize, view| Sought { value: node.operands[operand], view, is_in_memory: true };
    [
        in_memory(0, view.of_places(rank)),
        in_memory(1, view.of_indices(rank, indices)),
        in_memory(2, view.of_updates(axis, rank)),
    ]
}

/// Whether an index of this type may name no element of `size`, and that is an error.
pub(crate) fn is_checked(mode: TakeMode, dtype: DType, size: usize) -> bool {
    let fits = |index| mode.place(index, size).is_some();
    !integer_range(dtype).is_some_and(|(least, most)| fits(least) && fits(most))
}

/// Whether nests have an instruction for such a node.
pub(crate) fn is_computed(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Elementwise(_)
            | NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Take { .. }
            | NodeKind::ScatterAdd { .. }
    )
}
