//! Powers and roots: `pow`, `rsqrt`, `cbrt`, `hypot`. `short_power.rs` has the powers with small exponents.

use super::exp::exponential_of_pair;
use super::log::log_accurate;
use super::pair::{Pair, two_product, two_sum, two_sum_ordered};
use super::short_power::{is_short_exponent, short_power};
use super::{by_width, float_of_small, horner, is_single, power_of_two};
use crate::float::{copysign, is_finite, is_inf, is_nan, max, min};
use crate::lane::{BoolLane, FloatBits, FloatLane, IntLane, Lane};

/// `1 / sqrt(x)`: the quotient by the rounded root, corrected by the rounding errors of root and quotient.
#[inline(always)]
pub fn rsqrt<F: FloatLane>(x: F) -> F {
    let one = F::constant(1.0);
    // If the error of the root would be subnormal, the root is computed for x * 4^n.
    let is_small = x.less(by_width(1.0e-24, 1.0e-270));
    let two_to_n: F = by_width(1_099_511_627_776.0, 1.152921504606847e18);
    let scaled = F::select(is_small, x.mul(two_to_n).mul(two_to_n), x);
    let root = scaled.sqrt();
    let quotient = one.div(root);
    let root_error = root.neg().mul_add(root, scaled);
    let quotient_error = quotient.neg().mul_add(root, one);
    let half_relative = F::constant(0.5).mul(root_error.mul(quotient).mul(quotient));
    let refined = quotient.mul_add(quotient_error.sub(half_relative), quotient);
    let result = F::select(is_small, refined.mul(two_to_n), refined);
    // At ±0, infinity and below zero, the uncorrected quotient already is the result.
    let is_ordinary = F::constant(0.0).less(x).and(is_finite(x));
    F::select(is_ordinary, result, quotient)
}

/// `x^y` with the special cases of C99 (annex F.9.4.4).
#[inline(always)]
pub fn pow<F: FloatLane>(x: F, y: F) -> F {
    let (short, long) = (short_power(x.abs(), y), magnitude_of_power(x.abs(), y));
    with_sign_of_power(x, y, F::select(is_short_exponent(y), short, long))
}

/// [`pow`] for exponents that are not short: the same bits at lower cost.
#[inline(always)]
pub fn long_pow<F: FloatLane>(x: F, y: F) -> F {
    with_sign_of_power(x, y, magnitude_of_power(x.abs(), y))
}

/// `x^y`, given `|x|^y`.
#[inline(always)]
fn with_sign_of_power<F: FloatLane>(x: F, y: F, magnitude: F) -> F {
    let (zero, one) = (F::constant(0.0), F::constant(1.0));
    let is_whole = y.trunc().equal(y);
    let half = y.mul(F::constant(0.5));
    let is_odd = is_whole.and(half.trunc().equal(half).not());
    let signed = F::select(is_odd, copysign(magnitude, x), magnitude);
    let is_root_of_negative = x.less(zero).and(is_finite(x)).and(is_whole.not());
    let is_undefined = is_root_of_negative.or(is_nan(x)).or(is_nan(y));
    let result = F::select(is_undefined, F::constant(f64::NAN), signed);
    F::select(y.equal(zero).or(x.equal(one)), one, result)
}

/// `x^y` for a number `x >= 0`, as `e^(y log x)` with the exponent as a pair.
#[inline(always)]
fn magnitude_of_power<F: FloatLane>(x: F, y: F) -> F {
    let infinity = F::constant(f64::INFINITY);
    let (zero, one) = (F::constant(0.0), F::constant(1.0));
    let ordinary = log_accurate(x);
    let at_infinity = F::select(x.equal(infinity), infinity, ordinary.high);
    let log =
        Pair { high: F::select(x.equal(zero), infinity.neg(), at_infinity), low: ordinary.low };
    let product = two_product(y, log.high).add_low(y.mul(log.low));
    // Beyond the limit the power is 0 or infinite, while the low part may be a NaN.
    let limit: F = by_width(120.0, 760.0);
    let is_inside = product.high.abs().less(limit);
    let outside = Pair { high: copysign(limit, product.high), low: zero };
    let power = exponential_of_pair(Pair::select(is_inside, product, outside)).value();
    // (±1)^±inf: the product is 0 times infinity, a NaN.
    F::select(x.equal(one), one, power)
}

/// `r^(-1/3)` around 1.
const INVERSE_CUBE_ROOT: [f64; 5] = [
    1.875697864767945,
    -1.8837947374971504,
    1.6194005989314226,
    -0.7568799057165319,
    0.14557617951431479,
];

/// The cube root, with the sign of `x`.
#[inline(always)]
pub fn cbrt<F: FloatLane>(x: F) -> F {
    let magnitude = if is_single::<F>() {
        single_cube_root(x.abs())
    } else {
        F::narrow(cube_root(x.abs().widen()))
    };
    let is_ordinary = is_finite(x).and(x.equal(F::constant(0.0)).not());
    F::select(is_ordinary, copysign(magnitude, x), x)
}

