//! Rules of operations that select one of their operands, or depend on signs.
//!
//! At a kink the derivative is mostly the symmetric one: a tie of a maximum or minimum shares the
//! cotangent, and `abs` has derivative 0 at 0. Exceptions with derivative 1 are `clamp` at a bound and
//! `prelu` at 0.

use super::complex::scale_complex;
use super::rule::{BinaryArguments, TernaryArguments, UnaryArguments, is_complex};
use indim_builder::Value;

/// The derivative at 0 is 0.
pub(super) fn abs(u: UnaryArguments<'_>) -> Value {
    match is_complex(u.x) {
        true => scale_complex(&u.x.sign(), u.cotangent),
        false => u.cotangent * u.x.sign(),
    }
}

/// Floats: a step, with derivative 0. Complex numbers: the derivative of `x / |x|` keeps only the component
/// perpendicular to `x`, divided by `|x|`; it is 0 at 0.
pub(super) fn sign(u: UnaryArguments<'_>) -> Option<Value> {
    if !is_complex(u.x) {
        return None;
    }
    let radial = (u.cotangent * u.y.conj()).real();
    let tangential = u.cotangent - scale_complex(u.y, &radial);
    Some(u.x.eq(0).select(0, scale_complex(&tangential, &u.x.abs().reciprocal())))
}

/// The cotangent goes to the selected operand, also if it is NaN; a tie shares it.
pub(super) fn max(o: BinaryArguments<'_>) -> [Value; 2] {
    let [a, b] = [o.a, o.b].map(|x| x.eq(o.y) | x.is_nan());
    share_tie(o.cotangent, &a, &b)
}

pub(super) fn min(o: BinaryArguments<'_>) -> [Value; 2] {
    max(o)
}

/// The cotangent goes to the selected operand, which is NaN only if both are; a tie shares it, also of two
/// NaNs.
pub(super) fn fmax(o: BinaryArguments<'_>) -> [Value; 2] {
    let [a, b] = [o.a, o.b].map(|x| x.eq(o.y) | o.y.is_nan());
    share_tie(o.cotangent, &a, &b)
}

pub(super) fn fmin(o: BinaryArguments<'_>) -> [Value; 2] {
    fmax(o)
}

/// Half of the cotangent for each operand of a tie, all of it for a single winner.
fn share_tie(cotangent: &Value, a_wins: &Value, b_wins: &Value) -> [Value; 2] {
    let half = cotangent * 0.5;
    let share = |wins: &Value, other: &Value| wins.select(other.select(&half, cotangent), 0);
    [share(a_wins, b_wins), share(b_wins, a_wins)]
}

/// At a bound the cotangent goes to `x`. With exchanged bounds it goes to `high`, even if `x` is a NaN.
/// Otherwise a NaN sends it to no operand, except a NaN `low` with `x > high`, which sends it to `high`.
pub(super) fn clamp(o: TernaryArguments<'_>) -> [Value; 3] {
    let (low, x, high) = (o.a, o.b, o.c);
    let is_within = low.le(x) & x.le(high);
    let is_low = x.lt(low) & low.le(high);
    let is_high = x.gt(high) | low.gt(high);
    [is_low, is_within, is_high].map(|is_selected| is_selected.select(o.cotangent, 0))
}

pub(super) fn select(o: TernaryArguments<'_>) -> [Option<Value>; 3] {
    [None, Some(o.a.select(o.cotangent, 0)), Some(o.a.select(0, o.cotangent))]
}

/// The derivative with respect to the first operand is 1 if the signs agree, else -1, and 0 at 0. The
/// function is a step of the second operand.
pub(super) fn copysign(o: BinaryArguments<'_>) -> [Option<Value>; 2] {
    [Some(o.cotangent * (o.a.sign() * o.y.sign())), None]
}

/// The second operand is the slope for negative numbers.
pub(super) fn prelu(o: BinaryArguments<'_>) -> [Value; 2] {
    let is_above = o.a.ge(0);
    [is_above.select(o.cotangent, o.cotangent * o.b), is_above.select(0, o.cotangent * o.a)]
}
