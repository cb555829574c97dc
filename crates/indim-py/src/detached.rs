//! Work without the interpreter's lock: other threads compute meanwhile, and Ctrl-C ends it.

use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Instant;

use indim::run::in_default_float_environment;
use pyo3::prelude::*;

use crate::error::ComputationError;
use crate::progress::RunProgress;

/// The interval at which long work checks for Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of elements after which work reads the clock. For fewer elements, reading costs more than
/// computing them.
const ELEMENTS_PER_CHECK: usize = 4096;

/// Number of elements that each call of the progress function counts for, in addition to those that it
/// reports.
const ELEMENTS_PER_CALL: usize = 64;

/// Checks for signals at intervals.
pub(crate) struct Signals {
    last_check: Instant,
    /// The exception that a signal handler raised, usually `KeyboardInterrupt`.
    raised: Option<PyErr>,
}

impl Default for Signals {
    fn default() -> Self {
        Signals { last_check: Instant::now(), raised: None }
    }
}

impl Signals {
    /// Breaks once a signal has raised an exception; cheap enough to be called often.
    pub(crate) fn check(&mut self) -> ControlFlow<()> {
        self.check_and(|_| Ok(()))
    }

    /// The exception that a signal handler raised.
    pub(crate) fn into_raised(self) -> Option<PyErr> {
        self.raised
    }

    /// Like [`Signals::check`]; calls `report` at each check, whose exception breaks too.
    fn check_and(&mut self, report: impl FnOnce(Python<'_>) -> PyResult<()>) -> ControlFlow<()> {
        if self.raised.is_none() && self.last_check.elapsed() >= SIGNAL_INTERVAL {
            self.raised = Python::attach(|py| py.check_signals().and_then(|()| report(py))).err();
            self.last_check = Instant::now();
        }
        match self.raised {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Signals for several threads of one task; one thread checks, and reports the progress.
pub(crate) struct SharedSignals<'p> {
    owner: ThreadId,
    /// Only the owner locks the signals.
    signals: Mutex<Signals>,
    is_raised: AtomicBool,
    /// Approximate number of elements since a thread last looked: concurrent updates may be lost.
    elements: AtomicUsize,
    progress: &'p RunProgress<'p>,
}

impl<'p> SharedSignals<'p> {
    /// Signals that the current thread owns.
    pub(crate) fn new(progress: &'p RunProgress<'p>) -> Self {
        SharedSignals {
            owner: thread::current().id(),
            signals: Mutex::default(),
            is_raised: AtomicBool::new(false),
            elements: AtomicUsize::new(0),
            progress,
        }
    }

    /// Like [`SharedSignals::check`], once enough elements have been computed.
    pub(crate) fn check_after(&self, elements: usize) -> ControlFlow<()> {
        let before = self.elements.load(Ordering::Relaxed);
        let elements = before.saturating_add(elements).saturating_add(ELEMENTS_PER_CALL);
        if elements < ELEMENTS_PER_CHECK {
            self.elements.store(elements, Ordering::Relaxed);
            return ControlFlow::Continue(());
        }
        self.elements.store(0, Ordering::Relaxed);
        self.progress.add(elements);
        self.check()
    }

    /// Breaks once a signal has raised an exception; the owner checks at intervals.
    pub(crate) fn check(&self) -> ControlFlow<()> {
        if thread::current().id() == self.owner {
            let mut signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
            if signals.check_and(|py| self.progress.report(py)).is_break() {
                self.is_raised.store(true, Ordering::Relaxed);
            }
        }
        match self.is_raised.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// The exception that a signal handler raised.
    pub(crate) fn raised(self) -> Option<PyErr> {
        self.signals.into_inner().unwrap_or_else(PoisonError::into_inner).raised
    }
}

/// Does `work` without the interpreter's lock. The caller holds no other lock: a thread that waits for one
/// while attached would keep this thread from attaching again.
///
/// # Errors
/// The errors of `work`; the exception that a signal raised.
pub(crate) fn detach_with_signals<T: Send>(
    work: impl FnOnce(&mut Signals) -> Result<T, ComputationError> + Send,
) -> Result<T, ComputationError> {
    let run = || {
        let mut signals = Signals::default();
        let result = in_default_float_environment(|| work(&mut signals));
        signals.raised.map_or(result, |error| Err(ComputationError::Exception(error)))
    };
    Python::attach(|py| py.detach(run))
}
