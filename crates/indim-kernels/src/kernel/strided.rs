//! Copies of every second, third or fourth element of memory to a dense block. Holds unsafe code.
//!
//! The compiler makes whole loads and permutations of a stride that it knows. A loop over any stride reads
//! element by element, which takes two to ten times as long for elements of at most 4 bytes.

use core::marker::PhantomData;

/// Copies `count` elements to a dense block.
///
/// # Safety
/// - `destination` is valid for writes of `count` elements, `source` for reads of `count` elements at the
///   stride for which the function was looked up, all of one array; no pointer needs to be aligned;
/// - they do not overlap;
/// - the processor has the level for which the function was looked up.
pub type StridedCopyFn = unsafe fn(destination: *mut u8, source: *const u8, count: usize);

/// A copy of elements of one size at one stride.
pub(crate) trait StridedCopy {
    /// # Safety
    /// Like [`StridedCopyFn`].
    unsafe fn run(destination: *mut u8, source: *const u8, count: usize);
}

/// The copy of one in `STRIDE` elements that are as wide as `T`.
pub(super) struct Every<T, const STRIDE: usize>(PhantomData<T>);

impl<T: Copy, const STRIDE: usize> StridedCopy for Every<T, STRIDE> {
    #[inline(always)]
    unsafe fn run(destination: *mut u8, source: *const u8, count: usize) {
        let (to, from) = (destination.cast::<T>(), source.cast::<T>());
        for index in 0..count {
            // SAFETY: the caller's promise. With additions that may wrap the compiler makes no permutations.
            unsafe {
                let element = from.add(STRIDE * index).read_unaligned();
                to.add(index).write_unaligned(element);
            }
        }
    }
}
