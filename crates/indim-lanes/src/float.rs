//! Simple functions of floats, which are operations themselves and serve the elementary functions.

use crate::lane::{BoolLane, FloatLane, IntLane};

crate::shared_by_recordings! {
    /// The magnitude of `x` with the sign of `sign`.
    pub fn copysign<F: FloatLane>(x: F, sign: F) -> F {
        let sign_bit = F::Bits::minimum();
        F::from_bits(x.abs().to_bits().or(sign.to_bits().and(sign_bit)))
    }
}

/// Whether `x` is neither infinite nor a NaN.
#[inline(always)]
pub fn is_finite<F: FloatLane>(x: F) -> F::Bool {
    x.abs().less(F::constant(f64::INFINITY))
}

/// Whether `x` is a NaN, the only value that differs from itself.
#[inline(always)]
pub fn is_nan<F: FloatLane>(x: F) -> F::Bool {
    x.equal(x).not()
}

/// Whether `x` is infinite.
#[inline(always)]
pub fn is_inf<F: FloatLane>(x: F) -> F::Bool {
    x.abs().equal(F::constant(f64::INFINITY))
}

crate::shared_by_recordings! {
    /// The larger; a NaN wins; `+0` is above `-0`.
    pub fn max<F: FloatLane>(x: F, y: F) -> F {
        // Equal operands differ at most in the sign of zero: "and" keeps + unless both are -.
        let same = F::from_bits(x.to_bits().and(y.to_bits()));
        let larger = F::select(x.less(y), y, x);
        nan_wins(x, y, F::select(x.equal(y), same, larger))
    }
}

crate::shared_by_recordings! {
    /// The smaller; a NaN wins; `-0` is below `+0`.
    pub fn min<F: FloatLane>(x: F, y: F) -> F {
        let same = F::from_bits(x.to_bits().or(y.to_bits()));
        let smaller = F::select(x.less(y), x, y);
        nan_wins(x, y, F::select(x.equal(y), same, smaller))
    }
}

#[inline(always)]
fn nan_wins<F: FloatLane>(x: F, y: F, otherwise: F) -> F {
    F::select(is_nan(x).or(is_nan(y)), F::constant(f64::NAN), otherwise)
}
