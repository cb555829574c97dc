//! The target `calls` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| indim_fuzz::calls::run(bytes));
