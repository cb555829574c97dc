//! Executors: back ends that compile loop nests for this processor and run their tiles.
//!
//! Modules, each built on those before it:
//! - `executor.rs`: the interface of an executor; `step_progress.rs`: progress within long tiles;
//! - `tiles/`: tiles of a nest over the walks of `indim-loops`, and the loops over them;
//! - `blocks/`: the executor that calls kernels of `indim-kernels`;
//! - `machine/`: the executor that tiers up to machine code of `indim-targets`.
//!
//! Unsafe code stands only in `executor.rs`, `blocks/mod.rs`, `machine/mod.rs`, `machine/unroll.rs`,
//! `tiles/flat.rs`, `tiles/fold_tile.rs`, `tiles/memory.rs`, `tiles/reduce.rs`, `tiles/reduce/`,
//! `tiles/arg_reduce/`, `tiles/gather.rs`, `tiles/tile.rs`, `tiles/tree.rs` and `tiles/single_call.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod blocks;
mod executor;
mod machine;
mod step_progress;
mod tiles;

pub use blocks::Blocks;
pub use executor::{Bases, BoundNest, Executor, KernelFallback, NestCode, TileProgress};
pub use machine::Machine;
pub use step_progress::StepProgress;
pub use tiles::gather::Gather;
pub use tiles::memory;
pub use tiles::work::run_work;
