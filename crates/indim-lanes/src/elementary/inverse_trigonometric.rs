//! Inverse trigonometric functions: `asin`, `acos`, `atan`, `atan2`. Those in 32 bits are in
//! `single_inverse_trigonometric.rs`.

use core::f64::consts::FRAC_PI_4;

use super::pair::{Pair, two_sum, two_sum_ordered};
use super::single_inverse_trigonometric as single;
use super::{clamp_keeping_nan, horner, is_single};
use crate::float::{copysign, is_inf, is_nan, max};
use crate::lane::{BoolLane, FloatLane, IntLane, Lane};

/// `(atan(t) - t) / t³` in `t²`, for `|t| <= tan(π / 8)`.
const ATAN_TAIL: [f64; 12] = [
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659537,
    0.11111111105127079,
    -0.0909090875208971,
    0.07692296334242579,
    -0.06666424153334422,
    0.05878920579113163,
    -0.052303922840425,
    0.04551310548604838,
    -0.03456329433206521,
    0.01627770496465735,
];

/// `(asin(t) - t) / t³` in `t²`, for `|t| <= 1/2`.
const ASIN_TAIL: [f64; 13] = [
    0.16666666666666669,
    0.07499999999998425,
    0.04464285714637338,
    0.030381944137085216,
    0.022372173002005596,
    0.017352391265909227,
    0.013971235301124539,
    0.011478952690257387,
    0.010324318288744113,
    0.00545087818772055,
    0.017419357964884856,
    -0.014881409392818066,
    0.02877844261259304,
];

/// `quarters * π / 4` as a pair, for a whole number of quarters up to 4. The parts are multiples of the
/// parts of `π / 4`; all are exact, except that the low part of three quarters is rounded.
#[inline(always)]
fn quarter_turns<F: FloatLane>(quarters: f64) -> Pair<F> {
    let low = 1.2246467991473532e-16 / 4.0 * quarters;
    Pair { high: F::constant(FRAC_PI_4 * quarters), low: F::constant(low) }
}

/// The arc sine; a NaN outside -1 ... 1.
#[inline(always)]
pub fn asin<F: FloatLane>(x: F) -> F {
    if is_single::<F>() { single::asin(x) } else { F::narrow(asin_wide(x.widen())) }
}

/// The arc cosine; a NaN outside -1 ... 1.
#[inline(always)]
pub fn acos<F: FloatLane>(x: F) -> F {
    if is_single::<F>() { single::acos(x) } else { F::narrow(acos_wide(x.widen())) }
}

/// The arc tangent.
#[inline(always)]
pub fn atan<F: FloatLane>(x: F) -> F {
    if is_single::<F>() { single::atan(x) } else { F::narrow(atan_wide(x.widen())) }
}

/// The angle of the point `(x, y)`, with all the special cases of C99 (annex F.9.1.4).
#[inline(always)]
pub fn atan2<F: FloatLane>(y: F, x: F) -> F {
    if is_single::<F>() { single::atan2(y, x) } else { F::narrow(atan2_wide(y.widen(), x.widen())) }
}

crate::shared_by_recordings! {
    /// `asin t` as a pair. Up to 1/2, `t` is `|x|`. Beyond 1/2, `t` is `sqrt((1 - |x|) / 2)`, and the
    /// result is half of the arc cosine of `|x|`.
    fn half_angle<F: FloatLane>(magnitude: F, is_large: F::Bool) -> Pair<F> {
        let half = F::constant(0.5);
        let square_above = magnitude.mul_add(half.neg(), half);
        let root = square_above.sqrt();
        let root_error = root.neg().mul_add(root, square_above).div(root.add(root));
        // At 1 the root is 0 and has no error.
        let root_low = F::select(root.equal(F::constant(0.0)), root, root_error);
        let square = F::select(is_large, square_above, magnitude.mul(magnitude));
        let t = F::select(is_large, root, magnitude);
        let cubic = t.mul(square).mul(horner(square, &ASIN_TAIL));
        Pair { high: t, low: cubic.add(F::select(is_large, root_low, F::constant(0.0))) }
    }
}

#[inline(always)]
fn double<F: FloatLane>(x: Pair<F>) -> Pair<F> {
    Pair { high: x.high.add(x.high), low: x.low.add(x.low) }
}

/// `base - x`, for `base` at least as large.
#[inline(always)]
fn complement<F: FloatLane>(base: Pair<F>, x: Pair<F>) -> Pair<F> {
    two_sum_ordered(base.high, x.high.neg()).add_low(base.low.sub(x.low))
}

