//! Exponentials: `exp`, `exp2`, `expm1`, `logistic`, `logaddexp`.
//!
//! Method (Cody and Waite): `x = n ln 2 + r` with an integer `n` and `|r| <= ln 2 / 2`, then
//! `e^x = 2^n e^r` with a polynomial for `e^r`. The reduction keeps `r` as a pair. `pow` and the
//! hyperbolic functions build on [`exponential`].

use core::f64::consts::{LN_2, LOG2_E};

use super::log::log_pair;
use super::pair::{Pair, two_product, two_sum, two_sum_ordered};
use super::{by_width, clamp_keeping_nan, pair_constant, polynomial, power_of_two, rounder, scale};
use crate::float::{is_inf, max, min};
use crate::lane::{FloatLane, IntLane, Lane};

/// `(e^r - 1 - r) / r²` on `|r| <= ln 2 / 2`.
const EXP_TAIL_SINGLE: [f64; 6] = [
    0.5000000013481058,
    0.16666666681640166,
    0.041666464772966816,
    0.008333310908565454,
    0.0013933666900006931,
    0.00019891009596308316,
];
const EXP_TAIL_DOUBLE: [f64; 11] = [
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326124,
    0.0013888888888883742,
    0.00019841269874858612,
    2.4801587325574868e-05,
    2.7557255352032673e-06,
    2.7557273608709007e-07,
    2.51052370507603e-08,
    2.0914701283103285e-09,
];

/// `ln 2` minus the double nearest to it.
const LN_2_LOW: f64 = 2.3190468138462996e-17;

/// The value `2^exponent * (1 + linear + tail)`, not yet rounded; `linear` is exact, and `tail` is small
/// against `linear`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exponential<F: FloatLane> {
    exponent: F::Bits,
    linear: F,
    tail: F,
}

impl<F: FloatLane> Exponential<F> {
    /// The exponential of `exponent * ln 2 + remainder`; the low part of the remainder is below the last bit
    /// of its high part.
    #[inline(always)]
    fn of_reduced(exponent: F::Bits, remainder: Pair<F>) -> Self {
        let Pair { high: linear, low } = remainder;
        let curve = polynomial(linear, &EXP_TAIL_SINGLE, &EXP_TAIL_DOUBLE);
        let tail = linear.mul(linear).mul_add(curve, low.mul_add(linear, low));
        Exponential { exponent, linear, tail }
    }

    /// The significand, between 0.7 and 1.42. Its low part is at most a tenth of its high part.
    #[inline(always)]
    fn significand(self) -> Pair<F> {
        two_sum_ordered(F::constant(1.0), self.linear).add_low(self.tail)
    }

    /// The value, rounded to the type; overflow gives an infinity.
    #[inline(always)]
    pub(super) fn value(self) -> F {
        scale(self.significand().value(), self.exponent)
    }

    /// The value times a factor of ordinary size, rounded to the type.
    #[inline(always)]
    pub(super) fn times(self, factor: Pair<F>) -> F {
        scale(self.significand().normalized().mul(factor).value(), self.exponent)
    }

    /// Half the value, rounded to the type; overflow gives an infinity.
    #[inline(always)]
    pub(super) fn half_value(self) -> F {
        let exponent = self.exponent.sub(F::Bits::constant(1));
        scale(self.significand().value(), exponent)
    }

    /// Half the value as a pair, for an exponent in the range of the type.
    #[inline(always)]
    pub(super) fn half(self) -> Pair<F> {
        let half_power: F = power_of_two(self.exponent.sub(F::Bits::constant(1)));
        let Pair { high, low } = self.significand().normalized();
        Pair { high: high.mul(half_power), low: low.mul(half_power) }
    }

    /// The value with an exponent of at most 60; for a larger exponent the result is arbitrary.
    #[inline(always)]
    pub(super) fn clamp_exponent(self) -> Self {
        let max_exponent = F::Bits::constant(60);
        Exponential {
            exponent: F::Bits::select(
                max_exponent.less(self.exponent),
                max_exponent,
                self.exponent,
            ),
            ..self
        }
    }

    /// Half the value minus 1/2, without cancellation, for an exponent in the range of the type. The low
    /// part is at most a tenth of the high part.
    #[inline(always)]
    pub(super) fn half_minus_half(self) -> Pair<F> {
        let half_power: F = power_of_two(self.exponent.sub(F::Bits::constant(1)));
        let integer = two_sum(half_power, F::constant(-0.5));
        let sum = two_sum(integer.high, half_power.mul(self.linear));
        let rest = half_power.mul_add(self.tail, integer.low);
        sum.add_low(rest)
    }
}

/// `x = exponent * ln 2 + remainder`, for `|x|` within about twice the range where `e^x` is finite.
///
/// Subtracting `n` times the float nearest to `ln 2` with one rounding is exact: the remainder is a multiple
/// of the last bit of `ln 2` or of `x`, and at most 0.35.
#[inline(always)]
fn split<F: FloatLane>(x: F) -> (F::Bits, Pair<F>) {
    let ln_2 = pair_constant::<F>(LN_2, LN_2_LOW);
    let shifted = x.mul_add(F::constant(LOG2_E), rounder());
    let negative_n = rounder::<F>().sub(shifted);
    let exponent = shifted.to_bits().sub(rounder::<F>().to_bits());
    let exact = negative_n.mul_add(ln_2.high, x);
    let high = negative_n.mul_add(ln_2.low, exact);
    let low = negative_n.mul_add(ln_2.low, exact.sub(high));
    (exponent, Pair { high, low })
}

