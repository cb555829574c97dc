//! Storage types: widening to the type in which their values compute, rounding to them, and selection.
//!
//! The 8-bit floats widen to `f32`, which has all their values, and round from it. The 4-bit integers
//! convert to and from 8-bit integers. Floats are rounded by the algorithm of `half.rs`, for any format.

use crate::storage::{Float8, SpecialValues, StorageElement};
use indim_lanes::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};

/// The second operand if the first holds, else the third.
#[inline(always)]
pub fn select<K, Bits: IntLane>(
    condition: Bits::Bool,
    on_true: StorageElement<K, Bits>,
    on_false: StorageElement<K, Bits>,
) -> StorageElement<K, Bits> {
    StorageElement::new(Bits::select(condition, on_true.bits(), on_false.bits()))
}

/// The significand bits of an `f32`, without the hidden one.
const WIDE_MANTISSA: i64 = 23;

/// The exponent bias of an `f32`.
const WIDE_BIAS: i64 = 127;

/// The value in 32 bits; a NaN is canonical.
#[inline(always)]
pub fn widen_float<K: Float8, L: LaneBackend>(x: StorageElement<K, L::U8>) -> L::F32 {
    let int = L::I32::constant;
    let bits: L::I32 = x.bits().cast();
    let magnitude = bits.and(int(0x7f));
    let placed = magnitude.shl(int(WIDE_MANTISSA - K::MANTISSA_BITS));
    let normal = placed.add(int((WIDE_BIAS - K::BIAS) << WIDE_MANTISSA));
    // A subnormal becomes the fraction of the smallest normal number; the subtraction is exact.
    let smallest_normal = int((WIDE_BIAS + 1 - K::BIAS) << WIDE_MANTISSA);
    let shifted = L::F32::from_bits(placed.add(smallest_normal));
    let subnormal = shifted.sub(L::F32::from_bits(smallest_normal)).to_bits();
    let is_subnormal = magnitude.less(int(1 << K::MANTISSA_BITS));
    let number = L::I32::select(is_subnormal, subnormal, normal);
    let is_finite = magnitude.less(int(K::MAX_BITS + 1));
    let is_infinite = magnitude.equal(int(K::INFINITY_BITS));
    let value = L::I32::select(is_infinite, int(L::F32::INFINITY_BITS), number);
    let signed = value.or(bits.and(int(0x80)).shl(int(24)));
    let is_number = match K::SPECIALS {
        SpecialValues::Ieee => is_finite.or(is_infinite),
        SpecialValues::NoInfinity => is_finite,
        SpecialValues::NoInfinityOrNegativeZero => bits.equal(int(0x80)).not(),
    };
    L::F32::from_bits(L::I32::select(is_number, signed, int(L::F32::NAN_BITS)))
}

/// The nearest number, half to even. Overflow gives an infinity, or the NaN of a type without infinities. A
/// NaN gives the canonical NaN.
#[inline(always)]
pub fn round_to_float<K: Float8, L: LaneBackend>(x: L::F32) -> StorageElement<K, L::U8> {
    let int = L::I32::constant;
    let lost_bits = WIDE_MANTISSA - K::MANTISSA_BITS;
    let bits = x.to_bits();
    let magnitude = bits.and(int(0x7fff_ffff));
    // The last bit of the sum has the weight of the last bit of a subnormal of the type, so the addition
    // rounds to this bit.
    let rounder = int((WIDE_BIAS + 1 - K::BIAS + lost_bits) << WIDE_MANTISSA);
    let sum = L::F32::from_bits(magnitude).add(L::F32::from_bits(rounder));
    let subnormal = sum.to_bits().sub(rounder);
    let is_odd = magnitude.shr_logical(int(lost_bits)).and(int(1));
    let below_half = int((1 << (lost_bits - 1)) - 1);
    let rebiased = magnitude.sub(int((WIDE_BIAS - K::BIAS) << WIDE_MANTISSA));
    let normal = rebiased.add(is_odd.add(below_half)).shr_logical(int(lost_bits));
    let is_subnormal = magnitude.less(int((WIDE_BIAS + 1 - K::BIAS) << WIDE_MANTISSA));
    let number = L::I32::select(is_subnormal, subnormal, normal);
    let is_finite = number.less(int(K::MAX_BITS + 1));
    let sign = bits.shr_logical(int(24)).and(int(0x80));
    let sign = match K::SPECIALS {
        SpecialValues::Ieee | SpecialValues::NoInfinity => sign,
        SpecialValues::NoInfinityOrNegativeZero => {
            L::I32::select(number.equal(int(0)), int(0), sign)
        }
    };
    let overflow = match K::SPECIALS {
        SpecialValues::Ieee => sign.or(int(K::INFINITY_BITS)),
        SpecialValues::NoInfinity | SpecialValues::NoInfinityOrNegativeZero => int(K::NAN_BITS),
    };
    let rounded = L::I32::select(is_finite, number.or(sign), overflow);
    let is_nan = int(L::F32::INFINITY_BITS).less(magnitude);
    StorageElement::new(L::I32::select(is_nan, int(K::NAN_BITS), rounded).cast())
}

/// The value in 8 bits, from the low 4 bits.
#[inline(always)]
pub fn widen_i4<K, L: LaneBackend>(x: StorageElement<K, L::U8>) -> L::I8 {
    let (bits, four): (L::I8, L::I8) = (x.bits().cast(), IntLane::constant(4));
    bits.shl(four).shr_arithmetic(four)
}

/// The value in 8 bits, from the low 4 bits.
#[inline(always)]
pub fn widen_u4<K, L: LaneBackend>(x: StorageElement<K, L::U8>) -> L::U8 {
    x.bits().and(IntLane::constant(0xf))
}

/// The low 4 bits of an integer.
#[inline(always)]
pub fn wrap_to_nibble<K, L: LaneBackend, I: IntLane + Cast<L::U8>>(
    x: I,
) -> StorageElement<K, L::U8> {
    StorageElement::new(x.and(IntLane::constant(0xf)).cast())
}

/// `x`, limited to the integers from `low` to `high`.
#[inline(always)]
pub fn clamp<I: IntLane>(x: I, low: i64, high: i64) -> I {
    let (low, high) = (I::constant(low), I::constant(high));
    let raised = I::select(x.less(low), low, x);
    I::select(high.less(raised), high, raised)
}
