//! Arithmetic and comparisons of floats: IEEE 754, nothing contracted.
//!
//! This module also exports the elementary functions (`exp`, `sin`, ...) of `indim-lanes`. Definitions ignore
//! NaN payloads, because applying an operation makes every NaN canonical.

use crate::complex::Complex;
pub use indim_lanes::elementary::{
    acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, cos, cosh, digamma, erf, erf_inv, erfc,
    exp, exp2, expm1, hypot, is_short_exponent, lgamma, log, log1p, log2, log10, logaddexp,
    logistic, long_pow, pow, rsqrt, sin, sinh, tan, tanh, trigamma,
};
pub use indim_lanes::float::{copysign, is_finite, is_inf, is_nan, max, min};
use indim_lanes::lane::{BoolLane, FloatLane};

#[inline(always)]
fn zero<F: FloatLane>() -> F {
    F::constant(0.0)
}

#[inline(always)]
fn one<F: FloatLane>() -> F {
    F::constant(1.0)
}

/// The sign flipped.
#[inline(always)]
pub fn neg<F: FloatLane>(x: F) -> F {
    x.neg()
}

/// The sign cleared.
#[inline(always)]
pub fn abs<F: FloatLane>(x: F) -> F {
    x.abs()
}

/// -1, ±0 or 1; a NaN gives a NaN.
#[inline(always)]
pub fn sign<F: FloatLane>(x: F) -> F {
    let is_nonzero = x.less(zero()).or(zero::<F>().less(x));
    F::select(is_nonzero, copysign(one(), x), x)
}

/// The largest integer not above `x`.
#[inline(always)]
pub fn floor<F: FloatLane>(x: F) -> F {
    x.floor()
}

/// The smallest integer not below `x`.
#[inline(always)]
pub fn ceil<F: FloatLane>(x: F) -> F {
    x.ceil()
}

/// Integer part.
#[inline(always)]
pub fn trunc<F: FloatLane>(x: F) -> F {
    x.trunc()
}

/// Nearest integer, ties to even.
#[inline(always)]
pub fn round_even<F: FloatLane>(x: F) -> F {
    x.round_even()
}

/// Nearest integer, ties away from zero. The fraction is exact, so no sum can round across a tie.
#[inline(always)]
pub fn round_away<F: FloatLane>(x: F) -> F {
    let whole = x.trunc();
    let is_below_half = x.sub(whole).abs().less(F::constant(0.5));
    let away_from_zero = whole.add(copysign(one(), x));
    // The fraction of an infinity is inf - inf, a NaN, so an infinity is selected unchanged.
    let rounded = F::select(is_below_half.or(is_inf(x)), whole, away_from_zero);
    copysign(rounded, x)
}

/// `x * x`.
#[inline(always)]
pub fn square<F: FloatLane>(x: F) -> F {
    x.mul(x)
}

/// `1 / x`.
#[inline(always)]
pub fn reciprocal<F: FloatLane>(x: F) -> F {
    one::<F>().div(x)
}

/// Square root.
#[inline(always)]
pub fn sqrt<F: FloatLane>(x: F) -> F {
    x.sqrt()
}

/// Sum.
#[inline(always)]
pub fn add<F: FloatLane>(x: F, y: F) -> F {
    x.add(y)
}

/// Difference.
#[inline(always)]
pub fn sub<F: FloatLane>(x: F, y: F) -> F {
    x.sub(y)
}

/// Product.
#[inline(always)]
pub fn mul<F: FloatLane>(x: F, y: F) -> F {
    x.mul(y)
}

/// Quotient.
#[inline(always)]
pub fn div<F: FloatLane>(x: F, y: F) -> F {
    x.div(y)
}

/// Exact remainder with the dividend's sign.
#[inline(always)]
pub fn rem<F: FloatLane>(x: F, y: F) -> F {
    x.rem(y)
}

/// Remainder with the divisor's sign, also of a zero. Like NumPy's `remainder`
/// (`npy_divmod` in NumPy's npymath), so `5 mod inf = 5` and `-5 mod inf = inf`.
#[inline(always)]
pub fn py_mod<F: FloatLane>(x: F, y: F) -> F {
    let remainder = x.rem(y);
    let adjusted = F::select(signs_differ(remainder, y), remainder.add(y), remainder);
    // The remainder of a division by zero is a NaN, which both selections keep.
    F::select(remainder.equal(zero()), copysign(zero(), y), adjusted)
}

