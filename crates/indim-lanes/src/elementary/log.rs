//! Logarithms: `log`, `log2`, `log10`, `log1p`, and a more precise one for `pow`.
//!
//! Method (fdlibm): `x = 2^k m` with `m` between `sqrt ½` and `sqrt 2`, `f = m - 1`,
//! `s = f / (2 + f)`, so `log m = 2 atanh s = f - (f²/2 - s (f²/2 + s² P(s²)))`.

use core::f64::consts::{LOG2_E, LOG10_E};

use super::pair::{Pair, two_sum, two_sum_ordered};
use super::{by_width, float_of_small, mantissa_bits, pair_constant, polynomial};
use crate::lane::{FloatLane, IntLane};

/// `(atanh(s) / s - 1) * 2 / s²` in `s²`.
const LOG_TAIL_SINGLE: [f64; 3] = [0.6666668522977863, 0.3998870284730984, 0.29583470803753925];
const LOG_TAIL_DOUBLE: [f64; 7] = [
    0.666666666666667,
    0.39999999999897407,
    0.2857142862692574,
    0.22222210979939397,
    0.18182900388734136,
    0.15331347838923945,
    0.14621061714227743,
];

/// The series above without its first term, 2/3, divided by `s²`.
const LOG_THIRD_SINGLE: [f64; 3] = [0.4000001520706263, 0.28562174267387197, 0.23051039703233206];
const LOG_THIRD_DOUBLE: [f64; 8] = [
    0.4,
    0.28571428571429386,
    0.22222222221644383,
    0.1818181833799583,
    0.15384594684851938,
    0.13334819770362127,
    0.11705833279123443,
    0.11727386461497036,
];

/// `2^exponent * significand`, with a significand between `sqrt ½` and `sqrt 2`.
struct FloatParts<F> {
    exponent: F,
    significand: F,
}

