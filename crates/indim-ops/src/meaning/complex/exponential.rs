//! Exponentials, logarithms, powers and roots of complex numbers.

use super::{
    ScaledComplex, add, copysign, div, is_nan, is_zero, mul, neg, real_one, reciprocal, zero,
};
use crate::complex::Complex;
use crate::meaning::float;
use indim_lanes::elementary::{scale, sum_of_squares_less_one};
use indim_lanes::lane::{BoolLane, FloatLane, IntLane};

/// The exponential of a real number above this threshold is split into factors, so that it does not
/// overflow before its product with another factor does.
const SPLIT: f64 = 700.0;

/// `e^SPLIT`.
const E_TO_SPLIT: f64 = 1.014232054735005e304;

indim_lanes::shared_by_recordings! {
    /// `e^re (cos im + j sin im)`, as C99's `cexp`.
    pub fn exp<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let (sine, cosine) = (float::sin(x.im), float::cos(x.im));
        let product = Complex::new(exp_times(x.re, cosine), exp_times(x.re, sine));
        let has_nonfinite_im = float::is_finite(x.im).not();
        // If the imaginary part is not finite, e^-inf gives zeros and e^inf an infinity.
        let is_zero_result = has_nonfinite_im.and(x.re.equal(F::constant(f64::NEG_INFINITY)));
        let is_infinite_result = has_nonfinite_im.and(x.re.equal(F::constant(f64::INFINITY)));
        let signed_zero = Complex::new(zero(), copysign(zero(), x.im));
        let result = Complex::select(is_zero_result, signed_zero, product);
        let infinite = Complex::new(F::constant(f64::INFINITY), F::constant(f64::NAN));
        let result = Complex::select(is_infinite_result, infinite, result);
        // A real argument has a real result, even after overflow.
        let real = Complex::new(float::exp(x.re), x.im);
        Complex::select(x.im.equal(zero()), real, result)
    }
}

/// `e^x * factor` for a factor of at most 1. The exponential is split into parts that multiply the factor
/// one after another, so that nothing overflows before the result does, even for a subnormal factor.
#[inline(always)]
pub(super) fn exp_times<F: FloatLane>(x: F, factor: F) -> F {
    let (first_factor, rest) = split_exponential(x);
    let (second_factor, rest) = split_exponential(rest);
    float::exp(rest).mul(factor.mul(first_factor).mul(second_factor))
}

indim_lanes::shared_by_recordings! {
    /// `e^x / 2 * factor`, for `x` so large that half of the exponential is exact.
    pub(super) fn half_exp_times<F: FloatLane>(x: F, factor: F) -> F {
        let (first_factor, rest) = split_exponential(x);
        let (second_factor, rest) = split_exponential(rest);
        float::exp(rest).mul(F::constant(0.5)).mul(factor.mul(first_factor).mul(second_factor))
    }
}

/// A finite factor and a rest such that `e^x = factor * e^rest`.
#[inline(always)]
fn split_exponential<F: FloatLane>(x: F) -> (F, F) {
    let split = F::constant(SPLIT);
    let is_large = split.less(x);
    let factor = F::select(is_large, F::constant(E_TO_SPLIT), F::constant(1.0));
    (factor, F::select(is_large, x.sub(split), x))
}

/// `e^x - 1` as `expm1(re) cos(im) - 2 sin²(im / 2)` and `e^re sin(im)`, which do not cancel.
#[inline(always)]
pub fn expm1<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let half_sine = float::sin(x.im.mul(F::constant(0.5)));
    let versine = F::constant(2.0).mul(half_sine.mul(half_sine));
    let without_cancellation = float::expm1(x.re).mul(float::cos(x.im)).sub(versine);
    let power = exp(x);
    // Far from 0 the 1 is negligible, and `exp` has the special values.
    let is_far = x.re.abs().less(F::constant(SPLIT)).not().or(float::is_finite(x.im).not());
    let one = F::constant(1.0);
    Complex::new(F::select(is_far, power.re.sub(one), without_cancellation), power.im)
}

indim_lanes::shared_by_recordings! {
    /// `log |x| + j arg x`, as C99's `clog`.
    pub fn log<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        Complex::new(log_modulus(x), float::atan2(x.im, x.re))
    }
}

