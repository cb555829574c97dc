//! Demand of a stage: the values that the stage computes, and the stage axis of each of their axes.
//!
//! A stage axis is an axis of the shape over which the stage iterates.
//!
//! A value may be used with several axis assignments, like `x` in `x + transpose(x)`. It is computed once
//! for each assignment.

use core::fmt;
use std::collections::BTreeMap;

use indim_shape::ErrorCode;

use indim_graph::{Graph, Node, NodeKind, ValueId};

use super::cuts::preserved_axes;

/// The stage axis of each axis of a value: the axis of the stage's shape with which it is cut. `None` if
/// every chunk has the whole axis.
pub(super) type StageAxes = Vec<Option<usize>>;

/// Maximum number of uses of a value with different axes, averaged over the values of the graph. Above
/// this, [`RereadLimit`] is returned.
const MAX_USES_PER_VALUE: usize = 16;

/// The error of a graph that reads its values through too many different transpositions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RereadLimit;

impl RereadLimit {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub const fn error_code(self) -> ErrorCode {
        ErrorCode::TOO_MANY_READINGS
    }
}

impl fmt::Display for RereadLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "the program transposes its values in too many ways to be computed over chunks",
        )
    }
}

impl core::error::Error for RereadLimit {}

/// The values that `roots` depend on, in execution order, each with the axes of its uses. The search stops at
/// values for which `is_input` is true.
pub(super) fn demanded_values(
    graph: &Graph,
    roots: &[(ValueId, StageAxes)],
    is_input: impl Fn(ValueId) -> bool,
) -> Result<BTreeMap<ValueId, Vec<StageAxes>>, RereadLimit> {
    let mut pending: BTreeMap<ValueId, Vec<StageAxes>> = BTreeMap::new();
    let mut found: BTreeMap<ValueId, Vec<StageAxes>> = BTreeMap::new();
    let mut budget = MAX_USES_PER_VALUE * graph.len();
    let request =
        |pending: &mut BTreeMap<ValueId, Vec<StageAxes>>, value: ValueId, axes: StageAxes| {
            let uses = pending.entry(value).or_default();
            if !uses.contains(&axes) {
                uses.push(axes);
            }
        };
    for (value, axes) in roots {
        request(&mut pending, *value, axes.clone());
    }
    // Operands are earlier values, so all uses of the last pending value are known.
    while let Some((value, uses)) = pending.pop_last() {
        budget = budget.checked_sub(uses.len()).ok_or(RereadLimit)?;
        let node = &graph[value];
        if !is_input(value) {
            for axes in &uses {
                for (position, &operand) in node.operands.iter().enumerate() {
                    request(&mut pending, operand, operand_axes(graph, node, position, axes));
                }
            }
        }
        found.insert(value, uses);
    }
    Ok(found)
}

/// The stage axes of the operand at `position` of a node with stage axes `axes`.
pub(super) fn operand_axes(
    graph: &Graph,
    node: &Node,
    position: usize,
    axes: &[Option<usize>],
) -> StageAxes {
    let operand = &graph[node.operands[position]].array_type.shape;
    match &node.kind {
        NodeKind::BroadcastInDim(map) => {
            let axis = |(&to, &size): (&usize, &usize)| if size == 1 { None } else { axes[to] };
            map.iter().zip(operand.iter()).map(axis).collect()
        }
        NodeKind::Reshape => {
            let mut of_operand = vec![None; operand.rank()];
            for (from, to) in preserved_axes(operand, &node.array_type.shape) {
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
                    let trailing = &axes[axis + added..];
                    [&axes[..*axis], &[None], trailing].concat()
                }
                _ => axes[*axis..axis + added].to_vec(),
            }
        }
        NodeKind::Scatter { axis, .. } => {
            let indices = &graph[node.operands[1]].array_type.shape;
            let uncut = vec![None; indices.rank()];
            match position {
                0 => axes.to_vec(),
                1 => uncut,
                _ => [&axes[..*axis], &uncut, &axes[axis + 1..]].concat(),
            }
        }
        // The windowed axis and the window are not cut.
        NodeKind::Window { .. } => axes[..operand.rank()].to_vec(),
        NodeKind::SearchSorted { .. } if position == 0 => vec![None],
        NodeKind::While { .. } | NodeKind::Branch { .. } => vec![None; operand.rank()],
        NodeKind::Contract { summed } => [axes, &vec![None; *summed]].concat(),
        _ => axes.to_vec(),
    }
}
