//! Activation functions of neural networks.
//!
//! Their derivatives follow from the derivatives of their operations. A `select` multiplies the
//! derivative of the unselected branch by 0, and 0 times infinity would be NaN. Therefore the unselected
//! branch gets an operand at which its derivative is finite.

use crate::builder::{BuildResult, Value};

/// The factors of `selu` (Klambauer et al., Self-Normalizing Neural Networks, 2017).
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// `sqrt(2 / π)`.
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;

/// A `select` gives derivative 0 at 0; `max(x, 0)` would have derivative 1/2 there, because it shares the
/// cotangent of a tie.
pub(super) fn relu(x: &Value) -> BuildResult {
    Ok(x.le(0).select(0, x))
}

pub(super) fn elu(x: &Value, alpha: f64) -> BuildResult {
    let is_above = x.gt(0);
    let below = is_above.select(0, x);
    Ok(is_above.select(x, below.expm1() * alpha))
}

pub(super) fn selu(x: &Value) -> BuildResult {
    Ok(elu(x, SELU_ALPHA)? * SELU_SCALE)
}

pub(super) fn gelu(x: &Value) -> BuildResult {
    Ok(x * 0.5 * (x * -core::f64::consts::FRAC_1_SQRT_2).erfc())
}

pub(super) fn gelu_tanh(x: &Value) -> BuildResult {
    let argument = (x + x.square() * x * 0.044_715) * SQRT_2_OVER_PI;
    Ok(x * 0.5 * (argument.tanh() + 1))
}

pub(super) fn swish(x: &Value, beta: f64) -> BuildResult {
    let argument = if beta == 1.0 { x.clone() } else { x * beta };
    Ok(x * argument.logistic())
}

pub(super) fn softplus(x: &Value) -> BuildResult {
    Ok(x.logaddexp(0))
}

pub(super) fn softsign(x: &Value) -> BuildResult {
    Ok(x / (x.abs() + 1))
}

pub(super) fn mish(x: &Value) -> BuildResult {
    Ok(x * softplus(x)?.tanh())
}

pub(super) fn hard_sigmoid(x: &Value, alpha: f64, beta: f64) -> BuildResult {
    Ok((x * alpha + beta).clamp(0, 1))
}

pub(super) fn hard_swish(x: &Value) -> BuildResult {
    Ok(x * (x + 3).clamp(0, 6) / 6)
}
