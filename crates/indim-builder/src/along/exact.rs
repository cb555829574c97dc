//! The correctly rounded sum, by a superaccumulator: a fixed-point number that holds every sum of `f64`.
//!
//! A finite element is a whole number of 53 bits times a power of two, and so is cut into digits of 32 bits
//! at fixed places. The digits of all elements are added as `i64`, place by place: that is exact, and in any
//! order the same. Carries then leave digits between -(2^31 + 1) and 2^31. The highest nonzero digit has the
//! sign of the number. This digit, the two below and the sign of the rest decide the rounding.

use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{DType, ReduceOp};

use super::reduced::Reduced;
use crate::builder::{BuildResult, Value};
use crate::derivative::without_derivative;

/// The places: elements reach the 66th, and sums of as many as may be carry into the next.
const DIGITS: usize = 68;

/// So many digits of 32 bits add up to less than 2^63.
const MAX_ELEMENTS: usize = (1 << 31) - 1;

impl Reduced<'_> {
    /// The exact sum of `f64` or `c128`, rounded once, with axes of size 1.
    pub(super) fn exact_sum(&self) -> BuildResult {
        let b = self.builder();
        let broken = match self.dtype() {
            DType::F64 | DType::C128 if self.most_elements() <= MAX_ELEMENTS => None,
            DType::F64 | DType::C128 => Some(GraphErrorKind::ExactSumTooLong),
            dtype => Some(GraphErrorKind::ExactSumOf { dtype }),
        };
        if let Some(kind) = broken {
            return Err(b.error("sum", &[b.id("sum", &self.x)?], kind));
        }
        let x = self.taken(ReduceOp::Add, &self.x)?;
        let of_rows = |part: &Value| {
            let (rows, axis) = self.rows(part)?;
            b.reshape(exact_sum(&rows, axis)?, self.kept_shape())
        };
        match self.dtype() {
            DType::F64 => of_rows(&x),
            _ => Ok(of_rows(&x.real())?.complex(of_rows(&x.imag())?)),
        }
    }

    fn most_elements(&self) -> usize {
        let sizes = self.axes.iter().map(|&axis| self.array_type.shape[axis]);
        sizes.fold(1, usize::saturating_mul)
    }
}

/// The sums of `x`, of `f64`, along its last axis.
fn exact_sum(x: &Value, axis: usize) -> BuildResult {
    let b = x.builder();
    let is_finite = x.is_finite();
    let digits = Digits::new(&is_finite.select(x, 0), axis)?;
    let sum = digits.carried()?.carried()?.rounded()?;
    // 0 for finite elements, but it moves as they do: digits are bits, which have no derivative.
    let others = is_finite.select(x - without_derivative(x)?, x);
    let others = b.reduce(ReduceOp::Add, others, axis as i64)?;
    let are_finite = b.reduce(ReduceOp::And, is_finite, axis as i64)?;
    Ok(are_finite.select(sum + &others, others))
}

/// The digits of numbers, the least first, along a last axis.
struct Digits {
    digits: Value,
    /// That axis.
    axis: usize,
}

impl Digits {
    /// The digits of the sums of `x`, which is finite, along its last axis; each the sum of its elements'.
    fn new(x: &Value, axis: usize) -> Result<Digits, GraphError> {
        let b = x.builder();
        let bits = b.bitcast(x, DType::U64)?;
        let is_negative = bits.shr_logical(63).ne(0);
        let exponent = bits.shr_logical(52) & 0x7ff;
        let leading_one = exponent.ne(0).convert(DType::U64).shl(52);
        let mantissa = (bits & ((1u64 << 52) - 1)) | leading_one;
        // The lowest bit of the mantissa, counted from that of the least number.
        let position = exponent.max(1) - 1;

        let mut sizes = x.array_type()?.shape.to_vec();
        sizes.push(DIGITS);
        let own: Vec<i64> = (0..=axis as i64).collect();
        let everywhere = |value: &Value| b.broadcast_in_dim(value, &own, sizes.clone());
        let place = b.iota(DType::U64, sizes.clone(), axis as i64 + 1)?;
        let up = everywhere(&position)? - place * 32;
        let mantissa = everywhere(&mantissa)?;
        // One of the two amounts is a shift, the other wraps to one that leaves nothing.
        let shifted = mantissa.shl(&up) | mantissa.shr_logical(0 - &up);
        let digit = (shifted & 0xffff_ffffu32).convert(DType::I64);
        let signed = everywhere(&is_negative)?.select(-&digit, digit);
        Ok(Digits { digits: b.reduce(ReduceOp::Add, signed, axis as i64)?, axis })
    }

