//! Expansion of reductions along axes of fewer than two elements, which loop nests do not support.

use indim_ops::meaning::reduction::tree;
use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::{AxisMap, Shape};

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use crate::reduce::without_axis;
use indim_arrays::Array;

/// The rule of the pass for one node.
pub(super) fn expand_reduction(arena: &mut GraphArena, node: Node) -> ValueId {
    match node.kind {
        NodeKind::Reduce { op, axis } if op.is_arg_reduction() => arg_reduction(arena, node, axis),
        NodeKind::Reduce { op, axis } => fold(arena, op, axis, node.operands[0]),
        _ => arena.add(node),
    }
}

/// An arg-reduction along an axis of at most one element is 0.
fn arg_reduction(arena: &mut GraphArena, node: Node, axis: usize) -> ValueId {
    match arena[node.operands[0]].array_type.shape[axis] {
        0 | 1 => constant(arena, Array::from_scalar(0i64), &node.array_type.shape),
        _ => arena.add(node),
    }
}

fn fold(arena: &mut GraphArena, op: ReduceOp, axis: usize, x: ValueId) -> ValueId {
    let ArrayType { dtype, shape } = arena[x].array_type.clone();
    let result = ArrayType::new(dtype, without_axis(&shape, axis));
    match shape[axis] {
        0 => constant(arena, identity(op, dtype), &result.shape),
        1 => {
            let only = add(arena, NodeKind::Reshape, &[x], result);
            combine(arena, op, &[only])
        }
        _ => add(arena, NodeKind::Reduce { op, axis }, &[x], result),
    }
}

/// The element-wise reduction of `values` of one type, with the bits of a reduction of their stack.
pub(super) fn combine(arena: &mut GraphArena, op: ReduceOp, values: &[ValueId]) -> ValueId {
    let ArrayType { dtype, shape } = arena[values[0]].array_type.clone();
    let start = constant(arena, identity(op, dtype), &shape);
    tree(values, start, |x, y| elementwise(arena, op.operation(), &[x, y]))
}

fn identity(op: ReduceOp, dtype: DType) -> Array {
    Array::identity(op, dtype).expect("invariant: the element type has been checked")
}

pub(super) fn add(
    arena: &mut GraphArena,
    kind: NodeKind,
    operands: &[ValueId],
    array_type: ArrayType,
) -> ValueId {
    arena.add(Node { kind, operands: Operands::new(operands), array_type })
}

fn elementwise(arena: &mut GraphArena, op: Op, operands: &[ValueId]) -> ValueId {
    let last = operands.last().expect("invariant: operations have operands");
    let ArrayType { dtype, shape } = arena[*last].array_type.clone();
    add(arena, NodeKind::Elementwise(op), operands, ArrayType::new(op.result_dtype(dtype), shape))
}

/// The broadcast of a scalar to `shape`.
fn constant(arena: &mut GraphArena, scalar: Array, shape: &Shape) -> ValueId {
    let array_type = scalar.array_type().clone();
    let broadcast_type = ArrayType::new(array_type.dtype, shape);
    let scalar = add(arena, NodeKind::Constant(scalar), &[], array_type);
    add(arena, NodeKind::BroadcastInDim(AxisMap::from(Vec::new())), &[scalar], broadcast_type)
}
