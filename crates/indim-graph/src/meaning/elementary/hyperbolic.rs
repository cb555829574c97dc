//! Hyperbolic functions.

use super::exp::exponential;
use super::pair::two_sum;
use super::{by_width, clamp_keeping_nan};
use crate::lane::FloatLane;
use crate::meaning::float::copysign;

/// `e^(2|x|) - 1` over itself plus 2.
#[inline(always)]
pub fn tanh<F: FloatLane>(x: F) -> F {
    let magnitude = x.abs();
    // Above, the result rounds to 1.
    let bounded = clamp_keeping_nan(F::constant(0.0), magnitude, by_width(10.0, 22.0));
    // Halves throughout: (E / 2) / (E / 2 + 1).
    let numerator = exponential(bounded.add(bounded)).half_minus_half().normalized();
    let denominator = two_sum(F::constant(1.0), numerator.high).add_low(numerator.low);
    let quotient = numerator.div(denominator).value();
    // Where x³/3 is below the last bit; this also keeps subnormals and the sign of zero.
    let is_tiny = magnitude.less(by_width(2.4e-4, 1.0e-8));
    F::select(is_tiny, x, copysign(quotient, x))
}
