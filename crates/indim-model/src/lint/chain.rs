//! Chains of separate broadcast nodes, which a lowering writes before an element-wise node.

use indim_shape::AxisMap;

use crate::outline::{NodeRole, Outline};

/// Maximum number of successive broadcasts that are followed: a lowering writes two.
const MAX_CHAIN: usize = 8;

/// The value before the chain of broadcast nodes that ends in `value`, and the axis of `value` for each
/// of its axes. `None` if no broadcast node makes `value`.
pub(super) fn root(outline: &Outline, value: usize, rank: usize) -> Option<(usize, AxisMap)> {
    let (mut value, mut map) = (value, AxisMap::identity(rank));
    let mut steps = 0;
    while let Some(producer) =
        outline.values[value].producer.map(|producer| &outline.nodes[producer])
    {
        let ([broadcast], true) = (&producer.broadcasts[..], producer.role == NodeRole::Expand)
        else {
            break;
        };
        let (Some(form), Some(Some(operand))) = (broadcast.form(), producer.operands.first())
        else {
            break;
        };
        if steps == MAX_CHAIN || form.result.len() != map.len() {
            break;
        }
        map = form.maps.first()?.compose(&map);
        value = *operand;
        steps += 1;
    }
    (steps > 0).then_some((value, map))
}
