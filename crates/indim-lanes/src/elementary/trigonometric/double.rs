//! Sine, cosine and tangent of a 64-bit float.
//!
//! The argument is `x = n π / 2 + r` with `|r| <= π / 4`, the remainder as a pair. No 64-bit float is closer
//! to a multiple of `π / 2` than about `2^-61`; the fraction of a quarter turn is exact to `2^-124`. The
//! polynomials have the form of fdlibm's kernels.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use crate::elementary::pair::{Pair, two_product, two_sum, two_sum_ordered};
use crate::elementary::{float_of_small, horner, mantissa_bits};
use crate::lane::{FloatLane, IntLane, Lane};

/// `(sin(r) - r) / r³` in `r²`.
const SIN_TAIL: [f64; 6] = [
    -0.16666666666666666,
    0.008333333333330946,
    -0.00019841269836755654,
    2.7557316101037288e-06,
    -2.5051131529247195e-08,
    1.5918106547698465e-10,
];

/// `(cos(r) - 1 + r² / 2) / r⁴` in `r²`.
const COS_TAIL: [f64; 6] = [
    0.041666666666666664,
    -0.0013888888888887395,
    2.480158729876386e-05,
    -2.755731727078194e-07,
    2.0876146070870107e-09,
    -1.1382618195091082e-11,
];

/// The bits of `2 / π` in words of 64, after a word for its integer part.
const TWO_OVER_PI: [u64; 32] = [
    0x0000_0000_0000_0000,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
    0xa9e3_9161_5ee6_1b08,
    0x6599_855f_14a0_6840,
    0x8dff_d880_4d73_2731,
    0x0606_1556_ca73_a8c9,
    0x60e2_7bc0_8c6b_47c4,
    0x19c3_67cd_dce8_092a,
    0x8359_c476_8b96_1ca6,
    0xddaf_44d1_5719_053e,
    0xa5ff_0705_3f7e_33e8,
    0x32c2_de4f_9832_7dbb,
    0xc33d_26ef_6b1e_5ef8,
];

/// `π / 2` minus the double nearest to it.
const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;

/// A 128-bit integer as two words.
struct Int128<I> {
    upper: I,
    lower: I,
}

/// The 128-bit product of two unsigned 64-bit integers, from their halves.
#[inline(always)]
fn widening_product<I: IntLane>(x: I, y: I) -> Int128<I> {
    let half = I::constant(32);
    let mask = I::constant(0xffff_ffff);
    let (x0, x1) = (x.and(mask), x.shr_logical(half));
    let (y0, y1) = (y.and(mask), y.shr_logical(half));
    let low_product = x0.mul(y0);
    let middle = x1.mul(y0).add(low_product.shr_logical(half));
    let other_middle = x0.mul(y1).add(middle.and(mask));
    let carried = middle.shr_logical(half).add(other_middle.shr_logical(half));
    Int128 {
        upper: x1.mul(y1).add(carried),
        lower: other_middle.shl(half).or(low_product.and(mask)),
    }
}

/// `|x| * 2 / π` modulo 4, in units of `2^-126`, for a finite `|x| >= 1/2`.
#[inline(always)]
fn quarter_turns<F: FloatLane>(x: F) -> Int128<F::Bits> {
    let bits = x.abs().to_bits();
    // `|x| = significand * 2^(exponent - 1075)`. The bits of 2/π before `start` contribute a multiple of 4 to
    // the product with the significand, and are skipped.
    let start = bits.shr_logical(mantissa_bits::<F>()).sub(F::Bits::constant(1013));
    let hidden = F::Bits::constant(1 << 52);
    let significand = bits.and(hidden.sub(F::Bits::constant(1))).or(hidden);
    let index = start.shr_logical(F::Bits::constant(6));
    let word = |offset: i64| index.add(F::Bits::constant(offset)).lookup(&TWO_OVER_PI);
    let (first, second, third, fourth) = (word(0), word(1), word(2), word(3));
    let upper = window::<F>(first, second, start).mul(significand);
    let middle = widening_product(window::<F>(second, third, start), significand);
    let lower = widening_product(window::<F>(third, fourth, start), significand);
    let sum = middle.lower.add(lower.upper);
    let carry =
        F::Bits::select(sum.less_unsigned(lower.upper), F::Bits::constant(1), F::Bits::constant(0));
    Int128 { upper: upper.add(middle.upper).add(carry), lower: sum }
}

