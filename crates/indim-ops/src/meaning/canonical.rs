//! The canonical NaN, which every result has in the place of any NaN.
//!
//! x86 makes negative NaNs and propagates payloads, other processors do not.

use crate::complex::Complex;
use crate::lane::{FloatBits, IntLane, Lane};

/// `x` with any NaN replaced by the positive quiet one: what [`FloatBits::with_canonical_nan`] means.
///
/// The bits are compared as integers: to Rust's compiler all NaNs are equal as floats, so it drops a
/// choice between two where a number is the same anyway (of `sqrt`, in optimised builds).
#[inline(always)]
pub fn canonical<F: FloatBits>(x: F) -> F {
    let bits = x.to_bits();
    // Without the sign, only NaNs are above infinity.
    let magnitude = bits.and(F::Bits::minimum().not());
    let is_nan = F::Bits::constant(F::INFINITY_BITS).less(magnitude);
    F::from_bits(F::Bits::select(is_nan, F::Bits::constant(F::NAN_BITS), bits))
}

/// Both parts made canonical.
#[inline(always)]
pub fn canonical_parts<F: FloatBits>(x: Complex<F>) -> Complex<F> {
    Complex::new(x.re.with_canonical_nan(), x.im.with_canonical_nan())
}
