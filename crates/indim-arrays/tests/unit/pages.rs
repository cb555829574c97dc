//! The pool of pages. Holds unsafe code.

use super::*;

// A single test, because all tests of a process share the pool.
#[test]
fn the_pool_holds_up_to_its_limit() {
    set_memory_pool_limit(4 * HUGE_PAGE_BYTES);
    let mut pages = Pages::new(HUGE_PAGE_BYTES + 1).unwrap();
    let first = pages.first();
    // SAFETY: the offset is within the allocated pages.
    unsafe { first.add(HUGE_PAGE_BYTES).write(1) }
    drop(pages);
    let mut again = Pages::new(2 * HUGE_PAGE_BYTES).unwrap();
    assert_eq!(again.first(), first, "the same memory");
    let small = Pages::new(1).unwrap();
    drop(again);
    drop(small);
    assert_ne!(Pages::new(HUGE_PAGE_BYTES / 2).unwrap().first(), first, "too large for it");

    drop(Pages::new(3 * HUGE_PAGE_BYTES).unwrap());
    let pool_bytes =
        |pool_bytes: &PagePool| pool_bytes.maps.iter().map(|map| map.len()).sum::<usize>();
    assert!(pool_bytes(&POOL.lock().unwrap()) <= 4 * HUGE_PAGE_BYTES);
    set_memory_pool_limit(0);
    assert_eq!(pool_bytes(&POOL.lock().unwrap()), 0);
    assert!(Pages::new(usize::MAX).is_none());
    set_memory_pool_limit(DEFAULT_POOL_BYTES);

    // The lock state of a child process that was forked while another thread held the lock.
    let held = POOL.lock().unwrap();
    let mut pages = Pages::new(HUGE_PAGE_BYTES).unwrap();
    // SAFETY: the offset is within the allocated pages.
    unsafe { pages.first().add(HUGE_PAGE_BYTES - 1).write(1) }
    drop(pages);
    set_memory_pool_limit(0);
    assert_eq!(held.limit, DEFAULT_POOL_BYTES);
}
