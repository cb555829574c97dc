//! The target `skip_weights` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| indim_fuzz::skip_weights::run(bytes));
