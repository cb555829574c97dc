//! Sinking of broadcasts below computations, so that no operation computes repeated elements.
//!
//! `op(broadcast(a), broadcast(b))` becomes `broadcast(op(a', b'))`, where axes along which no operand
//! varies have size 1. An outer product of `exp(u)` and `tanh(v)` evaluates n + m transcendental functions,
//! even if the expression broadcasts `u` and `v` first. Broadcasts sink below slices too.

use std::sync::Arc;

use indim_ops::ArrayType;
use indim_shape::{AxisMap, Shape};

use crate::graph::{GraphArena, Node, NodeKind, Operands, ValueId};
use crate::views::AxisSlice;

/// The rule of the pass for one node.
pub(super) fn sink_broadcasts(arena: &mut GraphArena, node: Node) -> ValueId {
    match &node.kind {
        NodeKind::Elementwise(_) | NodeKind::Convert | NodeKind::Bitcast => {
            sink_computation(arena, node)
        }
        NodeKind::BroadcastInDim(_) => compose_broadcasts(arena, node),
        NodeKind::Slice(_) => simplify_slice(arena, node),
        NodeKind::Iota { axis } if node.array_type.shape.rank() > 1 => {
            let axis = *axis;
            broadcast_iota(arena, axis, node.array_type)
        }
        _ => arena.add(node),
    }
}

/// An iota varies along one axis only, so it is the broadcast of an iota of rank 1.
fn broadcast_iota(arena: &mut GraphArena, axis: usize, array_type: ArrayType) -> ValueId {
    let length = array_type.shape[axis];
    let iota = arena.add(Node {
        kind: NodeKind::Iota { axis: 0 },
        operands: Operands::new(&[]),
        array_type: ArrayType::new(array_type.dtype, [length]),
    });
    let kind = NodeKind::BroadcastInDim(AxisMap::from(vec![axis]));
    arena.add(Node { kind, operands: Operands::new(&[iota]), array_type })
}

/// Computes the operation with size 1 along each axis along which no operand varies, and broadcasts the
/// result.
fn sink_computation(arena: &mut GraphArena, node: Node) -> ValueId {
    let result = node.array_type.shape.clone();
    let varying_sizes = varying_shape(arena, &node);
    if varying_sizes == result {
        return arena.add(node);
    }
    let shrink = |&operand: &ValueId| shrink_operand(arena, operand, &varying_sizes);
    let operands: Vec<ValueId> = node.operands.iter().map(shrink).collect();
    let array_type = ArrayType { dtype: node.array_type.dtype, shape: varying_sizes };
    let computed =
        arena.add(Node { kind: node.kind, operands: Operands::new(&operands), array_type });
    let map = AxisMap::identity(result.rank());
    let array_type = ArrayType { dtype: node.array_type.dtype, shape: result };
    arena.add(Node {
        kind: NodeKind::BroadcastInDim(map),
        operands: Operands::new(&[computed]),
        array_type,
    })
}

/// The result's shape with 1 for every axis along which no operand varies.
fn varying_shape(arena: &GraphArena, node: &Node) -> Shape {
    let result = &node.array_type.shape;
    let mut is_varying = vec![false; result.rank()];
    for &operand in node.operands.iter() {
        match &arena[operand].kind {
            NodeKind::BroadcastInDim(map) => {
                let source = &arena[arena[operand].operands[0]].array_type.shape;
                let kept = map.iter().zip(source.iter()).filter(|&(_, &size)| size != 1);
                kept.for_each(|(&axis, _)| is_varying[axis] = true);
            }
            NodeKind::Constant(array) if array.shape().is_scalar() => {}
            _ => is_varying.fill(true),
        }
    }
    let size = |(&size, &varies): (&usize, &bool)| if varies { size } else { 1 };
    result.iter().zip(&is_varying).map(size).collect()
}