/// The 64 bits that start `shift` modulo 64 bits into two words.
#[inline(always)]
fn window<F: FloatLane>(first: F::Bits, second: F::Bits, shift: F::Bits) -> F::Bits {
    // The shift by 64 minus `shift` takes two steps, since amounts count modulo 64: by 1, then by 63 minus
    // `shift`, which is `shift.not()` modulo 64.
    let rest = second.shr_logical(F::Bits::constant(1)).shr_logical(shift.not());
    first.shl(shift).or(rest)
}

/// `|x|` as `quadrant * π / 2 + remainder`: the nearest multiple of `π / 2`, counted modulo 4, and the
/// signed difference from that multiple.
struct ReducedAngle<F: FloatLane> {
    quadrant: F::Bits,
    remainder: Pair<F>,
}

crate::shared_by_recordings! {
    fn reduce<F: FloatLane>(x: F) -> ReducedAngle<F> {
        let turns = quarter_turns(x);
        let (zero, two) = (F::Bits::constant(0), F::Bits::constant(2));
        let quadrant = turns.upper.add(F::Bits::constant(1 << 61)).shr_logical(F::Bits::constant(62));
        let fraction = turns.upper.shl(two).shr_arithmetic(two);
        let remainder = radians(&Int128 { upper: fraction, lower: turns.lower });
        let is_small = x.abs().less(F::constant(FRAC_PI_4));
        let itself = Pair { high: x.abs(), low: F::constant(0.0) };
        ReducedAngle {
            quadrant: F::Bits::select(is_small, zero, quadrant),
            remainder: Pair::select(is_small, itself, remainder),
        }
    }
}

/// Converts a signed fraction of a quarter turn, in units of `2^-126`, to radians.
#[inline(always)]
fn radians<F: FloatLane>(fraction: &Int128<F::Bits>) -> Pair<F> {
    let half = F::Bits::constant(32);
    let mask = F::Bits::constant(0xffff_ffff);
    let first: F = float_of_small(fraction.upper.shr_arithmetic(half));
    let second: F = float_of_small(fraction.upper.and(mask));
    let third: F = float_of_small(fraction.lower.shr_logical(half));
    let fourth: F = float_of_small(fraction.lower.and(mask));
    // The scales are 2^-30, 2^-62, 2^-94 and 2^-126; all products are exact.
    let unit = |scale: f64| F::constant(scale);
    let upper =
        two_sum(first.mul(unit(9.313225746154785e-10)), second.mul(unit(2.168404344971009e-19)));
    let lower = two_sum(upper.low, third.mul(unit(5.048709793414476e-29)));
    let sum = two_sum_ordered(upper.high, lower.high);
    let turns = sum.add_low(fourth.mul_add(unit(1.1754943508222875e-38), lower.low));
    turns.mul(Pair { high: F::constant(FRAC_PI_2), low: F::constant(FRAC_PI_2_LOW) })
}

crate::shared_by_recordings! {
    /// `sin r` for `|r| <= π / 4`.
    fn sin_of_remainder<F: FloatLane>(r: Pair<F>) -> Pair<F> {
        let z = r.high.mul(r.high);
        let cubic = z.mul(r.high).mul(horner(z, &SIN_TAIL));
        let derivative = z.mul_add(F::constant(-0.5), F::constant(1.0));
        Pair { high: r.high, low: r.low.mul_add(derivative, cubic) }
    }
}

