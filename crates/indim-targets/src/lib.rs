//! The JIT back ends: compile the body of a loop nest to one fused loop in vector registers.
//!
//! The targets are in `x86/` and `aarch64/`: the instructions that they select for primitives, and their
//! encoding. `indim-codegen` has the pipeline that they share; its page defines *row*, *step*, *tail*,
//! *unit* and *home*.
//!
//! - `levels.rs`: the target of a level;
//! - `function.rs`: executable memory and calls; `fold_function.rs`: calls of code that folds;
//!   `instruction_cache.rs`: instruction-cache maintenance;
//! - `out_of_line.rs`: functions for primitives without an instruction; `perf_map.rs`: symbols for `perf`.
//!
//! Unsafe code stands only in `fold_function.rs`, `function.rs`, `instruction_cache.rs` and `out_of_line.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "no target compiles for this architecture")
)]

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
mod fold_function;
mod function;
mod instruction_cache;
mod levels;
mod out_of_line;
mod perf_map;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use fold_function::{FoldArgs, MAX_FOLD_OPERANDS, MAX_FOLDS};
pub use function::{Function, TargetError};
pub use indim_codegen::layout::{MAX_INTERLEAVE_FACTOR, OperandForm, OperandLayout};
pub use levels::{can_deinterleave, machine_code_levels};
