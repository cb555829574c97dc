//! The derivative of sorts.
//!
//! The cotangent of an element is the cotangent of the result at the sorted position of the element.

use indim_graph::TakeMode;

use crate::BuildResult;
use indim_builder::Value;

/// The cotangent of the operand. `argsort` gives the permutation that sorts; `argsort` of a permutation is
/// its inverse, here the sorted position of each element.
pub(super) fn cotangent(
    axis: usize,
    descending: bool,
    operand: &Value,
    cotangent: &Value,
) -> BuildResult {
    let (b, axis) = (cotangent.builder(), axis as i64);
    let positions = b.argsort(b.argsort(operand, axis, descending)?, axis, false)?;
    // All positions are within the axis, so the mode has no effect.
    b.take_along_axis(cotangent, positions, axis, TakeMode::Clip)
}
