//! The executors and levels that can run nests.
#![allow(dead_code, reason = "a test may use only one of the two lists")]

use indim_cpu::{CompileOptions, ExecutorChoice, Level};

/// The executors that tests compare; they give the same bits.
pub(crate) const EXECUTORS: [ExecutorChoice; 2] = [ExecutorChoice::Blocks, ExecutorChoice::Machine];

/// Kernels at every level, and machine code at every level that has a code generator.
pub(crate) fn executors() -> impl Iterator<Item = CompileOptions> {
    let of = |level, executor| CompileOptions::new().level(level).executor(executor);
    let blocks = Level::available().iter().map(move |&level| of(level, ExecutorChoice::Blocks));
    if cfg!(target_arch = "x86_64") && Level::detect().to_string() != "avx512" {
        eprintln!("not tested: this processor has no AVX-512");
    }
    let has_code = |level: &&Level| **level > Level::BASELINE || Level::available().len() == 1;
    let levels = Level::available().iter().filter(has_code);
    blocks.chain(levels.map(move |&level| of(level, ExecutorChoice::Machine)))
}
