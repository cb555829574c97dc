//! Rules of functions of one operand: powers, exponentials, logarithms, circular and hyperbolic functions.
//!
//! The formulas avoid cancellation, and for real numbers also overflow of an intermediate result.

use core::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use super::rule::{UnaryArguments, is_complex};
use indim_builder::Value;

pub(super) fn square(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.x * 2))
}

pub(super) fn reciprocal(u: UnaryArguments<'_>) -> Value {
    u.times(&-u.y.square())
}

pub(super) fn sqrt(u: UnaryArguments<'_>) -> Value {
    u.over(u.y) * 0.5
}

pub(super) fn rsqrt(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.y / u.x * -0.5))
}

pub(super) fn cbrt(u: UnaryArguments<'_>) -> Value {
    u.over(&(u.y.square() * 3))
}

pub(super) fn exp(u: UnaryArguments<'_>) -> Value {
    u.times(u.y)
}

pub(super) fn exp2(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.y * LN_2))
}

/// Not `y + 1`, which cancels for large negative `x`.
pub(super) fn expm1(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.exp())
}

pub(super) fn log(u: UnaryArguments<'_>) -> Value {
    u.over(u.x)
}

pub(super) fn log2(u: UnaryArguments<'_>) -> Value {
    u.over(&(u.x * LN_2))
}

pub(super) fn log10(u: UnaryArguments<'_>) -> Value {
    u.over(&(u.x * LN_10))
}

pub(super) fn log1p(u: UnaryArguments<'_>) -> Value {
    u.over(&(u.x + 1))
}

pub(super) fn sin(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.cos())
}

pub(super) fn cos(u: UnaryArguments<'_>) -> Value {
    u.times(&-u.x.sin())
}

pub(super) fn tan(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.y.square() + 1))
}

/// The product keeps precision near ±1, where `1 - y²` cancels.
pub(super) fn tanh(u: UnaryArguments<'_>) -> Value {
    u.times(&((1 - u.y) * (u.y + 1)))
}

pub(super) fn asin(u: UnaryArguments<'_>) -> Value {
    let product: Value = (1 - u.x) * (u.x + 1);
    u.times(&product.rsqrt())
}

pub(super) fn acos(u: UnaryArguments<'_>) -> Value {
    -asin(u)
}

pub(super) fn atan(u: UnaryArguments<'_>) -> Value {
    u.over(&(u.x.square() + 1))
}

pub(super) fn sinh(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.cosh())
}

pub(super) fn cosh(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.sinh())
}

/// `hypot`, because `x²` may overflow although the derivative does not.
pub(super) fn asinh(u: UnaryArguments<'_>) -> Value {
    match is_complex(u.x) {
        true => u.times(&(u.x.square() + 1).rsqrt()),
        false => u.over(&u.x.hypot(1)),
    }
}

/// Two roots instead of one root of the product. The product may overflow. Its root has the opposite sign in
/// the left half of the complex plane, and is not NaN below -1, where `acosh` is NaN.
pub(super) fn acosh(u: UnaryArguments<'_>) -> Value {
    u.times(&((u.x - 1).rsqrt() * (u.x + 1).rsqrt()))
}

pub(super) fn atanh(u: UnaryArguments<'_>) -> Value {
    u.over(&((1 - u.x) * (u.x + 1)))
}

pub(super) fn erf(u: UnaryArguments<'_>) -> Value {
    u.times(&((-u.x.square()).exp() * FRAC_2_SQRT_PI))
}

pub(super) fn erfc(u: UnaryArguments<'_>) -> Value {
    -erf(u)
}

/// Computed from the result, because near ±1 the operand has less precision.
pub(super) fn erf_inv(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.y.square().exp() * FRAC_2_SQRT_PI.recip()))
}

pub(super) fn lgamma(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.digamma())
}

pub(super) fn digamma(u: UnaryArguments<'_>) -> Value {
    u.times(&u.x.trigamma())
}

/// Not `y (1 - y)`, which cancels for large positive `x`.
pub(super) fn logistic(u: UnaryArguments<'_>) -> Value {
    u.times(&(u.y * (-u.x).logistic()))
}
