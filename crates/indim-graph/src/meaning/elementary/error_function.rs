//! The error function.
//!
//! Up to 1/2 an odd polynomial; beyond, `1 - erfc` with a polynomial for the logarithm of `erfc`,
//! which is smooth. Its error counts the less the smaller `erfc` is, and so was it fitted.

use super::exp::exponential_of_pair;
use super::pair::{two_product, two_sum, two_sum_ordered};
use super::{by_width, clamp_keeping_nan, pair_constant, polynomial};
use crate::lane::FloatLane;
use crate::meaning::float::copysign;

/// `(erf(x) - 2 x / sqrt π) / x³` in `x²`, up to 1/2.
const ERF_TAIL_SINGLE: [f64; 4] =
    [-0.3761263648815467, 0.11283481132705582, -0.026803571429828286, 0.00481682016340911];
const ERF_TAIL_DOUBLE: [f64; 9] = [
    -0.37612638903183754,
    0.112837916709551,
    -0.0268661706451041,
    0.005223977624325485,
    -0.0008548326793218118,
    0.0001205530628984926,
    -1.4923829245946369e-05,
    1.6389433575061233e-06,
    -1.4787220389294386e-07,
];

/// `(log erfc(1/2 + u) - log erfc(1/2)) / u`, up to 4 and to 6 in `1/2 + u`.
const LOG_ERFC_SLOPE_SINGLE: [f64; 8] = [
    -1.8327058066665767,
    -0.7630481665495012,
    -0.0670792696967709,
    0.015709941215467968,
    -0.0025134663908590034,
    0.0001156308385375512,
    4.8257357903135916e-05,
    -8.084613217904937e-06,
];
const LOG_ERFC_SLOPE_DOUBLE: [f64; 21] = [
    -1.8327056412987004,
    -0.7630521631745322,
    -0.067047401216948,
    0.01559062829925556,
    -0.0022710916336217963,
    -0.0001702224818843401,
    0.0002480073526113942,
    -8.754254968351595e-05,
    1.3324627969160375e-05,
    3.2442074131451585e-06,
    -2.9816882039483015e-06,
    1.0855339903802702e-06,
    -2.2071783243279353e-07,
    5.678598368863711e-09,
    1.3974213264992874e-08,
    -5.79936594570574e-09,
    1.3646043499629857e-09,
    -2.1295283010924429e-10,
    2.1920529105011938e-11,
    -1.3575950882623303e-12,
    3.8466667836725974e-14,
];

/// The error function; `±1` at the infinities.
#[inline(always)]
pub fn erf<F: FloatLane>(x: F) -> F {
    // Beyond, the result rounds to 1.
    let magnitude = clamp_keeping_nan(F::constant(0.0), x.abs(), by_width(4.0, 6.0));
    let is_small = magnitude.less(F::constant(0.5));
    let result = F::select(is_small, near_zero(magnitude), beyond_half(magnitude));
    copysign(result, x)
}

/// `x + x * slope`, so that the rounding of the small slope hardly counts.
#[inline(always)]
fn near_zero<F: FloatLane>(x: F) -> F {
    let square = x.mul(x);
    let tail = polynomial(square, &ERF_TAIL_SINGLE, &ERF_TAIL_DOUBLE);
    let slope = square.mul_add(tail, F::constant(core::f64::consts::FRAC_2_SQRT_PI - 1.0));
    x.mul_add(slope, x)
}

/// `1 - erfc(x)`, as twice the difference of the halves.
#[inline(always)]
fn beyond_half<F: FloatLane>(x: F) -> F {
    let u = x.sub(F::constant(0.5));
    let slope = polynomial(u, &LOG_ERFC_SLOPE_SINGLE, &LOG_ERFC_SLOPE_DOUBLE);
    let change = two_product(u, slope);
    let at_half = pair_constant::<F>(-0.7350111298370844, -1.5941689792994212e-17);
    let log = two_sum(at_half.high, change.high).add_low(at_half.low.add(change.low));
    let half_erfc = exponential_of_pair(log).half();
    let difference = two_sum_ordered(F::constant(0.5), half_erfc.high.neg());
    let half = difference.add_low(half_erfc.low.neg()).value();
    half.add(half)
}
