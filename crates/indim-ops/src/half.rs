//! The 16-bit floats as storage: `f16` and `bf16`, and their conversions to and from `f32`.
//!
//! Operations on them compute in `f32` and round once at the end (`Widened` in `element.rs`). The
//! conversions are straight lines without branches, so that the compiler vectorises them on every
//! level; subnormals are handled by exact additions, never by a multiplication of subnormals.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::num::ParseFloatError;
use core::str::FromStr;

use crate::lane::{FloatBits, Lane};

/// An IEEE 754 binary16: 5 bits of exponent, 10 of significand.
///
/// ```
/// use indim_ops::f16;
/// assert_eq!(f16::from_f32(0.1).to_string(), "0.1");
/// assert_eq!(f16::from_f32(0.1).to_f32(), 0.099975586);
/// ```
#[allow(non_camel_case_types, reason = "an element type is called as in every framework")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct f16(u16);

/// The upper half of a binary32: 8 bits of exponent, 7 of significand.
///
/// ```
/// use indim_ops::bf16;
/// assert_eq!(bf16::from_f32(3.1415927).to_f32(), 3.140625);
/// ```
#[allow(non_camel_case_types, reason = "an element type is called as in every framework")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct bf16(u16);

/// The sign bit of both.
const SIGN: u16 = 0x8000;

/// `on_true` where `condition` holds, without a branch.
#[inline(always)]
fn choose(condition: bool, on_true: u32, on_false: u32) -> u32 {
    if condition { on_true } else { on_false }
}

/// The `f32` that rounds to any narrower float as `value` does: truncated, and odd where that lost
/// something, so that what is lost still counts when the result is rounded again.
#[inline(always)]
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let reached = f64::from(nearest);
    let bits = nearest.to_bits();
    let truncated = bits.wrapping_sub(u32::from(reached.abs() > value.abs()));
    f32::from_bits(truncated | u32::from(reached != value))
}

impl f16 {
    /// The canonical quiet NaN.
    pub const NAN: f16 = f16(0x7e00);
    /// Infinity.
    pub const INFINITY: f16 = f16(0x7c00);
    /// The largest number, 65504.
    pub const MAX: f16 = f16(0x7bff);

    /// The same value in 32 bits; the sign and payload of a NaN are kept.
    #[inline(always)]
    pub const fn to_f32(self) -> f32 {
        const SMALLEST_NORMAL: u32 = 113 << 23;
        let magnitude = (self.0 & !SIGN) as u32;
        let placed = magnitude << 13;
        let normal = placed + (112 << 23);
        let special = placed | 0x7f80_0000;
        // A subnormal becomes the fraction of 2^-14, which is then taken away, exactly.
        let subnormal = f32::from_bits(placed + SMALLEST_NORMAL) - f32::from_bits(SMALLEST_NORMAL);
        let small = if magnitude < 0x400 { subnormal.to_bits() } else { normal };
        let bits = if magnitude >= 0x7c00 { special } else { small };
        f32::from_bits(bits | ((self.0 & SIGN) as u32) << 16)
    }

    /// The nearest, half to even; overflow gives an infinity, a NaN the canonical one.
    #[inline(always)]
    pub fn from_f32(value: f32) -> f16 {
        let sign = (value.to_bits() >> 16) as u16 & SIGN;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        // Adding 1/2 rounds to the last bit of a subnormal, which then is the last bit of the sum.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(126 << 23);
        let is_odd = (magnitude >> 13) & 1;
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + is_odd) >> 13;
        let number = choose(magnitude < 113 << 23, subnormal, normal);
        let finite = choose(magnitude >= 143 << 23, 0x7c00, number) as u16 | sign;
        f16(if magnitude > 0x7f80_0000 { Self::NAN.0 } else { finite })
    }
}

impl bf16 {
    /// The canonical quiet NaN.
    pub const NAN: bf16 = bf16(0x7fc0);
    /// Infinity.
    pub const INFINITY: bf16 = bf16(0x7f80);
    /// The largest number, about 3.39e38.
    pub const MAX: bf16 = bf16(0x7f7f);

