//! Trigonometric and hyperbolic functions of complex numbers, like C99's `csinh`, `ccosh`, `ctanh`.
//!
//! The trigonometric functions are the hyperbolic ones of the argument times `j`.

use super::exponential::half_exp_times;
use super::{copysign, one, times_j, times_minus_j, zero};
use crate::complex::Complex;
use crate::meaning::float;
use indim_lanes::elementary::{sin_cos, sinh_cosh};
use indim_lanes::lane::{BoolLane, FloatLane};

/// Beyond this, `cosh` and `|sinh|` are half the exponential, and `tanh` is ±1.
const LARGE: f64 = 40.0;

#[inline(always)]
fn is_large<F: FloatLane>(x: F) -> F::Bool {
    F::constant(LARGE).less(x.abs())
}

/// `sinh(x) * factor` for a factor of at most 1, without an early overflow.
#[inline(always)]
fn sinh_times<F: FloatLane>(x: F, factor: F) -> F {
    let half_exponential = half_exp_times(x.abs(), factor);
    let half_exponential = F::select(x.less(zero()), half_exponential.neg(), half_exponential);
    F::select(is_large(x), half_exponential, float::sinh(x).mul(factor))
}

/// `cosh(x) * factor` for a factor of at most 1, without an early overflow.
#[inline(always)]
fn cosh_times<F: FloatLane>(x: F, factor: F) -> F {
    let half_exponential = half_exp_times(x.abs(), factor);
    F::select(is_large(x), half_exponential, float::cosh(x).mul(factor))
}

/// Whether the real part is infinite and the imaginary part is not finite.
#[inline(always)]
fn has_undefined_direction<F: FloatLane>(x: Complex<F>) -> F::Bool {
    float::is_inf(x.re).and(float::is_finite(x.im).not())
}

indim_lanes::shared_by_recordings! {
    /// `sinh(re) cos(im) + j cosh(re) sin(im)`.
    pub fn sinh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let re = sinh_times(x.re, float::cos(x.im));
        let im = cosh_times(x.re, float::sin(x.im));
        // If the imaginary part is not finite, a zero or infinite real part is kept.
        let has_nonfinite_im = float::is_finite(x.im).not();
        let keeps_re = has_nonfinite_im.and(x.re.equal(zero()).or(float::is_inf(x.re)));
        Complex::new(F::select(keeps_re, x.re, re), F::select(x.im.equal(zero()), x.im, im))
    }
}

indim_lanes::shared_by_recordings! {
    /// `cosh(re) cos(im) + j sinh(re) sin(im)`.
    pub fn cosh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let re = cosh_times(x.re, float::cos(x.im));
        let im = sinh_times(x.re, float::sin(x.im));
        // 0 times anything is 0, with the sign of the product.
        let sine = float::sin(x.im);
        let direction = F::select(float::is_nan(sine), x.im, sine);
        let sign = copysign(one(), x.re).mul(copysign(one(), direction));
        let has_zero = x.re.equal(zero()).or(x.im.equal(zero()));
        Complex::new(
            F::select(has_undefined_direction(x), F::constant(f64::INFINITY), re),
            F::select(has_zero, copysign(zero(), sign), im),
        )
    }
}

indim_lanes::shared_by_recordings! {
    /// `(sinh(re) cosh(re) + j sin(im) cos(im)) / (sinh(re)² + cos(im)²)`, every step except the last as a
    /// pair of floats.
    pub fn tanh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let (hyperbolic_sine, hyperbolic_cosine) = sinh_cosh(F::select(is_large(x.re), zero(), x.re));
        let (sine, cosine) = sin_cos(x.im);
        let denominator = hyperbolic_sine.mul(hyperbolic_sine).add_positive(cosine.mul(cosine));
        let quotient = Complex::new(
            hyperbolic_sine.mul(hyperbolic_cosine).div(denominator).value(),
            sine.mul(cosine).div(denominator).value(),
        );
        Complex::select(is_large(x.re), tanh_of_large(x), keep_zero_parts(x, quotient))
    }
}

/// `tanh` for arguments whose result has a real part that rounds to ±1; the imaginary part is
/// `4 sin cos e^(-2 |re|)`.
#[inline(always)]
fn tanh_of_large<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let power = float::exp(x.re.abs().mul(F::constant(-2.0)));
    let sine_cosine = float::sin(x.im).mul(float::cos(x.im));
    let directed = F::constant(4.0).mul(sine_cosine).mul(power);
    // If the real part is infinite, any imaginary part, even a NaN, gives a zero.
    let im = F::select(has_undefined_direction(x), copysign(zero(), x.im), directed);
    Complex::new(copysign(one(), x.re), im)
}

/// The result; a part of the argument that is 0 is also that part of the result, with its sign.
#[inline(always)]
fn keep_zero_parts<F: FloatLane>(x: Complex<F>, result: Complex<F>) -> Complex<F> {
    Complex::new(
        F::select(x.re.equal(zero()), x.re, result.re),
        F::select(x.im.equal(zero()), x.im, result.im),
    )
}

/// `-j sinh(j x)`.
#[inline(always)]
pub fn sin<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    times_minus_j(sinh(times_j(x)))
}

/// `cosh(j x)`.
#[inline(always)]
pub fn cos<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    cosh(times_j(x))
}

/// `-j tanh(j x)`.
#[inline(always)]
pub fn tan<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    times_minus_j(tanh(times_j(x)))
}
