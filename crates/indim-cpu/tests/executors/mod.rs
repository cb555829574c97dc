//! All that nests can be run by.

use indim_cpu::{CompileOptions, ExecutorChoice, Level};

/// Blocks at every level, and machine code.
pub(crate) fn executors() -> impl Iterator<Item = CompileOptions> {
    let of = |level, executor| CompileOptions { level, executor, ..CompileOptions::default() };
    let blocks = Level::available().iter().map(move |&level| of(level, ExecutorChoice::Blocks));
    blocks.chain([of(Level::detect(), ExecutorChoice::Machine)])
}
