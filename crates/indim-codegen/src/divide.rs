//! Division of integers by a constant, lowered to multiplication: processors cannot divide vectors of
//! integers.
//!
//! The quotient is the upper half of the product with a rounded-up reciprocal, plus a correction (Granlund
//! and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figures 4.1 and 5.2).
//! Division by a power of two is a shift. 8-bit integers are divided as 16-bit ones. Signed 64-bit division
//! works on magnitudes, because the upper half of an unsigned product takes fewer instructions.

use crate::body::{LaneType, Primitive, SsaValue};
use crate::rewriter::Rewriter;

/// The quotient or remainder of `x` by the constant `bits`.
pub(crate) fn divide(
    builder: &mut impl Rewriter,
    primitive: Primitive,
    x: SsaValue,
    bits: u64,
) -> SsaValue {
    let mut division = Division { lane: builder.instruction(x).lane, builder, x };
    if bits == 0 {
        return division.constant(0);
    }
    if let Some(wide) = wide_lane(division.lane)
        && !division.magnitude(bits).is_power_of_two()
    {
        return division.divide_in_wide(primitive, wide, bits);
    }
    let quotient = division.quotient(bits);
    match primitive {
        Primitive::Div => quotient,
        _ => {
            let divisor = division.constant(bits);
            let whole = division.push(Primitive::Mul, quotient, divisor);
            division.push(Primitive::Sub, x, whole)
        }
    }
}

/// The 16-bit type in which 8-bit integers are divided; `None` for wider integers.
fn wide_lane(lane: LaneType) -> Option<LaneType> {
    match lane {
        LaneType::I8 => Some(LaneType::I16),
        LaneType::U8 => Some(LaneType::U16),
        _ => None,
    }
}

/// The division of `x`, which has type `lane`, by a constant. In the methods, `bits` is the bit pattern
/// of the constant, and `divisor` its magnitude.
struct Division<'a, I> {
    builder: &'a mut I,
    lane: LaneType,
    x: SsaValue,
}

