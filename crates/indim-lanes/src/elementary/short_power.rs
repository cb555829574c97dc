//! Powers with small exponents that are whole or half-integers, as a few products and a square root.
//!
//! In 64 bits every factor is a pair, so that only the last step rounds. Narrower floats compute in 64 bits,
//! where plain products are exact enough. If the exponent is known at compile time, little code is left.

use super::pair::Pair;
use super::power::rsqrt;
use crate::lane::{BoolLane, FloatBits, FloatLane, IntLane, Lane};

/// Whether this file computes `x^y`: for a whole `y` from -3 to 16 except 0, and for -2.5, -1.5, -0.5, 0.5,
/// 1.5 and 2.5.
#[inline(always)]
pub fn is_short_exponent<F: FloatLane>(y: F) -> F::Bool {
    let (zero, three) = (F::constant(0.0), F::constant(3.0));
    let twice = y.add(y);
    let is_near = y.abs().less(F::constant(3.25)).and(twice.trunc().equal(twice));
    let is_further = three.less(y).and(y.less(F::constant(16.5))).and(y.trunc().equal(y));
    is_near.or(is_further).and(y.equal(zero).not())
}

/// `x^y` for `x >= 0` and an exponent that [`is_short_exponent`] accepts; arbitrary for any other exponent.
#[inline(always)]
pub(super) fn short_power<F: FloatLane>(x: F, y: F) -> F {
    let is_narrow = 2 * (F::MANTISSA_BITS + 1) <= F::Wide::MANTISSA_BITS;
    F::narrow(power_in_64_bits(x.widen(), y.widen(), !is_narrow))
}

/// [`short_power`] of 64-bit floats. Factors are pairs if `is_exact`, else plain floats.
#[inline(always)]
fn power_in_64_bits<F: FloatLane>(x: F, y: F, is_exact: bool) -> F {
    let magnitude = y.abs();
    let whole = magnitude.trunc();
    let (is_inverse, has_root) = (y.less(F::constant(0.0)), whole.less(magnitude));
    let base = Pair::select(is_inverse, reciprocal(x, is_exact), single(x));
    let product = product_of_powers(base, whole.to_int(), has_root, is_exact);
    // The powers -1, -1/2 and 1/2 have the bits of one operation: the quotient, `rsqrt` and `sqrt`.
    let lone_root = F::select(is_inverse, rsqrt(x), x.sqrt());
    let is_lone_root = magnitude.equal(F::constant(0.5));
    let value = F::select(is_lone_root, lone_root, value(product, is_exact));
    F::select(y.equal(F::constant(-1.0)), base.high, value)
}

/// `base^count`, times the square root of the base if `has_root`, by repeated squaring.
#[inline(always)]
fn product_of_powers<F: FloatLane>(
    base: Pair<F>,
    count: F::Bits,
    has_root: F::Bool,
    is_exact: bool,
) -> Pair<F> {
    let mut result = if is_exact { base.sqrt() } else { single(base.high.sqrt()) };
    let mut is_empty = has_root.not();
    let mut power = base;
    for bit in 0..5 {
        let weight = F::Bits::constant(1 << bit);
        let is_factor = count.and(weight).equal(weight);
        let first = is_factor.and(is_empty);
        let more = Pair::select(is_factor, multiply(result, power, is_exact), result);
        result = Pair::select(first, power, more);
        is_empty = is_empty.and(is_factor.not());
        power = multiply(power, power, is_exact);
    }
    result
}

#[inline(always)]
fn single<F: FloatLane>(high: F) -> Pair<F> {
    Pair { high, low: F::constant(0.0) }
}

#[inline(always)]
fn multiply<F: FloatLane>(x: Pair<F>, y: Pair<F>, is_exact: bool) -> Pair<F> {
    if is_exact { x.mul(y) } else { single(x.high.mul(y.high)) }
}

#[inline(always)]
fn reciprocal<F: FloatLane>(x: F, is_exact: bool) -> Pair<F> {
    let high = F::constant(1.0).div(x);
    let low = high.mul(high.neg().mul_add(x, F::constant(1.0)));
    if is_exact { Pair { high, low } } else { single(high) }
}

/// The rounded pair. The low part is ignored unless it is finite, because it is arbitrary if the high part
/// is 0 or infinite.
#[inline(always)]
fn value<F: FloatLane>(x: Pair<F>, is_exact: bool) -> F {
    let is_number = x.low.abs().less(F::constant(f64::INFINITY));
    if is_exact { F::select(is_number, x.value(), x.high) } else { x.high }
}
