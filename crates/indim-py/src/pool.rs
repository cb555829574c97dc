//! The thread pool, made at its first use, with a size that users choose; the memory limit of a run.
//!
//! The lock is taken only while attached to the interpreter. A fork is attached too, so no child inherits a
//! held lock. A child has none of its parent's threads: it forgets the pool and makes its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Maximum number of threads: more than any machine has, and too few to exhaust one.
const MAX_THREADS: usize = 4096;

struct Threads {
    /// `None` before the first request.
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
                .filter(|count| (1..=MAX_THREADS).contains(count))
                .unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
        })
    }
}

/// The pool that helps the calling thread; `None` if the calling thread computes alone.
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

/// Sets the number of computing threads, and returns the previous one.
///
/// The default is the environment variable `INDIM_NUM_THREADS`, or else the number of processors.
#[pyfunction]
pub(crate) fn set_num_threads(nthreads: usize) -> PyResult<usize> {
    if !(1..=MAX_THREADS).contains(&nthreads) {
        return Err(PyValueError::new_err(format!(
            "the number of threads is from 1 to {MAX_THREADS}, not {nthreads}"
        )));
    }
    let mut threads = threads();
    let previous = threads.count();
    if previous != nthreads {
        threads.count = Some(nthreads);
        // Current runs keep the old pool until they end.
        threads.pool = None;
    }
    Ok(previous)
}

/// The number of computing threads.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    threads().count()
}

/// Forgets the pool without joining its threads, which do not exist in a forked child.
#[pyfunction]
pub(crate) fn _forget_threads() {
    core::mem::forget(threads().pool.take());
}

/// Sets the maximum bytes that the memory pool keeps for large results; the default is 1 GiB.
#[pyfunction]
pub(crate) fn set_memory_pool_limit(py: Python<'_>, bytes: usize) {
    py.detach(|| indim::array::set_memory_pool_limit(bytes));
}

/// Maximum bytes of a run, without its inputs; `usize::MAX` means no limit.
static MEMORY_LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

pub(crate) fn memory_limit() -> Option<usize> {
    Some(MEMORY_LIMIT.load(Ordering::Relaxed)).filter(|&limit| limit != usize::MAX)
}

/// Sets the maximum bytes of a run, not counting its inputs: a run that needs more raises `MemoryError`.
/// `None` removes the limit.
#[pyfunction]
pub(crate) fn limit_memory(bytes: Option<usize>) {
    MEMORY_LIMIT.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
}
