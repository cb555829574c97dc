//! Machine code: the body of a loop nest as one fused loop in vector registers.
//!
//! A target (`target.rs`; the list of them is `kinds.rs`) turns a body into instructions, for one operand
//! layout (`layout.rs`): `x86/` and `aarch64/`. Shared by all targets, in the order of compilation:
//!
//! - `compile.rs`: from a body to the encoder's input; `compile_fold.rs`: the same for bodies that fold;
//! - `select/`: instruction selection, into the code over virtual registers of `machine.rs`;
//! - `allocate.rs`: register allocation; `pool.rs`: constants;
//! - `listing.rs`: the code as text;
//! - `function.rs`: executable memory and calls, after `instruction_cache.rs`; `fold_function.rs`: calls of
//!   code that folds;
//! - `out_of_line.rs`: functions for primitives without an instruction; `perf_map.rs`: names for profilers.
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

pub use fold_function::{FoldArgs, MAX_FOLDS};
pub use function::{Function, TargetError};
pub use kinds::TargetKind;
pub use layout::{OperandForm, OperandLayout};
