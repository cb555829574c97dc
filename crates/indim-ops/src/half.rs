//! The 16-bit floats `f16` and `bf16`, represented by their bits in any lane back end.
//!
//! `meaning/half.rs` widens them to `f32` and rounds results to them.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::num::ParseFloatError;
use core::str::FromStr;

use crate::meaning::half::{round_to_bf16, round_to_f16, round_to_odd, widen_bf16, widen_f16};
use indim_lanes::ScalarBackend;
use indim_lanes::lane::{BoolLane, FloatBits, IntLane, Lane};

/// An IEEE 754 binary16: 5 bits of exponent, 10 of significand.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F16<Bits>(Bits);

/// The upper half of a binary32: 8 bits of exponent, 7 of significand.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bf16<Bits>(Bits);

/// An IEEE 754 binary16: 5 bits of exponent, 10 of significand.
///
/// ```
/// use indim_ops::f16;
/// assert_eq!(f16::from_f32(0.1).to_string(), "0.1");
/// assert_eq!(f16::from_f32(0.1).to_f32(), 0.099975586);
/// ```
#[allow(non_camel_case_types, reason = "element types have the names that every framework uses")]
pub type f16 = F16<i16>;

/// The upper half of a binary32: 8 bits of exponent, 7 of significand.
///
/// ```
/// use indim_ops::bf16;
/// assert_eq!(bf16::from_f32(3.1415927).to_f32(), 3.140625);
/// ```
#[allow(non_camel_case_types, reason = "element types have the names that every framework uses")]
pub type bf16 = Bf16<i16>;

/// The sign bit of both types.
const SIGN: u16 = 0x8000;

