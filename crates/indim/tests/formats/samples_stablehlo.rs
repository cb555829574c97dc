//! The samples of StableHLO, in the folder that `INDIM_FORMAT_SAMPLES` names.

use crate::support::samples::Samples;
use crate::support::xla;

/// Samples whose expected values follow another algorithm: XLA's single-precision polynomials, which are
/// four floats off, and other zeros and NaNs of complex functions at the ends of their range.
const KNOWN_TO_DIFFER: [&str; 4] = [
    "cosh_float32_20_20_chlo.mlir",
    "pow_complex64_20_30_complex64_20_30.mlir",
    "sin_complex64_20_20.mlir",
    "math/exponential_complex128.mlir",
];

#[test]
fn samples_give_what_they_should() {
    if let Some(samples) = Samples::open() {
        xla::run_all(&samples, "stablehlo", &KNOWN_TO_DIFFER);
    }
}

#[test]
fn damaged_files_give_an_error_at_their_line() {
    if let Some(samples) = Samples::open() {
        xla::read_damaged(&samples, "stablehlo");
    }
}
