//! The operations on truth values; `false < true`.

use indim_lanes::lane::{BoolLane, Lane};

/// Logical or.
#[inline(always)]
pub fn add<B: BoolLane>(x: B, y: B) -> B {
    x.or(y)
}

/// Logical and.
#[inline(always)]
pub fn mul<B: BoolLane>(x: B, y: B) -> B {
    x.and(y)
}

/// Logical or.
#[inline(always)]
pub fn max<B: BoolLane>(x: B, y: B) -> B {
    x.or(y)
}

/// Logical and.
#[inline(always)]
pub fn min<B: BoolLane>(x: B, y: B) -> B {
    x.and(y)
}

/// Logical not.
#[inline(always)]
pub fn not<B: BoolLane>(x: B) -> B {
    x.not()
}

/// Logical and.
#[inline(always)]
pub fn and<B: BoolLane>(x: B, y: B) -> B {
    x.and(y)
}

/// Logical or.
#[inline(always)]
pub fn or<B: BoolLane>(x: B, y: B) -> B {
    x.or(y)
}

/// Exclusive or.
#[inline(always)]
pub fn xor<B: BoolLane>(x: B, y: B) -> B {
    x.xor(y)
}

/// Equality.
#[inline(always)]
pub fn eq<B: BoolLane>(x: B, y: B) -> B {
    x.xor(y).not()
}

/// Inequality.
#[inline(always)]
pub fn ne<B: BoolLane>(x: B, y: B) -> B {
    x.xor(y)
}

/// Less than: `x` is false and `y` is true.
#[inline(always)]
pub fn lt<B: BoolLane>(x: B, y: B) -> B {
    x.not().and(y)
}

/// Less than or equal: `x` is false or `y` is true.
#[inline(always)]
pub fn le<B: BoolLane>(x: B, y: B) -> B {
    x.not().or(y)
}

/// Greater than: `x` is true and `y` is false.
#[inline(always)]
pub fn gt<B: BoolLane>(x: B, y: B) -> B {
    lt(y, x)
}

/// Greater than or equal: `x` is true or `y` is false.
#[inline(always)]
pub fn ge<B: BoolLane>(x: B, y: B) -> B {
    le(y, x)
}

/// The second operand if the first holds, else the third.
#[inline(always)]
pub fn select<B: BoolLane>(condition: B, on_true: B, on_false: B) -> B {
    <B as Lane>::select(condition, on_true, on_false)
}
