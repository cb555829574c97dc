//! The algebra in which the meaning of every operation is written.
//!
//! A lane is one element on its way through a computation. A Rust scalar is a lane, so a definition
//! runs as it stands in the reference evaluator, and the compiler vectorises it in the block
//! kernels; a code generator is one more implementer. For that, definitions are straight lines:
//! no `if` on a lane, only `select`; no library mathematics, only what stands here. Every primitive
//! has one defined result for every input, so all implementers give the same bits.
//!
//! Definitions in terms of these traits are in `meaning/`.

/// One element: can be compared for equality and chosen.
pub trait Lane: Copy {
    /// What comparisons of this lane yield.
    type Bool: BoolLane;

    /// `on_true` where `condition` holds, else `on_false`.
    fn select(condition: Self::Bool, on_true: Self, on_false: Self) -> Self;
    /// Equality; a NaN equals nothing.
    fn equal(self, other: Self) -> Self::Bool;
    /// Less than; false with a NaN, and false < true.
    fn less(self, other: Self) -> Self::Bool;
}

/// A truth value.
pub trait BoolLane: Lane<Bool = Self> {
    /// The same truth value in every lane.
    fn constant(value: bool) -> Self;
    /// Both.
    fn and(self, other: Self) -> Self;
    /// Either.
    fn or(self, other: Self) -> Self;
    /// Exactly one.
    fn xor(self, other: Self) -> Self;
    /// The opposite.
    fn not(self) -> Self;
}

/// A two's-complement or unsigned integer; arithmetic wraps.
pub trait IntLane: Lane {
    /// The width in bits.
    const BITS: u32;
    /// Whether the top bit is a sign.
    const SIGNED: bool;

    /// The low bits of `value` in every lane.
    fn constant(value: i64) -> Self;
    /// The smallest value of the type.
    fn minimum() -> Self;
    /// Wrapping sum.
    fn add(self, other: Self) -> Self;
    /// Wrapping difference.
    fn sub(self, other: Self) -> Self;
    /// Wrapping product.
    fn mul(self, other: Self) -> Self;
    /// The upper half of the exact product, which has twice the width.
    fn mul_high(self, other: Self) -> Self;
    /// Truncated quotient, wrapping; 0 when `other` is 0.
    fn div_or_zero(self, other: Self) -> Self;
    /// Remainder with the dividend's sign, wrapping; 0 when `other` is 0.
    fn rem_or_zero(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
    /// Left shift by the amount modulo the width.
    fn shl(self, amount: Self) -> Self;
    /// Right shift by the amount modulo the width, zeros enter.
    fn shr_logical(self, amount: Self) -> Self;
    /// Right shift by the amount modulo the width, copies of the top bit enter, whatever the signedness.
    fn shr_arithmetic(self, amount: Self) -> Self;
    /// Whether the value read as unsigned is less than `other` read as unsigned.
    fn less_unsigned(self, other: Self) -> Self::Bool;
    /// The number of zero bits above the highest one; the width for zero.
    fn leading_zeros(self) -> Self;
    /// The number of one bits.
    fn count_ones(self) -> Self;
    /// The low bits of the entry of `table` at the value modulo `N`, a power of two: a gather that
    /// cannot miss.
    fn lookup<const N: usize>(self, table: &[u64; N]) -> Self;
}

/// A binary float as a bit pattern.
pub trait FloatBits: Lane {
    /// The signed integer of the same width.
    type Bits: IntLane<Bool = Self::Bool>;

    /// The bit pattern.
    fn to_bits(self) -> Self::Bits;
    /// The float of this bit pattern.
    fn from_bits(bits: Self::Bits) -> Self;
}

/// An IEEE 754 binary float; every primitive rounds to nearest even, subnormals are kept.
pub trait FloatLane: FloatBits {
    /// The float of 64 bits, in which a definition may compute when 32 bits do not suffice.
    type Wide: FloatLane;
    /// Bits of the significand without the hidden one: 23 or 52.
    const MANTISSA_BITS: u32;

    /// The same value in 64 bits.
    fn widen(self) -> Self::Wide;
    /// `value` rounded to the type, half to even; overflow gives an infinity.
    fn narrow(value: Self::Wide) -> Self;

    /// `value` rounded to the type, in every lane.
    fn constant(value: f64) -> Self;
    /// Truncates; for values outside the integer's range saturates, NaN gives 0.
    fn to_int(self) -> Self::Bits;
    /// The nearest float, half to even.
    fn from_int(value: Self::Bits) -> Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// The exact remainder with the dividend's sign, as C's `fmod`.
    fn rem(self, other: Self) -> Self;
    /// `self * factor + addend` with one rounding.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The sign bit cleared.
    fn abs(self) -> Self;
    /// The sign bit flipped.
    fn neg(self) -> Self;
    /// Largest integer not above.
    fn floor(self) -> Self;
    /// Smallest integer not below.
    fn ceil(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// Nearest integer, half to even.
    fn round_even(self) -> Self;
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
            const SIGNED: bool = <$type>::MIN != 0;
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
            #[inline(always)]
            fn to_bits(self) -> $bits { <$type>::to_bits(self) as $bits }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { <$type>::from_bits(bits as $unsigned) }
        }

        impl FloatLane for $type {
            type Wide = f64;
            const MANTISSA_BITS: u32 = $mantissa;
            #[inline(always)]
            fn widen(self) -> f64 { self as f64 }
            #[inline(always)]
            fn narrow(value: f64) -> Self { value as $type }
            #[inline(always)]
            fn constant(value: f64) -> Self { value as $type }
            #[inline(always)]
            fn to_int(self) -> $bits { self as $bits }
            #[inline(always)]
            fn from_int(value: $bits) -> Self { value as $type }
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
            fn mul_add(self, factor: Self, addend: Self) -> Self { <$type>::mul_add(self, factor, addend) }
            #[inline(always)]
            fn sqrt(self) -> Self { <$type>::sqrt(self) }
            #[inline(always)]
            fn abs(self) -> Self { <$type>::abs(self) }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn floor(self) -> Self { <$type>::floor(self) }
            #[inline(always)]
            fn ceil(self) -> Self { <$type>::ceil(self) }
            #[inline(always)]
            fn trunc(self) -> Self { <$type>::trunc(self) }
            #[inline(always)]
            fn round_even(self) -> Self { <$type>::round_ties_even(self) }
        }
    )*};
}

float_lane! {
    f32, i32, u32, 23;
    f64, i64, u64, 52;
}
