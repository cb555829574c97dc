//! Logarithms of sums of exponentials, and their kin: computed from the largest element down, so that nothing
//! overflows.

use indim_ops::{DType, ReduceOp};

use super::reduced::Reduced;
use crate::builder::{BuildResult, Value};
use crate::derivative::without_derivative;

impl Reduced<'_> {
    /// The largest elements, subtracted before `exp`. The subtracted value does not change the results, so no
    /// derivative goes through it.
    fn maximum(&self) -> BuildResult {
        without_derivative(&self.fold_kept(ReduceOp::Max, &self.x)?)
    }

    /// The largest elements, 0 where they are not finite.
    fn finite_maximum(&self) -> BuildResult {
        let largest = self.maximum()?;
        Ok(largest.is_finite().select(&largest, 0))
    }

    /// How far each element is below the largest.
    fn below_maximum(&self) -> BuildResult {
        self.below(&self.maximum()?)
    }

    /// The elements less `shift`; those that are not taken are -inf.
    fn below(&self, shift: &Value) -> BuildResult {
        self.builder().numpy().sub(self.taken(ReduceOp::Max, &self.x)?, shift)
    }

    /// The sum of exponentials in double precision, with axes of size 1; those of what is not taken are 0.
    fn wide_sum(&self, elements: &Value) -> BuildResult {
        self.fold_every(ReduceOp::Add, elements.convert(DType::F64))
    }

    /// `value` where elements are taken, else `other`.
    fn where_taken(&self, value: Value, other: f64) -> BuildResult {
        Ok(match &self.selected {
            Some(selected) => selected.select(value, other),
            None => value,
        })
    }
}

pub(super) fn logsumexp(r: &Reduced<'_>) -> BuildResult {
    let largest = r.finite_maximum()?;
    let exponentials = r.below(&largest)?.exp();
    let sum = r.wide_sum(&exponentials)?;
    // Without a logarithm of 0 the derivative of a row of -inf is 0.
    let is_zero = sum.eq(0);
    let logarithm = is_zero.select(f64::NEG_INFINITY, is_zero.select(1, sum).log());
    r.rounded(logarithm + largest.convert(DType::F64), r.dtype())
}

pub(super) fn softmax(r: &Reduced<'_>) -> BuildResult {
    let exponentials = r.below_maximum()?.exp();
    let sum = r.wide_sum(&exponentials)?;
    r.where_taken(r.builder().numpy().div(&exponentials, sum.convert(r.dtype()))?, 0.0)
}

pub(super) fn log_softmax(r: &Reduced<'_>) -> BuildResult {
    let below = r.below_maximum()?;
    let sum = r.wide_sum(&below.exp())?;
    let result = r.builder().numpy().sub(&below, sum.log().convert(r.dtype()))?;
    r.where_taken(result, f64::NEG_INFINITY)
}
