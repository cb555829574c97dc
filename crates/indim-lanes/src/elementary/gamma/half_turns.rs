//! The sine and the cosine of `π x`, with an exact reduction.

use core::f64::consts::PI;

use crate::elementary::horner;
use crate::elementary::pair::{Pair, two_product, two_sum_ordered};
use crate::lane::FloatLane;

/// `π` minus the double nearest to it.
pub(super) const PI_LOW: f64 = 1.2246467991473532e-16;

/// The terms after `π - π³/6 z` of `sin(π u) / u`, divided by `z²`, with `z = u²`, up to `u = 1/4`.
const SINE_TAIL: [f64; 6] = [
    2.5501640398773455,
    -0.5992645293207656,
    0.08214588660617753,
    -0.007370430607656,
    0.0004662923689045463,
    -2.176675553226464e-05,
];

/// The terms after `1 - π²/2 z` of `cos(π u)`, divided by `z²`.
const COSINE_TAIL: [f64; 6] = [
    4.0587121264167685,
    -1.335262768854446,
    0.2353306303321202,
    -0.025806889561762966,
    0.0019295178624638828,
    -0.00010383432135634779,
];

/// A number of half turns (multiples of `π`) minus the nearest integer, with the sine and the cosine of the
/// magnitude of this angle.
pub(super) struct HalfTurns<F> {
    pub(super) fraction: F,
    pub(super) sine: Pair<F>,
    pub(super) cosine: Pair<F>,
}

crate::shared_by_recordings! {
    /// Reduces `π x` by the nearest multiple of `π`. The pairs are exact to about 60 bits.
    pub(super) fn half_turns<F: FloatLane>(x: F) -> HalfTurns<F> {
        let fraction = x.sub(x.round_even());
        let magnitude = fraction.abs();
        let (quarter, half) = (F::constant(0.25), F::constant(0.5));
        let is_beyond = quarter.less(magnitude);
        let near = F::select(is_beyond, half.sub(magnitude), magnitude);
        let (sine, cosine) = sine_and_cosine(near);
        HalfTurns {
            fraction,
            sine: Pair::select(is_beyond, cosine, sine),
            cosine: Pair::select(is_beyond, sine, cosine),
        }
    }
}

/// The sine and the cosine of `π u`, for `u` from 0 to 1/4.
#[inline(always)]
fn sine_and_cosine<F: FloatLane>(u: F) -> (Pair<F>, Pair<F>) {
    let z = two_product(u, u);
    let fourth = z.high.mul(z.high);
    let third: Pair<F> = constant(-5.16771278004997, 2.2665622825789447e-16);
    let slope = series(constant(PI, PI_LOW), z.mul(third), fourth.mul(horner(z.high, &SINE_TAIL)));
    let second: Pair<F> = constant(-4.934802200544679, -3.1326477543698557e-16);
    let tail = fourth.mul(horner(z.high, &COSINE_TAIL));
    let cosine = series(constant(1.0, 0.0), z.mul(second), tail);
    (slope.mul(Pair { high: u, low: F::constant(0.0) }).normalized(), cosine)
}

/// The sum of three terms, the first the largest.
#[inline(always)]
fn series<F: FloatLane>(first: Pair<F>, second: Pair<F>, rest: F) -> Pair<F> {
    let sum = two_sum_ordered(first.high, second.high);
    sum.add_low(first.low.add(second.low)).add_low(rest).normalized()
}

#[inline(always)]
fn constant<F: FloatLane>(high: f64, low: f64) -> Pair<F> {
    Pair { high: F::constant(high), low: F::constant(low) }
}
