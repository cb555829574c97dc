//! Correctly rounded sums, by a superaccumulator: a fixed-point number that represents every sum of `f64`.
//!
//! A finite element is an integer of 53 bits times a power of two. It is split into digits of 32 bits at
//! fixed positions. The digits of all elements are added as `i64`, position by position, which is exact in
//! any order. After two carry steps, digits are between -(2^31 + 1) and 2^31. The sign of the highest nonzero
//! digit is the sign of the sum. This digit, the next two, and the sign of the rest determine the rounding.

use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{DType, ReduceOp};

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};
use crate::stop_gradient::without_derivative;

/// Number of digits. Elements have up to 66 digits, and the sum of [`MAX_ELEMENTS`] elements carries into
/// the next digit.
const DIGITS: usize = 68;

/// Maximum number of elements: the sum of this number of 32-bit digits is less than 2^63.
const MAX_ELEMENTS: usize = (1 << 31) - 1;

impl ReductionContext<'_> {
    /// The exact sum of `f64` or `c128`, rounded once; the reduced axes have size 1.
    pub(super) fn exact_sum(&self) -> BuildResult {
        let b = self.builder();
        let error_kind = match self.dtype() {
            DType::F64 | DType::C128 if self.element_count() <= MAX_ELEMENTS => None,
            DType::F64 | DType::C128 => Some(GraphErrorKind::ExactSumTooLong),
            dtype => Some(GraphErrorKind::ExactSumType { dtype }),
        };
        if let Some(kind) = error_kind {
            return Err(b.error("sum", &[b.id("sum", &self.x)?], kind));
        }
        let x = self.mask(ReduceOp::Add, &self.x)?;
        let rows_to_result = |part: &Value| {
            let (rows, axis) = self.rows(part)?;
            b.reshape(exact_sum(&rows, axis)?, self.keepdims_shape())
        };
        match self.dtype() {
            DType::F64 => rows_to_result(&x),
            _ => Ok(rows_to_result(&x.real())?.complex(rows_to_result(&x.imag())?)),
        }
    }

    fn element_count(&self) -> usize {
        let sizes = self.axes.iter().map(|&axis| self.array_type.shape[axis]);
        sizes.fold(1, usize::saturating_mul)
    }
}

/// The sums of `x`, an array of `f64`, along `axis`, its last axis.
fn exact_sum(x: &Value, axis: usize) -> BuildResult {
    let b = x.builder();
    let is_finite = x.is_finite();
    let digits = Digits::new(&is_finite.select(x, 0), axis)?;
    let sum = digits.propagate_carries()?.propagate_carries()?.round()?;
    // The digits come from bits, which have no derivative. `others` is 0 for finite elements, with
    // derivative 1, and the element itself for other elements.
    let others = is_finite.select(x - without_derivative(x)?, x);
    let others = b.reduce(ReduceOp::Add, others, axis as i64)?;
    let are_finite = b.reduce(ReduceOp::And, is_finite, axis as i64)?;
    Ok(are_finite.select(sum + &others, others))
}

/// Numbers as digits along the last axis, the least significant digit first.
struct Digits {
    digits: Value,
    /// The axis of the digits.
    axis: usize,
}

impl Digits {
    /// The sums of `x`, which is finite, along its last axis: each digit is the sum of the elements'
    /// digits at that position.
    fn new(x: &Value, axis: usize) -> Result<Digits, GraphError> {
        let b = x.builder();
        let bits = b.bitcast(x, DType::U64)?;
        let is_negative = bits.shr_logical(63).ne(0);
        let exponent = bits.shr_logical(52) & 0x7ff;
        let leading_one = exponent.ne(0).convert(DType::U64).shl(52);
        let mantissa = (bits & ((1u64 << 52) - 1)) | leading_one;
        // The position of the lowest mantissa bit, counted from that of the smallest subnormal number.
        let position = exponent.maximum(1) - 1;

        let mut sizes = x.array_type()?.shape.to_vec();
        sizes.push(DIGITS);
        let own: Vec<i64> = (0..=axis as i64).collect();
        let to_digits = |value: &Value| b.broadcast_in_dim(value, &own, sizes.clone());
        let digit_index = b.iota(DType::U64, sizes.clone(), axis as i64 + 1)?;
        let shift = to_digits(&position)? - digit_index * 32;
        let mantissa = to_digits(&mantissa)?;
        // One of the two shift amounts is valid; the other wraps to a large number, which shifts out all
        // bits.
        let shifted = mantissa.shl(&shift) | mantissa.shr_logical(0 - &shift);
        let digit = (shifted & 0xffff_ffffu32).convert(DType::I64);
        let signed = to_digits(&is_negative)?.select(-&digit, digit);
        Ok(Digits { digits: b.reduce(ReduceOp::Add, signed, axis as i64)?, axis })
    }

