//! Loop nests compiled for this processor and run over arrays in memory.
//!
//! In the order in which they build on one another:
//! - `arrays/`: arrays in memory, of the caller's and of our own;
//! - `executor.rs`: what an executor is;
//! - `tiles/`: the tiles of a nest, over the walks of `indim-loops`, and what runs over one of them;
//! - `blocks/`: the executor that runs kernels of `indim-kernels`;
//! - `machine/`: the one that runs machine code of `indim-codegen`, once that is worth its price;
//! - `run/`: what users call.
//!
//! Unsafe code stands only in `arrays/buffer.rs`, `arrays/mapped_file.rs`, `arrays/system_memory.rs`,
//! `arrays/unnamed_file.rs`, `arrays/view.rs`, `executor.rs`, `blocks/mod.rs`, `machine/mod.rs`,
//! `tiles/memory.rs`, `tiles/reduce.rs`, `tiles/search.rs`, `tiles/take.rs`, `tiles/tile.rs`,
//! `tiles/tree.rs`, `run/executable.rs`, `run/groups.rs`, `run/indices.rs`, `run/nests.rs` and
//! `run/threads.rs`; of the other crates in `indim-kernels`, in `numpy_api.rs` of the Python bindings and
//! `signals.rs` of the command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod arrays;
mod blocks;
mod executor;
mod machine;
mod run;
mod tiles;

pub use arrays::buffer::{ALIGNMENT, Buffer};
pub use arrays::mapped_file::MappedFile;
pub use arrays::order::Order;
pub use arrays::pages::keep_memory;
pub use arrays::unnamed_file::{CompleteFile, UnnamedFile, copy_owner_and_mode};
pub use arrays::view::{ArrayError, ArrayView, ArrayViewMut};
pub use executor::ByKernels;
pub use indim_kernels::{Level, UnknownLevel};
pub use indim_loops::strides::order::row_major_strides;
pub use run::choice::{ExecutorChoice, UnknownExecutor};
pub use run::compile::{CompileError, CompileOptions, compile, compile_with};
pub use run::error::RunError;
pub use run::executable::Executable;
pub use run::forecast::{Forecast, MemoryPiece};
#[doc(hidden)]
pub use run::groups::NestParts;
pub use run::in_place::InPlace;
pub use run::options::{Progress, RunOptions};
pub use run::program::Program;
pub use tiles::memory;
