//! Rules of gather and scatter: each is the transpose of the other.

use indim_graph::{GraphError, TakeMode};

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
