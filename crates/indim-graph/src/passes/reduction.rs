//! Reductions brought down to folds along axes of at least two elements, which loop nests know, and to
//! searches along long axes.

use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::{AxisMap, Shape};

use crate::array::Array;
use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use crate::reduce::without_axis;

/// The rule of the pass for one node.
pub(super) fn expand_reduction(arena: &mut GraphArena, node: Node) -> ValueId {
    match node.kind {
        NodeKind::Reduce { op, axis } if op.is_search() => {
            let x = node.operands[0];
            match arena[x].array_type.shape[axis] >= LONG_AXIS {
                true => arena.add(node),
                false => search(arena, op, axis, x),
            }
        }
        NodeKind::Reduce { op, axis } => fold(arena, op, axis, node.operands[0]),
        _ => arena.add(node),
    }
}

/// Along shorter axes, to fold and compare all elements costs less than to search some of them one by one.
const LONG_AXIS: usize = 64;

/// Where the extreme is: the least index whose element is equal to it, or is a NaN. If there is a NaN, the
/// extreme is one, which equals nothing.
fn search(arena: &mut GraphArena, op: ReduceOp, axis: usize, x: ValueId) -> ValueId {
    let ArrayType { dtype, shape } = arena[x].array_type.clone();
    let extreme = fold(arena, op.searched(), axis, x);
    let kept: Vec<usize> = (0..shape.rank()).filter(|&other| other != axis).collect();
    let extreme = place(arena, extreme, kept, &shape);
    let mut found = elementwise(arena, Op::Eq, &[x, extreme]);
    if dtype.is_float() {
        let is_nan = elementwise(arena, Op::Ne, &[x, x]);
        found = elementwise(arena, Op::Or, &[found, is_nan]);
    }
    // Narrow indices are found in half the time.
    let (dtype, nowhere) = match i32::try_from(shape[axis]) {
        Ok(_) => (DType::I32, Array::scalar(i32::MAX)),
        Err(_) => (DType::I64, Array::scalar(i64::MAX)),
    };
    let counted = ArrayType::new(dtype, [shape[axis]]);
    let index = add(arena, NodeKind::Iota { axis: 0 }, &[], counted);
    let index = place(arena, index, vec![axis], &shape);
    let nowhere = constant(arena, nowhere, &shape);
    let index = elementwise(arena, Op::Select, &[found, index, nowhere]);
    let index = fold(arena, ReduceOp::Min, axis, index);
    let array_type = ArrayType::new(DType::I64, arena[index].array_type.shape.clone());
    add(arena, NodeKind::Convert, &[index], array_type)
}

fn fold(arena: &mut GraphArena, op: ReduceOp, axis: usize, x: ValueId) -> ValueId {
    let ArrayType { dtype, shape } = arena[x].array_type.clone();
    let result = ArrayType::new(dtype, without_axis(&shape, axis));
    match shape[axis] {
        0 => constant(arena, identity(op, dtype), &result.shape),
        1 => {
            let start = constant(arena, identity(op, dtype), &result.shape);
            let only = add(arena, NodeKind::Reshape, &[x], result);
            elementwise(arena, op.operation(), &[start, only])
        }
        _ => add(arena, NodeKind::Reduce { op, axis }, &[x], result),
    }
}

fn identity(op: ReduceOp, dtype: DType) -> Array {
    Array::identity(op, dtype).expect("invariant: the element type has been checked")
}

fn add(
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

fn place(arena: &mut GraphArena, x: ValueId, map: Vec<usize>, shape: &Shape) -> ValueId {
    let array_type = ArrayType::new(arena[x].array_type.dtype, shape);
    add(arena, NodeKind::BroadcastInDim(AxisMap::from(map)), &[x], array_type)
}

/// A number, wherever `shape` has an element.
fn constant(arena: &mut GraphArena, scalar: Array, shape: &Shape) -> ValueId {
    let array_type = scalar.array_type();
    let scalar = add(arena, NodeKind::Constant(scalar), &[], array_type);
    place(arena, scalar, Vec::new(), shape)
}