#[inline(always)]
fn asin_wide<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    let is_large = F::constant(0.5).less(magnitude);
    let angle = half_angle(magnitude, is_large);
    let large = complement(quarter_turns(2.0), double(angle));
    let result = copysign(Pair::select(is_large, large, angle).value(), x);
    // For a tiny `x` the cube is negligible and the result is `x`, also if `x` is subnormal.
    F::select(magnitude.less(F::constant(7.450580596923828e-9)), x, result)
}

#[inline(always)]
fn acos_wide<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    let is_large = F::constant(0.5).less(magnitude);
    let is_negative = x.less(F::constant(0.0));
    let angle = half_angle(magnitude, is_large);
    let double = double(angle);
    let large = Pair::select(is_negative, complement(quarter_turns(4.0), double), double);
    let signed = Pair {
        high: copysign(angle.high, x),
        low: F::select(is_negative, angle.low.neg(), angle.low),
    };
    let small = complement(quarter_turns(2.0), signed);
    Pair::select(is_large, large, small).value()
}

crate::shared_by_recordings! {
    /// The angle, between 0 and `π`, of the direction `(x, y)`, or of `(-x, y)` if `is_left`, for
    /// `x, y >= 0` not both 0 or infinite. The angle of `(-x, y)` is `π` minus that of `(x, y)`.
    ///
    /// Up to `π / 8` it is `atan(y / x)`; around the diagonal `π / 4 + atan((y - x) / (y + x))`; beyond
    /// `3 π / 8` it is `π / 2 - atan(x / y)`. One division serves all three.
    fn angle_of_direction<F: FloatLane>(y: F, x: F, is_left: F::Bool) -> F {
        let tangent = F::constant(0.414213562373095);
        let is_low = y.less(x.mul(tangent));
        let is_high = x.less(y.mul(tangent));
        let whole = |high: F| Pair { high, low: F::constant(0.0) };
        let near = |low: Pair<F>, high: Pair<F>, diagonal: Pair<F>| {
            Pair::select(is_low, low, Pair::select(is_high, high, diagonal))
        };
        let numerator = near(whole(y), whole(x.neg()), two_sum(y, x.neg()));
        let denominator = near(whole(x), whole(y), two_sum(y, x));
        let t = numerator.div(denominator);
        let square = t.high.mul(t.high);
        let cubic = t.high.mul(square).mul(horner(square, &ATAN_TAIL));
        let small = Pair { high: t.high, low: t.low.mul_add(F::constant(1.0).sub(square), cubic) };
        let base = near(quarter_turns(0.0), quarter_turns(2.0), quarter_turns(1.0));
        let left_base = near(quarter_turns(4.0), quarter_turns(2.0), quarter_turns(3.0));
        let base = Pair::select(is_left, left_base, base);
        let turned = Pair { high: small.high.neg(), low: small.low.neg() };
        let small = Pair::select(is_left, turned, small);
        two_sum_ordered(base.high, small.high).add_low(base.low.add(small.low)).value()
    }
}

#[inline(always)]
fn atan_wide<F: FloatLane>(x: F) -> F {
    // Beyond 2^60 the angle rounds to π / 2; an infinity over itself would be a NaN.
    let magnitude = clamp_keeping_nan(F::constant(0.0), x.abs(), F::constant(1.152921504606847e18));
    let angle = angle_of_direction(magnitude, F::constant(1.0), F::Bool::constant(false));
    copysign(angle, x)
}

crate::shared_by_recordings! {
    fn atan2_wide<F: FloatLane>(y: F, x: F) -> F {
        let (zero, one) = (F::constant(0.0), F::constant(1.0));
        // Scales both operands away from overflow and underflow, which does not change their quotient.
        let largest = max(x.abs(), y.abs());
        let down =
            F::select(F::constant(1.0e300).less(largest), F::constant(9.313225746154785e-10), one);
        let up =
            F::select(largest.less(F::constant(1.0e-290)), F::constant(1.152921504606847e18), down);
        // With an infinity, infinite operands become 1 and finite ones 0; with two zeros, x becomes 1.
        let is_infinite = is_inf(largest);
        let unit = |value: F| F::select(is_inf(value), one, zero);
        let y_magnitude = F::select(is_infinite, unit(y), y.abs().mul(up));
        let x_scaled = F::select(is_infinite, unit(x), x.abs().mul(up));
        let x_magnitude = F::select(largest.equal(zero), one, x_scaled);
        let is_left = x.to_bits().less(F::Bits::constant(0));
        let angle = copysign(angle_of_direction(y_magnitude, x_magnitude, is_left), y);
        // The remainder of a subnormal quotient would be rounded, so the angle is the quotient itself.
        let quotient = y.div(x);
        let is_quotient = quotient.abs().less(F::constant(1.0e-200)).and(is_left.not());
        let angle = F::select(is_quotient, quotient, angle);
        F::select(is_nan(x).or(is_nan(y)), F::constant(f64::NAN), angle)
    }
}
