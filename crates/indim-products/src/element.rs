//! Element types of products: exact fused multiply-add, and the wide type in which blocks are added.

use indim_ops::lane::FloatBits;
use indim_ops::{bf16, f16};

/// An element type of products. The chains of `fma` and the lanes of a block have this type.
pub(crate) trait ProductElement: Copy + Send + Sync + 'static {
    /// The type in which blocks are added: `f64` for floats, the same type for integers.
    type Wide: WideSum;

    /// Whether sums follow the order of summation (`order.rs`). Sums of groups of factors do not: they
    /// wrap, so every order gives the same value. For groups, a slice is one chain, and sums in the wide
    /// type have the representation of elements. Single integers also wrap, but follow the order, like
    /// floats.
    const IS_ORDERED: bool = true;

    /// Zero; +0 for floats.
    const ZERO: Self;

    /// `x * y + addend` with one rounding; wrapping for integers.
    fn fma(x: Self, y: Self, addend: Self) -> Self;

    /// The sum, rounded or wrapping.
    fn add(self, other: Self) -> Self;

    /// The value of a block: +0 is added, so the result is never -0.
    fn widen(self) -> Self::Wide;

    /// The nearest element, with the canonical NaN.
    fn narrow(wide: Self::Wide) -> Self;
}

/// A type in which blocks of products are added.
pub(crate) trait WideSum: Copy + Send + Sync + 'static {
    /// Zero; +0 for floats.
    const ZERO: Self;

    /// The sum, rounded or wrapping.
    fn add(self, other: Self) -> Self;

    /// The value with the canonical NaN.
    fn canonical(self) -> Self;
}

impl WideSum for f64 {
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }

    #[inline(always)]
    fn canonical(self) -> f64 {
        self.with_canonical_nan()
    }
}

impl ProductElement for f32 {
    type Wide = f64;
    const ZERO: f32 = 0.0;

    #[inline(always)]
    fn fma(x: f32, y: f32, addend: f32) -> f32 {
        if cfg!(target_arch = "aarch64") { x.mul_add(y, addend) } else { fma_by_f64(x, y, addend) }
    }

    #[inline(always)]
    fn add(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self) + 0.0
    }

    #[inline(always)]
    fn narrow(wide: f64) -> f32 {
        (wide as f32).with_canonical_nan()
    }
}

impl ProductElement for f64 {
    type Wide = f64;
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn fma(x: f64, y: f64, addend: f64) -> f64 {
        x.mul_add(y, addend)
    }

    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        self + 0.0
    }

    #[inline(always)]
    fn narrow(wide: f64) -> f64 {
        wide.with_canonical_nan()
    }
}

