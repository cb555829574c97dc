//! Operand and result types of reductions along one axis, scans, and contractions.

use indim_ops::{ArrayType, ReduceOp, contraction_dtype, scan_accumulator};
use indim_shape::{RuleSet, Shape};

use crate::error::GraphErrorKind;
use crate::signature::check_operands;

/// The checked axis and the result type of the reduction `op` of `operand` along `axis`. A negative axis
/// is out of range.
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

/// The checked axis of the scan `op` of `operand` along `axis`; the result has the operand's type. A
/// negative axis is out of range.
///
/// # Errors
/// `axis-out-of-range`; TY1 `element-type-not-allowed`.
pub fn check_scan(op: ReduceOp, axis: i64, operand: &ArrayType) -> Result<usize, GraphErrorKind> {
    let rank = operand.shape.rank();
    let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis < rank) else {
        return Err(GraphErrorKind::AxisOutOfRange { axis, rank });
    };
    match scan_accumulator(op, operand.dtype) {
        Some(_) => Ok(axis),
        None => Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: operand.dtype }),
    }
}

/// The result type of a contraction of these operands along their last `summed` axes.
///
/// # Errors
/// `wrong-operand-count`; TY1, TY2; `shapes-differ`; `axis-out-of-range` for more summed axes than the
/// operands have.
pub fn check_contraction(
    summed: usize,
    operands: &[ArrayType],
) -> Result<ArrayType, GraphErrorKind> {
    let dtype = check_operands(operands, 2, false, |dtype| contraction_dtype(dtype).is_some())?;
    let shapes = [operands[0].shape.clone(), operands[1].shape.clone()];
    if let Err(error) = RuleSet::None.elaborate(&shapes) {
        return Err(GraphErrorKind::Shape(Box::new(error)));
    }
    let rank = shapes[0].rank();
    let Some(kept) = rank.checked_sub(summed) else {
        let axis = i64::try_from(summed).unwrap_or(i64::MAX) - 1;
        return Err(GraphErrorKind::AxisOutOfRange { axis, rank });
    };
    Ok(ArrayType::new(contraction_dtype(dtype).unwrap_or(dtype), Shape::from(&shapes[0][..kept])))
}

/// `shape` without `axis`.
pub(crate) fn without_axis(shape: &Shape, axis: usize) -> Shape {
    let kept = shape.iter().enumerate().filter(|&(other, _)| other != axis);
    kept.map(|(_, &size)| size).collect::<Vec<usize>>().into()
}
