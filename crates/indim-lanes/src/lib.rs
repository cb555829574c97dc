//! Lanes: the algebra of operations, its back end of Rust's scalars, and the elementary functions.
//!
//! - `lane.rs`: the traits of lanes and of lane back ends;
//! - `scalars.rs`: the lane back end of Rust's scalars, for the reference evaluator and, vectorised, the
//!   kernels; `exact_float.rs`: exact float functions that `core` lacks;
//! - `float.rs`: simple functions of floats, which are operations themselves and serve the elementary
//!   functions;
//! - `elementary/`: the elementary functions, such as `exp` and `sin`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

// x87 computes in 80 bits: every function would give other bits, and miss its documented accuracy.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!("indim needs SSE2 on 32-bit x86: build for i686, or with `-C target-feature=+sse2`");

pub mod elementary;
mod exact_float;
pub mod float;
pub mod lane;
mod scalars;

pub use scalars::ScalarBackend;
