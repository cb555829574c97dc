//! The lane back end of Rust's scalars: the reference evaluator and, vectorised, the kernels use it.

use crate::exact_float::ExactFloat;
use crate::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};

/// Rust's scalars.
#[derive(Debug, Clone, Copy)]
pub enum ScalarBackend {}

impl LaneBackend for ScalarBackend {
    type Bool = bool;
    type I8 = i8;
    type I16 = i16;
    type I32 = i32;
    type I64 = i64;
    type U8 = u8;
    type U16 = u16;
    type U32 = u32;
    type U64 = u64;
    type F32 = f32;
    type F64 = f64;
}

/// `as` has the semantics of [`Cast`].
macro_rules! cast_each_to_each {
    ([$($from:ident)*] $to:tt) => { $(cast_each_to_each!(@from $from $to);)* };
    (@from $from:ident [$($to:ident)*]) => {$(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        }
    )*};
}

cast_each_to_each! {
    [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]
}

macro_rules! lane_of_scalar {
    ($($type:ty)*) => {$(
        impl Lane for $type {
            type Bool = bool;
            #[inline(always)]
            fn select(condition: bool, on_true: Self, on_false: Self) -> Self {
                if condition { on_true } else { on_false }
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { self == other }
            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
        }
    )*};
}

lane_of_scalar!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl Lane for bool {
    type Bool = bool;
    #[inline(always)]
    fn select(condition: bool, on_true: bool, on_false: bool) -> bool {
        (condition & on_true) | (!condition & on_false)
    }
    #[inline(always)]
    fn equal(self, other: bool) -> bool {
        self == other
    }
    #[inline(always)]
    fn less(self, other: bool) -> bool {
        !self & other
    }
}

impl BoolLane for bool {
    #[inline(always)]
    fn constant(value: bool) -> bool {
        value
    }
    #[inline(always)]
    fn and(self, other: bool) -> bool {
        self & other
    }
    #[inline(always)]
    fn or(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn xor(self, other: bool) -> bool {
        self ^ other
    }
    #[inline(always)]
    fn not(self) -> bool {
        !self
    }
}

macro_rules! int_lane {
    ($($type:ty, $signed:ty, $unsigned:ty, $wide:ty;)*) => {$(
        impl IntLane for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline(always)]
            fn constant(value: i64) -> Self { value as $type }
            #[inline(always)]
            fn minimum() -> Self { <$type>::MIN }
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn mul_high(self, other: Self) -> Self {
                ((self as $wide).wrapping_mul(other as $wide) >> <$type>::BITS) as $type
            }
            #[inline(always)]
            fn div_or_zero(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn rem_or_zero(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn shl(self, amount: Self) -> Self { self.wrapping_shl(amount as u32) }
            #[inline(always)]
            fn shr_logical(self, amount: Self) -> Self {
                (self as $unsigned).wrapping_shr(amount as u32) as $type
            }
            #[inline(always)]
            fn shr_arithmetic(self, amount: Self) -> Self {
                (self as $signed).wrapping_shr(amount as u32) as $type
            }
            #[inline(always)]
            fn less_unsigned(self, other: Self) -> bool {
                (self as $unsigned) < (other as $unsigned)
            }
            #[inline(always)]
            fn leading_zeros(self) -> Self { <$type>::leading_zeros(self) as $type }
            #[inline(always)]
            fn count_ones(self) -> Self { <$type>::count_ones(self) as $type }
            #[inline(always)]
            fn lookup<const N: usize>(self, table: &[u64; N]) -> Self {
                const { assert!(N.is_power_of_two(), "the index is taken modulo the length by a mask") };
                table[self as usize & (N - 1)] as $type
            }
        }
    )*};
}

int_lane! {
    i8, i8, u8, i16; i16, i16, u16, i32; i32, i32, u32, i64; i64, i64, u64, i128;
    u8, i8, u8, u16; u16, i16, u16, u32; u32, i32, u32, u64; u64, i64, u64, u128;
}

macro_rules! float_lane {
    ($($type:ty, $bits:ty, $unsigned:ty, $mantissa:literal;)*) => {$(
        impl FloatBits for $type {
            type Bits = $bits;
            const MANTISSA_BITS: u32 = $mantissa;
            #[inline(always)]
            fn to_bits(self) -> $bits { <$type>::to_bits(self) as $bits }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { <$type>::from_bits(bits as $unsigned) }
        }

        impl FloatLane for $type {
            type Wide = f64;
            #[inline(always)]
            fn constant(value: f64) -> Self { value as $type }
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn div(self, other: Self) -> Self { self / other }
            #[inline(always)]
            fn rem(self, other: Self) -> Self { self % other }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                ExactFloat::mul_add_once(self, factor, addend)
            }
            #[inline(always)]
            fn sqrt(self) -> Self { ExactFloat::square_root(self) }
            #[inline(always)]
            fn abs(self) -> Self { <$type>::abs(self) }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn floor(self) -> Self { ExactFloat::round_down(self) }
            #[inline(always)]
            fn ceil(self) -> Self { ExactFloat::round_up(self) }
            #[inline(always)]
            fn trunc(self) -> Self { ExactFloat::round_to_zero(self) }
            #[inline(always)]
            fn round_even(self) -> Self { ExactFloat::round_to_even(self) }
        }
    )*};
}

float_lane! {
    f32, i32, u32, 23;
    f64, i64, u64, 52;
}
