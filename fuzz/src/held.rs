//! An allocator that counts what a thread holds, so that targets can say how much a file may take.
//! Holds unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that the thread has allocated and not freed, and the most there were.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: isize) {
    // A thread that ends has no count any more.
    let _ = HELD.try_with(|counts| {
        let (held, peak) = counts.get();
        let held = held.saturating_add(bytes);
        counts.set((held, peak.max(held)));
    });
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller gives a layout of a size that is not 0, as this function asks.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the pointer is of `alloc` with this layout, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs a call on this thread alone and returns its result with the peak bytes held meanwhile, its
/// result included.
pub(crate) fn peak<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(|counts| {
        let (held, _) = counts.get();
        counts.set((held, held));
        held
    });
    let result = call();
    let peak = HELD.with(|counts| counts.get().1);
    (result, usize::try_from(peak - before).unwrap_or(0))
}
