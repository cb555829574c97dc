//! Memory of large arrays: a pool of pages, which later arrays reuse.
//!
//! The first write to each new page costs more than an element-wise operation on it. Large memory is
//! therefore allocated in huge pages, and freed pages stay in the pool, up to a limit.
//!
//! No thread waits for the pool without a bound: in the child of a fork, a thread that does not exist there
//! may hold the lock. After some attempts a thread allocates, as if the pool were empty.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::yield_now;

use crate::system_memory::MmapMut;

/// Minimum bytes of a pooled array. The allocator reuses memory of smaller arrays itself.
pub(crate) const MIN_POOLED_BYTES: usize = 1 << 20;

/// Default limit of the pool, in bytes.
const DEFAULT_POOL_BYTES: usize = 1 << 30;

/// Bytes of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The free maps, most recently freed last, and the limit of their bytes.
struct PagePool {
    maps: Vec<MmapMut>,
    limit: usize,
}

static POOL: Mutex<PagePool> = Mutex::new(PagePool { maps: Vec::new(), limit: DEFAULT_POOL_BYTES });

/// Pages for an array, which return to the pool when dropped.
pub(crate) struct Pages(Option<MmapMut>);

impl Pages {
    /// Pages of at least `bytes` bytes, with arbitrary contents; `None` when the system refuses them.
    pub(crate) fn new(bytes: usize) -> Option<Pages> {
        let rounded = bytes.checked_next_multiple_of(HUGE_PAGE_BYTES)?;
        let map = take(rounded).or_else(|| map(rounded))?;
        Some(Pages(Some(map)))
    }

    /// The first byte. Pages have a larger alignment than any element.
    pub(crate) fn first(&mut self) -> *mut u8 {
        self.0.as_mut().map_or(core::ptr::null_mut(), |map| map.as_mut_ptr())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(map) = self.0.take() else { return };
        let Some(mut pool) = lock(MAX_LOCK_ATTEMPTS) else { return };
        pool.maps.push(map);
        let released = pool.shrink();
        drop(pool);
        // Unmapping is slow, so it happens after the lock is released.
        drop(released);
    }
}

/// Attempts to lock the pool to take or return memory. A thread holds the lock for less than a microsecond.
const MAX_LOCK_ATTEMPTS: usize = 20;

/// Attempts to lock the pool to set the limit, which is worth a longer wait.
const MAX_LOCK_ATTEMPTS_FOR_LIMIT: usize = 100_000;

/// The locked pool; `None` if another thread holds it at each of `attempts` attempts.
fn lock(attempts: usize) -> Option<MutexGuard<'static, PagePool>> {
    for _ in 0..attempts {
        match POOL.try_lock() {
            Ok(pool) => return Some(pool),
            Err(TryLockError::Poisoned(pool)) => return Some(pool.into_inner()),
            Err(TryLockError::WouldBlock) => yield_now(),
        }
    }
    None
}

impl PagePool {
    /// Removes the oldest maps until the pool is within its limit.
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

/// The smallest pooled map of at least `bytes` bytes that wastes at most half of itself; of several, the
/// one most recently freed.
fn take(bytes: usize) -> Option<MmapMut> {
    let mut pool = lock(MAX_LOCK_ATTEMPTS)?;
    let fits = |map: &&MmapMut| map.len() >= bytes && map.len() / 2 <= bytes;
    let best = pool.maps.iter().filter(fits).map(|map| map.len()).min()?;
    let position = pool.maps.iter().rposition(|map| map.len() == best)?;
    Some(pool.maps.remove(position))
}

fn map(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    // A hint: a system that ignores it uses small pages.
    #[cfg(all(target_os = "linux", feature = "memmap2"))]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// Sets the limit of the memory pool in bytes and unmaps the excess. The default is 1 GiB; 0 keeps no
/// memory.
///
/// If a process is forked while another thread holds the pool, the child cannot use the pool: every array
/// gets new memory, and this function does nothing.
///
/// ```
/// indim_arrays::set_memory_pool_limit(0);
/// ```
pub fn set_memory_pool_limit(bytes: usize) {
    let Some(mut pool) = lock(MAX_LOCK_ATTEMPTS_FOR_LIMIT) else { return };
    pool.limit = bytes;
    let released = pool.shrink();
    drop(pool);
    drop(released);
}

#[cfg(test)]
#[path = "../tests/unit/pages.rs"]
mod tests;
