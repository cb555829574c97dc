//! The shells of the level that every processor of the target has. Holds unsafe code.

use super::Shells;
use crate::blocks::chain::pieces::{ChainBody, ChainFn, Link, Rows};
use crate::blocks::kernel::KernelFn;
use crate::blocks::kernel::block::Body;
use crate::blocks::kernel::instructions::Baseline;

impl Shells for Baseline {
    fn kernel<B: Body>() -> KernelFn {
        kernel::<B>
    }

    fn chain<B: ChainBody>() -> ChainFn {
        chain::<B>
    }
}

/// # Safety
/// As [`KernelFn`].
unsafe fn kernel<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Baseline>(destination, sources, count) }
}

/// # Safety
/// As [`ChainFn`].
unsafe fn chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Baseline>(destination, links, rows) }
}
