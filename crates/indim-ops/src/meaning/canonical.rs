//! The canonical NaN, which replaces every NaN in a result.
//!
//! Processors differ: x86 makes negative NaNs and propagates payloads, others do not.

use crate::complex::Complex;
use crate::lane::{FloatBits, IntLane, Lane};

/// `x` with any NaN replaced by the positive quiet one: the definition of
/// [`FloatBits::with_canonical_nan`].
///
/// The bits are compared as integers. Rust's compiler treats all NaNs as equal floats, so in optimised builds
/// it drops a float selection between two NaNs (seen after `sqrt`).
#[inline(always)]
pub fn canonical<F: FloatBits>(x: F) -> F {
    let bits = x.to_bits();
    // Without the sign, only NaNs are above infinity.
    let magnitude = bits.and(F::Bits::minimum().not());
    let is_nan = F::Bits::constant(F::INFINITY_BITS).less(magnitude);
    F::from_bits(F::Bits::select(is_nan, F::Bits::constant(F::NAN_BITS), bits))
}

/// The number with canonical NaNs in both parts.
#[inline(always)]
pub fn canonical_parts<F: FloatBits>(x: Complex<F>) -> Complex<F> {
    Complex::new(x.re.with_canonical_nan(), x.im.with_canonical_nan())
}
