//! Copies of every second, third or fourth element in memory to a dense block. Holds unsafe code.
//!
//! For a constant stride the compiler emits vector loads and permutations. A loop over a variable stride
//! loads element by element, which takes two to ten times as long for elements of at most 4 bytes.

use core::marker::PhantomData;

/// Copies `count` elements to a dense block. Pointers need no alignment.
///
/// # Safety
/// - `destination` is valid for writes of `count` elements;
/// - `source` is valid for reads of `count` elements of one array, at the stride for which the function was
///   looked up;
/// - source and destination do not overlap;
/// - the processor has the level for which the function was looked up.
pub type StridedCopyFn = unsafe fn(destination: *mut u8, source: *const u8, count: usize);

/// The body of a strided copy, independent of the level.
pub(crate) trait StridedCopy {
    /// # Safety
    /// Like [`StridedCopyFn`].
    unsafe fn run(destination: *mut u8, source: *const u8, count: usize);
}

/// The copy of every `STRIDE`th element, for elements as wide as `T`.
pub(super) struct ConstantStride<T, const STRIDE: usize>(PhantomData<T>);

impl<T: Copy, const STRIDE: usize> StridedCopy for ConstantStride<T, STRIDE> {
    #[inline(always)]
    unsafe fn run(destination: *mut u8, source: *const u8, count: usize) {
        let (to, from) = (destination.cast::<T>(), source.cast::<T>());
        for index in 0..count {
            // Not `wrapping_add`: with additions that may wrap the compiler emits no permutations.
            // SAFETY: the caller ensures `count` readable elements at `STRIDE` in one array, and room for
            // `count` dense ones.
            unsafe {
                let element = from.add(STRIDE * index).read_unaligned();
                to.add(index).write_unaligned(element);
            }
        }
    }
}
