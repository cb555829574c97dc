//! Instruction-cache maintenance: makes newly written code visible to instruction fetch. Holds unsafe code.

/// Makes newly written code visible to instruction fetch on all threads. Caches of x86-64 are coherent.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) fn synchronize(_: &[u8]) {}

/// Makes newly written code visible to instruction fetch on all threads: cleans the data cache to the point
/// of unification, then invalidates the instruction cache.
#[cfg(target_arch = "aarch64")]
pub(crate) fn synchronize(code: &[u8]) {
    use core::arch::asm;
    use core::ops::Range;

    let cache_type: usize;
    // SAFETY: Linux lets user programs read CTR_EL0; the read has no side effect.
    unsafe {
        asm!("mrs {}, ctr_el0", out(reg) cache_type, options(nomem, nostack, preserves_flags))
    }
    let Range { start, end } = code.as_ptr_range();
    // CTR_EL0 holds the line lengths as log2 of words of four bytes: data cache in bits 16 to 19, instruction
    // cache in bits 0 to 3.
    let lines = |power: usize| {
        let bytes = 4 << (power & 0xf);
        (start.addr() / bytes * bytes..end.addr()).step_by(bytes)
    };
    for line in lines(cache_type >> 16) {
        // SAFETY:
        // - the line contains bytes of `code`, so its page is mapped and readable;
        // - Linux lets user programs clean lines; cleaning changes no value.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: the barrier waits for the cleaning and changes no state.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) }
    for line in lines(cache_type) {
        // SAFETY:
        // - the line contains bytes of `code`, so its page is mapped and readable;
        // - Linux lets user programs invalidate lines; invalidation changes no value.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: the barriers wait for the invalidation and flush the pipeline; they change no state.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) }
}
