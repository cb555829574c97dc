//! Loop nests compiled for this processor and run over arrays in memory.
//!
//! In the order in which they build on one another:
//! - `arrays/`: arrays in memory, of the caller's and of our own;
//! - `walk/`: how a nest goes through memory for given strides;
//! - `executor.rs`: what an executor is;
//! - `blocks/`: the executor, with its kernels and chains;
//! - `run/`: what users call.
//!
//! Unsafe code stands only in `view.rs`, `buffer.rs`, `pages.rs`, `mapped_file.rs`, `unnamed_file.rs` and
//! `system_memory.rs` of `arrays/`, in `executor.rs`, in `mod.rs`, `tiles.rs`, `memory.rs`, `kernel/` and
//! `chain/` of `blocks/`, and in `executable.rs`, `nests.rs` and `threads.rs` of `run/`; of the other
//! crates in `numpy_api.rs` of the Python bindings and `signals.rs` of the command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod arrays;
mod blocks;
mod executor;
mod level;
mod run;
mod walk;

pub use arrays::buffer::{ALIGNMENT, Buffer};
pub use arrays::mapped_file::MappedFile;
pub use arrays::order::Order;
pub use arrays::pages::keep_memory;
pub use arrays::unnamed_file::{CompleteFile, UnnamedFile, copy_owner_and_mode};
pub use arrays::view::{ArrayError, ArrayView, ArrayViewMut, row_major_strides};
pub use blocks::kernel::{KernelFn, convert_kernel, elementwise_kernel};
pub use blocks::memory;
pub use level::{Level, UnknownLevel};
pub use run::compile::{CompileError, CompileOptions, compile, compile_with};
pub use run::error::RunError;
pub use run::executable::Executable;
pub use run::forecast::{Forecast, MemoryPiece};
pub use run::in_place::InPlace;
pub use run::options::{Progress, RunOptions};
pub use run::program::Program;