crate::shared_by_recordings! {
    /// `e^x` for `|x|` within about twice the range of finite results.
    pub(super) fn exponential<F: FloatLane>(x: F) -> Exponential<F> {
        let (exponent, remainder) = split(x);
        Exponential::of_reduced(exponent, remainder)
    }
}

crate::shared_by_recordings! {
    /// `e^(x.high + x.low)`, where `x.low` need only be small against 1.
    pub(super) fn exponential_of_pair<F: FloatLane>(x: Pair<F>) -> Exponential<F> {
        let (exponent, remainder) = split(x.high);
        Exponential::of_reduced(exponent, two_sum(remainder.high, remainder.low.add(x.low)))
    }
}

/// `x` clamped to bounds beyond which `e^x` is 0 or infinite.
#[inline(always)]
pub(super) fn bounded<F: FloatLane>(x: F) -> F {
    clamp_keeping_nan(by_width(-110.0, -760.0), x, by_width(95.0, 720.0))
}

crate::shared_by_recordings! {
    /// `e^x`.
    pub fn exp<F: FloatLane>(x: F) -> F {
        exponential(bounded(x)).value()
    }
}

/// `2^x`.
#[inline(always)]
pub fn exp2<F: FloatLane>(x: F) -> F {
    let x = clamp_keeping_nan(by_width(-160.0, -1100.0), x, by_width(130.0, 1030.0));
    let shifted = x.add(rounder());
    let fraction = x.sub(shifted.sub(rounder()));
    let exponent = shifted.to_bits().sub(rounder::<F>().to_bits());
    let ln_2 = pair_constant::<F>(LN_2, LN_2_LOW);
    let linear = two_product(fraction, ln_2.high);
    let low = fraction.mul_add(ln_2.low, linear.low);
    Exponential::of_reduced(exponent, Pair { high: linear.high, low }).value()
}

crate::shared_by_recordings! {
    /// `e^x - 1`.
    pub fn expm1<F: FloatLane>(x: F) -> F {
        // Below the bounds the result rounds to -1, above the bounds to infinity.
        let inside = clamp_keeping_nan(by_width(-20.0, -40.0), x, by_width(89.0, 710.0));
        let half = exponential(inside).half_minus_half().value();
        // For a tiny `x` the result is `x`, because x²/2 is below its last bit. This also keeps subnormals
        // and the sign of zero.
        let is_tiny = x.abs().less(by_width(2.9e-8, 5.5e-17));
        F::select(is_tiny, x, half.add(half))
    }
}

/// `log(e^x + e^y)` as `max + log(1 + e^(min - max))`, with every step except the last as a pair. Near the
/// zeros of the function, the error is that of the logarithm.
#[inline(always)]
pub fn logaddexp<F: FloatLane>(x: F, y: F) -> F {
    let (larger, smaller) = (max(x, y), min(x, y));
    let difference = two_sum(smaller, larger.neg());
    // Below the limit, `log(1 + e^d)` rounds to `e^d`, which may be subnormal.
    let limit: F = by_width(-80.0, -690.0);
    let is_low = difference.high.less(limit);
    let power = exponential_of_pair(Pair {
        high: clamp_keeping_nan(limit, difference.high, F::constant(0.0)),
        low: F::select(is_low, F::constant(0.0), difference.low),
    });
    let Pair { high, low } = power.half();
    let sum = two_sum(F::constant(1.0), high.add(high)).add_low(low.add(low));
    let ordinary = log_pair(sum.normalized());
    let tiny = Pair { high: exp(difference.high), low: F::constant(0.0) };
    let log = Pair::select(is_low, tiny, ordinary);
    let result = two_sum(larger, log.high).add_low(log.low).value();
    // The difference of equal infinities is a NaN.
    F::select(is_inf(larger), larger, result)
}

/// `1 / (1 + e^-x)`, computed from `e^-|x|`, which does not overflow.
#[inline(always)]
pub fn logistic<F: FloatLane>(x: F) -> F {
    let one = F::constant(1.0);
    let power = exponential(bounded(x.abs().neg()));
    // The power itself may underflow, so its exponent is limited here; so small a power is negligible in
    // the sum with 1.
    let min_exponent = F::Bits::constant(-70);
    let sum_exponent =
        F::Bits::select(power.exponent.less(min_exponent), min_exponent, power.exponent);
    let significand = power.significand().normalized();
    let factor: F = power_of_two(sum_exponent);
    let sum = two_sum_ordered(one, significand.high.mul(factor));
    let denominator = sum.add_low(significand.low.mul(factor));
    let is_negative = x.less(F::constant(0.0));
    let unit = Pair { high: one, low: F::constant(0.0) };
    let quotient = Pair::select(is_negative, significand, unit).div(denominator).value();
    F::select(is_negative, scale(quotient, power.exponent), quotient)
}
