//! Division of integers by a constant, without dividing: processors have no instruction for it in vectors.
//!
//! The quotient is the upper half of a product with a rounded-up reciprocal, corrected (Granlund and
//! Montgomery, "Division by Invariant Integers using Multiplication", 1994, figures 4.1 and 5.2); by powers
//! of two it is a shift. 8 bits are divided as 16. Signed numbers of 64 bits are divided without their sign,
//! because the upper half of an unsigned product takes fewer instructions.

use crate::body::{LaneType, Primitive, Value};
use crate::instructions::Instructions;

/// The quotient, or the remainder, of `x` by a constant of these bits.
pub(crate) fn divide(
    builder: &mut impl Instructions,
    primitive: Primitive,
    x: Value,
    bits: u64,
) -> Value {
    let mut division = Division { lane: builder.instruction(x).lane, builder, x };
    if bits == 0 {
        return division.constant(0);
    }
    if let Some(wide) = wider(division.lane)
        && !division.magnitude(bits).is_power_of_two()
    {
        return division.widened(primitive, wide, bits);
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

fn wider(lane: LaneType) -> Option<LaneType> {
    match lane {
        LaneType::I8 => Some(LaneType::I16),
        LaneType::U8 => Some(LaneType::U16),
        _ => None,
    }
}

struct Division<'a, I> {
    builder: &'a mut I,
    lane: LaneType,
    x: Value,
}

impl<I: Instructions> Division<'_, I> {
    fn width(&self) -> u32 {
        8 * self.lane.size() as u32
    }

    fn constant(&mut self, bits: u64) -> Value {
        let unused = 64 - self.width();
        self.builder.constant(self.lane, bits << unused >> unused)
    }

    fn push(&mut self, primitive: Primitive, x: Value, y: Value) -> Value {
        self.builder.push(primitive, self.lane, &[x, y])
    }

    fn shift(&mut self, primitive: Primitive, x: Value, amount: u32) -> Value {
        let amount = self.constant(amount.into());
        self.push(primitive, x, amount)
    }

    /// The value of the constant.
    fn signed(&self, bits: u64) -> i64 {
        let unused = 64 - self.width();
        (bits << unused) as i64 >> unused
    }

    /// The constant without its sign.
    fn magnitude(&self, bits: u64) -> u64 {
        if self.lane.is_signed() { self.signed(bits).unsigned_abs() } else { bits }
    }

    fn widened(&mut self, primitive: Primitive, wide: LaneType, bits: u64) -> Value {
        let divisor = match self.lane.is_signed() {
            true => self.signed(bits) as u64 & 0xffff,
            false => bits,
        };
        let x = self.builder.push(Primitive::Cast, wide, &[self.x]);
        let divisor = self.builder.constant(wide, divisor);
        let result = self.builder.push(primitive, wide, &[x, divisor]);
        self.builder.push(Primitive::Cast, self.lane, &[result])
    }

    fn quotient(&mut self, bits: u64) -> Value {
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

    /// `x / divisor`, where that is no power of two.
    fn unsigned_quotient(&mut self, divisor: u64) -> Value {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let rest = (1u128 << log) - u128::from(divisor);
        let factor = (rest << self.width()) / u128::from(divisor) + 1;
        let factor = self.constant(factor as u64);
        let high = self.push(Primitive::MulHigh, self.x, factor);
        // The factor lacks 2^width, which is added without overflow.
        let rest = self.push(Primitive::Sub, self.x, high);
        let half = self.shift(Primitive::ShiftRightLogical, rest, 1);
        let sum = self.push(Primitive::Add, half, high);
        self.shift(Primitive::ShiftRightLogical, sum, log - 1)
    }

    /// `x / divisor`, where that is positive, no power of two and has fewer than 64 bits.
    fn signed_quotient(&mut self, divisor: u64) -> Value {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1u128 << (self.width() + log - 1)) / u128::from(divisor) + 1;
        let factor = self.constant(factor as u64);
        let high = self.push(Primitive::MulHigh, self.x, factor);
        // The factor lacks 2^width.
        let product = self.push(Primitive::Add, self.x, high);
        let shifted = self.shift(Primitive::ShiftRightArithmetic, product, log - 1);
        let sign = self.shift(Primitive::ShiftRightArithmetic, self.x, self.width() - 1);
        self.push(Primitive::Sub, shifted, sign)
    }

    /// Like [`Division::signed_quotient`], of 64 bits: the quotient of the magnitude, with the sign of `x`.
    /// Rounding adds `e < 2^log` to the product of the divisor and the reciprocal. The magnitude `m` is at
    /// most 2^63, so `m * e < 2^(63 + log)` and no quotient is rounded up.
    fn signed_quotient_64(&mut self, divisor: u64) -> Value {
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1u128 << (u64::BITS - 1 + log)) / u128::from(divisor) + 1;
        let factor = self.builder.constant(LaneType::U64, factor as u64);
        let sign = self.shift(Primitive::ShiftRightArithmetic, self.x, u64::BITS - 1);
        let magnitude = self.negated_where(sign, self.x);
        let magnitude = self.builder.push(Primitive::Bits, LaneType::U64, &[magnitude]);
        let high = self.builder.push(Primitive::MulHigh, LaneType::U64, &[magnitude, factor]);
        let high = self.builder.push(Primitive::Bits, LaneType::I64, &[high]);
        let quotient = self.shift(Primitive::ShiftRightLogical, high, log - 1);
        self.negated_where(sign, quotient)
    }

    /// `x` where `sign` is 0, and `-x` where all bits of it are set.
    fn negated_where(&mut self, sign: Value, x: Value) -> Value {
        let flipped = self.push(Primitive::Xor, x, sign);
        self.push(Primitive::Sub, flipped, sign)
    }

    /// `x / 2^amount`, towards zero: to what is negative the largest remainder is added.
    fn signed_shift(&mut self, amount: u32) -> Value {
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
