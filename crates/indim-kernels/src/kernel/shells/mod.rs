//! Shells: the only functions that are compiled for a level. Each is a body, `block.rs`'s or a fold's,
//! with all that it calls inlined. Holds unsafe code.
//!
//! A level has a file of its own because the compiler works on files side by side.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod baseline;

use super::block::{Body, KernelFn};
use super::fold::{FoldFn, FoldRows};
use super::instructions::Instructions;

/// Hands out the kernels and folds of one level.
pub(crate) trait Shells: Instructions {
    /// The kernel of `B` at the level.
    fn kernel<B: Body>() -> KernelFn;

    /// The fold of `B` at the level.
    fn fold<B: FoldRows>() -> FoldFn;
}

/// The shells of a level, with the attribute that enables its instructions.
macro_rules! define_shells {
    ($level:ident $(#[$enable:meta])?) => {
        use crate::kernel::block::{Body, KernelFn};
        use crate::kernel::fold::{FoldFn, FoldRows, FoldedRows};
        use crate::kernel::instructions::$level;

        impl super::Shells for $level {
            fn kernel<B: Body>() -> KernelFn {
                kernel::<B>
            }

            fn fold<B: FoldRows>() -> FoldFn {
                fold::<B>
            }
        }

        /// # Safety
        /// As [`KernelFn`]; the processor has the level.
        $(#[$enable])?
        unsafe fn kernel<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
            // SAFETY: the caller's promise.
            unsafe { B::run::<$level>(destination, sources, count) }
        }

        /// # Safety
        /// As [`FoldFn`]; the processor has the level.
        $(#[$enable])?
        unsafe fn fold<B: FoldRows>(accumulators: *mut u8, source: *const u8, rows: FoldedRows) {
            // SAFETY: the caller's promise.
            unsafe { B::run(accumulators, source, rows) }
        }
    };
}

use define_shells;
