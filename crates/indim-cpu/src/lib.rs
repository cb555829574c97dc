//! Compilation of graphs for this processor, and runs over arrays in memory.
//!
//! `run/` has executables, their options and errors: the public interface. The executors are in
//! `indim-executors`.
//!
//! Unsafe code stands only in `run/bound_program.rs`, `run/contraction.rs`,
//! `run/control/branch.rs`, `run/control/while_loop.rs`, `run/control/mod.rs`, `run/executable.rs`,
//! `run/float_environment.rs`, `run/groups.rs`, `run/in_place.rs`, `run/indices.rs`,
//! `run/packed_constants.rs`, `run/repeated_run.rs`, `run/run_arrays.rs`, `run/scan.rs`,
//! `run/scatter/bound.rs`, `run/scatter/fold.rs`, `run/scatter/only_update.rs`, `run/scratch.rs`,
//! `run/search.rs`, `run/sort/columns.rs`, `run/sort/mod.rs`, `run/sort/select.rs`, `run/team.rs` and
//! `run/threads.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod run;

pub use indim_arrays::print;
#[cfg(feature = "safetensors")]
pub use indim_arrays::safetensors;
pub use indim_arrays::{
    ALIGNMENT, Array, ArrayError, ArrayView, ArrayViewMut, CompleteFile, ElementLayout,
    IntoElementsError, MappedFile, UnnamedFile, as_elements, as_elements_mut, copy_owner_and_mode,
    from_elements, row_major_byte_strides, set_memory_pool_limit,
};
pub use indim_executors::{KernelFallback, memory};
pub use indim_ops::{Level, UnknownLevel};
pub use run::choice::{ExecutorChoice, UnknownExecutor};
pub use run::compile::{CompileError, CompileOptions, compile, compile_with};
pub use run::compiled_nest::CompiledNest;
pub use run::error::RunError;
pub use run::executable::Executable;
#[doc(hidden)]
pub use run::float_environment::in_default_float_environment;
pub use run::forecast::Forecast;
#[doc(hidden)]
pub use run::groups::TiledGroup;
pub use run::in_place::InPlace;
pub use run::memory_piece::MemoryPiece;
pub use run::named::sort_by_name;
pub use run::options::{NestTimes, Progress, RunOptions, Threads};
pub use run::output_order::Order;
pub use run::symbolic::{SymbolicExecutable, compile_symbolic, compile_symbolic_with};

#[cfg(test)]
#[path = "../tests/unit/loop_panels.rs"]
mod loop_panels;

#[cfg(test)]
#[path = "../tests/unit/simple_executor.rs"]
mod simple_executor;
