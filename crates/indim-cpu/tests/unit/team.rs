//! Helpers of a team: they join, leave and panic.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;

use super::*;

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

/// Runs a task on this thread and its helpers.
fn run(helpers: usize, pool: Option<&ThreadPool>, work: &(dyn Fn(usize) + Sync)) {
    let caller = Caller::of_this_thread(pool);
    let panic = caller.run(helpers, pool, work);
    caller.store_for_thread();
    if let Some(panic) = panic {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_busy_pool_delays_no_task_and_keeps_one_job_for_all() {
    let pool = pool(2);
    let release = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let release = Arc::clone(&release);
        pool.spawn(move || {
            release.wait();
        });
    }
    let calls = AtomicUsize::new(0);
    for _ in 0..1000 {
        run(1, Some(&pool), &|thread| {
            assert_eq!(thread, 0, "the workers are busy");
            calls.fetch_add(1, Ordering::Relaxed);
        });
    }
    let queued = Caller::of_this_thread(Some(&pool)).team.queued.load(Ordering::Relaxed);
    assert_eq!((calls.into_inner(), queued), (1000, 1));
    release.wait();
}

#[test]
fn short_tasks_wake_helpers_only_in_a_burst() {
    let pool = pool(2);
    let mut caller = Caller::of_this_thread(Some(&pool));
    assert!(caller.pays_for_helpers(WAKE_BYTES));
    caller.burst_end = Instant::now() + Duration::from_secs(3600);
    let tasks = BURST_BYTES.div_ceil(WAKE_BYTES / 2);
    let repaid: Vec<bool> = (0..tasks).map(|_| caller.pays_for_helpers(WAKE_BYTES / 2)).collect();
    assert_eq!(repaid.iter().position(|&repays| repays), Some(tasks - 1), "in a burst");
    for _ in 0..2 * tasks {
        caller.burst_end = Instant::now() - 2 * AWAKE_TIME;
        assert!(!caller.pays_for_helpers(WAKE_BYTES / 2), "after a pause");
    }
    // A helper that is queued or polling needs no waking.
    caller.team.queued.store(1, Ordering::Relaxed);
    assert!(caller.pays_for_helpers(1));
    caller.team.queued.store(0, Ordering::Relaxed);
    caller.team.last_help.store(u64::MAX, Ordering::Relaxed);
    assert!(caller.pays_for_helpers(1));
    caller.team.last_help.store(1, Ordering::Relaxed);
    thread::sleep(2 * AWAKE_TIME);
    caller.burst_end = Instant::now() - 2 * AWAKE_TIME;
    assert!(!caller.pays_for_helpers(1));
}

#[test]
fn all_helpers_join_with_different_numbers() {
    let pool = pool(8);
    for helpers in [1, 3, 7] {
        // Each waits for all others, so none can leave before all have joined.
        let (all, seen) = (Barrier::new(helpers + 1), AtomicUsize::new(0));
        run(helpers, Some(&pool), &|thread| {
            all.wait();
            assert_eq!(seen.fetch_or(1 << thread, Ordering::Relaxed) & (1 << thread), 0);
        });
        assert_eq!(seen.into_inner(), (2 << helpers) - 1);
    }
}

#[test]
fn a_panic_of_a_helper_arrives_when_all_have_returned() {
    let pool = pool(2);
    for culprit in [0, 1] {
        let (both, is_over) = (Barrier::new(2), AtomicBool::new(false));
        let work = |thread: usize| {
            both.wait();
            assert_ne!(thread, culprit, "a tile");
            thread::yield_now();
            is_over.store(true, Ordering::Relaxed);
        };
        let result = catch_unwind(AssertUnwindSafe(|| run(1, Some(&pool), &work)));
        assert!(result.is_err() && is_over.into_inner());
    }
    run(1, Some(&pool), &|_| ());
}

#[test]
fn a_panic_outside_the_work_does_not_block_the_caller() {
    /// The payload of a panic. Dropping it panics once more.
    struct Payload;

    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("a payload is dropped");
        }
    }

    let builder = rayon::ThreadPoolBuilder::new().num_threads(3);
    let pool = builder.panic_handler(|_| ()).build().expect("threads start");
    let all = Barrier::new(3);
    let work = |thread: usize| {
        all.wait();
        if thread > 0 {
            std::panic::panic_any(Payload);
        }
    };
    let result = catch_unwind(AssertUnwindSafe(|| run(2, Some(&pool), &work)));
    std::mem::forget(result.expect_err("helpers panicked"));
    run(2, Some(&pool), &|_| ());
}

#[test]
fn nested_tasks_and_tasks_of_workers_run() {
    let pool = pool(3);
    let calls = AtomicUsize::new(0);
    let outer = |thread: usize| {
        run(2, Some(&pool), &|_| ());
        run(2, None, &|inner| {
            if inner == 0 {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert!(thread < 3);
    };
    run(2, Some(&pool), &outer);
    pool.install(|| run(2, Some(&pool), &outer));
    pool.install(|| run(2, None, &outer));
    assert!((3..=9).contains(&calls.into_inner()));
}
