//! Operations on the bit patterns of floats, for every width.
//!
//! Here the 16-bit types use their own patterns; the operations of `float.rs` compute them in `f32`.

use indim_lanes::lane::{BoolLane, FloatBits, IntLane, Lane};

/// An integer with the order of the floats: -0 is just below +0, and NaNs are beyond the infinity of their
/// sign (IEEE 754, `totalOrder`).
#[inline(always)]
fn total_order<F: FloatBits>(x: F) -> F::Bits {
    let bits = x.to_bits();
    let sign = bits.shr_arithmetic(F::Bits::constant(i64::from(F::Bits::BITS) - 1));
    bits.xor(sign.and(F::Bits::minimum().not()))
}

/// The next float after `x` towards `y`; `y` itself if they are equal (C99, `nextafter`).
#[inline(always)]
pub fn nextafter<F: FloatBits>(x: F, y: F) -> F {
    let one = F::Bits::constant(1);
    let (bits, sign_bit) = (x.to_bits(), F::Bits::minimum());
    let is_zero = bits.and(sign_bit.not()).equal(F::Bits::constant(0));
    let is_below = x.less(y);
    // The pattern increases away from zero.
    let is_negative = bits.less(F::Bits::constant(0));
    let is_away_from_zero = is_below.xor(is_negative);
    let adjacent_bits = F::Bits::select(is_away_from_zero, bits.add(one), bits.sub(one));
    let smallest_bits = one.or(y.to_bits().and(sign_bit));
    let neighbour = F::from_bits(F::Bits::select(is_zero, smallest_bits, adjacent_bits));
    let result = F::select(x.equal(y), y, neighbour);
    let (is_x_nan, is_y_nan) = (x.equal(x).not(), y.equal(y).not());
    F::select(is_x_nan, x, F::select(is_y_nan, y, result))
}

/// Equality in the total order, which is equality of the bit patterns.
#[inline(always)]
pub fn total_eq<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_order(x).equal(total_order(y))
}

/// Inequality in the total order.
#[inline(always)]
pub fn total_ne<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_eq(x, y).not()
}

/// Less in the total order.
#[inline(always)]
pub fn total_lt<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_order(x).less(total_order(y))
}

/// Not greater in the total order.
#[inline(always)]
pub fn total_le<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_lt(y, x).not()
}

/// Greater in the total order.
#[inline(always)]
pub fn total_gt<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_lt(y, x)
}

/// Not less in the total order.
#[inline(always)]
pub fn total_ge<F: FloatBits>(x: F, y: F) -> F::Bool {
    total_lt(x, y).not()
}
