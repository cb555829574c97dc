//! Demand of a stage: the values it computes, and the stage axes that theirs move with.
//!
//! A value may be read in several ways, as `x` is by `x + transpose(x)`: it is computed once for each.

use core::fmt;
use std::collections::BTreeMap;

use crate::graph::{Graph, Node, NodeKind, ValueId};

use super::cuts::same_axes;

/// For each axis of a value the axis of the stage that it moves with; none where every chunk has all of it.
pub(super) type Axes = Vec<Option<usize>>;

/// In how many ways the values of a graph are read, on average, before it is refused.
const MAX_READINGS: usize = 16;

/// A graph reads its values in too many ways, by transposing them, to be computed over chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RereadLimit;

impl fmt::Display for RereadLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("the program reads its values in too many ways to be computed over chunks")
    }
}

impl core::error::Error for RereadLimit {}

/// The values that `roots` are made of, each in the ways in which it is read, in execution order. What
/// `is_given` says of a value is not looked behind.
pub(super) fn demanded(
    graph: &Graph,
    roots: &[(ValueId, Axes)],
    is_given: impl Fn(ValueId) -> bool,
) -> Result<BTreeMap<ValueId, Vec<Axes>>, RereadLimit> {
    let mut pending: BTreeMap<ValueId, Vec<Axes>> = BTreeMap::new();
    let mut found: BTreeMap<ValueId, Vec<Axes>> = BTreeMap::new();
    let mut left = MAX_READINGS * graph.len();
    let ask = |pending: &mut BTreeMap<ValueId, Vec<Axes>>, value: ValueId, axes: Axes| {
        let readings = pending.entry(value).or_default();
        if !readings.contains(&axes) {
            readings.push(axes);
        }
    };
    for (value, axes) in roots {
        ask(&mut pending, *value, axes.clone());
    }
    // Operands are earlier values, so all who read the last one have been seen.
    while let Some((value, readings)) = pending.pop_last() {
        left = left.checked_sub(readings.len()).ok_or(RereadLimit)?;
        let node = &graph[value];
        if !is_given(value) {
            for axes in &readings {
                for (position, &operand) in node.operands.iter().enumerate() {
                    ask(&mut pending, operand, operand_axes(graph, node, position, axes));
                }
            }
        }
        found.insert(value, readings);
    }
    Ok(found)
}

/// The axes of the operand at `position` of a node whose own are `axes`.
pub(super) fn operand_axes(
    graph: &Graph,
    node: &Node,
    position: usize,
    axes: &[Option<usize>],
) -> Axes {
    let operand = &graph[node.operands[position]].array_type.shape;
    match &node.kind {
        NodeKind::BroadcastInDim(map) => {
            let axis = |(&to, &size): (&usize, &usize)| if size == 1 { None } else { axes[to] };
            map.iter().zip(operand.iter()).map(axis).collect()
        }
        NodeKind::Reshape => {
            let mut of_operand = vec![None; operand.rank()];
            for (from, to) in same_axes(operand, &node.array_type.shape) {
                of_operand[from] = axes[to];
            }
            of_operand
        }
        NodeKind::Reduce { axis, .. } => {
            let mut of_operand = axes.to_vec();
            of_operand.insert(*axis, None);
            of_operand
        }
        NodeKind::Take { axis, .. } => {
            let added = axes.len() + 1 - graph[node.operands[0]].array_type.shape.rank();
            match position {
                0 => {
                    let behind = &axes[axis + added..];
                    [&axes[..*axis], &[None], behind].concat()
                }
                _ => axes[*axis..axis + added].to_vec(),
            }
        }
        NodeKind::ScatterAdd { axis, .. } => {
            let indices = &graph[node.operands[1]].array_type.shape;
            let along = vec![None; indices.rank()];
            match position {
                0 => axes.to_vec(),
                1 => along,
                _ => [&axes[..*axis], &along, &axes[axis + 1..]].concat(),
            }
        }
        _ => axes.to_vec(),
    }
}
