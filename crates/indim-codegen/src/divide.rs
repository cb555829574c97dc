//! Division of integers by a constant, without dividing: processors have no instruction for it in vectors.
//!
//! The quotient is the upper half of a product with a rounded-up reciprocal, corrected (Granlund and
//! Montgomery, "Division by Invariant Integers using Multiplication", 1994, figures 4.1 and 5.2); by powers
//! of two it is a shift. 8 bits are divided as 16. 64 bits have no product that is worth it.

use crate::body::{LaneType, Primitive, Value};
use crate::instructions::Instructions;

/// The quotient, or the remainder, of `x` by a constant of these bits, if there is a short way to it.
pub(crate) fn divide(
    builder: &mut impl Instructions,
    primitive: Primitive,
    x: Value,
    bits: u64,
) -> Option<Value> {
    let mut division = Division { lane: builder.instruction(x).lane, builder, x };
    if bits == 0 {
        return Some(division.constant(0));
    }
    if let Some(wide) = wider(division.lane)
        && !division.magnitude(bits).is_power_of_two()
    {
        return Some(division.widened(primitive, wide, bits));
    }
    let quotient = division.quotient(bits)?;
    Some(match primitive {
        Primitive::Div => quotient,
        _ => {
            let divisor = division.constant(bits);
            let whole = division.push(Primitive::Mul, quotient, divisor);
            division.push(Primitive::Sub, x, whole)
        }
    })
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

    fn quotient(&mut self, bits: u64) -> Option<Value> {
        let magnitude = self.magnitude(bits);
        let is_power = magnitude.is_power_of_two();
        if !is_power && self.width() == 64 {
            return None;
        }
        if !self.lane.is_signed() {
            return Some(match is_power {
                true => {
                    let amount = magnitude.trailing_zeros();
                    self.shift(Primitive::ShiftRightLogical, self.x, amount)
                }
                false => self.unsigned_quotient(magnitude),
            });
        }
        let quotient = match is_power {
            true => self.signed_shift(magnitude.trailing_zeros()),
            false => self.signed_quotient(magnitude),
        };
        Some(match self.signed(bits) < 0 {
            true => {
                let zero = self.constant(0);
                self.push(Primitive::Sub, zero, quotient)
            }
            false => quotient,
        })
    }

    /// `x / divisor`, where that is no power of two and has fewer than 64 bits.
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
mod tests {
    use indim_ops::DType;

    use super::*;
    use crate::builder::BodyBuilder;
    use crate::scalar::evaluate;

    /// Divisors where something happens, as bits of 64.
    fn divisors(width: u32) -> Vec<u64> {
        let mut divisors: Vec<u64> =
            (0..=17).chain([25, 60, 100, 127, 255, 641, 1000, 6700417]).collect();
        let powers = (0..width).map(|power| 1u64 << power);
        divisors.extend(powers.flat_map(|power| [power.wrapping_sub(1), power, power + 1]));
        let negative: Vec<u64> = divisors.iter().map(|divisor| divisor.wrapping_neg()).collect();
        divisors.extend(negative);
        divisors
    }

    /// Numbers about multiples of the divisor, and at the ends.
    fn numbers(divisor: u64, width: u32) -> Vec<u64> {
        let multiples =
            [0, 1, 2, 3, 1000, u64::MAX / divisor.max(1), (1 << (width - 1)) / divisor.max(1)];
        let multiples = multiples.map(|times| divisor.wrapping_mul(times));
        let ends = [1 << (width - 1), u64::MAX >> (64 - width), 0x1234_5678_9abc_def1];
        multiples
            .into_iter()
            .chain(ends)
            .flat_map(|x| [x.wrapping_sub(1), x, x.wrapping_add(1)])
            .collect()
    }

    fn check(dtype: DType, primitive: Primitive, divisor: u64, numbers: impl Iterator<Item = u64>) {
        let (lane, _) = LaneType::of_element(dtype);
        let unused = 64 - 8 * lane.size();
        let divisor = divisor << unused >> unused;
        let mut builder = BodyBuilder::default();
        let [x, _] = builder.input(dtype);
        let result = builder.constant(lane, divisor);
        let result = builder.push(primitive, lane, &[x, result]);
        builder.output(dtype, [result]);
        let body = builder.finish();
        let divides =
            |it: &crate::Instruction| matches!(it.primitive, Primitive::Div | Primitive::Rem);
        assert!(lane.size() == 8 || !body.instructions.iter().any(divides), "{body}");
        for x in numbers.map(|x| x << unused >> unused) {
            let expected = evaluate(primitive, lane, lane, [x, divisor, 0], &[]);
            assert_eq!(
                body.interpret(&[[x, 0]]),
                [[expected, 0]],
                "{x:#x} by {divisor:#x}\n{body}"
            );
        }
    }

    #[test]
    fn quotients_and_remainders_are_exact() {
        for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_integer()) {
            let width = 8 * dtype.size() as u32;
            for primitive in [Primitive::Div, Primitive::Rem] {
                for divisor in divisors(width) {
                    check(dtype, primitive, divisor, numbers(divisor, width).into_iter());
                }
            }
        }
    }

    #[test]
    fn all_narrow_numbers_are_divided_exactly() {
        for dtype in [DType::I8, DType::U8] {
            for divisor in 0..256 {
                check(dtype, Primitive::Div, divisor, 0..256);
                check(dtype, Primitive::Rem, divisor, 0..256);
            }
        }
        for dtype in [DType::I16, DType::U16] {
            for divisor in [3, 7, 10, 641, 32_767, 32_769, 65_533] {
                check(dtype, Primitive::Div, divisor, 0..65_536);
            }
        }
    }
}
