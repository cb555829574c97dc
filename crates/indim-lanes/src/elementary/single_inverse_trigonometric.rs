//! Inverse trigonometric functions in 32 bits, without 64-bit floats: twice as many lanes of a vector.
//!
//! Quotients and square roots have a correction: their remainder, which a fused multiply-add gives, times an
//! approximate reciprocal of the divisor. A few correct bits of the reciprocal suffice.

use core::f64::consts::{FRAC_PI_2, PI};

use super::horner;
use super::pair::{Pair, two_sum_ordered};
use crate::lane::{BoolLane, FloatLane, IntLane, Lane};

/// `(atan(t) - t) / t³ + 1/4` in `t²`, for `|t| <= 1`.
/// The last coefficient is 31 floats above that of the fit, so that `atan(1)` is the float nearest to
/// `π / 4`.
const ATAN_TAIL: [f64; 9] = [
    -0.08333294093608856,
    0.19998396933078766,
    -0.1426263004541397,
    0.10943775624036789,
    -0.0837898999452591,
    0.057541124522686005,
    -0.030765267089009285,
    0.01069438923150301,
    -0.0017446655547246337,
];

/// `(asin(t) - t) / t³` in `t²`, for `|t| <= 1/2`.
const ASIN_TAIL: [f64; 5] = [
    0.16666753590106964,
    0.07495273649692535,
    0.04547207057476044,
    0.024174826219677925,
    0.04217052459716797,
];

/// `π` less its nearest 32-bit float, as a fraction of that float.
const PI_REST: f64 = (PI - PI as f32 as f64) / PI as f32 as f64;

/// `1 / x` with an error of at most an eighth, for `x` from `2^-127` to `2^126`; finite for smaller ones.
#[inline(always)]
fn rough_reciprocal<F: FloatLane>(x: F) -> F {
    F::from_bits(F::Bits::constant(0x7ef3_11c7).sub(x.to_bits()))
}

/// `x`, which is not negative, with the sign of `sign`.
#[inline(always)]
fn signed<F: FloatLane>(x: F, sign: F) -> F {
    F::from_bits(x.to_bits().or(sign.to_bits().and(F::Bits::minimum())))
}

/// `base + x`, for a multiple of `π / 2` that is 0 or larger than `x`.
#[inline(always)]
fn turned<F: FloatLane>(base: F, x: Pair<F>) -> F {
    let low = base.mul_add(F::constant(PI_REST), x.low);
    two_sum_ordered(base, x.high).add_low(low).value()
}

crate::shared_by_recordings! {
    /// The angle of the direction `(x, y)`, or of `(-x, y)` if `is_left`, for `x, y >= 0`: the arc tangent of
    /// the smaller over the `larger`, which is from `2^-100` to `2^126`, or the distance of that angle from a
    /// multiple of `π / 2`.
    fn angle_of_direction<F: FloatLane>(
        smaller: F,
        larger: F,
        is_steep: F::Bool,
        is_left: F::Bool,
    ) -> F {
        let smaller = F::select(is_steep.xor(is_left), smaller.neg(), smaller);
        let t = smaller.div(larger);
        let rest = t.neg().mul_add(larger, smaller).mul(rough_reciprocal(larger));
        let square = t.mul(t);
        // The slope of the arc tangent, roughly.
        let slope = square.mul_add(F::constant(-0.5), F::constant(1.0));
        let whole = F::select(is_left, F::constant(PI), F::constant(0.0));
        let base = F::select(is_steep, F::constant(FRAC_PI_2), whole);
        let sum = two_sum_ordered(base, t);
        // Small terms first, because each sum with the largest term, `-t³ / 4`, is rounded to its last bits.
        let rest = sum.add_low(base.mul_add(F::constant(PI_REST), rest.mul(slope))).low;
        let rest = t.mul(square).mul_add(horner(square, &ATAN_TAIL), rest);
        sum.high.add(t.mul(F::constant(-0.25)).mul_add(square, rest))
    }
}

