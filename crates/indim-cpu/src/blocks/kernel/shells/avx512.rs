//! The shells of AVX-512. Holds unsafe code.

use super::Shells;
use crate::blocks::chain::pieces::{ChainBody, ChainFn, Link, Rows};
use crate::blocks::kernel::KernelFn;
use crate::blocks::kernel::block::Body;
use crate::blocks::kernel::instructions::Avx512;

impl Shells for Avx512 {
    fn kernel<B: Body>() -> KernelFn {
        kernel::<B>
    }

    fn chain<B: ChainBody>() -> ChainFn {
        chain::<B>
    }
}

/// # Safety
/// As [`KernelFn`]; the processor has AVX-512.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn kernel<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx512>(destination, sources, count) }
}

/// # Safety
/// As [`ChainFn`]; the processor has AVX-512.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn chain<B: ChainBody>(destination: *mut u8, links: &mut [Link], rows: Rows) {
    // SAFETY: the caller's promise.
    unsafe { B::run::<Avx512>(destination, links, rows) }
}