/// The operand of an operation, broadcast only to the shape `varying_sizes`.
fn shrink_operand(arena: &mut GraphArena, operand: ValueId, varying_sizes: &Shape) -> ValueId {
    let node = arena[operand].clone();
    let NodeKind::BroadcastInDim(map) = &node.kind else {
        return operand;
    };
    let source = node.operands[0];
    if arena[source].array_type.shape == *varying_sizes
        && map.is_identity_onto(varying_sizes.rank())
    {
        return source;
    }
    let array_type = ArrayType { dtype: node.array_type.dtype, shape: varying_sizes.clone() };
    arena.add(Node { array_type, ..node })
}

/// `broadcast(broadcast(x))` is one broadcast.
fn compose_broadcasts(arena: &mut GraphArena, node: Node) -> ValueId {
    let NodeKind::BroadcastInDim(outer) = &node.kind else {
        return arena.add(node);
    };
    let inner_node = arena[node.operands[0]].clone();
    let NodeKind::BroadcastInDim(inner) = &inner_node.kind else {
        return arena.add(node);
    };
    let kind = NodeKind::BroadcastInDim(inner.compose(outer));
    arena.add(Node { kind, operands: inner_node.operands, array_type: node.array_type })
}

/// A slice of a slice becomes one slice; a slice of a broadcast becomes a broadcast of a slice, so the
/// broadcast sinks below the slice.
fn simplify_slice(arena: &mut GraphArena, node: Node) -> ValueId {
    let NodeKind::Slice(slices) = &node.kind else {
        return arena.add(node);
    };
    let inner = arena[node.operands[0]].clone();
    match &inner.kind {
        NodeKind::Slice(_) => match composed_slice(arena, node.operands[0], slices) {
            Some((source, composed)) => add_slice(arena, source, composed, node.array_type),
            None => arena.add(node),
        },
        NodeKind::BroadcastInDim(map) => {
            let source = inner.operands[0];
            let sizes = arena[source].array_type.shape.clone();
            let source_slices = |(&axis, &size): (&usize, &usize)| match size {
                1 => AxisSlice::whole(1),
                _ => slices[axis],
            };
            let source_slices: Vec<AxisSlice> =
                map.iter().zip(sizes.iter()).map(source_slices).collect();
            // A slice of a slice that stays would leave a value between them whose symbols nothing tells.
            let Some((source, source_slices)) = composed_slice(arena, source, &source_slices)
            else {
                return arena.add(node);
            };
            let shape: Shape = source_slices.iter().map(AxisSlice::count).collect();
            let array_type = ArrayType::new(node.array_type.dtype, shape);
            let sliced = add_slice(arena, source, source_slices, array_type);
            let sliced = simplify_slice(arena, arena[sliced].clone());
            arena.add(Node {
                operands: Operands::new(&[sliced]),
                array_type: node.array_type,
                ..inner
            })
        }
        _ => arena.add(node),
    }
}

/// The slice `later` of `operand` as a slice of the operand of `operand`, if `operand` is a slice itself.
/// `None` if the two slices do not compose.
fn composed_slice(
    arena: &GraphArena,
    operand: ValueId,
    later: &[AxisSlice],
) -> Option<(ValueId, Vec<AxisSlice>)> {
    let NodeKind::Slice(first) = &arena[operand].kind else {
        return Some((operand, later.to_vec()));
    };
    let source = arena[operand].operands[0];
    let pairs = first.iter().zip(later);
    let composed = pairs.map(|(first, later)| first.then(later)).collect::<Option<_>>()?;
    Some((source, composed))
}

/// Adds the slice, unless it is the whole operand.
fn add_slice(
    arena: &mut GraphArena,
    operand: ValueId,
    slices: Vec<AxisSlice>,
    array_type: ArrayType,
) -> ValueId {
    let sizes = &arena[operand].array_type.shape;
    if slices.iter().zip(sizes.iter()).all(|(slice, &size)| slice.is_whole(size)) {
        return operand;
    }
    let kind = NodeKind::Slice(Arc::from(slices));
    arena.add(Node { kind, operands: Operands::new(&[operand]), array_type })
}
