//! Shells: the only functions that are compiled for a level. Each is a body, `block.rs`'s or a chain's,
//! with all that it calls inlined.
//!
//! A level has a file of its own because the compiler works on files side by side.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;

use super::KernelFn;
use super::block::Body;
use crate::blocks::chain::pieces::{ChainBody, ChainFn};

/// Hands out the kernels and chains of one level.
pub(crate) trait Shells {
    /// The kernel of `B` at the level.
    fn kernel<B: Body>() -> KernelFn;

    /// The chain of `B` at the level.
    fn chain<B: ChainBody>() -> ChainFn;
}
