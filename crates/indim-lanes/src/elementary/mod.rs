//! The elementary functions over the `Lane` algebra: one file per family.
//!
//! Every function is straight-line code over the primitives of `lane.rs`, so its bits are the same on every
//! machine, and the compiler vectorises it. Results in 32 bits are within 1 ULP of the exact value; those in
//! 64 bits are at most one float from the nearest one, those of `digamma` two (`tests/accuracy/` and
//! `examples/accuracy.rs` of `indim-ops` measure this). Exceptions are results near the zeros of `logaddexp`
//! and near the negative zeros of `digamma`. Most functions compute the last steps as an unevaluated sum of
//! two floats (`pair.rs`) and round once.
//!
//! `coefficients.py` in this folder fits the polynomials; `gamma/coefficients.py` makes the tables of
//! `gamma/` and `inverse_error_function.rs`. `indim-ops` exports the functions as `meaning::float`.
//!
//! - `error_function.rs`: the error function and its complement;
//! - `exp.rs`: exponentials: `exp`, `exp2`, `expm1`, `logistic`, `logaddexp`;
//! - `gamma/`: the logarithm of the gamma function, and its derivatives;
//! - `hyperbolic.rs`: hyperbolic functions and their inverses;
//! - `inverse_error_function.rs`: the inverse of the error function;
//! - `inverse_trigonometric.rs`: inverse trigonometric functions: `asin`, `acos`, `atan`, `atan2`;
//!   `single_inverse_trigonometric.rs`: those in 32 bits;
//! - `log.rs`: logarithms: `log`, `log2`, `log10`, `log1p`, and a more precise one for `pow`;
//! - `pair.rs`: unevaluated sums of two floats, with twice the precision of one;
//! - `piecewise.rs`: piecewise polynomials: eight intervals for each power of two, with tables of
//!   coefficients;
//! - `power.rs`: powers and roots: `pow`, `rsqrt`, `cbrt`, `hypot`;
//! - `short_power.rs`: powers with small exponents that are whole or half-integers, as a few products and a
//!   square root;
//! - `trigonometric/`: trigonometric functions: `sin`, `cos`, `tan`.

mod error_function;
mod exp;
mod gamma;
mod hyperbolic;
mod inverse_error_function;
mod inverse_trigonometric;
mod log;
mod pair;
mod piecewise;
mod power;
mod short_power;
mod single_inverse_trigonometric;
mod trigonometric;

pub use error_function::{erf, erfc};
pub use exp::{exp, exp2, expm1, logaddexp, logistic};
pub use gamma::{digamma, lgamma, trigamma};
pub use hyperbolic::sinh_cosh;
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse_error_function::erf_inv;
pub use inverse_trigonometric::{acos, asin, atan, atan2};
pub use log::{log, log1p, log2, log10};
pub use pair::Pair;
pub use power::sum_of_squares_less_one;
pub use power::{cbrt, hypot, long_pow, pow, rsqrt};
pub use short_power::is_short_exponent;
pub use trigonometric::sin_cos;
pub use trigonometric::{cos, sin, tan};

use crate::lane::{FloatLane, IntLane};

/// `c[0] + c[1] x + ...`, by Horner's rule, with the coefficients of the lane's width.
#[inline(always)]
fn polynomial<F: FloatLane, const S: usize, const D: usize>(
    x: F,
    single: &[f64; S],
    double: &[f64; D],
) -> F {
    if is_single::<F>() { horner(x, single) } else { horner(x, double) }
}

#[inline(always)]
fn horner<F: FloatLane, const N: usize>(x: F, coefficients: &[f64; N]) -> F {
    let mut sum = F::constant(0.0);
    for (index, &coefficient) in coefficients.iter().rev().enumerate() {
        let coefficient = F::constant(coefficient);
        sum = if index == 0 { coefficient } else { sum.mul_add(x, coefficient) };
    }
    sum
}

/// Whether the lane has 32 bits; known at compile time.
#[inline(always)]
fn is_single<F: FloatLane>() -> bool {
    F::MANTISSA_BITS == 23
}

/// The constant for the lane's width: `single` for 32 bits, `double` for 64 bits.
#[inline(always)]
fn by_width<F: FloatLane>(single: f64, double: f64) -> F {
    F::constant(if is_single::<F>() { single } else { double })
}

/// The constant `high + low` as a pair of the lane's width. The arguments state it to twice 53 bits.
#[inline(always)]
fn pair_constant<F: FloatLane>(high: f64, low: f64) -> Pair<F> {
    let rest = if is_single::<F>() { high - f64::from(high as f32) } else { low };
    Pair { high: F::constant(high), low: F::constant(rest) }
}

/// `1.5 * 2^MANTISSA_BITS`: the last bit of a float of this size is worth 1, so adding this constant to
/// a smaller float rounds that float to an integer, in the low bits of the pattern.
#[inline(always)]
fn rounder<F: FloatLane>() -> F {
    by_width(12_582_912.0, 6_755_399_441_055_744.0)
}

/// The float of an integer below `2^(MANTISSA_BITS - 1)` in magnitude, without a conversion instruction.
#[inline(always)]
fn float_of_small<F: FloatLane>(value: F::Bits) -> F {
    F::from_bits(value.add(rounder::<F>().to_bits())).sub(rounder())
}

/// `2^exponent` for the exponent of a normal float.
#[inline(always)]
fn power_of_two<F: FloatLane>(exponent: F::Bits) -> F {
    F::from_bits(exponent.add(exponent_bias::<F>()).shl(mantissa_bits::<F>()))
}

crate::shared_by_recordings! {
    /// `x * 2^exponent` for exponents between minus and plus twice the range of normal floats. The
    /// multiplication takes two steps. If `x` is about 1, the first step is exact, so a subnormal result is
    /// rounded only once.
    pub fn scale<F: FloatLane>(x: F, exponent: F::Bits) -> F {
        let half = exponent.shr_arithmetic(F::Bits::constant(1));
        x.mul(power_of_two(half)).mul(power_of_two(exponent.sub(half)))
    }
}

#[inline(always)]
fn exponent_bias<F: FloatLane>() -> F::Bits {
    F::Bits::constant(if is_single::<F>() { 127 } else { 1023 })
}

#[inline(always)]
fn mantissa_bits<F: FloatLane>() -> F::Bits {
    F::Bits::constant(i64::from(F::MANTISSA_BITS))
}

/// `x` clamped to the bounds; a NaN is unchanged.
#[inline(always)]
fn clamp_keeping_nan<F: FloatLane>(low: F, x: F, high: F) -> F {
    let raised = F::select(x.less(low), low, x);
    F::select(high.less(raised), high, raised)
}
