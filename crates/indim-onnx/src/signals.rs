//! Constants of signal processing: `HannWindow`, `HammingWindow` and `BlackmanWindow`.

use core::f64::consts::PI;

use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_onnx_file::types::dtype_of;

use super::call::{Call, LoweringResult, single_result};

/// Maximum number of elements of a constant.
const MAX_ELEMENTS: usize = 1 << 24;

pub(super) fn hann(call: &Call<'_>) -> LoweringResult {
    window(call, [0.5, -0.5, 0.0])
}

pub(super) fn hamming(call: &Call<'_>) -> LoweringResult {
    window(call, [25.0 / 46.0, -21.0 / 46.0, 0.0])
}

pub(super) fn blackman(call: &Call<'_>) -> LoweringResult {
    window(call, [0.42, -0.5, 0.08])
}

/// A window as a sum of cosines with these factors, computed in `f64`.
fn window(call: &Call<'_>, factors: [f64; 3]) -> LoweringResult {
    let size = count(call, 0)?;
    let period = match call.int("periodic", 1)? {
        0 => size as f64 - 1.0,
        _ => size as f64,
    };
    let element = |n: usize| {
        let angle = 2.0 * PI * n as f64 / period;
        factors[0] + factors[1] * angle.cos() + factors[2] * (2.0 * angle).cos()
    };
    constant(call, &[size], (0..size).map(element).collect())
}

/// The size in an operand that must be known.
fn count(call: &Call<'_>, position: usize) -> Result<usize, FormatErrorKind> {
    let expected = || FormatErrorKind::Unexpected { expected: "one size, not negative".to_owned() };
    let [size] = call.integers(position)?[..] else { return Err(expected()) };
    match usize::try_from(size) {
        Ok(size) if size <= MAX_ELEMENTS => Ok(size),
        Ok(_) => Err(FormatErrorKind::Limit { what: "elements of a window", limit: MAX_ELEMENTS }),
        Err(_) => Err(expected()),
    }
}

/// A constant of the element type that `output_datatype` states.
fn constant(call: &Call<'_>, sizes: &[usize], elements: Vec<f64>) -> LoweringResult {
    let dtype = dtype_of(call.int("output_datatype", 1)?)?;
    let array = Array::new(sizes, elements)
        .map_err(|error| FormatErrorKind::Unexpected { expected: error.to_string() })?;
    let b = call.builder;
    single_result(b.convert(b.constant(array), dtype)?)
}
