//! Inverse trigonometric and hyperbolic functions of complex numbers, with the branch cuts of C99.
//!
//! Source of all formulas: W. Kahan, Branch Cuts for Complex Elementary Functions, or Much Ado About
//! Nothing's Sign Bit (1987). They apply real functions to the parts of `sqrt(1 ± x)`, which keeps the sign
//! of every zero.

use core::f64::consts::{FRAC_PI_2, LN_2};

use super::exponential::sqrt;
use super::{conj, copysign, is_inf, is_nan, one, times_j, times_minus_j, zero};
use crate::complex::Complex;
use crate::meaning::float;
use indim_lanes::lane::{BoolLane, FloatLane};

/// `sqrt(1 - x)` and `sqrt(1 + x)`; the sums change only the real part.
#[inline(always)]
fn roots<F: FloatLane>(x: Complex<F>) -> (Complex<F>, Complex<F>) {
    let lower = sqrt(Complex::new(one::<F>().sub(x.re), x.im.neg()));
    let upper = sqrt(Complex::new(one::<F>().add(x.re), x.im));
    (lower, upper)
}

/// The imaginary part of `conj(x) y`.
#[inline(always)]
fn cross<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> F {
    x.re.mul(y.im).sub(x.im.mul(y.re))
}

/// The real part of `x y`.
#[inline(always)]
fn real_of_product<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> F {
    x.re.mul(y.re).sub(x.im.mul(y.im))
}

/// An argument such that products of its roots do not overflow, and the number to add to the `asinh` of
/// such a product. For an argument so large that 1 is negligible, these are a quarter of the argument and
/// `log 4`; otherwise the argument and 0.
#[inline(always)]
fn scale_down<F: FloatLane>(x: Complex<F>) -> (Complex<F>, F) {
    let is_far = F::constant(1.0e300).less(float::max(x.re.abs(), x.im.abs()));
    let factor = F::select(is_far, F::constant(0.25), one());
    let log_factor = F::select(is_far, F::constant(2.0 * LN_2), zero());
    (Complex::new(x.re.mul(factor), x.im.mul(factor)), log_factor)
}

indim_lanes::shared_by_recordings! {
    /// With `a = sqrt(1 - x)`, `b = sqrt(1 + x)`: `atan(re / Re(a b)) + j asinh(Im(conj(a) b))`.
    pub fn asin<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let (scaled, log_factor) = scale_down(x);
        let (lower, upper) = roots(scaled);
        let re = float::atan2(scaled.re, real_of_product(lower, upper));
        let im = copysign(float::asinh(cross(lower, upper)).abs().add(log_factor), x.im);
        let result = with_infinite_modulus(x, Complex::new(re, im), angle_to_imaginary_axis(x));
        let is_kept = x.re.equal(zero());
        Complex::new(F::select(is_kept, x.re, result.re), result.im)
    }
}

indim_lanes::shared_by_recordings! {
    /// With `a = sqrt(1 - x)`, `b = sqrt(1 + x)`: `2 atan(Re(a) / Re(b)) + j asinh(Im(conj(b) a))`.
    pub fn acos<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let (scaled, log_factor) = scale_down(x);
        let (lower, upper) = roots(scaled);
        let two = F::constant(2.0);
        let re = two.mul(float::atan2(lower.re, upper.re));
        let im = copysign(float::asinh(cross(upper, lower)).abs().add(log_factor), x.im);
        let angle = float::atan2(x.im.abs(), x.re);
        let result = conj(with_infinite_modulus(x, Complex::new(re, im), angle));
        let is_on_axis = x.re.equal(zero()).and(is_nan(x));
        Complex::new(F::select(is_on_axis, F::constant(FRAC_PI_2), result.re), result.im)
    }
}

/// If a part is infinite, the imaginary part of the result is infinite, for any value of the other part.
#[inline(always)]
fn with_infinite_modulus<F: FloatLane>(x: Complex<F>, finite: Complex<F>, angle: F) -> Complex<F> {
    let infinity = copysign(F::constant(f64::INFINITY), x.im);
    Complex::select(is_inf(x), Complex::new(angle, infinity), finite)
}

/// The angle from the imaginary axis, for an argument with an infinite part.
#[inline(always)]
fn angle_to_imaginary_axis<F: FloatLane>(x: Complex<F>) -> F {
    float::atan2(x.re, x.im.abs())
}

/// `-j asin(j x)`.
#[inline(always)]
pub fn asinh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    times_minus_j(asin(times_j(x)))
}

/// `±j acos(x)`, the sign such that the real part is not negative.
#[inline(always)]
pub fn acosh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let angle = acos(x);
    Complex::new(angle.im.abs(), copysign(angle.re, x.im))
}

/// Computed from the magnitudes of the parts. Each part of the result has the sign of the same part of the
/// argument.
#[inline(always)]
pub fn atanh<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let result = atanh_of_magnitudes(x.re.abs(), x.im.abs());
    Complex::new(copysign(result.re, x.re), copysign(result.im, x.im))
}

/// `-j atanh(j x)`.
#[inline(always)]
pub fn atan<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let result = atanh_of_magnitudes(x.im.abs(), x.re.abs());
    Complex::new(copysign(result.im, x.re), copysign(result.re, x.im))
}

indim_lanes::shared_by_recordings! {
    /// `log1p(4 re / ((1 - re)² + im²)) / 4 + j arg((1 - re)(1 + re) - im² + 2 j im) / 2` for parts that are
    /// not negative.
    fn atanh_of_magnitudes<F: FloatLane>(re: F, im: F) -> Complex<F> {
        let one_minus_re = one::<F>().sub(re);
        let norm = one_minus_re.mul(one_minus_re).add(im.mul(im));
        let ratio = F::constant(4.0).mul(re).div(norm);
        let real = F::constant(0.25).mul(float::log1p(ratio));
        let cosine = one_minus_re.mul(one::<F>().add(re)).sub(im.mul(im));
        let angle = F::constant(0.5).mul(float::atan2(F::constant(2.0).mul(im), cosine));
        // Near the pole at 1, `norm` would be the square of a tiny `im`, which underflows.
        let is_at_pole = one_minus_re.equal(zero()).and(im.less(F::constant(1.0e-100)));
        let real_at_pole = F::constant(0.5).mul(F::constant(LN_2).sub(float::log(im)));
        let real = F::select(is_at_pole, real_at_pole, real);
        // If the squares would overflow: the real part of `1 / x`, and a quarter of a turn as the angle.
        let is_far = F::constant(1.0e100).less(float::max(re, im)).or(is_inf(Complex::new(re, im)));
        let quarter = F::select(float::is_nan(im), im, F::constant(FRAC_PI_2));
        let far_result = Complex::new(real_of_reciprocal(re, im), quarter);
        let result = Complex::select(is_far, far_result, Complex::new(real, angle));
        Complex::new(F::select(re.equal(zero()), zero(), result.re), result.im)
    }
}

/// `re / (re² + im²)` for large parts.
#[inline(always)]
fn real_of_reciprocal<F: FloatLane>(re: F, im: F) -> F {
    let modulus = float::hypot(re, im);
    let ratio = re.div(modulus).div(modulus);
    F::select(float::is_inf(re).or(float::is_inf(im)), zero(), ratio)
}