macro_rules! half_float {
    ($($type:ident $any:ident $widen:ident $round:ident, $mantissa:literal, $maximum:literal;)*) => {$(
        impl<Bits: IntLane> $any<Bits> {
            /// The bits without the sign.
            #[inline(always)]
            fn magnitude(self) -> Bits { self.0.and(Bits::minimum().not()) }

            /// An integer with the same order as the numbers; -0 and +0 are equal.
            #[inline(always)]
            fn order_key(self) -> Bits {
                let (zero, magnitude) = (Bits::constant(0), self.magnitude());
                Bits::select(self.0.less(zero), zero.sub(magnitude), magnitude)
            }

            /// Whether neither is a NaN.
            #[inline(always)]
            fn are_numbers(self, other: Self) -> Bits::Bool {
                let infinity = Bits::constant(Self::INFINITY_BITS);
                infinity.less(self.magnitude()).or(infinity.less(other.magnitude())).not()
            }
        }

        impl<Bits: IntLane> Lane for $any<Bits> {
            type Bool = Bits::Bool;
            #[inline(always)]
            fn select(condition: Bits::Bool, on_true: Self, on_false: Self) -> Self {
                $any(Bits::select(condition, on_true.0, on_false.0))
            }
            #[inline(always)]
            fn equal(self, other: Self) -> Bits::Bool {
                self.order_key().equal(other.order_key()).and(self.are_numbers(other))
            }
            #[inline(always)]
            fn less(self, other: Self) -> Bits::Bool {
                self.order_key().less(other.order_key()).and(self.are_numbers(other))
            }
        }

        impl<Bits: IntLane> FloatBits for $any<Bits> {
            type Bits = Bits;
            const MANTISSA_BITS: u32 = $mantissa;
            #[inline(always)]
            fn to_bits(self) -> Bits { self.0 }
            #[inline(always)]
            fn from_bits(bits: Bits) -> Self { $any(bits) }
        }

        impl $type {
            /// The canonical quiet NaN.
            pub const NAN: $type = $type::from_bits(Self::NAN_BITS as u16);
            /// Infinity.
            pub const INFINITY: $type = $type::from_bits(Self::INFINITY_BITS as u16);
            /// Negative infinity.
            pub const NEG_INFINITY: $type = $type::from_bits(Self::INFINITY.to_bits() | SIGN);
            #[doc = concat!("The largest number, ", $maximum, ".")]
            pub const MAX: $type = $type::from_bits(Self::INFINITY.to_bits() - 1);
            /// The most negative number.
            pub const MIN: $type = $type::from_bits(Self::MAX.to_bits() | SIGN);

            /// The number with this bit pattern.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self { $any(bits as i16) }

            /// The bit pattern.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 { self.0 as u16 }

            /// The same value in 32 bits; the sign and payload of a NaN are kept.
            #[inline(always)]
            pub fn to_f32(self) -> f32 { $widen::<ScalarBackend>(self) }

            /// The nearest number, half to even. Overflow gives an infinity, and a NaN gives the canonical
            /// NaN.
            #[inline(always)]
            pub fn from_f32(value: f32) -> Self { $round::<ScalarBackend>(value) }

            /// The nearest number, half to even, rounded once; overflow gives an infinity.
            #[inline(always)]
            pub fn from_f64(value: f64) -> Self { Self::from_f32(round_to_odd(value)) }

            /// The same value in 64 bits.
            #[inline(always)]
            pub fn to_f64(self) -> f64 { f64::from(self.to_f32()) }

            /// Whether this is a NaN.
            #[inline(always)]
            pub const fn is_nan(self) -> bool { (self.to_bits() & !SIGN) > Self::INFINITY.to_bits() }

            /// Whether this is neither infinite nor a NaN.
            #[inline(always)]
            pub const fn is_finite(self) -> bool { (self.to_bits() & !SIGN) < Self::INFINITY.to_bits() }

            /// The shortest decimal that reads back as this number, nearest to it among those.
            ///
            /// The result is the `f64` nearest to this decimal, so it prints with just the digits of the
            /// decimal.
            pub fn shortest_decimal(self) -> f64 {
                let exact = self.to_f64();
                let mut decimals = (0..9).flat_map(|digits| nearest_decimals(exact, digits));
                decimals.find(|&decimal| Self::from_f64(decimal) == self).unwrap_or(exact)
            }
        }

        impl From<$type> for f32 {
            fn from(value: $type) -> f32 { value.to_f32() }
        }

        impl From<$type> for f64 {
            fn from(value: $type) -> f64 { value.to_f64() }
        }

        impl PartialEq for $type {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool { self.to_f32() == other.to_f32() }
        }

        impl PartialOrd for $type {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.shortest_decimal(), formatter)
            }
        }

        impl fmt::LowerExp for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerExp::fmt(&self.shortest_decimal(), formatter)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.shortest_decimal(), formatter)
            }
        }

        impl FromStr for $type {
            type Err = ParseFloatError;

            /// Parses an `f64`, and rounds it.
            fn from_str(text: &str) -> Result<Self, ParseFloatError> {
                text.parse().map(Self::from_f64)
            }
        }
    )*};
}

half_float! {
    f16 F16 widen_f16 round_to_f16, 10, "65504";
    bf16 Bf16 widen_bf16 round_to_bf16, 7, "about 3.39e38";
}

