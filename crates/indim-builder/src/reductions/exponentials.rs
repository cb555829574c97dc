//! `logsumexp`, `softmax` and `log_softmax`, without overflow: the largest element is subtracted before
//! `exp`.

use indim_ops::{DType, ReduceOp};

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};
use crate::stop_gradient::without_derivative;

impl ReductionContext<'_> {
    /// The largest elements; the reduced axes have size 1. Results do not depend on this shift, so it has
    /// no derivative.
    fn maximum(&self) -> BuildResult {
        without_derivative(&self.fold_keepdims(ReduceOp::Max, &self.x)?)
    }

    /// Like `maximum`, with 0 in place of infinities and NaN.
    fn finite_maximum(&self) -> BuildResult {
        let largest = self.maximum()?;
        Ok(largest.is_finite().select(&largest, 0))
    }

    /// The elements minus the largest element.
    fn subtract_maximum(&self) -> BuildResult {
        self.subtract_shift(&self.maximum()?)
    }

    /// The elements minus `shift`; -inf for unselected elements.
    fn subtract_shift(&self, shift: &Value) -> BuildResult {
        self.builder().numpy().sub(self.mask(ReduceOp::Max, &self.x)?, shift)
    }

    /// The sum of exponentials in double precision; the reduced axes have size 1. If a row has
    /// a selected element, the exponentials of the others are 0, so they need no mask.
    fn wide_sum(&self, elements: &Value) -> BuildResult {
        self.fold_unmasked(ReduceOp::Add, elements.convert(DType::F64))
    }

    /// `value` for selected elements, else `other`.
    fn where_selected(&self, value: Value, other: f64) -> BuildResult {
        Ok(match &self.selected {
            Some(selected) => selected.select(value, other),
            None => value,
        })
    }
}

pub(super) fn logsumexp(call: &ReductionContext<'_>) -> BuildResult {
    let largest = call.finite_maximum()?;
    let exponentials = call.subtract_shift(&largest)?.exp();
    let sum = call.wide_sum(&exponentials)?;
    // Avoiding the logarithm of 0 makes the derivative of a row of -inf 0.
    let is_zero = sum.eq(0);
    let logarithm = is_zero.select(f64::NEG_INFINITY, is_zero.select(1, sum).log());
    call.round_to(logarithm + largest.convert(DType::F64), call.dtype())
}

pub(super) fn softmax(call: &ReductionContext<'_>) -> BuildResult {
    let exponentials = call.subtract_maximum()?.exp();
    let sum = call.wide_sum(&exponentials)?;
    call.where_selected(call.builder().numpy().div(&exponentials, sum.convert(call.dtype()))?, 0.0)
}

pub(super) fn log_softmax(call: &ReductionContext<'_>) -> BuildResult {
    let below = call.subtract_maximum()?;
    let sum = call.wide_sum(&below.exp())?;
    let result = call.builder().numpy().sub(&below, sum.log().convert(call.dtype()))?;
    call.where_selected(result, f64::NEG_INFINITY)
}
