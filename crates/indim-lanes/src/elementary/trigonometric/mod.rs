//! Trigonometric functions: `sin`, `cos`, `tan`.
//!
//! The argument is reduced exactly over the whole range, by integer arithmetic (Payne and Hanek, 1983): the
//! product of the significand and those bits of `1 / π` or `2 / π` that can change the result is a
//! fixed-point fraction of a half or quarter turn. One path serves all magnitudes, so the code vectorises.
//!
//! - `single.rs`: 32-bit floats, computed in 64 bits;
//! - `double.rs`: 64-bit floats.

mod double;
mod single;

use super::is_single;
use super::pair::Pair;
use crate::float::is_finite;
use crate::lane::FloatLane;

/// The sine; a NaN for an infinity.
#[inline(always)]
pub fn sin<F: FloatLane>(x: F) -> F {
    let wide = x.widen();
    let result = if is_single::<F>() { single::sin(wide) } else { double::sin(wide) };
    nan_unless_finite(x, F::narrow(result))
}

/// The cosine; a NaN for an infinity.
#[inline(always)]
pub fn cos<F: FloatLane>(x: F) -> F {
    let wide = x.widen();
    let result = if is_single::<F>() { single::cos(wide) } else { double::cos(wide) };
    nan_unless_finite(x, F::narrow(result))
}

/// The tangent; a NaN for an infinity.
#[inline(always)]
pub fn tan<F: FloatLane>(x: F) -> F {
    let wide = x.widen();
    let result = if is_single::<F>() { single::tan(wide) } else { double::tan(wide) };
    nan_unless_finite(x, F::narrow(result))
}

/// Sine and cosine of a 64-bit float as pairs; NaNs for an infinity.
#[inline(always)]
pub fn sin_cos<F: FloatLane>(x: F) -> (Pair<F>, Pair<F>) {
    let (sine, cosine) = double::sin_cos(x);
    let checked = |Pair { high, low }| Pair { high: nan_unless_finite(x, high), low };
    (checked(sine), checked(cosine))
}

#[inline(always)]
fn nan_unless_finite<F: FloatLane>(x: F, result: F) -> F {
    F::select(is_finite(x), result, F::constant(f64::NAN))
}
