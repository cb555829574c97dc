//! Derivative rules of gather and scatter: each is the other's transpose.

use indim_graph::{GraphError, TakeMode};

use super::structural::zeros;
use crate::builder::{BuildResult, Value};

/// For each element of the operand the sum over the indices that name it.
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

/// To the operand the cotangent as it is; to each element that is added, that of its place.
pub(super) fn scatter_add(
    axis: usize,
    mode: TakeMode,
    indices: &Value,
    cotangent: &Value,
) -> Result<[Value; 2], GraphError> {
    let updates = cotangent.builder().take(cotangent, indices, axis as i64, mode)?;
    Ok([cotangent.clone(), updates])
}