indim_lanes::shared_by_recordings! {
    /// `log |x|`: near the unit circle from `|x|² - 1`, computed to twice the precision; elsewhere from
    /// the modulus, scaled so that it does not overflow.
    fn log_modulus<F: FloatLane>(x: Complex<F>) -> F {
        let (re, im) = (x.re.abs(), x.im.abs());
        let (larger, smaller) = (float::max(re, im), float::min(re, im));
        let excess = sum_of_squares_less_one(larger, smaller);
        let near_unit_circle = F::constant(0.5).mul(float::log1p(excess));
        let ScaledComplex { number, exponent } = ScaledComplex::of(x);
        let scale = F::from_int(exponent).mul(F::constant(core::f64::consts::LN_2));
        let from_modulus = float::log(float::hypot(number.re, number.im)).add(scale);
        let is_near_unit_circle = excess.abs().less(F::constant(0.5));
        let finite = F::select(is_near_unit_circle, near_unit_circle, from_modulus);
        // Infinities count even with a NaN; `ScaledComplex` leaves both unchanged.
        F::select(float::is_inf(re).or(float::is_inf(im)), F::constant(f64::INFINITY), finite)
    }
}

/// `log(1 + x)`; near 0 from `|1 + x|² - 1 = re (2 + re) + im²`.
#[inline(always)]
pub fn log1p<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let shifted = add(real_one(), x);
    let excess = x.re.mul(F::constant(2.0).add(x.re)).add(x.im.mul(x.im));
    let near_zero = F::constant(0.5).mul(float::log1p(excess));
    let modulus = log_modulus(shifted);
    let is_near_zero = x.re.abs().less(F::constant(0.25)).and(x.im.abs().less(F::constant(0.25)));
    Complex::new(F::select(is_near_zero, near_zero, modulus), float::atan2(x.im, shifted.re))
}

/// `e^(y log x)`; `x^0 = 1`, and 0 to a power with a positive real part is 0, as in NumPy.
///
/// The error grows with `|y log x|`, because the product is rounded before the exponential.
#[inline(always)]
pub fn pow<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    let nan = F::constant(f64::NAN);
    let ordinary = exp(mul(y, log(x)));
    let power_of_zero = F::select(zero::<F>().less(y.re), zero(), nan);
    let result = Complex::select(is_zero(x), Complex::new(power_of_zero, power_of_zero), ordinary);
    Complex::select(is_zero(y), real_one(), result)
}

indim_lanes::shared_by_recordings! {
    /// The square root with a real part of at least 0, as C99's `csqrt`.
    ///
    /// Source: W. Kahan, Branch Cuts for Complex Elementary Functions (1987): with
    /// `t = sqrt((|re| + |x|) / 2)`, the parts are `t` and `im / (2 t)`, exchanged for `re < 0`.
    pub fn sqrt<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let half = F::constant(0.5);
        let ScaledComplex { number, exponent } = ScaledComplex::of(x);
        // An even exponent, so that its half is an integer.
        let parity = exponent.and(F::Bits::constant(1));
        let number = Complex::new(scale(number.re, parity), scale(number.im, parity));
        let half_exponent = exponent.sub(parity).shr_arithmetic(F::Bits::constant(1));
        let modulus = float::hypot(number.re, number.im);
        let root = half.mul(number.re.abs().add(modulus)).sqrt();
        let is_left = number.re.less(zero());
        let root = scale(root, half_exponent);
        // From the unscaled part: if the real part is much larger, the scaled one may be zero.
        let other = x.im.abs().div(root).mul(half);
        let re = F::select(is_left, other, root);
        let im = copysign(F::select(is_left, root, other), x.im);
        with_special_roots(x, Complex::new(re, im))
    }
}

#[inline(always)]
fn with_special_roots<F: FloatLane>(x: Complex<F>, ordinary: Complex<F>) -> Complex<F> {
    let (infinity, nan) = (F::constant(f64::INFINITY), F::constant(f64::NAN));
    let finite_part = F::select(float::is_nan(x.im), nan, zero());
    let right = Complex::new(infinity, copysign(finite_part, x.im));
    let left = Complex::new(finite_part, copysign(infinity, x.im));
    let is_left = x.re.less(zero());
    let infinite_root = Complex::select(is_left, left, right);
    let result = Complex::select(is_nan(x), Complex::new(nan, nan), ordinary);
    let result = Complex::select(float::is_inf(x.re), infinite_root, result);
    let result = Complex::select(is_zero(x), Complex::new(zero(), x.im), result);
    Complex::select(float::is_inf(x.im), Complex::new(infinity, x.im), result)
}

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    reciprocal(sqrt(x))
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn logistic<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    div(real_one(), add(real_one(), exp(neg(x))))
}