    /// The same numbers: what is beyond 32 bits of a digit goes to the next.
    fn carried(&self) -> Result<Digits, GraphError> {
        let digits = &self.digits;
        let carry = (digits + (1i64 << 31)).shr_arithmetic(32);
        let kept = digits - carry.shl(32);
        // In a table of digits by digits, the one below each.
        let b = digits.builder();
        let mut sizes = digits.array_type()?.shape.to_vec();
        sizes.push(DIGITS);
        let below = self.axis as i64 + 1;
        let dims: Vec<i64> = (0..self.axis as i64).chain([below]).collect();
        let from = b.iota(DType::I64, sizes.clone(), below)?;
        let to = b.iota(DType::I64, sizes.clone(), self.axis as i64)?;
        let is_next = (from + 1).eq(to);
        let moved = is_next.select(b.broadcast_in_dim(carry, &dims, sizes)?, 0);
        let digits = kept + b.reduce(ReduceOp::Add, moved, below)?;
        Ok(Digits { digits, axis: self.axis })
    }

    /// For each digit its place.
    fn places(&self) -> BuildResult {
        let shape = self.digits.array_type()?.shape;
        self.digits.builder().iota(DType::I64, shape, self.axis as i64)
    }

    /// A place for each number, for each of its digits.
    fn beside_digits(&self, place: &Value) -> BuildResult {
        let dims: Vec<i64> = (0..self.axis as i64).collect();
        let shape = self.digits.array_type()?.shape;
        self.digits.builder().broadcast_in_dim(place, &dims, shape)
    }

    /// The digits at `place`; 0 outside of the digits.
    fn at(&self, place: &Value) -> BuildResult {
        let is_there = self.places()?.eq(self.beside_digits(place)?);
        let digit = is_there.select(&self.digits, 0);
        self.digits.builder().reduce(ReduceOp::Add, digit, self.axis as i64)
    }

    /// The place of the highest nonzero digit below `place`; -1 if all are 0.
    fn highest_below(&self, place: &Value) -> BuildResult {
        let places = self.places()?;
        let is_one = self.digits.ne(0) & places.lt(self.beside_digits(place)?);
        let b = self.digits.builder();
        b.reduce(ReduceOp::Max, is_one.select(places, -1), self.axis as i64)
    }

    /// The numbers as the nearest `f64`, ties to even.
    fn rounded(&self) -> BuildResult {
        let b = self.digits.builder();
        let left = self.digits.array_type()?.shape.to_vec();
        let end = b.broadcast_in_dim(b.scalar(DIGITS as i64), &[], &left[..self.axis])?;
        let top = self.highest_below(&end)?;
        let is_negative = self.at(&top)?.lt(0);
        let magnitude = |place: &Value| {
            let digit = self.at(place)?;
            Ok::<Value, GraphError>(is_negative.select(-&digit, digit))
        };
        let rest = magnitude(&self.highest_below(&(&top - 2))?)?;
        let high = (magnitude(&top)?.shl(32)) + magnitude(&(&top - 1))?;
        let low = magnitude(&(&top - 2))?;
        let size = nearest(&high, &low, &rest, &top)?;
        let sum = is_negative.select(-&size, size);
        Ok(top.lt(0).select(0, sum))
    }
}

/// The nearest `f64` to `high * 2^32 + low`, and a little more or less as `rest` says, in units of the digit
/// two places below `top`. `high` is at least 2^30; that it may be 2^63 and more is no matter, its bits
/// count.
fn nearest(high: &Value, low: &Value, rest: &Value, top: &Value) -> BuildResult {
    let b = high.builder();
    // Downwards, so that what is left out is positive, and the lower half too.
    let low = low - rest.lt(0).convert(DType::I64);
    let borrowed = low.lt(0).convert(DType::I64);
    let high = b.bitcast(high - &borrowed, DType::U64)?;
    let low = b.bitcast(low + borrowed.shl(32), DType::U64)?;
    // 64 bits: the first is 1; the last is sticky, it stands for all bits behind it.
    let zeros = high.clz();
    let above = 32 - &zeros;
    let bits = high.shl(&zeros) | low.shl(0 - &above) | low.shr_logical(&above);
    let below = 32 - zeros.min(32);
    let left_out = low & (b.scalar(1u64).shl(below) - 1);
    let is_inexact = rest.ne(0) | left_out.ne(0);
    let significand = (bits | is_inexact.convert(DType::U64)).convert(DType::F64);
    // In two steps, as the power alone may be too small; below the normal numbers nothing is rounded.
    let exponent = (top - 1) * 32 - b.bitcast(zeros, DType::I64)? - 1074;
    let half = exponent.shr_arithmetic(1);
    Ok(significand * power_of_two(&half)? * power_of_two(&(exponent - &half))?)
}

/// `2^exponent`, for exponents of normal numbers.
fn power_of_two(exponent: &Value) -> BuildResult {
    exponent.builder().bitcast((exponent + 1023).shl(52), DType::F64)
}
