//! The floating-point environment of a thread: rounding, subnormal numbers, traps. Holds unsafe code.
//!
//! A library linked with `-ffast-math` makes the thread that loads it flush subnormal numbers to zero;
//! `fesetround` and `feenableexcept` change rounding and traps. A thread inherits the environment of its
//! parent, so the threads of one run may differ. So every thread computes in the default environment.

use core::marker::PhantomData;

/// A guard for the default floating-point environment of this thread: rounding to nearest, subnormal numbers
/// preserved, no traps. Its drop restores the former environment.
pub(crate) struct DefaultFloatEnvironment {
    /// The former value of the control register, if it differed.
    before: Option<control::Word>,
    /// Not `Send`: each thread has its own register.
    _of_this_thread: PhantomData<*mut ()>,
}

impl DefaultFloatEnvironment {
    /// Enters the default environment. Writes the control register only if it differs, because a write costs
    /// many times more than a read.
    #[inline]
    #[must_use]
    pub(crate) fn enter() -> DefaultFloatEnvironment {
        let word = control::read();
        let default = word & !control::MODES | control::DEFAULT;
        if word != default {
            control::write(default);
        }
        let before = (word != default).then_some(word);
        DefaultFloatEnvironment { before, _of_this_thread: PhantomData }
    }
}

impl Drop for DefaultFloatEnvironment {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            control::write(before);
        }
    }
}

/// Calls `compute` in the default floating-point environment.
///
/// Code that builds graphs uses it, because it converts literals and folds constants.
#[doc(hidden)]
pub fn in_default_float_environment<R>(compute: impl FnOnce() -> R) -> R {
    let _environment = DefaultFloatEnvironment::enter();
    compute()
}

/// The register MXCSR.
#[cfg(any(target_arch = "x86_64", all(target_arch = "x86", target_feature = "sse2")))]
mod control {
    use core::arch::asm;

    pub(super) type Word = u32;

    /// All bits except the flags of past exceptions.
    pub(super) const MODES: Word = 0xffc0;

    /// Rounds to nearest, flushes nothing, masks all exceptions.
    pub(super) const DEFAULT: Word = 0x1f80;

    #[inline(always)]
    pub(super) fn read() -> Word {
        let mut word: Word = 0;
        // SAFETY: the instruction writes only the four bytes of `word`.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags));
        }
        word
    }

    #[inline(always)]
    pub(super) fn write(word: Word) {
        // SAFETY:
        // - the instruction reads the four bytes of `word`;
        // - `word` is a value of the register with other modes, or was read from it, so no reserved bit is
        //   set.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags));
        }
    }
}

/// The register FPCR. Flags of past exceptions are in another register.
#[cfg(target_arch = "aarch64")]
mod control {
    use core::arch::asm;

    pub(super) type Word = u64;

    pub(super) const MODES: Word = u64::MAX;

    /// Rounds to nearest, flushes nothing, keeps NaNs, traps nothing.
    pub(super) const DEFAULT: Word = 0;

    #[inline(always)]
    pub(super) fn read() -> Word {
        let word: Word;
        // SAFETY: programs may read this register, and a read has no other effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nostack, preserves_flags)) }
        word
    }

    #[inline(always)]
    pub(super) fn write(word: Word) {
        // SAFETY: programs may write this register; `word` is the default or was read from it.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) }
    }
}

/// No control register. WebAssembly has only one environment; on other processors the environment stays as
/// it is.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse2"),
    target_arch = "aarch64"
)))]
mod control {
    pub(super) type Word = u32;

    pub(super) const MODES: Word = 0;
    pub(super) const DEFAULT: Word = 0;

    #[inline(always)]
    pub(super) fn read() -> Word {
        0
    }

    #[inline(always)]
    pub(super) fn write(_: Word) {}
}
