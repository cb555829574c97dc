//! The operations on complex numbers, over pairs of lanes.
//!
//! Each function states its formula and source. Error bounds of the parts are relative to the modulus of
//! the result, because a part may be a difference of large terms. Special values are those of C99, annex G,
//! as in NumPy and XLA. Products use the plain formula, as NumPy and XLA do.
//!
//! In this module, use the `copysign` of this file, which ignores the sign of a NaN, and never the
//! `copysign` of `float`.
//!
//! `c64` computes in `c128`, except for functions of a few additions and products.
//!
//! - `exponential.rs`: exponentials, logarithms, powers and roots of complex numbers;
//! - `inverse.rs`: inverse trigonometric and hyperbolic functions of complex numbers, with the branch cuts
//!   of C99;
//! - `trigonometric.rs`: trigonometric and hyperbolic functions of complex numbers, like C99's `csinh`,
//!   `ccosh`, `ctanh`.

mod exponential;
mod inverse;
mod trigonometric;

pub use exponential::{exp, expm1, log, log1p, logistic, pow, rsqrt, sqrt};
pub use inverse::{acos, acosh, asin, asinh, atan, atanh};
pub use trigonometric::{cos, cosh, sin, sinh, tan, tanh};

use super::float;
use crate::complex::Complex;
use indim_lanes::elementary::scale;
use indim_lanes::lane::{BoolLane, FloatLane, IntLane, Lane};

#[inline(always)]
fn zero<F: FloatLane>() -> F {
    F::constant(0.0)
}

#[inline(always)]
fn one<F: FloatLane>() -> F {
    F::constant(1.0)
}

#[inline(always)]
fn real_one<F: FloatLane>() -> Complex<F> {
    Complex::new(one(), zero())
}

indim_lanes::shared_by_recordings! {
    /// The magnitude of `x` with the sign of `sign`; a NaN counts as positive. IEEE 754 leaves the sign of
    /// a NaN that an operation produces to the processor, so no result may depend on this sign. C99 defines
    /// the signs of zeros and infinities only.
    fn copysign<F: FloatLane>(x: F, sign: F) -> F {
        float::copysign(x, F::select(float::is_nan(sign), one(), sign))
    }
}

/// `j z`.
#[inline(always)]
fn times_j<F: FloatLane>(z: Complex<F>) -> Complex<F> {
    Complex::new(z.im.neg(), z.re)
}

/// `-j z`.
#[inline(always)]
fn times_minus_j<F: FloatLane>(z: Complex<F>) -> Complex<F> {
    Complex::new(z.im, z.re.neg())
}

/// Both signs flipped.
#[inline(always)]
pub fn neg<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    Complex::new(x.re.neg(), x.im.neg())
}

/// The modulus; infinite if a part is, even if the other is a NaN.
#[inline(always)]
pub fn abs<F: FloatLane>(x: Complex<F>) -> F {
    float::hypot(x.re, x.im)
}

/// The real part.
#[inline(always)]
pub fn real<F: FloatLane>(x: Complex<F>) -> F {
    x.re
}

/// The imaginary part.
#[inline(always)]
pub fn imag<F: FloatLane>(x: Complex<F>) -> F {
    x.im
}

/// The imaginary part's sign flipped.
#[inline(always)]
pub fn conj<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    Complex::new(x.re, x.im.neg())
}

/// `x / abs(x)`; 0 for 0. Like NumPy: if one part is infinite, ±1 or ±j in its direction; NaNs if both
/// parts are infinite.
#[inline(always)]
pub fn sign<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let nan = F::constant(f64::NAN);
    let scaled = ScaledComplex::of(x).number;
    let modulus = abs(scaled);
    let finite = Complex::new(scaled.re.div(modulus), scaled.im.div(modulus));
    let (is_re_infinite, is_im_infinite) = (float::is_inf(x.re), float::is_inf(x.im));
    let re_unit = Complex::new(copysign(one(), x.re), zero());
    let im_unit = Complex::new(zero(), copysign(one(), x.im));
    let unit = Complex::select(is_re_infinite, re_unit, im_unit);
    let numbers = Complex::select(is_re_infinite.or(is_im_infinite), unit, finite);
    // An infinite part determines the result even if the other is a NaN.
    let is_undefined = is_nan(x).and(is_inf(x).not()).or(is_re_infinite.and(is_im_infinite));
    let result = Complex::select(is_undefined, Complex::new(nan, nan), numbers);
    Complex::select(is_zero(x), Complex::new(zero(), zero()), result)
}

/// Whether both parts are finite.
#[inline(always)]
pub fn is_finite<F: FloatLane>(x: Complex<F>) -> F::Bool {
    float::is_finite(x.re).and(float::is_finite(x.im))
}

/// Whether either part is a NaN.
#[inline(always)]
pub fn is_nan<F: FloatLane>(x: Complex<F>) -> F::Bool {
    float::is_nan(x.re).or(float::is_nan(x.im))
}

/// Whether either part is infinite.
#[inline(always)]
pub fn is_inf<F: FloatLane>(x: Complex<F>) -> F::Bool {
    float::is_inf(x.re).or(float::is_inf(x.im))
}

#[inline(always)]
fn is_zero<F: FloatLane>(x: Complex<F>) -> F::Bool {
    x.re.equal(zero()).and(x.im.equal(zero()))
}

/// Sum.
#[inline(always)]
pub fn add<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    Complex::new(x.re.add(y.re), x.im.add(y.im))
}

/// Difference.
#[inline(always)]
pub fn sub<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    Complex::new(x.re.sub(y.re), x.im.sub(y.im))
}

