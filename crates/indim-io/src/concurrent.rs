//! Work on threads that mostly wait for a network.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` for each item, on up to `concurrency` threads. Returns the first error; no further item is
/// begun after it.
///
/// # Errors
/// Those of `work`.
pub fn for_each_concurrently<T: Send, E: Send>(
    mut items: impl Iterator<Item = T> + Send,
    concurrency: usize,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    // A thread for each of the first items, so that few items start few threads.
    let first: Vec<T> = items.by_ref().take(concurrency.max(1)).collect();
    let threads = first.len();
    let mut items = first.into_iter().chain(items);
    if threads < 2 {
        return items.try_for_each(work);
    }
    let items = Mutex::new(items.fuse());
    let failure = Mutex::new(None);
    let next = || {
        let has_failed = failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        if has_failed { None } else { items.next() }
    };
    let run = || {
        while let Some(item) = next() {
            if let Err(error) = work(item) {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                return;
            }
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_item_is_worked_on_once_and_the_threads_are_bounded() {
        let (sum, running, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let done = for_each_concurrently(0..100, 7, |item: usize| {
            most.fetch_max(1 + running.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            thread::sleep(core::time::Duration::from_millis(1));
            sum.fetch_add(item, Ordering::SeqCst);
            running.fetch_sub(1, Ordering::SeqCst);
            Ok::<(), ()>(())
        });
        assert_eq!((done, sum.into_inner()), (Ok(()), 99 * 50));
        let most = most.into_inner();
        assert!((2..=7).contains(&most), "{most} at once");
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let done = for_each_concurrently(0..1_000_000, 4, |item| {
            begun.fetch_add(1, Ordering::SeqCst);
            if item == 3 { Err(item) } else { Ok(()) }
        });
        assert_eq!(done, Err(3));
        assert!(begun.into_inner() < 1_000_000);
    }
}
