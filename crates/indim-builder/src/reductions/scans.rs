//! Cumulative sums, products, extremes and truth tests (`cumall`, `cumany`): scans along one axis, or over
//! all elements in row-major order.

use indim_graph::{Array, GraphError};
use indim_ops::{DType, ReduceOp, scan_accumulator};

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};

/// The options of a scan.
#[derive(Clone, Copy)]
struct ScanOptions {
    /// Whether the scan runs from the last element to the first.
    reverse: bool,
    /// Whether each result leaves its own element out.
    exclusive: bool,
}

impl ReductionContext<'_> {
    /// The scan of `value`, which has the operand's shape, with the identity in place of unselected
    /// elements.
    fn scan(&self, op: ReduceOp, value: &Value, options: ScanOptions) -> BuildResult {
        let ScanOptions { reverse, exclusive } = options;
        let b = self.builder();
        let masked = match &self.selected {
            None => value.clone(),
            Some(selected) => selected.select(value, identity(value, op)?),
        };
        let (line, axis) = self.scanned_line(&masked)?;
        b.scan(op, line, axis as i64, reverse, exclusive)
    }

    /// `value`, which has the operand's shape, and the scanned axis. Without an axis, all elements in
    /// row-major order are one vector.
    pub(super) fn scanned_line(&self, value: &Value) -> Result<(Value, usize), GraphError> {
        let is_flat = self.options.axes.is_none() && self.array_type.shape.rank() != 1;
        match (is_flat, &self.axes[..]) {
            (false, &[axis]) => Ok((value.clone(), axis)),
            _ => {
                let count: usize = self.array_type.shape.iter().product();
                Ok((self.builder().reshape(value, [count])?, 0))
            }
        }
    }

    /// The scan of the operand, a cumulative sum or product, in the result type of a sum.
    fn wide_scan(&self, op: ReduceOp, options: ScanOptions) -> BuildResult {
        self.scan(op, &self.builder().convert(&self.x, self.result_dtype())?, options)
    }

    /// The scan of the operand in its own element type, a cumulative maximum or minimum.
    fn plain_scan(&self, op: ReduceOp, options: ScanOptions) -> BuildResult {
        self.scan(op, &self.x, options)
    }

    /// The scan of the operand as truth values.
    fn logical_scan(&self, op: ReduceOp, options: ScanOptions) -> BuildResult {
        self.scan(op, &self.builder().convert(&self.x, DType::Bool)?, options)
    }
}

/// The identity of `op` in the element type of `value`.
fn identity(value: &Value, op: ReduceOp) -> BuildResult {
    let dtype = value.array_type()?.dtype;
    let identity = scan_accumulator(op, dtype).and_then(|wide| Array::identity(op, wide));
    let identity = identity.expect("invariant: the element type has been checked");
    value.builder().convert(value.builder().constant(identity), dtype)
}

macro_rules! scans {
    ($($name:ident = $scan:ident $op:ident;)*) => {$(
        pub(super) fn $name(
            call: &ReductionContext<'_>, reverse: bool, exclusive: bool,
        ) -> BuildResult {
            call.$scan(ReduceOp::$op, ScanOptions { reverse, exclusive })
        }
    )*};
}

scans! {
    cumsum = wide_scan Add;
    cumprod = wide_scan Mul;
    cummax = plain_scan Max;
    cummin = plain_scan Min;
    cumall = logical_scan And;
    cumany = logical_scan Or;
}

pub(super) fn nancumsum(
    call: &ReductionContext<'_>,
    reverse: bool,
    exclusive: bool,
) -> BuildResult {
    cumsum(&call.without_nans(), reverse, exclusive)
}

pub(super) fn nancumprod(
    call: &ReductionContext<'_>,
    reverse: bool,
    exclusive: bool,
) -> BuildResult {
    cumprod(&call.without_nans(), reverse, exclusive)
}
