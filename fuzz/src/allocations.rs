//! An allocator that counts the bytes that each thread holds, so that targets can bound the memory that
//! a file takes. Holds unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The bytes that the thread has allocated and not freed, and their peak.
    static ALLOCATED: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system allocator, with a count of bytes.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn count(bytes: isize) {
    // A thread that ends may have dropped its count already.
    let _ = ALLOCATED.try_with(|counts| {
        let (allocated, peak) = counts.get();
        let allocated = allocated.saturating_add(bytes);
        counts.set((allocated, peak.max(allocated)));
    });
}

// SAFETY: every call is passed to the system's allocator with unchanged arguments; counting does not
// allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the contract of `alloc` is that of the system's: the caller passes a layout whose size
        // is not 0.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller passes a pointer from `alloc` or `alloc_zeroed` with this layout, and these
        // take it from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs a call, and returns its result with the peak of the bytes that this thread held during the call,
/// beyond those that it held before. The bytes of the result count; those of other threads do not.
pub(crate) fn peak<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATED.with(|counts| {
        let (allocated, _) = counts.get();
        counts.set((allocated, allocated));
        allocated
    });
    let result = call();
    let peak = ALLOCATED.with(|counts| counts.get().1);
    (result, usize::try_from(peak - before).unwrap_or(0))
}
