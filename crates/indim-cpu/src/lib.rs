//! The block executor: loop nests compiled for this processor and run over arrays in memory.
//!
//! Four wings, each built on those before it:
//! - `arrays/`: arrays in memory, of the caller's and of our own;
//! - `walk/`: how memory is walked for given strides;
//! - `blocks/`: what a nest becomes, kernels and chains, the loop over tiles;
//! - `run/`: what users call.
//!
//! Unsafe code stands only in `view.rs`, `buffer.rs`, `pages.rs`, `mapped_file.rs`, `unnamed_file.rs` and
//! `system_memory.rs` of `arrays/`, in `execute.rs`, `memory.rs`, `kernel/` and `chain/` of `blocks/`, and
//! in `executable.rs` and `threads.rs` of `run/`; of the other crates in `numpy_api.rs` of the Python
//! bindings and `signals.rs` of the command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod arrays;
mod blocks;
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
pub use blocks::program::Program;
pub use level::{Level, UnknownLevel};
pub use run::compile::{CompileError, CompileOptions, compile, compile_with};
pub use run::error::RunError;
pub use run::executable::Executable;
pub use run::forecast::{Forecast, MemoryPiece};
pub use run::in_place::InPlace;
pub use run::options::{Progress, RunOptions};