    /// One carry step: the bits of a digit beyond 32 are added to the next digit.
    fn propagate_carries(&self) -> Result<Digits, GraphError> {
        let digits = &self.digits;
        let carry = (digits + (1i64 << 31)).shr_arithmetic(32);
        let remainder = digits - carry.shl(32);
        // Moves each carry to the next digit: a matrix has carry `from` in row `to = from + 1`, and its
        // rows are summed.
        let b = digits.builder();
        let mut sizes = digits.array_type()?.shape.to_vec();
        sizes.push(DIGITS);
        let digit_axis = self.axis as i64 + 1;
        let dims: Vec<i64> = (0..self.axis as i64).chain([digit_axis]).collect();
        let from = b.iota(DType::I64, sizes.clone(), digit_axis)?;
        let to = b.iota(DType::I64, sizes.clone(), self.axis as i64)?;
        let is_next = (from + 1).eq(to);
        let shifted = is_next.select(b.broadcast_in_dim(carry, &dims, sizes)?, 0);
        let digits = remainder + b.reduce(ReduceOp::Add, shifted, digit_axis)?;
        Ok(Digits { digits, axis: self.axis })
    }

    /// The position of each digit.
    fn positions(&self) -> BuildResult {
        let shape = self.digits.array_type()?.shape;
        self.digits.builder().iota(DType::I64, shape, self.axis as i64)
    }

    /// A position for each number, broadcast to its digits.
    fn broadcast_to_digits(&self, position: &Value) -> BuildResult {
        let dims: Vec<i64> = (0..self.axis as i64).collect();
        let shape = self.digits.array_type()?.shape;
        self.digits.builder().broadcast_in_dim(position, &dims, shape)
    }

    /// The digits at `position`; 0 for a position out of range.
    fn digit_at(&self, position: &Value) -> BuildResult {
        let is_at_position = self.positions()?.eq(self.broadcast_to_digits(position)?);
        let digit = is_at_position.select(&self.digits, 0);
        self.digits.builder().reduce(ReduceOp::Add, digit, self.axis as i64)
    }

    /// The position of the highest nonzero digit below `position`; -1 if all are 0.
    fn highest_below(&self, position: &Value) -> BuildResult {
        let positions = self.positions()?;
        let is_nonzero_below =
            self.digits.ne(0) & positions.lt(self.broadcast_to_digits(position)?);
        let b = self.digits.builder();
        b.reduce(ReduceOp::Max, is_nonzero_below.select(positions, -1), self.axis as i64)
    }

    /// The numbers as the nearest `f64`, ties to even.
    fn round(&self) -> BuildResult {
        let b = self.digits.builder();
        let sizes = self.digits.array_type()?.shape.to_vec();
        let end = b.broadcast_in_dim(b.scalar(DIGITS as i64), &[], &sizes[..self.axis])?;
        let top = self.highest_below(&end)?;
        let is_negative = self.digit_at(&top)?.lt(0);
        let magnitude = |position: &Value| {
            let digit = self.digit_at(position)?;
            Ok::<Value, GraphError>(is_negative.select(-&digit, digit))
        };
        let rest = magnitude(&self.highest_below(&(&top - 2))?)?;
        let high = (magnitude(&top)?.shl(32)) + magnitude(&(&top - 1))?;
        let low = magnitude(&(&top - 2))?;
        let size = round_to_f64(&high, &low, &rest, &top)?;
        let sum = is_negative.select(-&size, size);
        Ok(top.lt(0).select(0, sum))
    }
}

/// The nearest `f64` to `high * 2^32 + low`, plus or minus a fraction with the sign of `rest`, in units of
/// the digit two positions below `top`. `high` is at least 2^30. It may be 2^63 or more, because its bits are
/// used as unsigned.
fn round_to_f64(high: &Value, low: &Value, rest: &Value, top: &Value) -> BuildResult {
    let b = high.builder();
    // Rounds down, so that the dropped fraction and `low` are non-negative.
    let low = low - rest.lt(0).convert(DType::I64);
    let borrowed = low.lt(0).convert(DType::I64);
    let high = b.bitcast(high - &borrowed, DType::U64)?;
    let low = b.bitcast(low + borrowed.shl(32), DType::U64)?;
    // 64 significant bits: the first is 1, the last is the sticky bit of all dropped bits.
    let zeros = high.clz();
    let above = 32 - &zeros;
    let bits = high.shl(&zeros) | low.shl(0 - &above) | low.shr_logical(&above);
    let below = 32 - zeros.minimum(32);
    let left_out = low & (b.scalar(1u64).shl(below) - 1);
    let is_inexact = rest.ne(0) | left_out.ne(0);
    let significand = (bits | is_inexact.convert(DType::U64)).convert(DType::F64);
    // Scales in two steps, because the whole power may underflow. Results below the normal range are exact.
    let exponent = (top - 1) * 32 - b.bitcast(zeros, DType::I64)? - 1074;
    let half = exponent.shr_arithmetic(1);
    Ok(significand * power_of_two(&half)? * power_of_two(&(exponent - &half))?)
}

/// `2^exponent`, for the exponents of normal numbers.
fn power_of_two(exponent: &Value) -> BuildResult {
    exponent.builder().bitcast((exponent + 1023).shl(52), DType::F64)
}
