//! Accuracy and special values of the elementary functions: a sample for every test run. The whole
//! measurement is `examples/accuracy.rs`.

// The reference is C with 128-bit integers, which compilers for 32-bit machines lack. On such machines the
// checksums show that the functions give the measured bits.
#[cfg(target_pointer_width = "64")]
mod errors;
#[cfg_attr(not(target_pointer_width = "64"), allow(dead_code))]
mod functions;
#[cfg(target_pointer_width = "64")]
mod measure;
#[cfg_attr(not(target_pointer_width = "64"), allow(dead_code))]
mod random;
mod record;
#[cfg(target_pointer_width = "64")]
mod reference;
mod special_values;

use functions::{UNARY_FUNCTIONS, sample_checksum};
use record::FunctionLine;

/// The record has the measurements of `examples/accuracy.rs` over all arguments. This test shows by a sample
/// that the functions still give the same bits, and that the record keeps its form.
#[test]
fn the_bits_are_those_of_the_record() {
    let text = include_str!("measured.txt");
    let lines = FunctionLine::read_all(text);
    assert_eq!(FunctionLine::write_all(&lines), text);
    for function in UNARY_FUNCTIONS {
        let line = lines.iter().find(|line| line.name == function.name && line.dtype == "f32");
        let line = line.unwrap_or_else(|| panic!("{} is not in the record", function.name));
        assert!(line.error <= 1.0, "{line:?}");
        assert_eq!(
            line.sample_checksum,
            Some(sample_checksum(function)),
            "{}: other bits",
            function.name
        );
    }
}
