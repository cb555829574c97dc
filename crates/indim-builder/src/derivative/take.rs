//! Rules of gather, scatter and windows: a gather and a scatter are transposes of each other.

use indim_graph::{AxisWindow, GraphError, Literal, TakeMode};
use indim_ops::DType;

use super::structural::zeros;
use crate::builder::{BuildResult, Value};

/// The cotangent of the table: the sum of cotangents at all indices of each element.
pub(super) fn take(
    axis: usize,
    mode: TakeMode,
    operand: &Value,
    indices: &Value,
    cotangent: &Value,
) -> BuildResult {
    let b = cotangent.builder();
    let zeros = zeros(b, &operand.array_type()?)?;
    b.scatter_add(zeros, indices, cotangent, axis as i64, mode)
}

/// The cotangent of the operand, unchanged, and of the updates, gathered at their indices.
pub(super) fn scatter_add(
    axis: usize,
    mode: TakeMode,
    indices: &Value,
    cotangent: &Value,
) -> Result<[Value; 2], GraphError> {
    let updates = cotangent.builder().take(cotangent, indices, axis as i64, mode)?;
    Ok([cotangent.clone(), updates])
}

/// The cotangent of a value of which windows were taken: the sum of the cotangents of all windows at the
/// indices of their elements.
pub(super) fn window(
    axis: usize,
    window: &AxisWindow,
    operand: &Value,
    cotangent: &Value,
) -> BuildResult {
    let b = cotangent.builder();
    let of_operand = operand.array_type()?;
    let shape = [window.positions(of_operand.shape[axis]), window.size()];
    let steps = [window.stride(), window.dilation()];
    let moved = |along: usize| {
        let counted = b.iota(DType::I64, shape, along as i64)?;
        b.mul(counted, b.literal(Literal::Int(steps[along] as i128), DType::I64)?, &[])
    };
    let indices = b.add(moved(0)?, moved(1)?, &[])?;
    let rank = of_operand.shape.rank();
    let beside = (0..=axis).chain([rank]).chain(axis + 1..rank).map(|from| from as i64);
    let updates = b.transpose(cotangent, &beside.collect::<Vec<i64>>())?;
    // No index is out of range, so no mode needs a check.
    b.scatter_add(zeros(b, &of_operand)?, indices, updates, axis as i64, TakeMode::Clip)
}
