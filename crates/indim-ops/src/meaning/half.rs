//! The 16-bit floats: widening to 32 bits, and rounding to 16.
//!
//! The operations that the table of operations marks as `float` compute 16-bit floats in `f32` and round
//! once at the end. Subnormals are handled by exact additions, never by a multiplication of subnormals,
//! which is slow on some processors.

use crate::half::{Bf16, F16};
use indim_lanes::lane::{BoolLane, Cast, FloatBits, FloatLane, IntLane, Lane, LaneBackend};

/// The sign bit of both types.
const SIGN: i64 = 0x8000;

/// The value in 32 bits; the sign and payload of a NaN are kept.
#[inline(always)]
pub fn widen_f16<L: LaneBackend>(x: F16<L::I16>) -> L::F32 {
    const SMALLEST_NORMAL: i64 = 113 << 23;
    let int = L::I32::constant;
    let bits: L::U16 = FloatBits::to_bits(x).cast();
    let bits: L::I32 = bits.cast();
    let magnitude = bits.and(int(0x7fff));
    let placed = magnitude.shl(int(13));
    let normal = placed.add(int(112 << 23));
    let special = placed.or(int(L::F32::INFINITY_BITS));
    // A subnormal becomes the fraction of 2^-14; subtracting 2^-14 is exact.
    let shifted = L::F32::from_bits(placed.add(int(SMALLEST_NORMAL)));
    let subnormal = shifted.sub(L::F32::from_bits(int(SMALLEST_NORMAL)));
    let small = L::I32::select(magnitude.less(int(0x400)), subnormal.to_bits(), normal);
    let value = L::I32::select(magnitude.less(int(0x7c00)), small, special);
    L::F32::from_bits(value.or(bits.and(int(SIGN)).shl(int(16))))
}

/// The nearest number, half to even. Overflow gives an infinity, and a NaN gives the canonical NaN.
#[inline(always)]
pub fn round_to_f16<L: LaneBackend>(x: L::F32) -> F16<L::I16> {
    let int = L::I32::constant;
    let bits = x.to_bits();
    let sign = bits.shr_logical(int(16)).and(int(SIGN));
    let magnitude = bits.and(int(0x7fff_ffff));
    // Adding 1/2 rounds to the last bit of a subnormal `f16`, because the last bit of the sum has the same
    // weight.
    let sum = L::F32::from_bits(magnitude).add(FloatLane::constant(0.5));
    let subnormal = sum.to_bits().sub(int(126 << 23));
    let is_odd = magnitude.shr_logical(int(13)).and(int(1));
    let normal = magnitude.sub(int(112 << 23)).add(is_odd.add(int(0xfff))).shr_logical(int(13));
    let number = L::I32::select(magnitude.less(int(113 << 23)), subnormal, normal);
    let infinity = int(F16::<L::I16>::INFINITY_BITS);
    let finite = L::I32::select(magnitude.less(int(143 << 23)), number, infinity).or(sign);
    let is_nan = int(L::F32::INFINITY_BITS).less(magnitude);
    let result = L::I32::select(is_nan, int(F16::<L::I16>::NAN_BITS), finite);
    FloatBits::from_bits(result.cast())
}

/// The value in 32 bits; the sign and payload of a NaN are kept.
#[inline(always)]
pub fn widen_bf16<L: LaneBackend>(x: Bf16<L::I16>) -> L::F32 {
    let bits: L::I32 = FloatBits::to_bits(x).cast();
    L::F32::from_bits(bits.shl(IntLane::constant(16)))
}

/// The nearest number, half to even. Overflow gives an infinity, and a NaN gives the canonical NaN.
#[inline(always)]
pub fn round_to_bf16<L: LaneBackend>(x: L::F32) -> Bf16<L::I16> {
    let int = L::I32::constant;
    let bits = x.to_bits();
    let is_odd = bits.shr_logical(int(16)).and(int(1));
    let rounded = bits.add(is_odd.add(int(0x7fff))).shr_logical(int(16));
    let is_number = x.equal(x);
    let result = L::I32::select(is_number, rounded, int(Bf16::<L::I16>::NAN_BITS));
    FloatBits::from_bits(result.cast())
}

/// The `f32` that rounds to any narrower float like `x` (round to odd): truncated, with an odd last bit if
/// the truncation is inexact. The odd bit preserves the inexactness for the second rounding.
#[inline(always)]
pub fn round_to_odd<F: FloatLane>(x: F::Wide) -> F {
    let one_where =
        |condition| F::Bits::select(condition, F::Bits::constant(1), F::Bits::constant(0));
    let nearest = F::narrow(x);
    let reached = nearest.widen();
    let truncated = nearest.to_bits().sub(one_where(x.abs().less(reached.abs())));
    F::from_bits(truncated.or(one_where(reached.equal(x).not())))
}
