//! Trigonometric functions: `sin`, `cos`, `tan`.
//!
//! The argument is reduced exactly over the whole range, by integer arithmetic (Payne and Hanek,
//! 1983): the significand times those bits of `1 / π` or `2 / π` that can change the result, as a
//! fixed-point fraction of a turn. There is one path for all magnitudes, so it vectorises.
//!
//! Floats of 32 bits take `single.rs`, which computes in 64 bits; those of 64 bits `double.rs`.

mod double;
mod single;

use super::is_single;
use crate::lane::FloatLane;

/// The sine; of an infinity a NaN.
#[inline(always)]
pub fn sin<F: FloatLane>(x: F) -> F {
    let x = x.widen();
    F::narrow(if is_single::<F>() { single::sin(x) } else { double::sin(x) })
}

/// The cosine; of an infinity a NaN.
#[inline(always)]
pub fn cos<F: FloatLane>(x: F) -> F {
    let x = x.widen();
    F::narrow(if is_single::<F>() { single::cos(x) } else { double::cos(x) })
}

/// The tangent; of an infinity a NaN.
#[inline(always)]
pub fn tan<F: FloatLane>(x: F) -> F {
    let x = x.widen();
    F::narrow(if is_single::<F>() { single::tan(x) } else { double::tan(x) })
}
