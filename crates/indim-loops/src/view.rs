//! How a nest walks a value that others only show: broadcasts and reshapes as maps from axes to axes.

use std::sync::Arc;

use indim_graph::NodeKind;
use indim_shape::Shape;

/// How the axes of a nest walk a value: for each axis of the nest the value's axis, if any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View(pub(crate) Arc<[Option<usize>]>);

impl View {
    /// Every axis of the nest walks the same axis of the value.
    pub(crate) fn identity(shape: &Shape) -> Self {
        View(shape.iter().enumerate().map(|(axis, &size)| (size != 1).then_some(axis)).collect())
    }

    /// How a nest over `shape` walks what is left when `axis` goes.
    pub(crate) fn without_axis(shape: &Shape, axis: usize) -> Self {
        let left = |other: usize| match shape[other] {
            1 => None,
            _ if other == axis => None,
            _ => Some(if other < axis { other } else { other - 1 }),
        };
        View((0..shape.rank()).map(left).collect())
    }

    /// The view of the operand of a `BroadcastInDim` that lands so.
    pub(crate) fn of_broadcast(map: &[usize], operand: &Shape, result: &Shape) -> Self {
        let mut axes = vec![None; result.rank()];
        for (axis, &target) in map.iter().enumerate().filter(|&(axis, _)| operand[axis] != 1) {
            axes[target] = Some(axis);
        }
        View(axes.into())
    }

    /// The view of the operand of a reshape that only adds or drops axes of size 1.
    pub(crate) fn of_unit_reshape(result: &Shape, operand: &Shape) -> Self {
        let mut kept = (0..operand.rank()).filter(|&axis| operand[axis] != 1);
        View(result.iter().map(|&size| if size == 1 { None } else { kept.next() }).collect())
    }

    /// This view of a value that is itself seen through `next`.
    pub(crate) fn through(&self, next: &View) -> View {
        View(self.0.iter().map(|axis| next.0[(*axis)?]).collect())
    }
}

/// Whether a reshape only adds or drops axes of size 1, so that it is a view of any strides.
pub(crate) fn is_unit_reshape(result: &Shape, operand: &Shape) -> bool {
    let not_unit = |&&size: &&usize| size != 1;
    result.iter().filter(not_unit).eq(operand.iter().filter(not_unit))
}

/// Whether a node is read from memory rather than computed.
pub(crate) fn is_leaf(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::Iota { .. })
}
