//! Instructions that Rust's compiler does not select by itself: conversions of `f16`. Holds unsafe code.
//!
//! The shell of a kernel (`shells/`), the function that is compiled for one level, passes the instructions of
//! the level to the generic body of the kernel as a type. Stable Rust has no
//! half-precision type for which the compiler would select these conversions, and integer arithmetic takes
//! fifteen instructions for each.

use indim_ops::f16;

/// The instructions of one level.
///
/// A caller is compiled for the level; the functions are inlined into it.
pub(crate) trait Instructions {
    /// Whether this is the *fallback level*: current processors have a higher one. Then kernels of
    /// costly operations are not vectorised and folds of whole rows (`row_fold.rs`) are not compiled,
    /// because both take longest to build. Strided copies (`strided.rs`) are not compiled either,
    /// because they would be slower than loops over a variable stride.
    const IS_FALLBACK: bool = false;

    /// Widens `count` elements. A signalling NaN may become quiet; signs are kept. Pointers need no
    /// alignment.
    ///
    /// # Safety
    /// - `wide` is valid for writes of `count` elements;
    /// - `narrow` is valid for reads of `count` elements;
    /// - the two do not overlap;
    /// - the processor has the level.
    unsafe fn widen_f16(wide: *mut f32, narrow: *const f16, count: usize);

    /// Narrows `count` elements to the nearest value, half to even; a NaN becomes any NaN.
    ///
    /// # Safety
    /// Like [`Instructions::widen_f16`], with reads and writes exchanged.
    unsafe fn narrow_f16(narrow: *mut f16, wide: *const f32, count: usize);
}

/// The level that every processor of the target has.
pub(crate) struct Baseline;

impl Instructions for Baseline {
    const IS_FALLBACK: bool = cfg!(target_arch = "x86_64");

    /// Not inlined: it is long, and no caller is compiled for a higher level.
    #[inline(never)]
    unsafe fn widen_f16(wide: *mut f32, narrow: *const f16, count: usize) {
        // SAFETY: the caller has the same obligations.
        unsafe { widen_singly(wide, narrow, count) }
    }

    #[inline(never)]
    unsafe fn narrow_f16(narrow: *mut f16, wide: *const f32, count: usize) {
        // SAFETY: the caller has the same obligations.
        unsafe { narrow_singly(narrow, wide, count) }
    }
}

/// # Safety
/// Like [`Instructions::widen_f16`], at any level.
#[inline(always)]
unsafe fn widen_singly(wide: *mut f32, narrow: *const f16, count: usize) {
    for index in 0..count {
        // SAFETY: `index` is below `count`, the caller's number of readable and of writable elements.
        unsafe {
            let value = narrow.wrapping_add(index).read_unaligned().to_f32();
            wide.wrapping_add(index).write_unaligned(value);
        }
    }
}

/// # Safety
/// Like [`Instructions::narrow_f16`], at any level.
#[inline(always)]
unsafe fn narrow_singly(narrow: *mut f16, wide: *const f32, count: usize) {
    for index in 0..count {
        // SAFETY: `index` is below `count`, the caller's number of readable and of writable elements.
        unsafe {
            let value = f16::from_f32(wide.wrapping_add(index).read_unaligned());
            narrow.wrapping_add(index).write_unaligned(value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::Avx2;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_ps,
    };

    use indim_ops::f16;

    use super::{Instructions, narrow_singly, widen_singly};

    /// AVX2 with F16C.
    pub(crate) struct Avx2;

    /// `f32` lanes of a register.
    const LANES: usize = 8;

    impl Instructions for Avx2 {
        #[inline(always)]
        unsafe fn widen_f16(wide: *mut f32, narrow: *const f16, count: usize) {
            let whole = count - count % LANES;
            for first in (0..whole).step_by(LANES) {
                let (to, from) = (wide.wrapping_add(first), narrow.wrapping_add(first));
                // SAFETY:
                // - `first + LANES` is at most `count`, the caller's number of elements in both arrays;
                // - the caller's processor has AVX2 and F16C.
                unsafe { _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from.cast()))) }
            }
            let (wide, narrow) = (wide.wrapping_add(whole), narrow.wrapping_add(whole));
            // SAFETY: both pointers address the last `count - whole` of the caller's elements.
            unsafe { widen_singly(wide, narrow, count - whole) }
        }

        #[inline(always)]
        unsafe fn narrow_f16(narrow: *mut f16, wide: *const f32, count: usize) {
            let whole = count - count % LANES;
            for first in (0..whole).step_by(LANES) {
                let (to, from) = (narrow.wrapping_add(first), wide.wrapping_add(first));
                // SAFETY:
                // - `first + LANES` is at most `count`, the caller's number of elements in both arrays;
                // - the caller's processor has AVX2 and F16C.
                unsafe {
                    let nearest =
                        _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from));
                    _mm_storeu_si128(to.cast(), nearest);
                }
            }
            let (narrow, wide) = (narrow.wrapping_add(whole), wide.wrapping_add(whole));
            // SAFETY: both pointers address the last `count - whole` of the caller's elements.
            unsafe { narrow_singly(narrow, wide, count - whole) }
        }
    }
}
