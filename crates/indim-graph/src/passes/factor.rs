//! Transposition of constant factors of contractions to the order of the summed axes.
//!
//! The kernel of a convolution has its channels before its spatial axes, but its contraction sums along the
//! spatial axes, then the channels. A constant convolution kernel is transposed once here, so that no run
//! gathers its elements.

use core::cell::Cell;

use indim_ops::ArrayType;
use indim_shape::{AxisMap, Shape, sort_few_by_key};

use crate::eval::evaluate_node;
use crate::graph::{Graph, GraphArena, Node, NodeKind, Operands, ValueId};

/// The number of elements of all constants of a graph. The pass transposes at most this number in total;
/// otherwise a short text with many contractions of one constant could take much memory.
pub(super) fn constant_elements(graph: &Graph) -> usize {
    let elements = graph.iter().map(|(_, node)| match &node.kind {
        NodeKind::Constant(array) => array.shape().element_count().unwrap_or(usize::MAX),
        _ => 0,
    });
    elements.fold(0, usize::saturating_add)
}

/// The rule of the pass for one node; `budget` is the number of elements that may still be transposed.
pub(super) fn order_factors(arena: &mut GraphArena, node: Node, budget: &Cell<usize>) -> ValueId {
    if !matches!(node.kind, NodeKind::Contract { .. }) {
        return arena.add(node);
    }
    let result_rank = node.array_type.shape.rank();
    let operands = node.operands.map(|operand| reorder_factor(arena, operand, result_rank, budget));
    arena.add(Node { operands, ..node })
}

/// If the factor is the broadcast of a constant: the broadcast of the transposed constant, whose axes have
/// the order of the broadcast's axes. The factor stays unchanged if its summed axes, which begin at axis
/// `result_rank` of the broadcast, can be read with one stride already, if its axes have this order
/// already, or if the constant exceeds the budget.
fn reorder_factor(
    arena: &mut GraphArena,
    factor: ValueId,
    result_rank: usize,
    budget: &Cell<usize>,
) -> ValueId {
    let broadcast = arena[factor].clone();
    let NodeKind::BroadcastInDim(map) = &broadcast.kind else { return factor };
    let constant = &arena[broadcast.operands[0]];
    let NodeKind::Constant(array) = &constant.kind else { return factor };
    let shape = array.shape();
    let count = shape.element_count().unwrap_or(usize::MAX);
    if map.is_increasing() || count > budget.get() || has_one_stride(shape, map, result_rank) {
        return factor;
    }
    let mut order: Vec<usize> = (0..shape.rank()).collect();
    sort_few_by_key(&mut order, |&axis| map[axis]);
    let inverse: Vec<usize> = (0..shape.rank())
        .map(|axis| order.iter().position(|&other| other == axis).unwrap_or(axis))
        .collect();
    let sizes: Shape = order.iter().map(|&axis| shape[axis]).collect();
    let transposition = Node {
        kind: NodeKind::BroadcastInDim(AxisMap::from(inverse)),
        operands: Operands::new(&[]),
        array_type: ArrayType::new(array.dtype(), sizes),
    };
    let Ok(transposed) = evaluate_node(&transposition, &[array]) else { return factor };
    budget.set(budget.get() - count);
    let result_map: Vec<usize> = order.iter().map(|&axis| map[axis]).collect();
    let constant = arena.add(Node {
        array_type: transposed.array_type().clone(),
        kind: NodeKind::Constant(transposed),
        operands: Operands::new(&[]),
    });
    let kind = NodeKind::BroadcastInDim(AxisMap::from(result_map));
    arena.add(Node { kind, operands: Operands::new(&[constant]), array_type: broadcast.array_type })
}

/// Whether the summed axes of a row-major array, in the order of the broadcast's axes, can be read as one
/// axis with one stride. A single summed axis always can: a product of matrices keeps its constant as it
/// is, because either order of the two axes may be better.
fn has_one_stride(shape: &Shape, map: &AxisMap, result_rank: usize) -> bool {
    let mut stride = 1_usize;
    let mut summed: Vec<(usize, usize, usize)> = Vec::new();
    for (axis, &size) in shape.iter().enumerate().rev() {
        if size != 1 && map[axis] >= result_rank {
            summed.push((map[axis], size, stride));
        }
        stride = stride.saturating_mul(size);
    }
    summed.sort_unstable();
    summed.windows(2).all(|pair| {
        let [(_, _, slower), (_, size, faster)] = [pair[0], pair[1]];
        slower == faster.saturating_mul(size)
    })
}
