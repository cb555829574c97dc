//! The target `graph_text` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| indim_fuzz::graph_text::run(bytes));
