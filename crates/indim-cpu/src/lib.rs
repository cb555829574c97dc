//! The block executor: loop nests compiled for this processor and run over arrays in memory.
//!
//! Read in this order: `program.rs` (what a nest becomes), `plan.rs` (how memory is walked),
//! `execute.rs` (the loop over tiles), `kernel/` (one operation over one block), `executable.rs`
//! (what users call).
//!
//! Unsafe code stands only in `array.rs`, `buffer.rs`, `pages.rs`, `execute.rs`, `executable.rs`,
//! `mapped_file.rs`, `unnamed_file.rs`, `parallel.rs`, `system_memory.rs` and `kernel/`; of the other
//! crates in `numpy_api.rs` of the Python bindings and `signals.rs` of the command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod array;
mod buffer;
mod chain_line;
mod chains;
mod compile;
mod executable;
mod execute;
mod forecast;
mod in_place;
mod kernel;
mod level;
mod mapped_file;
mod named;
mod order;
mod overlap;
#[cfg_attr(
    not(feature = "memmap2"),
    allow(unreachable_code, reason = "there are no pages, and their type has no values")
)]
mod pages;
mod parallel;
mod plan;
mod program;
mod run_error;
mod run_options;
mod scratch;
mod system_memory;
mod unnamed_file;
mod wiring;

pub use array::{ArrayError, ArrayView, ArrayViewMut, row_major_strides};
pub use buffer::{ALIGNMENT, Buffer};
pub use compile::{CompileError, CompileOptions, compile, compile_with};
pub use executable::Executable;
pub use forecast::{Forecast, MemoryPiece};
pub use in_place::InPlace;
pub use kernel::{KernelFn, convert_kernel, elementwise_kernel, memory};
pub use level::{Level, UnknownLevel};
pub use mapped_file::MappedFile;
pub use order::Order;
pub use pages::keep_memory;
pub use program::Program;
pub use run_error::RunError;
pub use run_options::{Progress, RunOptions};
pub use unnamed_file::{CompleteFile, UnnamedFile, copy_owner_and_mode};
