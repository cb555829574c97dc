//! Chains of separate broadcast nodes, which a lowering writes before an element-wise node.

use indim_shape::AxisMap;

use crate::outline::{NodeRole, Outline, OutlineNode, SymbolicSize};

/// Maximum number of successive broadcasts and reshapes that are followed: a lowering writes up to four.
const MAX_CHAIN: usize = 8;

/// The value before the chain of broadcast nodes that ends in `value`, and the axis of `value` for each
/// of its axes. `None` if no broadcast node makes `value`.
pub(super) fn root(outline: &Outline, value: usize, rank: usize) -> Option<(usize, AxisMap)> {
    root_of(outline, value, rank, |_, _, _| None)
}

/// Like [`root`], also through reshapes that only insert or remove axes of size 1. HLO writes them before and
/// between broadcasts. A removed axis takes the free axis of `value` after that of the axis before it.
pub(super) fn root_through_reshapes(
    outline: &Outline,
    value: usize,
    rank: usize,
) -> Option<(usize, AxisMap)> {
    root_of(outline, value, rank, |node, map, rank| {
        let sizes = |value: usize| outline.values[value].value_type.sizes.as_deref();
        let (operand, result) = (node.operands.first().copied()??, node.results.first().copied()??);
        let is_reshape = node.role == NodeRole::Reshape;
        is_reshape.then(|| before_reshape(sizes(operand)?, sizes(result)?, map, rank)).flatten()
    })
}

/// Follows broadcast nodes, and the nodes through which `through` gives the axes of the operand.
fn root_of(
    outline: &Outline,
    value: usize,
    rank: usize,
    through: impl Fn(&OutlineNode, &AxisMap, usize) -> Option<AxisMap>,
) -> Option<(usize, AxisMap)> {
    let (mut value, mut map) = (value, AxisMap::identity(rank));
    let (mut steps, mut broadcasts) = (0, 0);
    while let Some(producer) =
        outline.values[value].producer.map(|producer| &outline.nodes[producer])
    {
        let Some(Some(operand)) = producer.operands.first() else { break };
        let before = match &producer.broadcasts[..] {
            [broadcast] if producer.role == NodeRole::Expand => broadcast
                .form()
                .filter(|form| form.result.len() == map.len())
                .and_then(|form| Some(form.maps.first()?.compose(&map))),
            // Only a reshape before a broadcast belongs to the broadcast.
            _ if broadcasts > 0 => through(producer, &map, rank),
            _ => None,
        };
        let Some(before) = before.filter(|_| steps < MAX_CHAIN) else { break };
        broadcasts += usize::from(producer.role == NodeRole::Expand);
        (value, map) = (*operand, before);
        steps += 1;
    }
    (broadcasts > 0).then_some((value, map))
}

/// The map of the operand of a reshape, for the map of its result onto `rank` axes; `None` if the reshape
/// changes other sizes than 1, or a removed axis has no free axis.
fn before_reshape(
    operand: &[SymbolicSize],
    result: &[SymbolicSize],
    map: &AxisMap,
    rank: usize,
) -> Option<AxisMap> {
    let large = |sizes: &[SymbolicSize]| -> Vec<usize> {
        (0..sizes.len()).filter(|&axis| !sizes[axis].is(1)).collect()
    };
    let (from, to) = (large(operand), large(result));
    let is_same = from.len() == to.len()
        && result.len() == map.len()
        && from.iter().zip(&to).all(|(&from, &to)| operand[from] == result[to]);
    if !is_same {
        return None;
    }
    let mut axes: Vec<usize> = Vec::with_capacity(operand.len());
    for axis in 0..operand.len() {
        let first_free = axes.last().map_or(0, |last| last + 1);
        let of_large = from.iter().position(|&large| large == axis).map(|at| map[to[at]]);
        axes.push(of_large.unwrap_or(first_free));
    }
    let is_increasing = axes.windows(2).all(|pair| pair[0] < pair[1]);
    (is_increasing && axes.last().is_none_or(|&last| last < rank)).then(|| AxisMap::from(axes))
}
