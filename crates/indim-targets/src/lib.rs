//! Machine code: the body of a loop nest as one fused loop in vector registers.
//!
//! A target (`target.rs`; which there are `kinds.rs`) makes instructions of a body, for one `layout.rs` of
//! its operands: `x86/` and `aarch64/`. What they share: the way through a body `compile.rs`, through one
//! that folds `compile_fold.rs`, instructions over any number of registers `machine.rs`, which of them
//! compute a body `select/`, in which registers `allocate.rs`, constants `pool.rs`, what is written for
//! people `listing.rs`. `function.rs` puts code into executable memory and calls it, after
//! `instruction_cache.rs`; where it folds `fold_function.rs` does. What a target has no instruction for is
//! called `out_of_line.rs`; `perf_map.rs` names functions for profilers.
//!
//! Unsafe code stands only in `fold_function.rs`, `function.rs`, `instruction_cache.rs` and `out_of_line.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "for targets")
)]

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
mod allocate;
mod compile;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other target folds yet"))]
mod compile_fold;
mod fold_function;
mod function;
mod instruction_cache;
mod kinds;
mod layout;
mod listing;
mod machine;
mod out_of_line;
mod perf_map;
mod pool;
mod select;
mod target;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use fold_function::{Folded, MAX_FOLDS};
pub use function::{Function, TargetError};
pub use kinds::TargetKind;
pub use layout::{OperandForm, OperandLayout};
