//! Bounds checks of indices before gathers and scatters.

use indim_graph::{NodeKind, ScatterMode, ShapedGraph, Size, TakeMode, ValueId};

use crate::body::access;
use crate::loop_nest::{BufferId, IndexCheck};
use crate::lower::Buffers;
use crate::materialize::{Materialized, computed_values};
use crate::value_source::{OperandView, indexed_size, is_checked};
use crate::view::View;

/// The bounds checks of a graph, sorted by the nest before which they run.
pub(crate) fn checks(
    graph: &ShapedGraph<'_>,
    materialized: &Materialized,
    buffers: &mut Buffers,
) -> Vec<IndexCheck> {
    if !graph.iter().any(|(_, node)| indexed(&node.kind).is_some()) {
        return Vec::new();
    }
    let mut checks: Vec<IndexCheck> = Vec::new();
    for (nest, group) in materialized.groups().iter().enumerate() {
        for &value in computed_values(graph, &group.values, materialized).keys() {
            let Some(check) = check(graph, &group.values, materialized, buffers, value, nest)
            else {
                continue;
            };
            let is_duplicate =
                checks.iter().any(|known| known.access == check.access && known.size == check.size);
            if !is_duplicate {
                checks.push(check);
            }
        }
    }
    checks.sort_by_key(|check| check.nest);
    checks
}

/// The axis that indices select from, and the treatment of indices out of range.
fn indexed(kind: &NodeKind) -> Option<(usize, TakeMode)> {
    match *kind {
        NodeKind::Take { axis, mode }
        | NodeKind::Scatter { axis, mode: ScatterMode::Take(mode), .. } => Some((axis, mode)),
        _ => None,
    }
}

/// The check that nest `nest` needs to compute `value`; `None` if every possible index is valid, or if no
/// element is selected.
fn check(
    graph: &ShapedGraph<'_>,
    group: &[ValueId],
    materialized: &Materialized,
    buffers: &mut Buffers,
    value: ValueId,
    nest: usize,
) -> Option<IndexCheck> {
    let node = &graph[value];
    let (axis, mode) = indexed(&node.kind)?;
    let (table, indices) = (node.operands[0], node.operands[1]);
    let size = indexed_size(graph, table, axis);
    let shape = graph.shape(indices);
    // The updates of a scatter, or the result of a gather.
    let elements = graph.shape(node.operands.get(2).copied().unwrap_or(value));
    if !is_checked(mode, graph[indices].array_type.dtype, size)
        || elements.contains(&Size::Known(0))
    {
        return None;
    }
    let view = View::identity(shape);
    let operand = OperandView::in_memory(indices, view);
    let access = access(graph, buffers, materialized.source(graph, group, operand)).ok()?;
    let is_given = matches!(access.buffer, BufferId::Parameter(_) | BufferId::Constant(_));
    Some(IndexCheck {
        nest: if is_given { 0 } else { nest },
        name: graph.value_name(indices),
        access,
        shape: shape.clone(),
        axis,
        size,
    })
}
