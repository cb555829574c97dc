//! The operations on integers, signed and unsigned. Arithmetic wraps; every function is total.

use indim_lanes::lane::{BoolLane, IntLane};

#[inline(always)]
fn zero<I: IntLane>() -> I {
    I::constant(0)
}

#[inline(always)]
fn one<I: IntLane>() -> I {
    I::constant(1)
}

/// Whether the value is negative; false for an unsigned type.
#[inline(always)]
fn is_negative<I: IntLane>(x: I) -> I::Bool {
    x.less(zero())
}

/// `-x`, wrapping.
#[inline(always)]
pub fn neg<I: IntLane>(x: I) -> I {
    zero::<I>().sub(x)
}

/// The magnitude; that of the minimum is the minimum.
#[inline(always)]
pub fn abs<I: IntLane>(x: I) -> I {
    I::select(is_negative(x), neg(x), x)
}

/// -1, 0 or 1.
#[inline(always)]
pub fn sign<I: IntLane>(x: I) -> I {
    let magnitude = I::select(x.equal(zero()), zero(), one());
    I::select(is_negative(x), I::constant(-1), magnitude)
}

/// Bitwise complement.
#[inline(always)]
pub fn not<I: IntLane>(x: I) -> I {
    x.not()
}

/// The number of one bits.
#[inline(always)]
pub fn popcnt<I: IntLane>(x: I) -> I {
    x.count_ones()
}

/// The number of leading zero bits.
#[inline(always)]
pub fn clz<I: IntLane>(x: I) -> I {
    x.leading_zeros()
}

/// Wrapping sum.
#[inline(always)]
pub fn add<I: IntLane>(x: I, y: I) -> I {
    x.add(y)
}

/// Wrapping difference.
#[inline(always)]
pub fn sub<I: IntLane>(x: I, y: I) -> I {
    x.sub(y)
}

/// Wrapping product.
#[inline(always)]
pub fn mul<I: IntLane>(x: I, y: I) -> I {
    x.mul(y)
}

/// The upper half of the exact product.
#[inline(always)]
pub fn mulhi<I: IntLane>(x: I, y: I) -> I {
    x.mul_high(y)
}

/// Truncated quotient. Division by zero gives all one bits; `MIN / -1 = MIN`.
#[inline(always)]
pub fn div<I: IntLane>(x: I, y: I) -> I {
    I::select(y.equal(zero()), zero::<I>().not(), x.div_or_zero(y))
}

/// Remainder with the sign of the dividend. Division by zero gives the dividend.
#[inline(always)]
pub fn rem<I: IntLane>(x: I, y: I) -> I {
    I::select(y.equal(zero()), x, x.rem_or_zero(y))
}

/// Whether the truncated quotient is above the floored one.
#[inline(always)]
fn rounds_up<I: IntLane>(remainder: I, divisor: I) -> I::Bool {
    let inexact = remainder.equal(zero()).not();
    inexact.and(is_negative(remainder.xor(divisor)))
}

/// Quotient rounded down. Division by zero gives 0, as in NumPy.
#[inline(always)]
pub fn floor_div<I: IntLane>(x: I, y: I) -> I {
    let quotient = x.div_or_zero(y);
    I::select(rounds_up(x.rem_or_zero(y), y), quotient.sub(one()), quotient)
}

/// Remainder with the sign of the divisor. Division by zero gives 0, as in NumPy.
#[inline(always)]
pub fn py_mod<I: IntLane>(x: I, y: I) -> I {
    let remainder = x.rem_or_zero(y);
    I::select(rounds_up(remainder, y), remainder.add(y), remainder)
}

/// The larger.
#[inline(always)]
pub fn max<I: IntLane>(x: I, y: I) -> I {
    I::select(x.less(y), y, x)
}

/// The smaller.
#[inline(always)]
pub fn min<I: IntLane>(x: I, y: I) -> I {
    I::select(x.less(y), x, y)
}

/// `(x - y)²`, wrapping.
#[inline(always)]
pub fn squared_difference<I: IntLane>(x: I, y: I) -> I {
    let difference = x.sub(y);
    difference.mul(difference)
}

/// Wrapping power by repeated squaring over the whole exponent; `x^0 = 1`. A negative exponent
/// gives 1 for the base 1, ±1 by parity for -1, and 0 for all others.
#[inline(always)]
pub fn pow<I: IntLane>(x: I, y: I) -> I {
    let mut power = one::<I>();
    let mut square = x;
    for bit in 0..I::BITS {
        let set = y.shr_logical(I::constant(i64::from(bit))).and(one());
        power = I::select(set.equal(zero()), power, power.mul(square));
        square = square.mul(square);
    }
    let is_unit = x.equal(one()).or(is_negative(x).and(x.equal(I::constant(-1))));
    I::select(is_negative(y).and(is_unit.not()), zero(), power)
}

/// Bitwise and.
#[inline(always)]
pub fn and<I: IntLane>(x: I, y: I) -> I {
    x.and(y)
}

/// Bitwise or.
#[inline(always)]
pub fn or<I: IntLane>(x: I, y: I) -> I {
    x.or(y)
}

/// Bitwise exclusive or.
#[inline(always)]
pub fn xor<I: IntLane>(x: I, y: I) -> I {
    x.xor(y)
}

/// Whether a shift amount is within the width; a negative one, read as unsigned, is not.
#[inline(always)]
fn is_within_width<I: IntLane>(amount: I) -> I::Bool {
    amount.less_unsigned(I::constant(i64::from(I::BITS)))
}

/// Left shift; 0 if the amount is out of range.
#[inline(always)]
pub fn shl<I: IntLane>(x: I, y: I) -> I {
    I::select(is_within_width(y), x.shl(y), zero())
}

/// Right shift with copies of the top bit; every bit is a copy if the amount is out of range.
#[inline(always)]
pub fn shr_arithmetic<I: IntLane>(x: I, y: I) -> I {
    let last = I::constant(i64::from(I::BITS - 1));
    x.shr_arithmetic(I::select(is_within_width(y), y, last))
}

/// Right shift with zeros; 0 if the amount is out of range.
#[inline(always)]
pub fn shr_logical<I: IntLane>(x: I, y: I) -> I {
    I::select(is_within_width(y), x.shr_logical(y), zero())
}

/// Equality.
#[inline(always)]
pub fn eq<I: IntLane>(x: I, y: I) -> I::Bool {
    x.equal(y)
}

/// Inequality.
#[inline(always)]
pub fn ne<I: IntLane>(x: I, y: I) -> I::Bool {
    x.equal(y).not()
}

/// Less than.
#[inline(always)]
pub fn lt<I: IntLane>(x: I, y: I) -> I::Bool {
    x.less(y)
}

/// Less than or equal.
#[inline(always)]
pub fn le<I: IntLane>(x: I, y: I) -> I::Bool {
    y.less(x).not()
}

/// Greater than.
#[inline(always)]
pub fn gt<I: IntLane>(x: I, y: I) -> I::Bool {
    y.less(x)
}

/// Greater than or equal.
#[inline(always)]
pub fn ge<I: IntLane>(x: I, y: I) -> I::Bool {
    x.less(y).not()
}

/// The second operand if the first holds, else the third.
#[inline(always)]
pub fn select<I: IntLane>(condition: I::Bool, on_true: I, on_false: I) -> I {
    I::select(condition, on_true, on_false)
}

/// `min(max(x, low), high)`.
#[inline(always)]
pub fn clamp<I: IntLane>(low: I, x: I, high: I) -> I {
    min(max(x, low), high)
}