macro_rules! integers {
    ($($integer:ident)*) => { $(
        impl WideSum for $integer {
            const ZERO: $integer = 0;

            #[inline(always)]
            fn add(self, other: $integer) -> $integer {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn canonical(self) -> $integer {
                self
            }
        }

        impl ProductElement for $integer {
            type Wide = $integer;
            const ZERO: $integer = 0;

            #[inline(always)]
            fn fma(x: $integer, y: $integer, addend: $integer) -> $integer {
                addend.wrapping_add(x.wrapping_mul(y))
            }

            #[inline(always)]
            fn add(self, other: $integer) -> $integer {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn widen(self) -> $integer {
                self
            }

            #[inline(always)]
            fn narrow(wide: $integer) -> $integer {
                wide
            }
        }
    )* };
}

integers!(i32 i64);

/// Two 16-bit factors of neighbouring indices, the first in the low bits; or a sum of products, an `i32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct FactorPair(pub(crate) i32);

impl FactorPair {
    /// The pair of these factors.
    #[inline(always)]
    pub(crate) fn new(first: i16, second: i16) -> FactorPair {
        FactorPair(i32::from(first) & 0xffff | i32::from(second) << 16)
    }
}

/// Four 8-bit factors of neighbouring indices, the first in the low bits; or a sum of products, an `i32`.
/// Groups are multiplied only by vectors, because a group alone does not tell whether its bytes are signed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct FactorQuad(i32);

/// Groups of factors in 32 bits, whose sums are `i32`; the closure gives the products of two groups,
/// which `fma` adds.
macro_rules! groups {
    ($($type:ident: |$x:ident, $y:ident| $products:expr;)*) => {$(
        impl ProductElement for $type {
            type Wide = i32;
            const IS_ORDERED: bool = false;
            const ZERO: $type = $type(0);

            #[inline(always)]
            fn fma($x: $type, $y: $type, addend: $type) -> $type {
                $type($products.fold(addend.0, i32::wrapping_add))
            }

            #[inline(always)]
            fn add(self, other: $type) -> $type {
                $type(self.0.wrapping_add(other.0))
            }

            #[inline(always)]
            fn widen(self) -> i32 {
                self.0
            }

            #[inline(always)]
            fn narrow(wide: i32) -> $type {
                $type(wide)
            }
        }
    )*};
}

groups! {
    FactorPair: |x, y| [0, 16].into_iter().map(|shift: u32| {
        let [x, y] = [x, y].map(|pair| i32::from((pair.0 >> shift) as i16));
        x * y
    });
    // `x` has signed bytes, `y` unsigned ones. No vector of quads calls this function.
    FactorQuad: |x, y| x.0.to_le_bytes().into_iter().zip(y.0.to_le_bytes())
        .map(|(x, y)| i32::from(x as i8) * i32::from(y));
}

/// `x * y + addend` with one rounding, for levels without the instruction. The product of two `f32` is
/// exact in `f64`; its sum with the addend is rounded to odd, so that rounding it to `f32` gives the
/// rounded exact sum.
#[inline(always)]
fn fma_by_f64(x: f32, y: f32, addend: f32) -> f32 {
    let (product, addend) = (f64::from(x) * f64::from(y), f64::from(addend));
    let sum = product + addend;
    // The exact error of the sum, which is NaN if the sum is not finite.
    let rest = sum - product;
    let error = (product - (sum - rest)) + (addend - rest);
    let bits = sum.to_bits();
    let is_inexact = (error > 0.0) | (error < 0.0);
    let is_away = (error > 0.0) == (sum > 0.0);
    let towards = if is_away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let is_even = bits & 1 == 0;
    let odd = if is_inexact & is_even { towards } else { bits };
    f64::from_bits(odd) as f32
}

/// A conversion without information loss, or modulo the range of an integer.
pub(crate) trait Widen<E>: Copy {
    /// The converted element.
    fn widen(self) -> E;
}

macro_rules! widen_by_cast {
    ($($from:ident $to:ident)*) => { $(
        impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to {
                self as $to
            }
        }
    )* };
}

widen_by_cast! {
    f32 f32 f32 f64 f64 f64
    i8 i32 i16 i32 i32 i32 i64 i32 u8 i32 u16 i32 u32 i32 u64 i32
    i8 i16 u8 i16 i16 i16
    i8 i64 i16 i64 i32 i64 i64 i64 u8 i64 u16 i64 u32 i64 u64 i64
}

macro_rules! widen_halves {
    ($($half:ident)*) => { $(
        impl Widen<f32> for $half {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
        }

        impl Widen<f64> for $half {
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self.to_f32())
            }
        }
    )* };
}

widen_halves!(f16 bf16);

/// The rounding of a finished sum to an element of the result; the low bits of an integer.
pub(crate) trait Round<O> {
    /// The rounded value, with the canonical NaN.
    fn round(self) -> O;
}

impl Round<f32> for f64 {
    #[inline(always)]
    fn round(self) -> f32 {
        <f32 as ProductElement>::narrow(self)
    }
}

impl Round<f64> for f64 {
    #[inline(always)]
    fn round(self) -> f64 {
        <f64 as ProductElement>::narrow(self)
    }
}

macro_rules! round_halves {
    ($($half:ident)*) => { $(
        impl Round<$half> for f64 {
            #[inline(always)]
            fn round(self) -> $half {
                $half::from_f64(self.with_canonical_nan())
            }
        }
    )* };
}

round_halves!(f16 bf16);

macro_rules! low_bits {
    ($($from:ident: $($to:ident)*;)*) => { $($(
        impl Round<$to> for $from {
            #[inline(always)]
            fn round(self) -> $to {
                self as $to
            }
        }
    )*)* };
}

low_bits! {
    i32: i8 i16 i32 u8 u16 u32;
    i64: i64 u64;
}

#[cfg(test)]
mod tests {
    use super::fma_by_f64;

    #[test]
    fn fma_by_f64_rounds_once() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 32) as u32
        };
        let special = [0.0, -0.0, 1.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY, f32::NAN];
        for round in 0..2_000_000_u32 {
            let mut draw = || match next() % 16 {
                0 => special[next() as usize % special.len()],
                // Exponents near each other, so that the addend matters.
                1..8 => f32::from_bits(next() & 0x80ff_ffff | 0x3f00_0000),
                8..12 => f32::from_bits(next() & 0x80ff_fff0 | (next() % 64) << 23),
                _ => f32::from_bits(next()),
            };
            let (x, y) = (draw(), draw());
            let addend = if round % 3 == 0 { -(x * y) * 1.000_000_1 } else { draw() };
            let (expected, found) = (x.mul_add(y, addend), fma_by_f64(x, y, addend));
            let same = expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan();
            assert!(same, "{x:e} * {y:e} + {addend:e}: {expected:e}, not {found:e}");
        }
    }
}
