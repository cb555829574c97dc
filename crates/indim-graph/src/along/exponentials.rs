//! Logarithms of sums of exponentials, and their kin: computed from the largest element down, so that nothing
//! overflows.

use indim_ops::{DType, ReduceOp};

use super::reduced::Reduced;
use crate::builder::{BuildResult, Value};

impl Reduced<'_> {
    /// The largest elements, 0 where they are not finite: what is taken away before `exp`.
    fn finite_maximum(&self) -> BuildResult {
        let largest = self.fold_kept(ReduceOp::Max, &self.x)?;
        Ok(largest.is_finite().select(&largest, 0))
    }

    /// How far each element is below the largest.
    fn below_maximum(&self) -> BuildResult {
        self.builder().numpy().sub(&self.x, self.fold_kept(ReduceOp::Max, &self.x)?)
    }

    /// The sum in double precision, with axes of size 1.
    fn wide_sum(&self, elements: &Value) -> BuildResult {
        self.fold_kept(ReduceOp::Add, &elements.convert(DType::F64))
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
    let exponentials = r.builder().numpy().sub(&r.x, &largest)?.exp();
    let sum = r.wide_sum(&exponentials)?;
    r.rounded(sum.log() + largest.convert(DType::F64), r.dtype())
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
