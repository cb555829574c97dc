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
            return self.last_index(&self.extreme_mask(op)?);
        }
        let (rows, axis) = self.rows(&self.x)?;
        self.rows_to_result(self.builder().reduce(op, rows, axis as i64)?)
    }

    /// Mask of the elements that an arg-reduction may return: NaNs if any exist, else those equal to the
    /// extreme.
    fn extreme_mask(&self, op: ReduceOp) -> BuildResult {
        let numpy = self.builder().numpy();
        let mask = numpy.eq(&self.x, self.fold_keepdims(op.extremum(), &self.x)?)?;
        // If any element is NaN, so is the extreme, and no element equals it.
        Ok(if self.is_float() { mask | self.x.is_nan() } else { mask })
    }

    /// The index of the last true element in each row.
    fn last_index(&self, mask: &Value) -> BuildResult {
        let (rows, axis) = self.rows(mask)?;
        let indices = self.builder().iota(DType::I64, rows.array_type()?.shape, axis as i64)?;
        let true_indices = rows.select(indices, 0);
        self.rows_to_result(self.builder().reduce(ReduceOp::Max, true_indices, axis as i64)?)
    }

    /// An arg-reduction over the elements that are not NaN; -1 if all elements are NaN.
    fn arg_reduce_numbers(&self, extreme: ReduceOp, whole: ReduceOp) -> BuildResult {
        if !self.is_float() {
            return self.arg_reduce(whole, false);
        }
        let b = self.builder();
        let extreme = self.fold_keepdims(extreme, &self.x)?;
        let (rows, axis) = self.rows(&b.numpy().eq(&self.x, extreme)?)?;
        let first_index = b.reduce(ReduceOp::ArgMax, &rows, axis as i64)?;
        let is_any = b.reduce(ReduceOp::Or, rows, axis as i64)?;
        self.rows_to_result(is_any.select(first_index, -1))
    }
}

pub(super) fn max(call: &ReductionContext<'_>) -> BuildResult {
    call.extreme(ReduceOp::Max)
}

pub(super) fn min(call: &ReductionContext<'_>) -> BuildResult {
    call.extreme(ReduceOp::Min)
}

pub(super) fn ptp(call: &ReductionContext<'_>) -> BuildResult {
    Ok(max(call)? - min(call)?)
}

pub(super) fn argmax(call: &ReductionContext<'_>, last: bool) -> BuildResult {
    call.arg_reduce(ReduceOp::ArgMax, last)
}

pub(super) fn argmin(call: &ReductionContext<'_>, last: bool) -> BuildResult {
    call.arg_reduce(ReduceOp::ArgMin, last)
}

pub(super) fn nanmax(call: &ReductionContext<'_>) -> BuildResult {
    call.number_extreme(ReduceOp::Fmax, ReduceOp::Max)
}

pub(super) fn nanmin(call: &ReductionContext<'_>) -> BuildResult {
    call.number_extreme(ReduceOp::Fmin, ReduceOp::Min)
}

pub(super) fn nanargmax(call: &ReductionContext<'_>) -> BuildResult {
    call.arg_reduce_numbers(ReduceOp::Fmax, ReduceOp::ArgMax)
}

pub(super) fn nanargmin(call: &ReductionContext<'_>) -> BuildResult {
    call.arg_reduce_numbers(ReduceOp::Fmin, ReduceOp::ArgMin)
}
