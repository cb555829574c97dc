//! The calling thread computes. Other threads help if that pays, and it never waits for one to wake.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, CompileOptions, Executable, RunError, RunOptions, Threads, compile};
use indim_ops::DType;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// `exp(x) + x`, whose work is 80 bytes per element.
fn program(rows: usize) -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [rows, 100]).unwrap();
    let y = b.exp(&x).unwrap() + x;
    compile(&b.finish(&[y]).unwrap(), &CompileOptions::default()).unwrap()
}

fn numbers(rows: usize) -> Vec<f32> {
    (0..rows * 100).map(|index| (index % 1000) as f32 / 100.0).collect()
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

const ROWS: usize = 10_000;

/// Keeps all workers of a pool busy until the result is dropped.
struct Busy(Arc<Barrier>);

impl Busy {
    fn new(pool: &ThreadPool) -> Busy {
        let [started, over] =
            [(); 2].map(|()| Arc::new(Barrier::new(pool.current_num_threads() + 1)));
        for _ in 0..pool.current_num_threads() {
            let (started, over) = (Arc::clone(&started), Arc::clone(&over));
            pool.spawn(move || {
                started.wait();
                over.wait();
            });
        }
        started.wait();
        Busy(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.wait();
    }
}

#[test]
fn a_run_never_waits_for_a_pool_whose_threads_are_busy() {
    let (executable, x) = (program(ROWS), numbers(ROWS));
    assert!(executable.is_parallel());
    let view = ArrayView::from_slice([ROWS, 100], &x).unwrap();
    let pool = pool(2);
    let busy = Busy::new(&pool);
    let caller = thread::current().id();
    let progress = |_| {
        assert_eq!(thread::current().id(), caller);
        ControlFlow::Continue(())
    };
    let options = RunOptions::new().threads(Threads::Pool(&pool)).progress(&progress);
    let result = executable.run_with(std::slice::from_ref(&view), &options).unwrap();
    drop(busy);
    let alone = RunOptions::new().threads(Threads::Caller);
    assert_eq!(result[0].bytes(), executable.run_with(&[view], &alone).unwrap()[0].bytes());
}

/// The threads that call the progress function of a run. Its caller waits in that function, up to a limit of
/// time, until `wanted` threads have called it.
fn threads_seen(rows: usize, wanted: usize, threads: Threads<'_>) -> HashSet<thread::ThreadId> {
    let (executable, x) = (program(rows), numbers(rows));
    let view = ArrayView::from_slice([rows, 100], &x).unwrap();
    let seen = Mutex::new(HashSet::new());
    let end = Instant::now() + Duration::from_secs(10);
    let progress = |_| {
        seen.lock().unwrap().insert(thread::current().id());
        while seen.lock().unwrap().len() < wanted && Instant::now() < end {
            thread::yield_now();
        }
        ControlFlow::Continue(())
    };
    let options = RunOptions::new().threads(threads).progress(&progress);
    executable.run_with(&[view], &options).unwrap();
    seen.into_inner().unwrap()
}

#[test]
fn helpers_join_a_run_that_has_work_for_them() {
    let (caller, pool) = (thread::current().id(), pool(3));
    let seen = threads_seen(ROWS, 3, Threads::Pool(&pool));
    assert!(seen.len() == 3 && seen.contains(&caller), "{seen:?}");
    let seen = pool.install(|| threads_seen(ROWS, 3, Threads::Current));
    assert!(seen.len() == 3 && !seen.contains(&caller), "{seen:?}");
}

#[test]
fn short_runs_and_runs_of_the_caller_alone_have_no_helpers() {
    let (caller, pool) = (thread::current().id(), pool(3));
    let little = threads_seen(100, 1, Threads::Pool(&pool));
    // 256 KiB: a sleeping worker would come after the caller is done.
    let short = threads_seen(640, 1, Threads::Pool(&pool));
    let alone = threads_seen(ROWS, 1, Threads::Caller);
    let one = threads_seen(ROWS, 1, Threads::Pool(&self::pool(1)));
    for seen in [little, short, alone, one] {
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [caller]);
    }
    assert!(
        !program(100).is_parallel() && program(640).is_parallel() && program(ROWS).is_parallel()
    );
}

#[test]
fn threads_from_outside_and_within_give_the_same_bits_at_once() {
    let (executable, x) = (program(ROWS), numbers(ROWS));
    let view = || ArrayView::from_slice([ROWS, 100], &x).unwrap();
    let alone = RunOptions::new().threads(Threads::Caller);
    let expected = executable.run_with(&[view()], &alone).unwrap();
    let (two, three) = (pool(2), pool(3));
    let check = |threads| {
        let options = RunOptions::new().threads(threads);
        let result = executable.run_with(&[view()], &options).unwrap();
        assert!(result[0].bytes() == expected[0].bytes());
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    check(Threads::Pool(&two));
                    check(Threads::Pool(&three));
                    check(Threads::Current);
                    three.install(|| check(Threads::Current));
                    three.install(|| check(Threads::Pool(&two)));
                }
            });
        }
    });
}

#[test]
fn a_run_within_the_progress_of_another_one_and_a_panic_in_it() {
    let (executable, x) = (program(ROWS), numbers(ROWS));
    let view = || ArrayView::from_slice([ROWS, 100], &x).unwrap();
    let pool = pool(3);
    let threads = Threads::Pool(&pool);
    let nested = |_| {
        let options = RunOptions::new().threads(threads);
        executable.run_with(&[view()], &options).unwrap();
        ControlFlow::Continue(())
    };
    let options = RunOptions::new().threads(threads).progress(&nested);
    executable.run_with(&[view()], &options).unwrap();

    let stop = |_| ControlFlow::Break(());
    let options = RunOptions::new().threads(threads).progress(&stop);
    assert_eq!(executable.run_with(&[view()], &options).unwrap_err(), RunError::Stopped);

    let caller = thread::current().id();
    for by_caller in [true, false] {
        let panics = |_| {
            assert_ne!(thread::current().id() == caller, by_caller, "a tile");
            // The helper joins while the caller computes.
            thread::sleep(Duration::from_millis(20));
            ControlFlow::Continue(())
        };
        let options = RunOptions::new().threads(threads).progress(&panics);
        let run = AssertUnwindSafe(|| executable.run_with(&[view()], &options));
        assert!(catch_unwind(run).is_err());
    }
    executable.run_with(&[view()], &RunOptions::new().threads(threads)).unwrap();
}