/// The arc tangent.
#[inline(always)]
pub(super) fn atan<F: FloatLane>(x: F) -> F {
    let (one, magnitude) = (F::constant(1.0), x.abs());
    // Beyond 2^60 the angle rounds to π / 2.
    let limit = F::constant(1.152921504606847e18);
    let magnitude = F::select(limit.less(magnitude), limit, magnitude);
    let is_steep = one.less(magnitude);
    let smaller = F::select(is_steep, one, magnitude);
    let larger = F::select(is_steep, magnitude, one);
    signed(angle_of_direction(smaller, larger, is_steep, F::Bool::constant(false)), x)
}

crate::shared_by_recordings! {
    /// The angle of the point `(x, y)`.
    pub(super) fn atan2<F: FloatLane>(y: F, x: F) -> F {
        let (zero, one) = (F::constant(0.0), F::constant(1.0));
        let (x_magnitude, y_magnitude) = (x.abs(), y.abs());
        let is_steep = x_magnitude.less(y_magnitude);
        let smaller = F::select(is_steep, x_magnitude, y_magnitude);
        let larger = F::select(is_steep, y_magnitude, x_magnitude);
        // Scales both away from overflow and underflow of the reciprocal and the remainder.
        let is_huge = F::constant(1.0e37).less(larger);
        let is_tiny = larger.less(F::constant(1.0e-30));
        let down = F::select(is_huge, F::constant(0.00390625), one);
        let scale = F::select(is_tiny, F::constant(1.8446744073709552e19), down);
        // With an infinity, infinite operands become 1 and finite ones 0; two zeros become 0 and 1.
        let infinity = F::constant(f64::INFINITY);
        let is_infinite = larger.equal(infinity);
        let unit = F::select(smaller.equal(infinity), one, smaller.mul(zero));
        let smaller = F::select(is_infinite, unit, smaller.mul(scale));
        let is_unit = is_infinite.or(larger.equal(zero));
        let larger = F::select(is_unit, one, larger.mul(scale));
        let is_left = x.to_bits().less(F::Bits::constant(0));
        signed(angle_of_direction(smaller, larger, is_steep, is_left), y)
    }
}

crate::shared_by_recordings! {
    /// `asin t` as a pair. Up to 1/2, `t` is `|x|`. Beyond 1/2, `t` is `sqrt((1 - |x|) / 2)`, and the
    /// result is half of the arc cosine of `|x|`.
    fn half_angle<F: FloatLane>(magnitude: F, is_large: F::Bool) -> Pair<F> {
        let half = F::constant(0.5);
        let square_above = magnitude.mul_add(half.neg(), half);
        let root = square_above.sqrt();
        let remainder = root.neg().mul_add(root, square_above);
        let root_low = remainder.mul(rough_reciprocal(root.add(root)));
        let square = F::select(is_large, square_above, magnitude.mul(magnitude));
        let t = F::select(is_large, root, magnitude);
        let cubic = t.mul(square).mul(horner(square, &ASIN_TAIL));
        Pair { high: t, low: cubic.add(F::select(is_large, root_low, F::constant(0.0))) }
    }
}

/// The arc sine.
#[inline(always)]
pub(super) fn asin<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    let is_large = F::constant(0.5).less(magnitude);
    let angle = half_angle(magnitude, is_large);
    let factor = F::select(is_large, F::constant(-2.0), F::constant(1.0));
    let base = F::select(is_large, F::constant(FRAC_PI_2), F::constant(0.0));
    let scaled = Pair { high: angle.high.mul(factor), low: angle.low.mul(factor) };
    signed(turned(base, scaled), x)
}

/// The arc cosine.
#[inline(always)]
pub(super) fn acos<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    let is_large = F::constant(0.5).less(magnitude);
    let is_negative = x.less(F::constant(0.0));
    let angle = half_angle(magnitude, is_large);
    // Up to 1/2 the result is `π / 2 - asin x`; beyond, twice the angle, or `π` less that.
    let sign = F::select(is_large.xor(is_negative), F::constant(1.0), F::constant(-1.0));
    let factor = F::select(is_large, sign.add(sign), sign);
    let whole = F::select(is_negative, F::constant(PI), F::constant(0.0));
    let base = F::select(is_large, whole, F::constant(FRAC_PI_2));
    turned(base, Pair { high: angle.high.mul(factor), low: angle.low.mul(factor) })
}
