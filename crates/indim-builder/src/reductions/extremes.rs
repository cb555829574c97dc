//! Extremes and arg-reductions.

use indim_ops::{DType, DTypeClass, ReduceOp};

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};

impl ReductionContext<'_> {
    fn is_float(&self) -> bool {
        self.dtype().class() == DTypeClass::Float
    }

    fn extreme(&self, op: ReduceOp) -> BuildResult {
        self.to_result_shape(&self.with_initial(
            op.operation(),
            self.fold_keepdims(op, &self.x)?,
            self.dtype(),
        )?)
    }

    /// The extreme of the elements that are not NaN: by `op` for floats, and by `whole` for other types,
    /// which have no NaN.
    fn number_extreme(&self, op: ReduceOp, whole: ReduceOp) -> BuildResult {
        self.extreme(if self.is_float() { op } else { whole })
    }

    /// An arg-reduction over all reduced axes, merged into one.
    fn arg_reduce(&self, op: ReduceOp, last: bool) -> BuildResult {
        if last {
            return self.last_hit(&self.hits(op)?);
        }
        let (rows, axis) = self.rows(&self.x)?;
        self.rows_to_result(self.builder().reduce(op, rows, axis as i64)?)
    }

    /// Mask of the elements that an arg-reduction may return: NaNs if any exist, else those equal to the
    /// extreme.
    fn hits(&self, op: ReduceOp) -> BuildResult {
        let numpy = self.builder().numpy();
        let hits = numpy.eq(&self.x, self.fold_keepdims(op.extremum(), &self.x)?)?;
        // If any element is NaN, so is the extreme, and no element equals it.
        Ok(if self.is_float() { hits | self.x.is_nan() } else { hits })
    }

    /// The index of the last true element in each row.
    fn last_hit(&self, hits: &Value) -> BuildResult {
        let (rows, axis) = self.rows(hits)?;
        let places = self.builder().iota(DType::I64, rows.array_type()?.shape, axis as i64)?;
        let held = rows.select(places, 0);
        self.rows_to_result(self.builder().reduce(ReduceOp::Max, held, axis as i64)?)
    }

    /// An arg-reduction over the elements that are not NaN; -1 if all elements are NaN.
    fn arg_reduce_numbers(&self, extreme: ReduceOp, whole: ReduceOp) -> BuildResult {
        if !self.is_float() {
            return self.arg_reduce(whole, false);
        }
        let b = self.builder();
        let extreme = self.fold_keepdims(extreme, &self.x)?;
        let (rows, axis) = self.rows(&b.numpy().eq(&self.x, extreme)?)?;
        let found = b.reduce(ReduceOp::ArgMax, &rows, axis as i64)?;
        let is_any = b.reduce(ReduceOp::Or, rows, axis as i64)?;
        self.rows_to_result(is_any.select(found, -1))
    }
}

pub(super) fn max(r: &ReductionContext<'_>) -> BuildResult {
    r.extreme(ReduceOp::Max)
}

pub(super) fn min(r: &ReductionContext<'_>) -> BuildResult {
    r.extreme(ReduceOp::Min)
}

pub(super) fn ptp(r: &ReductionContext<'_>) -> BuildResult {
    Ok(max(r)? - min(r)?)
}

pub(super) fn argmax(r: &ReductionContext<'_>, last: bool) -> BuildResult {
    r.arg_reduce(ReduceOp::ArgMax, last)
}

pub(super) fn argmin(r: &ReductionContext<'_>, last: bool) -> BuildResult {
    r.arg_reduce(ReduceOp::ArgMin, last)
}

pub(super) fn nanmax(r: &ReductionContext<'_>) -> BuildResult {
    r.number_extreme(ReduceOp::Fmax, ReduceOp::Max)
}

pub(super) fn nanmin(r: &ReductionContext<'_>) -> BuildResult {
    r.number_extreme(ReduceOp::Fmin, ReduceOp::Min)
}

pub(super) fn nanargmax(r: &ReductionContext<'_>) -> BuildResult {
    r.arg_reduce_numbers(ReduceOp::Fmax, ReduceOp::ArgMax)
}

pub(super) fn nanargmin(r: &ReductionContext<'_>) -> BuildResult {
    r.arg_reduce_numbers(ReduceOp::Fmin, ReduceOp::ArgMin)
}
