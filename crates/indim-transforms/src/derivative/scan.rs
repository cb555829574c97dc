//! Derivatives of scans. Along one line of the axis of an inclusive scan, the cotangent of an element is:
//! - sums: the sum of the cotangents of the results from its position on;
//! - products: the sum of cotangent times result from its position on, divided by the element. The first
//!   and the second zero get the same sum without the division, of results that are computed with 1 in
//!   place of this zero. Elements after the first zero have the cotangent 0, because their results contain
//!   the zero as a factor; it is computed from them, so that its own derivative is right;
//! - extremes: each result's cotangent goes to the first element that attains the result.

use indim_graph::{AxisSlice, GraphError, TakeMode};
use indim_ops::{DType, DTypeClass, ReduceOp};
use indim_shape::Shape;

use super::structural::broadcast_by_map;
use crate::BuildResult;
use indim_builder::{GraphBuilder, Value};

/// The parameters of a scan node.
#[derive(Clone, Copy)]
pub(super) struct ScanRule {
    pub(super) op: ReduceOp,
    pub(super) axis: usize,
    pub(super) reverse: bool,
    pub(super) exclusive: bool,
}

impl ScanRule {
    /// The cotangent of the operand; `None` if the scan has no rule, such as a product of complex numbers.
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
            ReduceOp::Mul if !is_complex => {
                self.product_cotangent(operand, &self.inclusive_cotangent(cotangent)?)?
            }
            ReduceOp::Max | ReduceOp::Min => {
                self.extreme_cotangent(operand, &self.inclusive_cotangent(cotangent)?)?
            }
            _ => return Ok(None),
        };
        Ok(Some(of_operand))
    }

    /// A scan along the same axis in the same direction.
    fn scan(self, b: &GraphBuilder, op: ReduceOp, x: &Value, exclusive: bool) -> BuildResult {
        b.scan(op, x, self.axis as i64, self.reverse, exclusive)
    }

    /// For each position, the sum of the elements from it on.
    fn suffix_sums(self, b: &GraphBuilder, x: &Value) -> BuildResult {
        ScanRule { reverse: !self.reverse, ..self }.scan(b, ReduceOp::Add, x, false)
    }

    /// The cotangent of the inclusive scan. An exclusive scan has its results one position later, so their
    /// cotangents move one position back.
    fn inclusive_cotangent(self, cotangent: &Value) -> BuildResult {
        if !self.exclusive {
            return Ok(cotangent.clone());
        }
        let (b, shape) = (cotangent.builder(), cotangent.array_type()?.shape);
        let Some(moved_count) = shape[self.axis].checked_sub(1) else {
            return Ok(cotangent.clone());
        };
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
            false => [part(1, moved_count)?, zero],
            true => [zero, part(0, moved_count)?],
        };
        b.concatenate(&parts, self.axis as i64)
    }

    /// The cotangent of the operand of an inclusive product.
    fn product_cotangent(self, x: &Value, cotangent: &Value) -> BuildResult {
        let b = x.builder();
        let is_zero = x.eq(0);
        let count = self.scan(b, ReduceOp::Add, &is_zero.convert(DType::I64), false)?;
        let is_first_zero = &is_zero & count.eq(1);
        let is_after_zero = count.gt(0) & is_first_zero.not();
        let is_second_zero = &is_zero & count.eq(2);
        let terms_without = |zero: &Value| {
            BuildResult::Ok(cotangent * self.scan(b, ReduceOp::Mul, &zero.select(1, x), false)?)
        };
        let results = self.scan(b, ReduceOp::Mul, x, false)?;
        let other_cotangent = self.suffix_sums(b, &(cotangent * results))? / is_zero.select(1, x);
        // These terms have the first zero as a factor.
        let terms = count.ge(2).select(terms_without(&is_second_zero)?, 0);
        let sum = b.reduce(ReduceOp::Add, &terms, self.axis as i64)?;
        let kept_axes = (0..x.array_type()?.shape.rank()).filter(|&axis| axis != self.axis);
        let sum = broadcast_by_map(&sum, kept_axes.collect(), x)?;
        let of_second = is_second_zero.select(sum, other_cotangent);
        // After a zero all are +0, also if a result or its cotangent is not finite.
        let zero = of_second.eq(0).select(&of_second + 0, 0);
        let of_others = is_after_zero.select(zero, of_second);
        let of_first = self.suffix_sums(b, &terms_without(&is_first_zero)?)?;
        Ok(is_first_zero.select(of_first, of_others))
    }

    /// The cotangent of the operand of an inclusive maximum or minimum.
    fn extreme_cotangent(self, x: &Value, cotangent: &Value) -> BuildResult {
        let b = x.builder();
        let shape = x.array_type()?.shape;
        let earlier_extreme = self.scan(b, self.op, x, true)?;
        let exceeds = match self.op {
            ReduceOp::Max => x.gt(&earlier_extreme),
            _ => x.lt(&earlier_extreme),
        };
        let is_new = exceeds | (x.is_nan() & earlier_extreme.is_nan().not());
        // Positions along the axis in the direction of the scan; that of the first element is 0.
        let positions = b.iota(DType::I64, &shape, self.axis as i64)?;
        let positions = match self.reverse {
            true => b.reverse(positions, &[self.axis as i64])?,
            false => positions,
        };
        let extreme_positions =
            self.scan(b, ReduceOp::Max, &is_new.select(&positions, 0), false)?;
        let extreme_positions = match self.reverse {
            true => (shape[self.axis] as i64 - 1) - extreme_positions,
            false => extreme_positions,
        };
        add_at_indices(b, &shape, self.axis, &extreme_positions, cotangent)
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
    let mut positions = indices * strides[axis] as i64;
    for other in (0..shape.rank()).filter(|&other| other != axis) {
        positions = positions + b.iota(DType::I64, shape, other as i64)? * strides[other] as i64;
    }
    let count: usize = shape.iter().product();
    let flat = |value: &Value| b.reshape(value, [count]);
    let cotangent = flat(cotangent)?;
    let sums = b.zeros(&cotangent.array_type()?)?;
    let sums = b.scatter_add(sums, flat(&positions)?, &cotangent, 0, TakeMode::Clip)?;
    b.reshape(sums, shape)
}
