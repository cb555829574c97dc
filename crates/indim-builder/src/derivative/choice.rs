//! Rules of the operations that choose among their operands, or only look at signs.
//!
//! At a kink the choice is the symmetric one: a tie is shared, and the magnitude is flat at 0.

use super::parts::scaled;
use super::rule::{Binary, Ternary, Unary, is_complex};
use crate::builder::Value;

/// Flat at 0.
pub(super) fn abs(u: Unary<'_>) -> Value {
    match is_complex(u.x) {
        true => scaled(&u.x.sign(), u.cotangent),
        false => u.cotangent * u.x.sign(),
    }
}

/// Steps of floats; of complex numbers the direction, which moves with what is across it. Flat at 0.
pub(super) fn sign(u: Unary<'_>) -> Option<Value> {
    if !is_complex(u.x) {
        return None;
    }
    let outwards = (u.cotangent * u.y.conj()).real();
    let across = u.cotangent - scaled(u.y, &outwards);
    Some(u.x.eq(0).select(0, scaled(&across, &u.x.abs().reciprocal())))
}

/// The winner's, who may be a NaN; a tie is shared.
pub(super) fn max(o: Binary<'_>) -> [Value; 2] {
    let [a, b] = [o.a, o.b].map(|x| x.eq(o.y) | x.is_nan());
    shared(o.cotangent, &a, &b)
}

pub(super) fn min(o: Binary<'_>) -> [Value; 2] {
    max(o)
}

/// The winner's, over whom a NaN never wins; a tie is shared, also of two NaNs.
pub(super) fn fmax(o: Binary<'_>) -> [Value; 2] {
    let [a, b] = [o.a, o.b].map(|x| x.eq(o.y) | o.y.is_nan());
    shared(o.cotangent, &a, &b)
}

pub(super) fn fmin(o: Binary<'_>) -> [Value; 2] {
    fmax(o)
}

/// Halves where both win, all to the one that wins alone.
fn shared(cotangent: &Value, a_wins: &Value, b_wins: &Value) -> [Value; 2] {
    let half = cotangent * 0.5;
    let share = |wins: &Value, other: &Value| wins.select(other.select(&half, cotangent), 0);
    [share(a_wins, b_wins), share(b_wins, a_wins)]
}

/// At a bound it is `x` that gives the value. With the bounds exchanged it is always the upper one, and
/// with a NaN nothing flows.
pub(super) fn clamp(o: Ternary<'_>) -> [Value; 3] {
    let (low, x, high) = (o.a, o.b, o.c);
    let is_within = low.le(x) & x.le(high);
    let is_low = x.lt(low) & low.le(high);
    let is_high = x.gt(high) | low.gt(high);
    [is_low, is_within, is_high].map(|gets| gets.select(o.cotangent, 0))
}

pub(super) fn select(o: Ternary<'_>) -> [Option<Value>; 3] {
    [None, Some(o.a.select(o.cotangent, 0)), Some(o.a.select(0, o.cotangent))]
}

/// Up where the signs agree, else down; flat at 0. The sign is a step.
pub(super) fn copysign(o: Binary<'_>) -> [Option<Value>; 2] {
    [Some(o.cotangent * (o.a.sign() * o.y.sign())), None]
}

/// The second operand is the slope below zero.
pub(super) fn prelu(o: Binary<'_>) -> [Value; 2] {
    let is_above = o.a.ge(0);
    [is_above.select(o.cotangent, o.cotangent * o.b), is_above.select(0, o.cotangent * o.a)]
}
