//! Progress of long runs, which `indim/_progress.py` shows to the user.

use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use indim::Executable;
use pyo3::prelude::*;

/// The time after which a run reports its progress; most runs end before.
const REPORT_DELAY: Duration = Duration::from_secs(1);

/// The result of `call`, whose runs report their progress as the argument `progress` says, if it is given.
pub(crate) fn with_setting<T>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    call: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let Some(progress) = progress else { return call() };
    let module = py.import("indim._progress")?;
    let previous = module.call_method1("begin_call", (progress,))?;
    let result = call();
    module.call_method1("end_call", (previous,))?;
    result
}

/// The progress of one run.
pub(crate) struct RunProgress<'e> {
    executable: &'e Executable,
    /// Whether a loop or branch repeats or skips loop nests.
    has_loops: bool,
    started: Instant,
    /// Approximate number of elements that the loop nests have computed.
    done: AtomicUsize,
    has_reported: AtomicBool,
}

impl<'e> RunProgress<'e> {
    /// The progress of a run that starts now.
    pub(crate) fn new(executable: &'e Executable, has_loops: bool) -> Self {
        RunProgress {
            executable,
            has_loops,
            started: Instant::now(),
            done: AtomicUsize::new(0),
            has_reported: AtomicBool::new(false),
        }
    }

    /// The elements of all loop nests; `None` with loops or branches.
    fn total(&self) -> Option<usize> {
        let nests = self.executable.nests().iter();
        let counts = nests.map(|nest| nest.shape.concrete().element_count().unwrap_or(usize::MAX));
        (!self.has_loops).then(|| counts.fold(0, usize::saturating_add))
    }

    /// Counts elements as computed.
    pub(crate) fn add(&self, elements: usize) {
        self.done.fetch_add(elements, Ordering::Relaxed);
    }

    /// Reports a run that has taken long.
    ///
    /// # Errors
    /// The exception of the function that the user set for progress.
    pub(crate) fn report(&self, py: Python<'_>) -> PyResult<()> {
        let elapsed = self.started.elapsed();
        if elapsed < REPORT_DELAY {
            return Ok(());
        }
        self.has_reported.store(true, Ordering::Relaxed);
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total());
        let done = total.map_or(done, |total| done.min(total));
        let report = py.import("indim._progress")?.getattr("report")?;
        report.call1((done, total, elapsed.as_secs_f64())).map(drop)
    }

    /// Ends the report, if there was one.
    ///
    /// # Errors
    /// An exception of the output.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        match self.has_reported.load(Ordering::Relaxed) {
            true => py.import("indim._progress")?.getattr("finish")?.call0().map(drop),
            false => Ok(()),
        }
    }
}
