//! Removal of a pair of reshapes around the computation of an output: the output is computed in its final
//! shape, so that its nest stores it directly. Typically `keepdims` adds axes of size 1, and the last
//! reshape drops them. Values that are not before such an output keep their axes, because nests of equal
//! rank form groups more easily.

use indim_ops::{ArrayType, Fact};
use indim_shape::{AxisMap, Shape};

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};

/// Maximum number of values visited backwards from the reshape that drops the axes; a mean has four.
const MAX_VALUES: usize = 16;

/// The replacement of `output`: the value computed without the axes, or `output` itself.
pub(super) fn drop_axes(arena: &mut GraphArena, output: ValueId) -> ValueId {
    let Node { kind, operands, array_type } = arena[output].clone();
    let NodeKind::Reshape = kind else { return output };
    let mut budget = MAX_VALUES;
    without_axes(arena, operands[0], &array_type.shape, &mut budget).unwrap_or(output)
}

/// `value` recomputed in `shape`, without the axes of size 1 that the reshape of the output drops; `None`
/// if that is not possible.
fn without_axes(
    arena: &mut GraphArena,
    value: ValueId,
    shape: &Shape,
    budget: &mut usize,
) -> Option<ValueId> {
    *budget = budget.checked_sub(1)?;
    let node = arena[value].clone();
    if node.array_type.shape == *shape {
        return Some(value);
    }
    let array_type = ArrayType { dtype: node.array_type.dtype, shape: shape.clone() };
    match &node.kind {
        NodeKind::Reshape => {
            let is_source = arena[node.operands[0]].array_type.shape == *shape;
            is_source.then_some(node.operands[0])
        }
        NodeKind::BroadcastInDim(map) if map.is_empty() => {
            let kind = NodeKind::BroadcastInDim(AxisMap::from(Vec::new()));
            Some(arena.add(Node { kind, array_type, ..node }))
        }
        // A value with other uses is recomputed, so it must be cheap.
        NodeKind::Elementwise(op) if !op.is(Fact::Cheap) => None,
        NodeKind::Elementwise(_) | NodeKind::Convert => {
            let mut operands = Vec::with_capacity(node.operands.len());
            for &operand in node.operands.iter() {
                operands.push(without_axes(arena, operand, shape, budget)?);
            }
            let operands = Operands::new(&operands);
            Some(arena.add(Node { operands, array_type, ..node }))
        }
        _ => None,
    }
}