impl<I: Rewriter> Division<'_, I> {
    /// Bits of the type.
    fn width(&self) -> u32 {
        8 * self.lane.size() as u32
    }

    /// A constant of the type with the low bits of `bits`.
    fn constant(&mut self, bits: u64) -> SsaValue {
        let unused = 64 - self.width();
        self.builder.constant(self.lane, bits << unused >> unused)
    }

    fn push(&mut self, primitive: Primitive, x: SsaValue, y: SsaValue) -> SsaValue {
        self.builder.push(primitive, self.lane, &[x, y])
    }

    fn shift(&mut self, primitive: Primitive, x: SsaValue, amount: u32) -> SsaValue {
        let amount = self.constant(amount.into());
        self.push(primitive, x, amount)
    }

    /// The constant, sign-extended.
    fn signed(&self, bits: u64) -> i64 {
        let unused = 64 - self.width();
        (bits << unused) as i64 >> unused
    }

    /// The absolute value of the constant.
    fn magnitude(&self, bits: u64) -> u64 {
        if self.lane.is_signed() { self.signed(bits).unsigned_abs() } else { bits }
    }

    /// The quotient or remainder of 8-bit integers, computed in the 16-bit type `wide`.
    fn divide_in_wide(&mut self, primitive: Primitive, wide: LaneType, bits: u64) -> SsaValue {
        let divisor = match self.lane.is_signed() {
            true => self.signed(bits) as u64 & 0xffff,
            false => bits,
        };
        let x = self.builder.push(Primitive::Cast, wide, &[self.x]);
        let divisor = self.builder.constant(wide, divisor);
        let result = self.builder.push(primitive, wide, &[x, divisor]);
        self.builder.push(Primitive::Cast, self.lane, &[result])
    }

    /// The quotient, rounded towards zero, for a constant other than 0.
    fn quotient(&mut self, bits: u64) -> SsaValue {
        let magnitude = self.magnitude(bits);
        let is_power = magnitude.is_power_of_two();
        if !self.lane.is_signed() {
            return match is_power {
                true => {
                    let amount = magnitude.trailing_zeros();
                    self.shift(Primitive::ShiftRightLogical, self.x, amount)
                }
                false => self.unsigned_quotient(magnitude),
            };
        }
        let quotient = match is_power {
            true => self.signed_shift(magnitude.trailing_zeros()),
            false if self.lane == LaneType::I64 => self.signed_quotient_64(magnitude),
            false => self.signed_quotient(magnitude),
        };
        match self.signed(bits) < 0 {
            true => {
                let zero = self.constant(0);
                self.push(Primitive::Sub, zero, quotient)
            }
            false => quotient,
        }
    }

    /// Unsigned `x / divisor`, for a divisor that is not a power of two.
    fn unsigned_quotient(&mut self, divisor: u64) -> SsaValue {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let rest = (1u128 << log) - u128::from(divisor);
        let factor = (rest << self.width()) / u128::from(divisor) + 1;
        let factor = self.constant(factor as u64);
        let high = self.push(Primitive::MulHigh, self.x, factor);
        // The reciprocal is 2^width + factor: add `x` to the upper half without overflow.
        let rest = self.push(Primitive::Sub, self.x, high);
        let half = self.shift(Primitive::ShiftRightLogical, rest, 1);
        let sum = self.push(Primitive::Add, half, high);
        self.shift(Primitive::ShiftRightLogical, sum, log - 1)
    }

    /// Signed `x / divisor` of at most 32 bits, for a positive divisor that is not a power of two.
    fn signed_quotient(&mut self, divisor: u64) -> SsaValue {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1u128 << (self.width() + log - 1)) / u128::from(divisor) + 1;
        let factor = self.constant(factor as u64);
        let high = self.push(Primitive::MulHigh, self.x, factor);
        // The factor, taken as signed, is the reciprocal minus 2^width: add `x`.
        let product = self.push(Primitive::Add, self.x, high);
        let shifted = self.shift(Primitive::ShiftRightArithmetic, product, log - 1);
        let sign = self.shift(Primitive::ShiftRightArithmetic, self.x, self.width() - 1);
        self.push(Primitive::Sub, shifted, sign)
    }

    /// Like [`Division::signed_quotient`], for 64 bits: divides the magnitude of `x` and applies the sign.
    ///
    /// The quotient is exact: rounding the reciprocal up adds `e < 2^log` to its product with the divisor.
    /// The magnitude `m` is at most 2^63, so `m * e < 2^(63 + log)`, which never reaches the next quotient.
    fn signed_quotient_64(&mut self, divisor: u64) -> SsaValue {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1u128 << (u64::BITS - 1 + log)) / u128::from(divisor) + 1;
        let factor = self.builder.constant(LaneType::U64, factor as u64);
        let sign = self.shift(Primitive::ShiftRightArithmetic, self.x, u64::BITS - 1);
        let magnitude = self.negate_where(sign, self.x);
        let magnitude = self.builder.push(Primitive::Bits, LaneType::U64, &[magnitude]);
        let high = self.builder.push(Primitive::MulHigh, LaneType::U64, &[magnitude, factor]);
        let high = self.builder.push(Primitive::Bits, LaneType::I64, &[high]);
        let quotient = self.shift(Primitive::ShiftRightLogical, high, log - 1);
        self.negate_where(sign, quotient)
    }

    /// `x` if `sign` is 0, `-x` if `sign` is -1.
    fn negate_where(&mut self, sign: SsaValue, x: SsaValue) -> SsaValue {
        let flipped = self.push(Primitive::Xor, x, sign);
        self.push(Primitive::Sub, flipped, sign)
    }

    /// `x / 2^amount`, rounded towards zero: adds `2^amount - 1` to negative numbers before the shift.
    fn signed_shift(&mut self, amount: u32) -> SsaValue {
        if amount == 0 {
            return self.x;
        }
        let sign = self.shift(Primitive::ShiftRightArithmetic, self.x, self.width() - 1);
        let rest = self.shift(Primitive::ShiftRightLogical, sign, self.width() - amount);
        let sum = self.push(Primitive::Add, self.x, rest);
        self.shift(Primitive::ShiftRightArithmetic, sum, amount)
    }
}

#[cfg(test)]
#[path = "../tests/unit/divide.rs"]
mod tests;
