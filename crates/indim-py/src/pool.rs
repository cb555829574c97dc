//! The threads that compute: one pool, made when it is first needed, whose size users choose; and how
//! much memory a run may hold.
//!
//! The lock is only taken while attached to the interpreter, which a fork is too: no child finds it
//! held. A child has none of its parent's threads; it forgets the pool and makes its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// More than any machine has, and less than would exhaust one.
const MAXIMUM_THREADS: usize = 4096;

struct Threads {
    /// `None` until somebody asks.
    count: Option<usize>,
    pool: Option<Arc<ThreadPool>>,
}

static THREADS: Mutex<Threads> = Mutex::new(Threads { count: None, pool: None });

fn threads() -> MutexGuard<'static, Threads> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    fn count(&mut self) -> usize {
        *self.count.get_or_insert_with(|| {
            let from_environment = std::env::var("INDIM_NUM_THREADS").ok();
            let given = from_environment.and_then(|text| text.trim().parse().ok());
            given
                .filter(|count| (1..=MAXIMUM_THREADS).contains(count))
                .unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
        })
    }
}

/// The pool that helps the calling thread; `None` if that computes alone.
pub(crate) fn pool(_py: Python<'_>) -> PyResult<Option<Arc<ThreadPool>>> {
    let mut threads = threads();
    if threads.pool.is_some() || threads.count() == 1 {
        return Ok(threads.pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.count())
        .thread_name(|index| format!("indim-{index}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads cannot be started: {error}")))?;
    let pool = Arc::new(pool);
    threads.pool = Some(Arc::clone(&pool));
    Ok(Some(pool))
}

/// Sets how many threads compute, and returns how many did before.
///
/// Without a call it is the environment variable `INDIM_NUM_THREADS`, or else the number of processors.
#[pyfunction]
pub(crate) fn set_num_threads(nthreads: usize) -> PyResult<usize> {
    if !(1..=MAXIMUM_THREADS).contains(&nthreads) {
        return Err(PyValueError::new_err(format!(
            "the number of threads is from 1 to {MAXIMUM_THREADS}, not {nthreads}"
        )));
    }
    let mut threads = threads();
    let before = threads.count();
    if before != nthreads {
        threads.count = Some(nthreads);
        // Runs that are under way keep the old pool until they are done.
        threads.pool = None;
    }
    Ok(before)
}

/// The number of computing threads.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    threads().count()
}

/// Forgets the pool without waiting for its threads, which a forked child does not have.
#[pyfunction]
pub(crate) fn _forget_threads() {
    core::mem::forget(threads().pool.take());
}

/// Sets how many bytes of memory are kept for the next large results; 1 GiB without a call.
#[pyfunction]
pub(crate) fn set_memory_pool_limit(py: Python<'_>, bytes: usize) {
    py.detach(|| indim::set_memory_pool_limit(bytes));
}

/// The maximal bytes of a run, without its inputs; `usize::MAX` for no limit.
static MEMORY_LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

pub(crate) fn memory_limit() -> Option<usize> {
    Some(MEMORY_LIMIT.load(Ordering::Relaxed)).filter(|&limit| limit != usize::MAX)
}

/// Refuses, by `MemoryError`, every later run that would hold more bytes, not counting its inputs; `None`
/// lifts the limit.
#[pyfunction]
pub(crate) fn limit_memory(bytes: Option<usize>) {
    MEMORY_LIMIT.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
}
