//! The JIT back ends: compile the body of a loop nest to one fused loop in vector registers.
//!
//! A target (`target.rs`; `levels.rs` chooses it by level) compiles a body for one operand layout
//! (`layout.rs`). The targets are in `x86/` and `aarch64/`. They share these modules, in the order of
//! compilation:
//!
//! - `compile.rs`: the pipeline from a body to the encoder's input; `compile_fold.rs`: the same for bodies
//!   that fold;
//! - `select/`: instruction selection; `machine.rs`: its result, machine instructions over virtual registers;
//! - `allocate.rs`: register allocation; `pool.rs`: the constant pool;
//! - `listing.rs`: code as text;
//! - `function.rs`: executable memory and calls; `fold_function.rs`: calls of code that folds;
//!   `instruction_cache.rs`: instruction-cache maintenance;
//! - `out_of_line.rs`: functions for primitives without an instruction; `perf_map.rs`: symbols for `perf`.
//!
//! Code computes the *rows* of a matrix. A loop computes each row by *steps*: a step computes a fixed
//! number of neighbouring elements, its *lanes*. The elements after the last whole step of a row are its
//! *tail*. In a body that folds, every *unit* is such a matrix, and its rows are folded into one row of
//! accumulators. The *home* of a value is memory that always holds the value.
//!
//! Unsafe code stands only in `fold_function.rs`, `function.rs`, `instruction_cache.rs` and `out_of_line.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "no target compiles for this architecture")
)]

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
mod allocate;
mod compile;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "only x86-64 combines lanes at the end of a unit")
)]
mod compile_fold;
mod fold_function;
mod function;
mod instruction_cache;
mod layout;
mod levels;
mod listing;
mod machine;
mod out_of_line;
mod perf_map;
mod pool;
mod select;
mod target;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use fold_function::{FoldArgs, MAX_FOLD_OPERANDS, MAX_FOLDS};
pub use function::{Function, TargetError};
pub use layout::{MAX_INTERLEAVE_FACTOR, OperandForm, OperandLayout};
pub use levels::{can_deinterleave, machine_code_levels};
