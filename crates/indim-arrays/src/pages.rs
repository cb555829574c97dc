//! Memory of large arrays: a pool of pages, reused by the next array.
//!
//! The first write to each new page costs more than an element-wise operation on it. Large memory is
//! therefore allocated in huge pages, and freed pages stay in the pool, up to a limit.
//!
//! No thread waits for the pool: after a fork the lock may be held in the child, by a thread that does not
//! exist there. A thread that finds it held allocates, as if the pool were empty.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::yield_now;

use crate::system_memory::MmapMut;

/// Smaller arrays are left to the allocator, which keeps their memory itself.
pub(crate) const MINIMUM_BYTES: usize = 1 << 20;

/// Default limit of the pool, in bytes.
const DEFAULT_KEPT_BYTES: usize = 1 << 30;

/// A huge page.
const HUGE_BYTES: usize = 2 << 20;

/// The free pages, most recently freed last.
struct Kept {
    maps: Vec<MmapMut>,
    limit: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { maps: Vec::new(), limit: DEFAULT_KEPT_BYTES });

/// Pages for an array; given back when dropped.
pub(crate) struct Pages(Option<MmapMut>);

impl Pages {
    /// At least `bytes`, with any contents; `None` when the system refuses them.
    pub(crate) fn new(bytes: usize) -> Option<Pages> {
        let rounded = bytes.checked_next_multiple_of(HUGE_BYTES)?;
        let map = take(rounded).or_else(|| map(rounded))?;
        Some(Pages(Some(map)))
    }

    /// The first byte; pages are aligned to more than any element.
    pub(crate) fn first(&mut self) -> *mut u8 {
        self.0.as_mut().map_or(core::ptr::null_mut(), |map| map.as_mut_ptr())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(map) = self.0.take() else { return };
        let Some(mut kept) = lock(TRIES) else { return };
        kept.maps.push(map);
        let released = kept.shrink();
        drop(kept);
        // Unmapping takes a while; others need not do without the lock for so long.
        drop(released);
    }
}

/// The number of attempts to take the lock, which is held for less than a microsecond at a time, to take or
/// to give back memory.
const TRIES: usize = 20;

/// The same for setting the bound, which is worth waiting for.
const TRIES_FOR_BOUND: usize = 100_000;

/// The kept memory; `None` when it is busy at each of so many tries.
fn lock(tries: usize) -> Option<MutexGuard<'static, Kept>> {
    for _ in 0..tries {
        match KEPT.try_lock() {
            Ok(kept) => return Some(kept),
            Err(TryLockError::Poisoned(kept)) => return Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => yield_now(),
        }
    }
    None
}

impl Kept {
    /// Removes the oldest maps until the bound holds.
    fn shrink(&mut self) -> Vec<MmapMut> {
        let mut bytes: usize = self.maps.iter().map(|map| map.len()).sum();
        let excess = self.maps.iter().take_while(|map| {
            let is_excess = bytes > self.limit;
            bytes -= map.len();
            is_excess
        });
        let excess = excess.count();
        self.maps.drain(..excess).collect()
    }
}

/// The kept map that fits best and wastes less than half of itself.
fn take(bytes: usize) -> Option<MmapMut> {
    let mut kept = lock(TRIES)?;
    let fits = |map: &&MmapMut| map.len() >= bytes && map.len() / 2 <= bytes;
    let best = kept.maps.iter().filter(fits).map(|map| map.len()).min()?;
    let position = kept.maps.iter().rposition(|map| map.len() == best)?;
    Some(kept.maps.remove(position))
}

fn map(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    // A wish: where it is not granted, the pages are small.
    #[cfg(all(target_os = "linux", feature = "memmap2"))]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// Sets how many bytes of memory indim keeps for the next large arrays, and gives back what is
/// beyond. Without a call it is 1 GiB; 0 keeps none.
///
/// In a process that was forked at the moment when another thread used the kept memory, it stays unused:
/// every array gets new memory, and this does nothing.
///
/// ```
/// indim_arrays::set_memory_pool_limit(0);
/// ```
pub fn set_memory_pool_limit(bytes: usize) {
    let Some(mut kept) = lock(TRIES_FOR_BOUND) else { return };
    kept.limit = bytes;
    let released = kept.shrink();
    drop(kept);
    drop(released);
}

#[cfg(test)]
#[path = "../tests/unit/pages.rs"]
mod tests;
