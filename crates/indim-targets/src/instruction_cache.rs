//! Instruction-cache maintenance: makes written code visible to instruction fetch. Holds unsafe code.

/// Makes newly written code visible to all threads. On x86-64 the caches are coherent: nothing to do.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) fn synchronize(_: &[u8]) {}

/// Makes newly written code visible to all threads: cleans the data cache to the point of unification and
/// invalidates the instruction cache.
#[cfg(target_arch = "aarch64")]
pub(crate) fn synchronize(code: &[u8]) {
    use core::arch::asm;
    use core::ops::Range;

    let cache_type: usize;
    // SAFETY: programs may read this register.
    unsafe {
        asm!("mrs {}, ctr_el0", out(reg) cache_type, options(nomem, nostack, preserves_flags))
    }
    let Range { start, end } = code.as_ptr_range();
    // The register has the lengths of lines as powers of two, in words of four bytes.
    let lines = |power: usize| {
        let bytes = 4 << (power & 0xf);
        (start.addr() / bytes * bytes..end.addr()).step_by(bytes)
    };
    for line in lines(cache_type >> 16) {
        // SAFETY: the line has bytes of `code`, which may be read.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: a barrier.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) }
    for line in lines(cache_type) {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) }
}
