//! Operand and result types of reductions along one axis.

use indim_ops::{ArrayType, ReduceOp};
use indim_shape::Shape;

use crate::error::GraphErrorKind;

/// The checked axis and the result type of the reduction `op` of `operand` along `axis`.
///
/// # Errors
/// `axis-out-of-range`; TY1 `element-type-not-allowed`; `empty-reduction` for an arg-reduction along an axis
/// without elements.
pub fn check_reduction(
    op: ReduceOp,
    axis: i64,
    operand: &ArrayType,
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let rank = operand.shape.rank();
    let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis < rank) else {
        return Err(GraphErrorKind::AxisOutOfRange { axis, rank });
    };
    if !op.takes(operand.dtype) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: operand.dtype });
    }
    let shape = without_axis(&operand.shape, axis);
    if op.is_arg_reduction() && operand.shape[axis] == 0 && !shape.contains(&0) {
        return Err(GraphErrorKind::EmptyReduction { axis });
    }
    Ok((axis, ArrayType::new(op.result_dtype(operand.dtype), shape)))
}

/// `shape` without `axis`.
pub(crate) fn without_axis(shape: &Shape, axis: usize) -> Shape {
    let kept = shape.iter().enumerate().filter(|&(other, _)| other != axis);
    kept.map(|(_, &size)| size).collect::<Vec<usize>>().into()
}
