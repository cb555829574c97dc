//! Rules of arithmetic, and of functions of two numbers that are smooth except at single points.

use super::rule::{BinaryArguments, TernaryArguments, UnaryArguments, conjugate, is_complex};
use indim_builder::Value;

pub(super) fn neg(u: UnaryArguments<'_>) -> Value {
    -u.cotangent
}

pub(super) fn add(o: BinaryArguments<'_>) -> [Value; 2] {
    [o.cotangent.clone(), o.cotangent.clone()]
}

pub(super) fn sub(o: BinaryArguments<'_>) -> [Value; 2] {
    [o.cotangent.clone(), -o.cotangent]
}

pub(super) fn mul(o: BinaryArguments<'_>) -> [Value; 2] {
    [o.cotangent * conjugate(o.b), o.cotangent * conjugate(o.a)]
}

pub(super) fn div(o: BinaryArguments<'_>) -> [Value; 2] {
    let divisor = conjugate(o.b);
    [o.cotangent / &divisor, -(o.cotangent * conjugate(o.y) / divisor)]
}

/// Between its jumps, the result is `a - b floor(a / b)`.
pub(super) fn py_mod(o: BinaryArguments<'_>) -> [Value; 2] {
    [o.cotangent.clone(), -(o.cotangent * o.a.floor_div(o.b))]
}

/// Between its jumps, the result is `a - b trunc(a / b)`. The quotient is computed from the remainder,
/// because `a / b` may round up to the next integer.
pub(super) fn rem(o: BinaryArguments<'_>) -> [Value; 2] {
    let quotient = ((o.a - o.y) / o.b).round_even();
    [o.cotangent.clone(), -(o.cotangent * quotient)]
}

/// With exponent 0 the derivative by the base is 0, also for base 0. For base 0 and a non-negative exponent
/// the derivative by the exponent is 0.
pub(super) fn pow(o: BinaryArguments<'_>) -> [Value; 2] {
    // Operands are replaced instead of results: a factor that is not finite would make NaN of zero tangents.
    let is_one = o.b.eq(0) & (o.a.eq(0) | o.a.ne(o.a));
    let by_base = o.cotangent * conjugate(&(o.b * o.a.pow(is_one.select(1, o.b) - 1)));
    let stays_zero = o.a.eq(0) & is_not_negative(o.b);
    let by_exponent = o.cotangent * conjugate(&(o.y * stays_zero.select(1, o.a).log()));
    [by_base, by_exponent]
}

fn is_not_negative(x: &Value) -> Value {
    match is_complex(x) {
        true => x.real().ge(0) & x.imag().eq(0),
        false => x.ge(0),
    }
}

/// NaN at the origin, where the angle has no derivative. Two divisions avoid the overflow of a square.
pub(super) fn atan2(o: BinaryArguments<'_>) -> [Value; 2] {
    let radius = o.a.hypot(o.b);
    [o.cotangent * (o.b / &radius / &radius), -(o.cotangent * (o.a / &radius / &radius))]
}

/// 0 at the origin, the mean of the one-sided derivatives.
pub(super) fn hypot(o: BinaryArguments<'_>) -> [Value; 2] {
    let is_origin = o.y.eq(0);
    [o.a, o.b].map(|x| is_origin.select(0, o.cotangent * (x / o.y)))
}

/// Equal infinities get half of the cotangent each; their difference is NaN.
pub(super) fn logaddexp(o: BinaryArguments<'_>) -> [Value; 2] {
    let is_infinite_tie = o.a.eq(o.b) & (o.a - o.b).is_nan();
    [o.a - o.b, o.b - o.a]
        .map(|difference| o.cotangent * is_infinite_tie.select(0.5, difference.logistic()))
}

pub(super) fn squared_difference(o: BinaryArguments<'_>) -> [Value; 2] {
    let to_first = o.cotangent * conjugate(&((o.a - o.b) * 2));
    [to_first.clone(), -to_first]
}

pub(super) fn fma(o: TernaryArguments<'_>) -> [Value; 3] {
    [o.cotangent * o.b, o.cotangent * o.a, o.cotangent.clone()]
}