crate::shared_by_recordings! {
    /// `cos r` for `|r| <= π / 4`.
    fn cos_of_remainder<F: FloatLane>(r: Pair<F>) -> Pair<F> {
        let z = two_product(r.high, r.high);
        let half = two_sum_ordered(F::constant(1.0), z.high.mul(F::constant(-0.5)));
        let quartic = z.high.mul(z.high).mul(horner(z.high, &COS_TAIL));
        let small = F::constant(-0.5).mul_add(z.low, r.high.neg().mul_add(r.low, half.low));
        Pair { high: half.high, low: quartic.add(small) }
    }
}

/// The sine of `quadrant * π / 2 + r`, from the sine and cosine of `r`: odd quadrants take the cosine,
/// and quadrants 2 and 3 flip the sign.
#[inline(always)]
fn sin_in_quadrant<F: FloatLane>(quadrant: F::Bits, sin: Pair<F>, cos: Pair<F>) -> Pair<F> {
    let one = F::Bits::constant(1);
    let is_odd = quadrant.and(one).equal(one);
    let magnitude = Pair::select(is_odd, cos, sin);
    let sign = quadrant.shr_logical(one).shl(F::Bits::constant(63));
    Pair { high: flip_sign(magnitude.high, sign), low: flip_sign(magnitude.low, sign) }
}

#[inline(always)]
fn flip_sign<F: FloatLane>(x: F, sign: F::Bits) -> F {
    F::from_bits(x.to_bits().xor(sign))
}

/// Whether `x` is so small that its cube is negligible.
#[inline(always)]
fn is_tiny<F: FloatLane>(x: F) -> F::Bool {
    x.abs().less(F::constant(7.450580596923828e-9))
}

/// The result of an odd function: `result`, with its sign flipped if `x` is negative; `x` itself if it is
/// tiny.
#[inline(always)]
fn odd<F: FloatLane>(x: F, result: F) -> F {
    let signed = flip_sign(result, x.to_bits().and(F::Bits::minimum()));
    F::select(is_tiny(x), x, signed)
}

crate::shared_by_recordings! {
    pub(super) fn sin<F: FloatLane>(x: F) -> F {
        let ReducedAngle { quadrant, remainder } = reduce(x);
        let (sin, cos) = (sin_of_remainder(remainder), cos_of_remainder(remainder));
        odd(x, sin_in_quadrant(quadrant, sin, cos).value())
    }
}

crate::shared_by_recordings! {
    pub(super) fn cos<F: FloatLane>(x: F) -> F {
        let ReducedAngle { quadrant, remainder } = reduce(x);
        let (sin, cos) = (sin_of_remainder(remainder), cos_of_remainder(remainder));
        let next = quadrant.add(F::Bits::constant(1));
        sin_in_quadrant(next, sin, cos).value()
    }
}

/// Sine and cosine as pairs, for a finite number.
#[inline(always)]
pub(super) fn sin_cos<F: FloatLane>(x: F) -> (Pair<F>, Pair<F>) {
    let ReducedAngle { quadrant, remainder } = reduce(x);
    let (sin, cos) = (sin_of_remainder(remainder), cos_of_remainder(remainder));
    let Pair { high, low } = sin_in_quadrant(quadrant, sin, cos).normalized();
    let sign = x.to_bits().and(F::Bits::minimum());
    let itself = Pair { high: x, low: F::constant(0.0) };
    let signed = Pair { high: flip_sign(high, sign), low: flip_sign(low, sign) };
    let sine = Pair::select(is_tiny(x), itself, signed);
    let cosine = sin_in_quadrant(quadrant.add(F::Bits::constant(1)), sin, cos).normalized();
    (sine, cosine)
}

#[inline(always)]
pub(super) fn tan<F: FloatLane>(x: F) -> F {
    let ReducedAngle { quadrant, remainder } = reduce(x);
    let (sin, cos) = (sin_of_remainder(remainder), cos_of_remainder(remainder));
    let numerator = sin_in_quadrant(quadrant, sin, cos);
    let denominator = sin_in_quadrant(quadrant.add(F::Bits::constant(1)), sin, cos);
    odd(x, numerator.normalized().div(denominator.normalized()).value())
}
