//! Values without a derivative, like those of JAX's `stop_gradient`.

use indim_ops::DType;

use crate::builder::{BuildResult, Value};

/// `x`, an array of floats, with a derivative of 0, like JAX's `stop_gradient`. It is a bitcast to integers
/// and back, because integers have no derivative; the passes remove the pair.
pub(crate) fn without_derivative(x: &Value) -> BuildResult {
    let dtype = x.array_type()?.dtype;
    let bits = match dtype.size() {
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    };
    x.builder().bitcast(x.builder().bitcast(x, bits)?, dtype)
}
