//! Machine code gives the recorded bits of every elementary function, for a sample of all 32-bit arguments.
//! `examples/checksums.rs` checks all of them.

#![allow(
    dead_code,
    unused_imports,
    reason = "the modules are shared with the accuracy measurement"
)]

mod code;
#[path = "../../../indim-ops/tests/accuracy/functions.rs"]
mod functions;
#[path = "../../../indim-ops/tests/accuracy/random.rs"]
mod random;
#[path = "../../../indim-ops/tests/accuracy/record.rs"]
mod record;

use functions::{SAMPLE_STEP, UNARY_FUNCTIONS};
use indim_targets::machine_code_levels;
use record::FunctionLine;

#[test]
fn machine_code_gives_the_recorded_bits() {
    let recorded =
        FunctionLine::read_all(include_str!("../../../indim-ops/tests/accuracy/measured.txt"));
    for function in UNARY_FUNCTIONS {
        let is_line = |line: &&FunctionLine| line.name == function.name && line.dtype == "f32";
        let expected = recorded.iter().find(is_line).unwrap().sample_checksum.unwrap();
        for &level in machine_code_levels() {
            let sample = (0..=u32::MAX).step_by(SAMPLE_STEP);
            let found = code::checksum_of(&code::code_of(level, function.name), sample);
            assert_eq!(found, expected, "{} by {level}", function.name);
        }
    }
}
