//! Loop nests compiled for this processor and run over arrays in memory, which are those of
//! `indim-arrays`.
//!
//! In the order in which they build on one another:
//! - `executor.rs`: what an executor is;
//! - `tiles/`: the tiles of a nest, over the walks of `indim-loops`, and what runs over one of them;
//! - `blocks/`: the executor that runs kernels of `indim-kernels`;
//! - `machine/`: the one that runs machine code of `indim-targets`, once that is worth its price;
//! - `run/`: what users call.
//!
//! Unsafe code stands only in `executor.rs`, `blocks/mod.rs`, `machine/mod.rs`, `tiles/flat.rs`,
//! `tiles/folded.rs`, `tiles/memory.rs`, `tiles/reduce.rs`, `tiles/reduce/`, `tiles/search/`,
//! `tiles/take.rs`, `tiles/tile.rs`, `tiles/tree.rs`, `tiles/whole.rs`, `run/executable.rs`,
//! `run/float_environment.rs`, `run/groups.rs`, `run/in_place.rs`, `run/indices.rs`, `run/nests.rs`,
//! `run/scatter.rs`, `run/team.rs` and `run/threads.rs`; of the other crates in `indim-arrays`,
//! `indim-kernels` and `indim-targets`, in `numpy_api.rs` of the Python bindings and `signals.rs` of the
//! command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod blocks;
mod executor;
mod machine;
mod run;
mod tiles;

pub use executor::KernelFallback;
pub use indim_arrays::print;
#[cfg(feature = "safetensors")]
pub use indim_arrays::safetensors;
pub use indim_arrays::{
    ALIGNMENT, ArrayError, ArrayView, ArrayViewMut, Buffer, CompleteFile, IntoElementsError,
    MappedFile, Order, StoredAs, UnnamedFile, as_elements, as_elements_mut, copy_owner_and_mode,
    from_elements, set_memory_pool_limit,
};
pub use indim_kernels::{Level, UnknownLevel};
pub use indim_loops::strides::order::row_major_strides;
pub use run::choice::{ExecutorChoice, UnknownExecutor};
pub use run::compile::{CompileError, CompileOptions, compile, compile_with};
pub use run::error::RunError;
pub use run::executable::Executable;
#[doc(hidden)]
pub use run::float_environment::in_default_float_environment;
pub use run::forecast::{Forecast, MemoryPiece};
#[doc(hidden)]
pub use run::groups::NestParts;
pub use run::in_place::InPlace;
pub use run::options::{Progress, RunOptions, Threads};
pub use run::program::Program;
pub use run::symbolic::{SymbolicExecutable, compile_symbolic, compile_symbolic_with};
pub use tiles::memory;