/// The decimal nearest to `exact` with `digits` digits after the first digit, and the next such decimal
/// away from zero.
///
/// The nearest text of a power of two may lie below it, where numbers are twice as dense, and parse as
/// another number.
fn nearest_decimals(exact: f64, digits: usize) -> Vec<f64> {
    let nearest = format!("{:.digits$e}", exact.abs());
    let parts = nearest.split_once('e').map(|(mantissa, exponent)| {
        (mantissa.replace('.', "").parse::<u64>(), exponent.parse::<i64>())
    });
    let Some((Ok(mantissa), Ok(exponent))) = parts else { return vec![exact] };
    let exponent = exponent - digits as i64;
    let decimals =
        [mantissa, mantissa + 1].map(|mantissa| format!("{mantissa}e{exponent}").parse::<f64>());
    decimals.into_iter().flatten().map(|decimal| decimal.copysign(exact)).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    /// Every number of a half type that is not a NaN, in ascending order without -0.
    fn ascending(infinity: u16) -> impl Iterator<Item = u16> {
        (0..=infinity).rev().map(|bits| bits | SIGN).chain(1..=infinity)
    }

    #[test]
    fn every_f16_has_the_value_of_its_fields() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            let expected = if bits & SIGN == 0 { magnitude } else { -magnitude };
            let value = f16::from_bits(bits).to_f64();
            let is_same = value.to_bits() == expected.to_bits();
            assert!(is_same || (value.is_nan() && expected.is_nan()), "{bits:#x}: {value}");
        }
    }

    /// The midpoint of each pair of neighbours and the floats next to it, in 32 and in 64 bits.
    macro_rules! rounding_test {
        ($name:ident, $type:ident) => {
            #[test]
            fn $name() {
                let all: Vec<u16> = ascending($type::INFINITY.to_bits()).collect();
                for pair in all.windows(2) {
                    let [low, high] = [pair[0], pair[1]].map($type::from_bits);
                    let even = if low.to_bits() & 1 == 0 { low } else { high };
                    // The neighbour beyond the largest number is the value that the next exponent would have.
                    let as_number = |x: $type| match x.is_finite() {
                        true => x.to_f64(),
                        false => 2f64
                            .powi(if $type::MAX.to_f64() > 1e6 { 128 } else { 16 })
                            .copysign(x.to_f64()),
                    };
                    let middle = (as_number(low) + as_number(high)) / 2.0;
                    let near =
                        [(middle.next_down(), low), (middle, even), (middle.next_up(), high)];
                    for (value, expected) in near {
                        // A value that rounds to zero keeps its own sign.
                        let expected = if expected == $type::default() {
                            $type::from_bits(if value < 0.0 { SIGN } else { 0 })
                        } else {
                            expected
                        };
                        assert_eq!(
                            $type::from_f64(value).to_bits(),
                            expected.to_bits(),
                            "{value:e}"
                        );
                    }
                    let middle = middle as f32;
                    for value in [middle.next_down(), middle, middle.next_up()] {
                        let expected = $type::from_f64(f64::from(value));
                        assert_eq!(
                            $type::from_f32(value).to_bits(),
                            expected.to_bits(),
                            "{value:e}"
                        );
                    }
                }
            }
        };
    }

    rounding_test!(f16_is_rounded_half_to_even, f16);
    rounding_test!(bf16_is_rounded_half_to_even, bf16);

    #[test]
    fn every_number_survives_f32_and_its_text() {
        for bits in 0..=u16::MAX {
            let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
            if x.is_nan() {
                assert_eq!(f16::from_f32(x.to_f32()).to_bits(), 0x7e00);
            } else {
                assert_eq!(f16::from_f32(x.to_f32()).to_bits(), bits);
                assert_eq!(x.to_string().parse::<f16>().map(f16::to_bits), Ok(bits), "{x}");
            }
            if y.is_nan() {
                assert_eq!(bf16::from_f32(y.to_f32()).to_bits(), 0x7fc0);
            } else {
                assert_eq!(bf16::from_f32(y.to_f32()).to_bits(), bits);
                assert_eq!(y.to_string().parse::<bf16>().map(bf16::to_bits), Ok(bits), "{y}");
            }
        }
    }

    #[test]
    fn texts_are_short() {
        assert_eq!(format!("{:?}", f16::from_f32(1.0)), "1.0");
        assert_eq!(f16::from_f32(0.1).to_string(), "0.1");
        assert_eq!(f16::MAX.to_string(), "65500");
        // 0.01562 is nearer, but reads as the number below.
        assert_eq!(f16::from_f32(-0.015625).to_string(), "-0.01563");
        assert_eq!(bf16::from_f32(2.7).to_string(), "2.7");
        assert_eq!(f16::NEG_INFINITY.to_string(), "-inf");
        assert!("1e9".parse::<f16>().is_ok_and(|x| x == f16::INFINITY));
    }
}
