//! The rule of sorts: each element of the operand gets the cotangent of its place in the result.

use indim_graph::TakeMode;

use crate::builder::{BuildResult, Value};

/// The cotangent of the operand. The place of each element is the inverse of the permutation that sorts,
/// which is what sorts the permutation.
pub(super) fn values(
    axis: usize,
    descending: bool,
    operand: &Value,
    cotangent: &Value,
) -> BuildResult {
    let (b, axis) = (cotangent.builder(), axis as i64);
    let places = b.argsort(b.argsort(operand, axis, descending)?, axis, false)?;
    // The places are within the axis, so they are not checked.
    b.take_along_axis(cotangent, places, axis, TakeMode::Clip)
}
