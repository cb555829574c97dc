//! Derivatives of scans. Along one line of the axis, the cotangent of an element is:
//! - sums: the sum of the cotangents of the results from its position on;
//! - products: the sum of cotangent times result from its position on, divided by the element. The first
//!   zero gets the same sum without the division, of results that are computed with 1 in its place.
//!   Elements after the first zero have the cotangent 0, because their results contain the zero as a
//!   factor;
//! - extremes: each result's cotangent goes to the first element that attains the result.

use indim_graph::{AxisSlice, GraphError, TakeMode};
use indim_ops::{DType, DTypeClass, ReduceOp};
use indim_shape::Shape;

use crate::builder::{BuildResult, GraphBuilder, Value};

/// The parameters of a scan node.
#[derive(Clone, Copy)]
pub(super) struct ScanRule {
    pub(super) op: ReduceOp,
    pub(super) axis: usize,
    pub(super) reverse: bool,
    pub(super) exclusive: bool,
}

impl ScanRule {
    /// The cotangent of the operand; `None` if the scan has no rule.
    pub(super) fn cotangent(
        self,
        operand: &Value,
        cotangent: &Value,
    ) -> Result<Option<Value>, GraphError> {
        let b = operand.builder();
        let is_complex = operand.array_type()?.dtype.class() == DTypeClass::Complex;
        if self.op == ReduceOp::Add {
            let back = ScanRule { reverse: !self.reverse, ..self };
            return Ok(Some(back.scan(b, self.op, cotangent, self.exclusive)?));
        }
        let of_operand = match self.op {
            ReduceOp::Mul if !is_complex => self.product(operand, &self.inclusive(cotangent)?)?,
            ReduceOp::Max | ReduceOp::Min => self.extreme(operand, &self.inclusive(cotangent)?)?,
            _ => return Ok(None),
        };
        Ok(Some(of_operand))
    }

    /// A scan along the same axis in the same direction.
    fn scan(self, b: &GraphBuilder, op: ReduceOp, x: &Value, exclusive: bool) -> BuildResult {
        b.scan(op, x, self.axis as i64, self.reverse, exclusive)
    }

    /// For each position, the sum of the elements from it on.
    fn sum_from(self, b: &GraphBuilder, x: &Value) -> BuildResult {
        ScanRule { reverse: !self.reverse, ..self }.scan(b, ReduceOp::Add, x, false)
    }

    /// The cotangent of the inclusive scan. An exclusive scan has its results one position later, so their
    /// cotangents move one position back.
    fn inclusive(self, cotangent: &Value) -> BuildResult {
        if !self.exclusive {
            return Ok(cotangent.clone());
        }
        let (b, shape) = (cotangent.builder(), cotangent.array_type()?.shape);
        let Some(kept) = shape[self.axis].checked_sub(1) else { return Ok(cotangent.clone()) };
        let part = |start: usize, count: usize| {
            let slice = |(axis, &size): (usize, &usize)| match axis == self.axis {
                true => AxisSlice::new(start, count, 1),
                false => AxisSlice::whole(size),
            };
            let slices: Vec<AxisSlice> = shape.iter().enumerate().map(slice).collect();
            b.slice(cotangent, &slices)
        };
        let zero = b.zeros(&part(0, 1)?.array_type()?)?;
        let parts = match self.reverse {
            false => [part(1, kept)?, zero],
            true => [zero, part(0, kept)?],
        };
        b.concatenate(&parts, self.axis as i64)
    }

    /// The cotangent of the operand of an inclusive product.
    fn product(self, x: &Value, cotangent: &Value) -> BuildResult {
        let b = x.builder();
        let is_zero = x.eq(0);
        let is_behind_zero = self.scan(b, ReduceOp::Or, &is_zero, true)?;
        let is_first_zero = &is_zero & is_behind_zero.not();
        let without_first = is_first_zero.select(1, x);
        let results = self.scan(b, ReduceOp::Mul, x, false)?;
        let results_without = self.scan(b, ReduceOp::Mul, &without_first, false)?;
        let of_others = self.sum_from(b, &(cotangent * results))? / is_zero.select(1, x);
        let of_first = self.sum_from(b, &(cotangent * results_without))?;
        Ok(is_first_zero.select(of_first, is_behind_zero.select(0, of_others)))
    }

    /// The cotangent of the operand of an inclusive maximum or minimum.
    fn extreme(self, x: &Value, cotangent: &Value) -> BuildResult {
        let b = x.builder();
        let shape = x.array_type()?.shape;
        let before = self.scan(b, self.op, x, true)?;
        let is_beyond = match self.op {
            ReduceOp::Max => x.gt(&before),
            _ => x.lt(&before),
        };
        let is_new = is_beyond | (x.is_nan() & before.is_nan().not());
        // Positions along the axis in the direction of the scan; that of the first element is 0.
        let positions = b.iota(DType::I64, &shape, self.axis as i64)?;
        let positions = match self.reverse {
            true => b.reverse(positions, &[self.axis as i64])?,
            false => positions,
        };
        let found = self.scan(b, ReduceOp::Max, &is_new.select(&positions, 0), false)?;
        let found = match self.reverse {
            true => (shape[self.axis] as i64 - 1) - found,
            false => found,
        };
        add_at_indices(b, &shape, self.axis, &found, cotangent)
    }
}

/// Zeros of this shape, to which each element of the cotangent is added at its index along the axis.
fn add_at_indices(
    b: &GraphBuilder,
    shape: &Shape,
    axis: usize,
    indices: &Value,
    cotangent: &Value,
) -> BuildResult {
    let strides = shape.row_major_strides();
    let mut places = indices * strides[axis] as i64;
    for other in (0..shape.rank()).filter(|&other| other != axis) {
        places = places + b.iota(DType::I64, shape, other as i64)? * strides[other] as i64;
    }
    let count: usize = shape.iter().product();
    let flat = |value: &Value| b.reshape(value, [count]);
    let cotangent = flat(cotangent)?;
    let sums = b.zeros(&cotangent.array_type()?)?;
    let sums = b.scatter_add(sums, flat(&places)?, &cotangent, 0, TakeMode::Clip)?;
    b.reshape(sums, shape)
}
