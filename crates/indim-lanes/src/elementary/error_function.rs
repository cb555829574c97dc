//! The error function and its complement.
//!
//! Up to 1/2, `erf` is computed by an odd polynomial. Beyond 1/2 it is `1 - erfc`, with a polynomial for
//! the logarithm of `erfc`, which is smooth. The fit weights the error of this polynomial by `erfc`,
//! because the result does.

use super::exp::exponential_of_pair;
use super::pair::{Pair, two_product, two_sum, two_sum_ordered};
use super::{by_width, clamp_keeping_nan, horner, pair_constant, polynomial};
use crate::float::copysign;
use crate::lane::FloatLane;

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

/// `(log erfc(1/2 + u) - log erfc(1/2)) / u` in `u`, for `1/2 + u` up to 4 in 32 bits and up to 6 in 64
/// bits.
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
    // Beyond this, the result rounds to 1.
    let magnitude = clamp_keeping_nan(F::constant(0.0), x.abs(), by_width(4.0, 6.0));
    let is_small = magnitude.less(F::constant(0.5));
    let result = F::select(is_small, near_zero(magnitude), beyond_half(magnitude));
    copysign(result, x)
}

/// `erf(x)` near 0, as `x + x * slope`, so that the rounding error of the small slope is negligible.
#[inline(always)]
fn near_zero<F: FloatLane>(x: F) -> F {
    x.mul_add(slope_less_one(x), x)
}

/// `erf(x)` near 0 as a pair, like `near_zero`.
#[inline(always)]
fn near_zero_pair<F: FloatLane>(x: F) -> Pair<F> {
    two_sum_ordered(x, x.mul(slope_less_one(x)))
}

/// `erf(x) / x - 1`.
#[inline(always)]
fn slope_less_one<F: FloatLane>(x: F) -> F {
    let square = x.mul(x);
    let tail = polynomial(square, &ERF_TAIL_SINGLE, &ERF_TAIL_DOUBLE);
    square.mul_add(tail, F::constant(core::f64::consts::FRAC_2_SQRT_PI - 1.0))
}

/// `1 - erfc(x)` for `x` from 1/2 on, as twice the difference of the halves.
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

/// `(1 + 2 x) e^(x²) erfc(x) - 1` in `(x - 3.75) / (x + 3.75)`, for `x` from 1/2 to 28 (the variable is that
/// of Shepherd and Laframboise, Mathematics of Computation 36, 1981).
const ERFC_SCALED: [f64; 23] = [
    0.2375126308378276,
    -0.14024059858554702,
    0.0035854154854636543,
    0.08227673849015019,
    -0.10880393014170603,
    0.09230432116023654,
    -0.05869339859055405,
    0.028362277420713854,
    -0.009746579548051745,
    0.0017556258417442436,
    0.00029371360343281134,
    -0.0002901540454261811,
    5.164933118631379e-05,
    2.2384213323874097e-05,
    -1.1444655169569653e-05,
    -9.737506395495064e-07,
    1.7521740004667243e-06,
    -5.649859590697155e-08,
    -2.5853405357522125e-07,
    2.2100295914139183e-08,
    3.7606440724413335e-08,
    -2.8028859177859655e-09,
    -4.028036508259656e-09,
];

/// `1 - erf(x)` without cancellation; 0 and 2 at the infinities. Computed in 64 bits.
#[inline(always)]
pub fn erfc<F: FloatLane>(x: F) -> F {
    F::narrow(complement(x.widen()))
}

/// `erfc(x)`: up to 1/2 from `erf`, beyond from `e^(-x²)`, reflected for `x < 0`.
#[inline(always)]
fn complement<F: FloatLane>(x: F) -> F {
    let erf = near_zero_pair(x);
    let near = two_sum(F::constant(1.0), erf.high.neg()).add_low(erf.low.neg()).value();
    let far = scaled_complement(x);
    let reflected = F::select(x.less(F::constant(0.0)), F::constant(2.0).sub(far), far);
    F::select(x.abs().less(F::constant(0.5)), near, reflected)
}

/// `erfc |x|` as `e^(-x²)` times the scaled function `e^(x²) erfc |x|`, all as pairs.
#[inline(always)]
fn scaled_complement<F: FloatLane>(x: F) -> F {
    // Beyond this, the result rounds to 0.
    let magnitude = clamp_keeping_nan(F::constant(0.0), x.abs(), F::constant(27.5));
    let center = F::constant(3.75);
    let position = magnitude.sub(center).div(magnitude.add(center));
    let one = F::constant(1.0);
    let numerator = two_sum_ordered(one, horner(position, &ERFC_SCALED));
    let denominator = two_sum(one, magnitude.add(magnitude));
    let square = two_product(magnitude, magnitude);
    let power = exponential_of_pair(Pair { high: square.high.neg(), low: square.low.neg() });
    power.times(numerator.div(denominator))
}
