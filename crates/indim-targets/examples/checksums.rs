//! Checks that machine code gives the recorded bits of every elementary function, for all 2^32 arguments.
//!
//! `cargo run --release -p indim-targets --example checksums -- [FUNCTION...]`; `cargo xtask accuracy check`
//! runs it too.

#![allow(
    dead_code,
    unused_imports,
    reason = "the modules are shared with the accuracy measurement"
)]

#[path = "../tests/checksums/code.rs"]
mod code;
#[path = "../../indim-ops/tests/accuracy/functions.rs"]
mod functions;
#[path = "../../indim-ops/tests/accuracy/random.rs"]
mod random;
#[path = "../../indim-ops/tests/accuracy/record.rs"]
mod record;

use std::process::ExitCode;
use std::thread;

use functions::UNARY_FUNCTIONS;
use indim_ops::Level;
use indim_targets::{Function, machine_code_levels};
use record::FunctionLine;

const RECORD: &str = include_str!("../../indim-ops/tests/accuracy/measured.txt");

/// The checksum over all arguments, computed on all cores.
fn checksum(function: &Function) -> u64 {
    let parts = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    thread::scope(|scope| {
        let part = |part: u64| {
            let arguments = (part << 32) / parts..((part + 1) << 32) / parts;
            code::checksum_of(function, arguments.map(|bits| bits as u32))
        };
        let threads: Vec<_> = (0..parts).map(|index| scope.spawn(move || part(index))).collect();
        let sums = threads.into_iter().map(|thread| thread.join().expect("nothing panics"));
        sums.fold(0, u64::wrapping_add)
    })
}

#[allow(clippy::print_stdout, reason = "the program prints a report")]
fn main() -> ExitCode {
    if machine_code_levels().is_empty() {
        println!("this processor has no target for machine code");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let recorded = FunctionLine::read_all(RECORD);
    let mut exit = ExitCode::SUCCESS;
    for function in UNARY_FUNCTIONS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == function.name) {
            continue;
        }
        let is_line = |line: &&FunctionLine| line.name == function.name && line.dtype == "f32";
        let expected = recorded.iter().find(is_line).and_then(|line| line.checksum);
        for &level in machine_code_levels() {
            let found = checksum(&code::code_of(level, function.name));
            let verdict = match expected {
                None => "no checksum is recorded",
                Some(expected) if expected == found => "the same bits for all 2^32 arguments",
                Some(_) => {
                    exit = ExitCode::FAILURE;
                    "OTHER BITS than recorded"
                }
            };
            println!("{} by machine code for {level}: {verdict}", function.name);
        }
    }
    exit
}
