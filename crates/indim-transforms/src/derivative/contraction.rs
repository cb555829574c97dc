//! The rule of contractions.
//!
//! The cotangent of a factor is again a contraction: of the cotangent and the other factor, summed along the
//! axes that the factor's array lacks.

use indim_graph::{GraphError, Node, NodeKind, ValueId};
use indim_ops::DType;
use indim_shape::{AxisMap, Shape};

use indim_builder::{GraphBuilder, NodeAccess, Value};

/// A factor of a contraction, before its broadcast.
pub(super) struct Factor {
    /// The operand of the broadcast; the factor itself if it is no broadcast.
    pub(super) source: ValueId,
    /// The axis of the factor for each axis of the source.
    map: AxisMap,
    shape: Shape,
}

impl Factor {
    /// The factor `value`, whose node is `node` and whose source has the shape of `source_shape`.
    pub(super) fn new(
        value: ValueId,
        node: &Node,
        source_shape: impl FnOnce(ValueId) -> Shape,
    ) -> Factor {
        match &node.kind {
            NodeKind::BroadcastInDim(map) => {
                let source = node.operands[0];
                Factor { source, map: map.clone(), shape: source_shape(source) }
            }
            _ => {
                let shape = node.array_type.shape.clone();
                Factor { source: value, map: AxisMap::identity(shape.rank()), shape }
            }
        }
    }

    /// The cotangent of the source, from the other factor and the cotangent of the contraction.
    #[track_caller]
    pub(super) fn cotangent(
        &self,
        b: &GraphBuilder,
        other: &Value,
        cotangent: &Value,
    ) -> Result<Value, GraphError> {
        let factors = other.array_type()?;
        let (dtype, rank) = (factors.dtype, factors.shape.rank());
        // The axes of the factors along which the source varies. They become the first axes; the sum runs
        // along the other axes, which become the last.
        let source_axes = self.map.iter().zip(self.shape.iter()).filter(|(_, size)| **size != 1);
        let source_axes: Vec<usize> = source_axes.map(|(&axis, _)| axis).collect();
        let others = (0..rank).filter(|axis| !source_axes.contains(axis));
        let order: Vec<usize> = source_axes.iter().copied().chain(others).collect();
        let shape: Shape = order.iter().map(|&axis| factors.shape[axis]).collect();
        let position = |axis: usize| order.iter().position(|&other| other == axis).unwrap_or(axis);
        let reorder = |value: &Value, rank: usize| {
            let map = AxisMap::from((0..rank).map(position).collect::<Vec<usize>>());
            b.checked_broadcast("contract", b.id("contract", value)?, &map, &shape)
        };
        // The result of a contraction has the leading axes of its factors.
        let result_rank = cotangent.array_type()?.shape.rank();
        let cotangent = reorder(&narrow_cotangent(b, cotangent, dtype)?, result_rank)?;
        let sum = b.contract(&cotangent, reorder(other, rank)?, rank - source_axes.len())?;
        let sum = b.convert(sum, dtype)?;
        b.reshape_unpinned(b.id("contract", &sum)?, self.shape.clone())
    }
}

/// The cotangent in the element type of the factors. If it was widened from this type, the value before
/// the conversion.
fn narrow_cotangent(
    b: &GraphBuilder,
    cotangent: &Value,
    dtype: DType,
) -> Result<Value, GraphError> {
    match b.operand_of_conversion(cotangent) {
        Some(narrow) if narrow.array_type()?.dtype == dtype => Ok(narrow),
        _ => b.convert(cotangent, dtype),
    }
}
