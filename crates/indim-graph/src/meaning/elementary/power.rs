//! Powers and roots: `pow`, `rsqrt`.

use super::by_width;
use super::exp::exponential_of_pair;
use super::log::log_accurate;
use super::pair::{Pair, two_product};
use crate::lane::{BoolLane, FloatLane};
use crate::meaning::float::{copysign, is_finite, is_nan};

/// `1 / sqrt(x)`: the quotient of the rounded root, corrected by the rounding errors of both.
#[inline(always)]
pub fn rsqrt<F: FloatLane>(x: F) -> F {
    let one = F::constant(1.0);
    // So small that the error of the root would be subnormal: computed for x * 4^n.
    let is_small = x.less(by_width(1.0e-24, 1.0e-270));
    let two_to_n: F = by_width(1_099_511_627_776.0, 1.152921504606847e18);
    let scaled = F::select(is_small, x.mul(two_to_n).mul(two_to_n), x);
    let root = scaled.sqrt();
    let quotient = one.div(root);
    let root_error = root.neg().mul_add(root, scaled);
    let quotient_error = quotient.neg().mul_add(root, one);
    let half_relative = F::constant(0.5).mul(root_error.mul(quotient).mul(quotient));
    let refined = quotient.mul_add(quotient_error.sub(half_relative), quotient);
    let result = F::select(is_small, refined.mul(two_to_n), refined);
    // 1 / sqrt already has the values at ±0, infinity and below zero.
    let is_ordinary = F::constant(0.0).less(x).and(is_finite(x));
    F::select(is_ordinary, result, quotient)
}

/// `x^y` with the special cases of C99 (annex F.9.4.4).
#[inline(always)]
pub fn pow<F: FloatLane>(x: F, y: F) -> F {
    let (zero, one) = (F::constant(0.0), F::constant(1.0));
    let is_whole = y.trunc().equal(y);
    let half = y.mul(F::constant(0.5));
    let is_odd = is_whole.and(half.trunc().equal(half).not());
    let magnitude = magnitude_of_power(x.abs(), y);
    let signed = F::select(is_odd, copysign(magnitude, x), magnitude);
    let is_root_of_negative = x.less(zero).and(is_finite(x)).and(is_whole.not());
    let is_undefined = is_root_of_negative.or(is_nan(x)).or(is_nan(y));
    let result = F::select(is_undefined, F::constant(f64::NAN), signed);
    F::select(y.equal(zero).or(x.equal(one)), one, result)
}

/// `x^y` for a number `x >= 0`, as `e^(y log x)` with the exponent as a pair.
#[inline(always)]
fn magnitude_of_power<F: FloatLane>(x: F, y: F) -> F {
    let infinity = F::constant(f64::INFINITY);
    let (zero, one) = (F::constant(0.0), F::constant(1.0));
    let ordinary = log_accurate(x);
    let at_infinity = F::select(x.equal(infinity), infinity, ordinary.high);
    let log =
        Pair { high: F::select(x.equal(zero), infinity.neg(), at_infinity), low: ordinary.low };
    let product = two_product(y, log.high).add_low(y.mul(log.low));
    // Beyond the limit the power is 0 or infinite, and the low part may be a NaN.
    let limit: F = by_width(120.0, 760.0);
    let is_inside = product.high.abs().less(limit);
    let outside = Pair { high: copysign(limit, product.high), low: zero };
    let power = exponential_of_pair(Pair::select(is_inside, product, outside)).value();
    // (±1)^±inf, where the product is 0 times infinity.
    F::select(x.equal(one), one, power)
}