    /// The same value in 32 bits; the sign and payload of a NaN are kept.
    #[inline(always)]
    pub const fn to_f32(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    /// The nearest, half to even; overflow gives an infinity, a NaN the canonical one.
    #[inline(always)]
    pub fn from_f32(value: f32) -> bf16 {
        let bits = value.to_bits();
        let is_odd = (bits >> 16) & 1;
        let rounded = (bits.wrapping_add(0x7fff + is_odd) >> 16) as u16;
        bf16(if value.is_nan() { Self::NAN.0 } else { rounded })
    }
}

macro_rules! half_float {
    ($($type:ident)*) => {$(
        impl $type {
            /// Negative infinity.
            pub const NEG_INFINITY: $type = $type(Self::INFINITY.0 | SIGN);
            /// The smallest number.
            pub const MIN: $type = $type(Self::MAX.0 | SIGN);

            /// The number with this bit pattern.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self { $type(bits) }

            /// The bit pattern.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 { self.0 }

            /// The nearest, half to even, rounded once; overflow gives an infinity.
            #[inline(always)]
            pub fn from_f64(value: f64) -> Self { Self::from_f32(round_to_odd(value)) }

            /// The same value in 64 bits.
            #[inline(always)]
            pub fn to_f64(self) -> f64 { f64::from(self.to_f32()) }

            /// Whether this is a NaN.
            #[inline(always)]
            pub const fn is_nan(self) -> bool { (self.0 & !SIGN) > Self::INFINITY.0 }

            /// Whether this is neither infinite nor a NaN.
            #[inline(always)]
            pub const fn is_finite(self) -> bool { (self.0 & !SIGN) < Self::INFINITY.0 }

            /// The shortest decimal that reads back as this number, nearest to it among those.
            ///
            /// As an `f64` it prints with just these digits.
            pub fn shortest_decimal(self) -> f64 {
                let exact = self.to_f64();
                let mut decimals = (0..9).flat_map(|digits| decimals_beside(exact, digits));
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

        impl Lane for $type {
            type Bool = bool;
            #[inline(always)]
            fn select(condition: bool, on_true: Self, on_false: Self) -> Self {
                if condition { on_true } else { on_false }
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { self.to_f32() == other.to_f32() }
            #[inline(always)]
            fn less(self, other: Self) -> bool { self.to_f32() < other.to_f32() }
        }

        impl FloatBits for $type {
            type Bits = i16;
            #[inline(always)]
            fn to_bits(self) -> i16 { self.0 as i16 }
            #[inline(always)]
            fn from_bits(bits: i16) -> Self { $type(bits as u16) }
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

            /// Reads what `f64` reads, and rounds that.
            fn from_str(text: &str) -> Result<Self, ParseFloatError> {
                text.parse().map(Self::from_f64)
            }
        }
    )*};
}

half_float!(f16 bf16);

/// The decimal nearest to `exact` with so many digits behind the first, and the next one away from zero.
///
/// Of a power of two the nearest may lie below, where numbers are twice as dense, and read as another.
fn decimals_beside(exact: f64, digits: usize) -> Vec<f64> {
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

    /// The midpoint of each pair of neighbours and the floats beside it, in 32 and in 64 bits.
    macro_rules! rounding_test {
        ($name:ident, $type:ident) => {
            #[test]
            fn $name() {
                let all: Vec<u16> = ascending($type::INFINITY.0).collect();
                for pair in all.windows(2) {
                    let [low, high] = [pair[0], pair[1]].map($type::from_bits);
                    let even = if low.0 & 1 == 0 { low } else { high };
                    // Beyond the largest number the neighbour is where the next one would be.
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
                        // The bits of zero: what rounds to it keeps its own sign.
                        let expected = if expected == $type(0) {
                            $type(if value < 0.0 { SIGN } else { 0 })
                        } else {
                            expected
                        };
                        assert_eq!($type::from_f64(value).0, expected.0, "{value:e}");
                    }
                    let middle = middle as f32;
                    for value in [middle.next_down(), middle, middle.next_up()] {
                        let expected = $type::from_f64(f64::from(value));
                        assert_eq!($type::from_f32(value).0, expected.0, "{value:e}");
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
                assert_eq!(f16::from_f32(x.to_f32()).0, f16::NAN.0);
            } else {
                assert_eq!(f16::from_f32(x.to_f32()).0, bits);
                assert_eq!(x.to_string().parse::<f16>().map(f16::to_bits), Ok(bits), "{x}");
            }
            if y.is_nan() {
                assert_eq!(bf16::from_f32(y.to_f32()).0, bf16::NAN.0);
            } else {
                assert_eq!(bf16::from_f32(y.to_f32()).0, bits);
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