/// Quotient rounded down, from the exact remainder, like NumPy's `floor_divide`.
#[inline(always)]
pub fn floor_div<F: FloatLane>(x: F, y: F) -> F {
    let remainder = x.rem(y);
    let exact = x.sub(remainder).div(y);
    let quotient = F::select(signs_differ(remainder, y), exact.sub(one()), exact);
    let floor = quotient.floor();
    // The division may have rounded down across an integer.
    let is_short = F::constant(0.5).less(quotient.sub(floor));
    let nearest = F::select(is_short, floor.add(one()), floor);
    let signed_zero = copysign(zero(), x.div(y));
    let result = F::select(quotient.equal(zero()), signed_zero, nearest);
    F::select(y.equal(zero()), x.div(y), result)
}

/// Whether the remainder is not zero and its sign differs from the divisor's.
#[inline(always)]
fn signs_differ<F: FloatLane>(remainder: F, divisor: F) -> F::Bool {
    let is_nonzero = remainder.equal(zero()).not();
    is_nonzero.and(remainder.less(zero()).xor(divisor.less(zero())))
}

/// `(x - y)²`.
#[inline(always)]
pub fn squared_difference<F: FloatLane>(x: F, y: F) -> F {
    square(x.sub(y))
}

/// Equality; false with a NaN.
#[inline(always)]
pub fn eq<F: FloatLane>(x: F, y: F) -> F::Bool {
    x.equal(y)
}

/// Inequality; true with a NaN.
#[inline(always)]
pub fn ne<F: FloatLane>(x: F, y: F) -> F::Bool {
    x.equal(y).not()
}

/// Less than; false with a NaN.
#[inline(always)]
pub fn lt<F: FloatLane>(x: F, y: F) -> F::Bool {
    x.less(y)
}

/// Less than or equal; false with a NaN.
#[inline(always)]
pub fn le<F: FloatLane>(x: F, y: F) -> F::Bool {
    x.less(y).or(x.equal(y))
}

/// Greater than; false with a NaN.
#[inline(always)]
pub fn gt<F: FloatLane>(x: F, y: F) -> F::Bool {
    y.less(x)
}

/// Greater than or equal; false with a NaN.
#[inline(always)]
pub fn ge<F: FloatLane>(x: F, y: F) -> F::Bool {
    le(y, x)
}

/// The second operand if the first holds, else the third.
#[inline(always)]
pub fn select<F: FloatLane>(condition: F::Bool, on_true: F, on_false: F) -> F {
    F::select(condition, on_true, on_false)
}

/// `min(max(x, low), high)`.
#[inline(always)]
pub fn clamp<F: FloatLane>(low: F, x: F, high: F) -> F {
    min(max(x, low), high)
}

/// `x * y + z` with one rounding.
#[inline(always)]
pub fn fma<F: FloatLane>(x: F, y: F, z: F) -> F {
    x.mul_add(y, z)
}

/// The real part of a float: the float itself.
#[inline(always)]
pub fn real<F: FloatLane>(x: F) -> F {
    x
}

/// The imaginary part of a float: zero.
#[inline(always)]
pub fn imag<F: FloatLane>(_: F) -> F {
    zero()
}

/// The conjugate of a float: the float itself.
#[inline(always)]
pub fn conj<F: FloatLane>(x: F) -> F {
    x
}

/// `x + y j`.
#[inline(always)]
pub fn complex<F: FloatLane>(x: F, y: F) -> Complex<F> {
    Complex::new(x, y)
}

/// The larger; a number wins over a NaN.
#[inline(always)]
pub fn fmax<F: FloatLane>(x: F, y: F) -> F {
    F::select(is_nan(x), y, F::select(is_nan(y), x, max(x, y)))
}

/// The smaller; a number wins over a NaN.
#[inline(always)]
pub fn fmin<F: FloatLane>(x: F, y: F) -> F {
    F::select(is_nan(x), y, F::select(is_nan(y), x, min(x, y)))
}

/// `x` if it is not negative, else `slope * x`.
#[inline(always)]
pub fn prelu<F: FloatLane>(x: F, slope: F) -> F {
    F::select(zero::<F>().less(x).or(x.equal(zero())), x, slope.mul(x))
}
