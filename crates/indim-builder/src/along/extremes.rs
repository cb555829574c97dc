//! Extremes, and where they are.

use indim_ops::{DType, DTypeClass, ReduceOp};

use super::reduced::Reduced;
use crate::builder::{BuildResult, Value};

impl Reduced<'_> {
    fn is_float(&self) -> bool {
        self.dtype().class() == DTypeClass::Float
    }

    fn extreme(&self, op: ReduceOp) -> BuildResult {
        self.left(&self.begun(op.operation(), self.fold_kept(op, &self.x)?, self.dtype())?)
    }

    /// The extreme of the elements that are not NaN, by `op`; by `whole` if all elements are NaN.
    fn extreme_number(&self, op: ReduceOp, whole: ReduceOp) -> BuildResult {
        self.extreme(if self.is_float() { op } else { whole })
    }

    /// A search over the elements of all axes as if they were one.
    fn search(&self, op: ReduceOp, last: bool) -> BuildResult {
        if last {
            return self.last_of(&self.hits(op)?);
        }
        let (rows, axis) = self.rows(&self.x)?;
        self.of_rows(self.builder().reduce(op, rows, axis as i64)?)
    }

    /// Mask of the elements that an arg-reduction may return: NaNs if any exist, else those equal to the
    /// extreme.
    fn hits(&self, op: ReduceOp) -> BuildResult {
        let numpy = self.builder().numpy();
        let hits = numpy.eq(&self.x, self.fold_kept(op.extremum(), &self.x)?)?;
        // An extreme among NaNs is one, which equals nothing.
        Ok(if self.is_float() { hits | self.x.is_nan() } else { hits })
    }

    /// The last place in each row that holds.
    fn last_of(&self, hits: &Value) -> BuildResult {
        let (rows, axis) = self.rows(hits)?;
        let places = self.builder().iota(DType::I64, rows.array_type()?.shape, axis as i64)?;
        let held = rows.select(places, 0);
        self.of_rows(self.builder().reduce(ReduceOp::Max, held, axis as i64)?)
    }

    /// An arg-reduction over the elements that are not NaN; -1 if all elements are NaN.
    fn search_numbers(&self, extreme: ReduceOp, whole: ReduceOp) -> BuildResult {
        if !self.is_float() {
            return self.search(whole, false);
        }
        let b = self.builder();
        let extreme = self.fold_kept(extreme, &self.x)?;
        let (rows, axis) = self.rows(&b.numpy().eq(&self.x, extreme)?)?;
        let found = b.reduce(ReduceOp::ArgMax, &rows, axis as i64)?;
        let is_any = b.reduce(ReduceOp::Or, rows, axis as i64)?;
        self.of_rows(is_any.select(found, -1))
    }
}

pub(super) fn max(r: &Reduced<'_>) -> BuildResult {
    r.extreme(ReduceOp::Max)
}

pub(super) fn min(r: &Reduced<'_>) -> BuildResult {
    r.extreme(ReduceOp::Min)
}

pub(super) fn ptp(r: &Reduced<'_>) -> BuildResult {
    Ok(max(r)? - min(r)?)
}

pub(super) fn argmax(r: &Reduced<'_>, last: bool) -> BuildResult {
    r.search(ReduceOp::ArgMax, last)
}

pub(super) fn argmin(r: &Reduced<'_>, last: bool) -> BuildResult {
    r.search(ReduceOp::ArgMin, last)
}

pub(super) fn nanmax(r: &Reduced<'_>) -> BuildResult {
    r.extreme_number(ReduceOp::Fmax, ReduceOp::Max)
}

pub(super) fn nanmin(r: &Reduced<'_>) -> BuildResult {
    r.extreme_number(ReduceOp::Fmin, ReduceOp::Min)
}

pub(super) fn nanargmax(r: &Reduced<'_>) -> BuildResult {
    r.search_numbers(ReduceOp::Fmax, ReduceOp::ArgMax)
}

pub(super) fn nanargmin(r: &Reduced<'_>) -> BuildResult {
    r.search_numbers(ReduceOp::Fmin, ReduceOp::ArgMin)
}
