//! The shells of AVX2. Holds unsafe code.

use super::Shells;
use crate::blocks::chain::pieces::{ChainBody, ChainFn, Link, Rows};
use crate::blocks::kernel::KernelFn;
use crate::blocks::kernel::block::Body;
use crate::blocks::kernel::instructions::Avx2;

impl Shells for Avx2 {
    fn kernel<B: Body>() -> KernelFn {
        kernel::<B>
    }

    fn chain<B: ChainBody>() -> ChainFn {
        chain::<B>
    }
}

/// # Safety
/// As [`KernelFn`]; the processor has AVX2 and F16C.
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn kernel<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx2>(destination, sources, count) }
}

/// # Safety
/// As [`ChainFn`]; the processor has AVX2 and F16C.
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx2>(destination, links, rows) }
}
