//! Hyperbolic functions and their inverses.

use super::exp::{Exponential, bounded, exponential};
use super::log::log_of_pair;
use super::pair::{Pair, two_product, two_sum, two_sum_ordered};
use super::{by_width, clamp_keeping_nan};
use crate::float::copysign;
use crate::lane::FloatLane;

/// `E / (E + 2)` for `E = e^(2|x|) - 1`, with the sign of `x`.
#[inline(always)]
pub fn tanh<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    // Above this, the result rounds to 1.
    let clamped = clamp_keeping_nan(F::constant(0.0), magnitude, by_width(10.0, 22.0));
    // Halves throughout: (E / 2) / (E / 2 + 1).
    let numerator = exponential(clamped.add(clamped)).half_minus_half().normalized();
    let denominator = two_sum(F::constant(1.0), numerator.high).add_low(numerator.low);
    let quotient = numerator.div(denominator).value();
    // For a tiny `x` the result is `x`, because x³/3 is below its last bit. This also keeps subnormals and
    // the sign of zero.
    let is_tiny = magnitude.less(by_width(2.4e-4, 1.0e-8));
    F::select(is_tiny, x, copysign(quotient, x))
}

crate::shared_by_recordings! {
    /// `(e^|x| - e^-|x|) / 2` with the sign of `x`, from `E = e^|x| - 1` as `E / 2 + E / 2 / (E + 1)`.
    pub fn sinh<F: FloatLane>(x: F) -> F {
        let magnitude = x.abs();
        let power = exponential(bounded(magnitude));
        let small = sinh_of_moderate(power);
        // Beyond this, e^-x is negligible.
        let is_large = by_width::<F>(15.0, 25.0).less(magnitude);
        let result = F::select(is_large, power.half_value(), small.value());
        let is_tiny = magnitude.less(by_width(2.4e-4, 1.0e-8));
        F::select(is_tiny, x, copysign(result, x))
    }
}

crate::shared_by_recordings! {
    /// `sinh(x)` for `x >= 0` from `power`, which is `e^x`; arbitrary if its binary exponent is above 60,
    /// which is `x` above about 42.
    fn sinh_of_moderate<F: FloatLane>(power: Exponential<F>) -> Pair<F> {
        let half = power.clamp_exponent().half_minus_half().normalized();
        let whole = Pair { high: half.high.add(half.high), low: half.low.add(half.low) };
        let sum = two_sum(F::constant(1.0), whole.high).add_low(whole.low).normalized();
        let quotient = half.div(sum);
        two_sum_ordered(half.high, quotient.high).add_low(half.low.add(quotient.low))
    }
}

crate::shared_by_recordings! {
    /// `cosh(x)` for `x >= 0` from `power`, which is `e^x`; arbitrary if its binary exponent is above 60,
    /// which is `x` above about 42.
    fn cosh_of_moderate<F: FloatLane>(power: Exponential<F>) -> Pair<F> {
        let half = power.clamp_exponent().half();
        let quarter = Pair { high: F::constant(0.25), low: F::constant(0.0) };
        let quotient = quarter.div(half);
        two_sum_ordered(half.high, quotient.high).add_low(half.low.add(quotient.low))
    }
}

crate::shared_by_recordings! {
    /// `sinh` and `cosh` as pairs, for `|x|` up to 40; a NaN gives NaNs.
    pub fn sinh_cosh<F: FloatLane>(x: F) -> (Pair<F>, Pair<F>) {
        let magnitude = x.abs();
        let power = exponential(magnitude);
        let Pair { high, low } = sinh_of_moderate(power).normalized();
        let is_negative = x.less(F::constant(0.0));
        let low = F::select(is_negative, low.neg(), low);
        let signed = Pair { high: copysign(high, x), low };
        // For a tiny `x` the cube is negligible and `sinh` is `x`, also if `x` is subnormal.
        let itself = Pair { high: x, low: F::constant(0.0) };
        let sine = Pair::select(magnitude.less(F::constant(1.0e-8)), itself, signed);
        (sine, cosh_of_moderate(power).normalized())
    }
}

crate::shared_by_recordings! {
    /// `(e^|x| + e^-|x|) / 2`.
    pub fn cosh<F: FloatLane>(x: F) -> F {
        let magnitude = x.abs();
        let power = exponential(bounded(magnitude));
        let small = cosh_of_moderate(power);
        let is_large = by_width::<F>(15.0, 25.0).less(magnitude);
        F::select(is_large, power.half_value(), small.value())
    }
}

/// `log(|x| + sqrt(x² + 1))` with the sign of `x`.
#[inline(always)]
pub fn asinh<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    let result = log_of_sum_with_root(magnitude, F::constant(1.0));
    let is_tiny = magnitude.less(by_width(2.4e-4, 1.0e-8));
    F::select(is_tiny, x, copysign(result, x))
}

/// `log(x + sqrt(x² - 1))`; a NaN below 1.
#[inline(always)]
pub fn acosh<F: FloatLane>(x: F) -> F {
    let result = log_of_sum_with_root(x, F::constant(-1.0));
    F::select(x.less(F::constant(1.0)), F::constant(f64::NAN), result)
}

crate::shared_by_recordings! {
    /// `log(x + sqrt(x² + term))` for `x >= 0`; `log 2x` for a large `x`.
    fn log_of_sum_with_root<F: FloatLane>(x: F, term: F) -> F {
        let is_large = by_width::<F>(1.0e6, 1.0e10).less(x);
        let square = two_product(x, x);
        let sum = two_sum(square.high, term);
        let root = sum.add_low(square.low).normalized().sqrt();
        let argument = two_sum(x, root.high).add_low(root.low).normalized();
        let itself = Pair { high: x, low: F::constant(0.0) };
        let argument = Pair::select(is_large, itself, argument);
        let doublings = F::select(is_large, F::constant(1.0), F::constant(0.0));
        log_of_pair(argument, doublings)
    }
}

/// `log((1 + |x|) / (1 - |x|)) / 2` with the sign of `x`; a NaN beyond 1.
#[inline(always)]
pub fn atanh<F: FloatLane>(x: F) -> F {
    let one = F::constant(1.0);
    let magnitude = x.abs();
    let quotient = two_sum(one, magnitude).div(two_sum(one, magnitude.neg()));
    let log = log_of_pair(quotient, F::constant(0.0));
    let is_tiny = magnitude.less(by_width(2.4e-4, 1.0e-8));
    F::select(is_tiny, x, copysign(log.mul(F::constant(0.5)), x))
}