/// The cube root of a positive number of 32 bits. The method is that of [`cube_root`]; the last step is one
/// of Newton's rule, and takes the inverse root in place of a quotient.
#[inline(always)]
fn single_cube_root<F: FloatLane>(x: F) -> F {
    // The residual of a small number would be subnormal, the cube of the root of a large one may be infinite:
    // they are multiplied by 2^60 and by 1/8.
    let is_small = x.less(F::constant(8.271806125530277e-25));
    let by_scale =
        |small: f64, other: f64| F::select(is_small, F::constant(small), F::constant(other));
    let scaled = x.mul(by_scale(1.152921504606847e18, 0.125));
    // The upper 22 bits of the pattern, divided by -3 as a float, whose last bits are then an integer.
    let dropped = F::Bits::constant(9);
    let upper = float_of_small::<F>(scaled.to_bits().shr_logical(dropped));
    let pattern = F::constant(-1.0 / 3.0).mul_add(upper, F::constant(12_582_912.0 + 2_773_240.0));
    let guess = F::from_bits(pattern.to_bits().shl(dropped)).abs();
    let ratio = scaled.mul(guess).mul(guess.mul(guess));
    let inverse = guess.mul(horner(ratio, &INVERSE_CUBE_ROOT));
    let inverse_square = inverse.mul(inverse);
    let root = scaled.mul(inverse_square);
    let square = two_product(root, root);
    let cube = two_product(square.high, root);
    let residual = scaled.sub(cube.high).sub(square.low.mul_add(root, cube.low));
    let step = residual.mul(inverse_square).mul(F::constant(1.0 / 3.0));
    root.add(step).mul(by_scale(9.5367431640625e-7, 2.0))
}

/// The cube root of a positive number.
///
/// Method (Kahan; fdlibm): the first estimate, of the inverse root, comes from the bit pattern, whose
/// exponent is divided by -3. A polynomial improves it to 23 bits. One step of Halley's rule, with an exact
/// residual, gives the root to more than 53 bits before the last rounding.
#[inline(always)]
fn cube_root<F: FloatLane>(x: F) -> F {
    let is_small = x.less(F::constant(1.0e-290));
    let scaled = F::select(is_small, x.mul(F::constant(1.152921504606847e18)), x);
    // x = m * 8^k with m in 1 ... 8. A multiplication divides the biased exponent, at most 2046, by 3.
    let exponent = scaled.to_bits().shr_logical(F::Bits::constant(52));
    let third = exponent.mul(F::Bits::constant(0x5556)).shr_logical(F::Bits::constant(16));
    let thrice = third.mul(F::Bits::constant(3));
    let shift = thrice.sub(F::Bits::constant(1023)).shl(F::Bits::constant(52));
    let m = F::from_bits(scaled.to_bits().sub(shift));
    let upper = m.to_bits().shr_logical(F::Bits::constant(32));
    let divided = upper.mul(F::Bits::constant(0x5555_5556)).shr_logical(F::Bits::constant(32));
    let pattern = F::Bits::constant(0x553e_e8b4).sub(divided).shl(F::Bits::constant(32));
    let guess = F::from_bits(pattern);
    let ratio = m.mul(guess.mul(guess).mul(guess));
    let inverse = guess.mul(horner(ratio, &INVERSE_CUBE_ROOT));
    let root = m.mul(inverse).mul(inverse);
    let square = two_product(root, root);
    let cube = two_product(square.high, root);
    let residual = m.sub(cube.high).sub(square.low.mul_add(root, cube.low));
    let step = residual.div(cube.high.add(cube.high).add(m));
    let refined = root.mul_add(step, root);
    let back: F = power_of_two(third.sub(F::Bits::constant(341)));
    let result = refined.mul(back);
    F::select(is_small, result.mul(F::constant(9.5367431640625e-7)), result)
}

/// `sqrt(x² + y²)` without overflow; infinite if either operand is infinite, even if the other is a NaN.
/// Computed in 64 bits.
#[inline(always)]
pub fn hypot<F: FloatLane>(x: F, y: F) -> F {
    let (x, y) = (x.widen().abs(), y.widen().abs());
    let either_infinite = is_inf(x).or(is_inf(y));
    // In 64 bits the squares of narrower floats are exact, and do not overflow.
    let is_narrow = 2 * (F::MANTISSA_BITS + 1) <= F::Wide::MANTISSA_BITS;
    let length = match is_narrow {
        true => x.mul(x).add(y.mul(y)).sqrt(),
        false => length(x, y),
    };
    F::narrow(F::Wide::select(either_infinite, F::Wide::constant(f64::INFINITY), length))
}

crate::shared_by_recordings! {
    /// `sqrt(x² + y²)` for `x, y >= 0`, with both squares as pairs.
    fn length<F: FloatLane>(x: F, y: F) -> F {
        let (larger, smaller) = (max(x, y), min(x, y));
        // Scaling by 2^-600 or 2^600 keeps both squares and their errors in range. Multiplying by the inverse
        // undoes it exactly, at lower cost than a division.
        let down = F::constant(2.409919865102884e-181);
        let up = F::constant(4.149515568880993e180);
        let one = F::constant(1.0);
        let is_large = F::constant(1.0e150).less(larger);
        let is_small = larger.less(F::constant(1.0e-130));
        let factor = F::select(is_small, up, F::select(is_large, down, one));
        let inverse = F::select(is_small, down, F::select(is_large, up, one));
        let (a, b) = (larger.mul(factor), smaller.mul(factor));
        let (a_square, b_square) = (two_product(a, a), two_product(b, b));
        let sum = two_sum_ordered(a_square.high, b_square.high).add_low(a_square.low.add(b_square.low));
        sum.sqrt().value().mul(inverse)
    }
}

crate::shared_by_recordings! {
    /// `x² + y² - 1` for `x >= y >= 0`, with nearly twice the precision if the result is small; used by the
    /// logarithm of a modulus near 1.
    pub fn sum_of_squares_less_one<F: FloatLane>(x: F, y: F) -> F {
        let (x_square, y_square) = (two_product(x, x), two_product(y, y));
        // Exact for x² between 1/2 and 2.
        let excess = x_square.high.sub(F::constant(1.0));
        two_sum(excess, y_square.high).add_low(x_square.low.add(y_square.low)).value()
    }
}
