//! The logarithm of the gamma function, and its derivatives: `lgamma`, `digamma`, `trigamma`.
//!
//! All three have the same cases, by the magnitude `a` of the argument, computed in 64 bits and mostly as
//! pairs:
//!
//! - from 8 on: the asymptotic series in `1/a` (Stirling; Abramowitz and Stegun 6.1.40, 6.3.18, 6.4.12);
//! - from 1/2 to 8: piecewise polynomials of the function, divided by the linear factors of its positive
//!   zeros;
//! - below 1/2, for either sign: the recurrence from `x` to `x + 1`;
//! - `x` from -1/2 down: the reflection from `x` to `-x`, by the sine and the cosine of `π x`.
//!
//! The reflection cancels near the negative zeros of `lgamma` and `digamma`. For 64-bit floats, tables hold
//! these zeros, and a polynomial around each zero.
//!
//! - `digamma.rs`: the derivative of the logarithm of the gamma function;
//! - `half_turns.rs`: the sine and the cosine of `π x`, without an error of reduction;
//! - `lgamma.rs`: the logarithm of the magnitude of the gamma function;
//! - `trigamma.rs`: the derivative of `digamma`.

mod digamma;
mod half_turns;
mod lgamma;
mod trigamma;

pub use digamma::digamma;
pub use lgamma::lgamma;
pub use trigamma::trigamma;

use super::pair::{Pair, two_sum};
use crate::lane::{BoolLane, FloatLane};

/// An argument, with the values by which the functions choose their case.
struct Argument<F: FloatLane> {
    x: F,
    /// The magnitude of `x`.
    magnitude: F,
    /// Whether the magnitude is below 1/2.
    is_near: F::Bool,
    /// The argument of the piecewise polynomials: the magnitude, or `x + 1` if the magnitude is below 1/2.
    polynomial_argument: Pair<F>,
}

impl<F: FloatLane> Argument<F> {
    #[inline(always)]
    fn of(x: F) -> Self {
        let magnitude = x.abs();
        let is_near = magnitude.less(F::constant(0.5));
        let itself = Pair { high: magnitude, low: F::constant(0.0) };
        let polynomial_argument = Pair::select(is_near, two_sum(F::constant(1.0), x), itself);
        Argument { x, magnitude, is_near, polynomial_argument }
    }

    /// Whether the asymptotic series holds.
    #[inline(always)]
    fn is_far(&self) -> F::Bool {
        self.magnitude.less(F::constant(8.0)).not()
    }

    /// Whether the reflection applies.
    #[inline(always)]
    fn is_reflected(&self) -> F::Bool {
        self.x.less(F::constant(0.0)).and(self.is_near.not())
    }

    /// Whether `x` is 0, a negative integer, or negative infinity.
    #[inline(always)]
    fn is_pole(&self) -> F::Bool {
        let is_positive = F::constant(0.0).less(self.x);
        self.x.trunc().equal(self.x).and(is_positive.not())
    }
}

/// The pair with flipped signs.
#[inline(always)]
fn negate_pair<F: FloatLane>(x: Pair<F>) -> Pair<F> {
    Pair { high: x.high.neg(), low: x.low.neg() }
}

/// The sum of any two pairs; the larger terms may cancel.
#[inline(always)]
fn sum<F: FloatLane>(x: Pair<F>, y: Pair<F>) -> Pair<F> {
    two_sum(x.high, y.high).add_low(x.low.add(y.low)).normalized()
}

/// A float as a pair.
#[inline(always)]
fn exact_pair<F: FloatLane>(x: F) -> Pair<F> {
    Pair { high: x, low: F::constant(0.0) }
}