/// The parts of a positive number. Other floats give arbitrary finite numbers or a NaN.
#[inline(always)]
fn split<F: FloatLane>(x: F) -> FloatParts<F> {
    let is_subnormal = x.less(by_width(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = F::select(is_subnormal, x.mul(by_width(16_777_216.0, 9_007_199_254_740_992.0)), x);
    let bits = normal.to_bits();
    // The exponent is computed relative to the pattern of sqrt ½, so that it changes at sqrt ½ and not at
    // 1.
    let offset = F::constant(core::f64::consts::FRAC_1_SQRT_2).to_bits();
    let exponent_bits = bits.sub(offset).shr_arithmetic(mantissa_bits::<F>());
    let significand = F::from_bits(bits.sub(exponent_bits.shl(mantissa_bits::<F>())));
    let shift = F::select(is_subnormal, by_width(-24.0, -53.0), F::constant(0.0));
    FloatParts { exponent: float_of_small::<F>(exponent_bits).add(shift), significand }
}

/// `f - log(1 + f)`.
#[inline(always)]
fn log_deficit<F: FloatLane>(f: F) -> F {
    let s = f.div(F::constant(2.0).add(f));
    let z = s.mul(s);
    let half_square = F::constant(0.5).mul(f).mul(f);
    let tail = z.mul_add(polynomial(z, &LOG_TAIL_SINGLE, &LOG_TAIL_DOUBLE), half_square);
    s.neg().mul_add(tail, half_square)
}

/// `exponent * unit + part`: the logarithm of a float from its exponent and from `part`, the logarithm of
/// its significand. The high part of `unit` has so few bits that its product with the exponent is exact.
#[inline(always)]
fn add_exponent<F: FloatLane>(exponent: F, unit: Pair<F>, part: Pair<F>) -> Pair<F> {
    let sum = two_sum_ordered(exponent.mul(unit.high), part.high);
    sum.add_low(exponent.mul_add(unit.low, part.low))
}

/// `ln 2` with a high part of 16 or 42 bits.
#[inline(always)]
fn ln_2_short<F: FloatLane>() -> Pair<F> {
    Pair {
        high: by_width(0.693145751953125, 0.6931471805598903),
        low: by_width(1.4286068203094173e-06, 5.497923018708371e-14),
    }
}

/// `ordinary` for a positive finite `x`; otherwise the logarithm of zero, a negative number, infinity or a
/// NaN.
#[inline(always)]
fn with_special_values<F: FloatLane>(x: F, ordinary: F) -> F {
    let infinity = F::constant(f64::INFINITY);
    let finite = F::select(x.less(infinity), ordinary, x);
    let below = F::select(x.less(F::constant(0.0)), F::constant(f64::NAN), finite);
    F::select(x.equal(F::constant(0.0)), infinity.neg(), below)
}

crate::shared_by_recordings! {
    /// The natural logarithm.
    pub fn log<F: FloatLane>(x: F) -> F {
        let FloatParts { exponent, significand } = split(x);
        let f = significand.sub(F::constant(1.0));
        let part = Pair { high: f, low: log_deficit(f).neg() };
        with_special_values(x, add_exponent(exponent, ln_2_short(), part).value())
    }
}

crate::shared_by_recordings! {
    /// The natural logarithm of `1 + x`.
    pub fn log1p<F: FloatLane>(x: F) -> F {
        let ordinary = log_of_pair(two_sum(F::constant(1.0), x), F::constant(0.0));
        // For a tiny `x` the result is `x`, because x²/2 is below its last bit. This also keeps the sign of
        // zero.
        let is_tiny = x.abs().less(by_width(2.9e-8, 5.5e-17));
        F::select(is_tiny, x, ordinary)
    }
}

/// `log(x) + doublings * log(2)`: the logarithm of the high part, corrected by the low part.
#[inline(always)]
pub(super) fn log_of_pair<F: FloatLane>(x: Pair<F>, doublings: F) -> F {
    with_special_values(x.high, ordinary_log(x, doublings).value())
}

/// The logarithm of a positive number as a pair; the low part is small against the high part.
#[inline(always)]
pub(super) fn log_pair<F: FloatLane>(x: Pair<F>) -> Pair<F> {
    ordinary_log(x, F::constant(0.0))
}

crate::shared_by_recordings! {
    /// `log(x) + doublings * log(2)` of a positive number, as a pair.
    fn ordinary_log<F: FloatLane>(x: Pair<F>, doublings: F) -> Pair<F> {
        let FloatParts { exponent, significand } = split(x.high);
        let f = significand.sub(F::constant(1.0));
        let correction = x.low.div(x.high);
        let part = Pair { high: f, low: correction.sub(log_deficit(f)) };
        add_exponent(exponent.add(doublings), ln_2_short(), part)
    }
}

/// The logarithm of the significand in another base: `factor * log(1 + f)`.
#[inline(always)]
fn log_in_base<F: FloatLane>(significand: F, factor: Pair<F>) -> Pair<F> {
    let f = significand.sub(F::constant(1.0));
    Pair { high: f, low: log_deficit(f).neg() }.normalized().mul(factor)
}

/// The logarithm to base 2.
#[inline(always)]
pub fn log2<F: FloatLane>(x: F) -> F {
    let FloatParts { exponent, significand } = split(x);
    let part = log_in_base(significand, pair_constant(LOG2_E, 2.0355273740931033e-17));
    let unit = Pair { high: F::constant(1.0), low: F::constant(0.0) };
    with_special_values(x, add_exponent(exponent, unit, part).value())
}

/// The logarithm to base 10.
#[inline(always)]
pub fn log10<F: FloatLane>(x: F) -> F {
    let FloatParts { exponent, significand } = split(x);
    let part = log_in_base(significand, pair_constant(LOG10_E, 1.098319650216765e-17));
    // log10(2) with a high part of 16 or 42 bits.
    let unit = Pair {
        high: by_width(0.301025390625, 0.30102999566395283),
        low: by_width(4.605038981195214e-06, 2.8363394551044964e-14),
    };
    with_special_values(x, add_exponent(exponent, unit, part).value())
}

crate::shared_by_recordings! {
    /// `log x` of a positive number, with about 12 bits more than the type, for `pow`.
    ///
    /// It is `2 s + s s² (2/3 + s² Q(s²))`, with every part except `Q` as a pair.
    pub(super) fn log_accurate<F: FloatLane>(x: F) -> Pair<F> {
        let FloatParts { exponent, significand } = split(x);
        let one = F::constant(1.0);
        let f = Pair { high: significand.sub(one), low: F::constant(0.0) };
        let s = f.div(two_sum(significand, one));
        let z = s.mul(s);
        let rest = z.high.mul(polynomial(z.high, &LOG_THIRD_SINGLE, &LOG_THIRD_DOUBLE));
        let two_thirds = pair_constant::<F>(2.0 / 3.0, 3.700743415417188e-17);
        let factor = two_sum_ordered(two_thirds.high, rest).add_low(two_thirds.low);
        let cubic = s.mul(z.mul(factor));
        let linear = Pair { high: s.high.add(s.high), low: s.low.add(s.low) };
        let part = two_sum_ordered(linear.high, cubic.high).add_low(linear.low.add(cubic.low));
        add_exponent(exponent, ln_2_short(), part).normalized()
    }
}