indim_lanes::shared_by_recordings! {
    /// `(a c - b d) + (a d + b c) j`, each product and sum rounded.
    pub fn mul<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
        Complex::new(
            x.re.mul(y.re).sub(x.im.mul(y.im)),
            // With exchanged operands the two terms change places, so the sum has the same bits.
            x.re.mul(y.im).add(x.im.mul(y.re)),
        )
    }
}

/// `x²`, by the formula of the product.
#[inline(always)]
pub fn square<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    mul(x, x)
}

/// `(x - y)²`.
#[inline(always)]
pub fn squared_difference<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    square(sub(x, y))
}

/// `number * 2^exponent`; the larger part of `number` has a magnitude from 1 to 2, or less if it was
/// subnormal.
#[derive(Clone, Copy)]
struct ScaledComplex<F: FloatLane> {
    number: Complex<F>,
    exponent: F::Bits,
}

impl<F: FloatLane> ScaledComplex<F> {
    /// Extracts the exponent of the larger part. Zeros, infinities and NaNs have the exponent 0.
    #[inline(always)]
    fn of(x: Complex<F>) -> Self {
        let larger = float::max(x.re.abs(), x.im.abs());
        let mantissa_bits = F::Bits::constant(i64::from(F::MANTISSA_BITS));
        let bias = F::constant(1.0).to_bits().shr_logical(mantissa_bits);
        let exponent = larger.to_bits().shr_logical(mantissa_bits).sub(bias);
        let is_ordinary = float::is_finite(larger).and(larger.equal(zero()).not());
        let exponent = F::Bits::select(is_ordinary, exponent, F::Bits::constant(0));
        let shift = F::Bits::constant(0).sub(exponent);
        let number = Complex::new(scale(x.re, shift), scale(x.im, shift));
        ScaledComplex { number, exponent }
    }
}

indim_lanes::shared_by_recordings! {
    /// Quotient: `(x conj(y)) / |y|²` of operands scaled by powers of two, so that no intermediate result
    /// overflows or underflows; infinities and zeros as in C99, annex G.5.1.
    pub fn div<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
        let (dividend, divisor) = (ScaledComplex::of(x), ScaledComplex::of(y));
        let (a, b, c) = (dividend.number, divisor.number, conj(divisor.number));
        let norm = b.re.mul(b.re).add(b.im.mul(b.im));
        let product = mul(a, c);
        let exponent = dividend.exponent.sub(divisor.exponent);
        let quotient =
            Complex::new(scale(product.re.div(norm), exponent), scale(product.im.div(norm), exponent));
        with_special_quotients(x, y, quotient)
    }
}

indim_lanes::shared_by_recordings! {
    /// The quotient with the results of C99, annex G.5.1, for a zero divisor and for infinite operands;
    /// otherwise `ordinary`.
    fn with_special_quotients<F: FloatLane>(
        x: Complex<F>,
        y: Complex<F>,
        ordinary: Complex<F>,
    ) -> Complex<F> {
        let infinity = F::constant(f64::INFINITY);
        let signed = copysign(infinity, y.re);
        let by_zero = Complex::new(signed.mul(x.re), signed.mul(x.im));
        // Only the directions of the infinite parts of an infinite operand count.
        let product = mul(directions(x), conj(y));
        let infinite_quotient = Complex::new(infinity.mul(product.re), infinity.mul(product.im));
        let product = mul(x, conj(directions(y)));
        let by_infinity = Complex::new(zero::<F>().mul(product.re), zero::<F>().mul(product.im));
        let result = Complex::select(is_zero(y), by_zero, ordinary);
        let result =
            Complex::select(is_inf(x).and(is_finite(y)).and(is_zero(y).not()), infinite_quotient, result);
        Complex::select(is_finite(x).and(is_inf(y)), by_infinity, result)
    }
}

/// ±1 for infinite parts, ±0 for others.
#[inline(always)]
fn directions<F: FloatLane>(x: Complex<F>) -> Complex<F> {
    let direction = |part: F| copysign(F::select(float::is_inf(part), one(), zero()), part);
    Complex::new(direction(x.re), direction(x.im))
}

indim_lanes::shared_by_recordings! {
    /// `conj(x) / |x|²` of the scaled operand; infinities and zeros as in the quotient.
    pub fn reciprocal<F: FloatLane>(x: Complex<F>) -> Complex<F> {
        let ScaledComplex { number, exponent } = ScaledComplex::of(x);
        let norm = number.re.mul(number.re).add(number.im.mul(number.im));
        let shift = F::Bits::constant(0).sub(exponent);
        let ordinary =
            Complex::new(scale(number.re.div(norm), shift), scale(number.im.neg().div(norm), shift));
        let infinite = copysign(F::constant(f64::INFINITY), x.re);
        let reciprocal_of_zero = Complex::new(infinite, F::constant(f64::NAN));
        let reciprocal_of_infinity = Complex::new(copysign(zero(), x.re), copysign(zero(), x.im).neg());
        let result = Complex::select(is_zero(x), reciprocal_of_zero, ordinary);
        Complex::select(is_inf(x), reciprocal_of_infinity, result)
    }
}

/// Equality of both parts; false with a NaN.
#[inline(always)]
pub fn eq<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> F::Bool {
    x.re.equal(y.re).and(x.im.equal(y.im))
}

/// Inequality of any part; true with a NaN.
#[inline(always)]
pub fn ne<F: FloatLane>(x: Complex<F>, y: Complex<F>) -> F::Bool {
    eq(x, y).not()
}

/// The second operand if the first holds, else the third.
#[inline(always)]
pub fn select<F: FloatLane>(
    condition: F::Bool,
    on_true: Complex<F>,
    on_false: Complex<F>,
) -> Complex<F> {
    Complex::select(condition, on_true, on_false)
}
