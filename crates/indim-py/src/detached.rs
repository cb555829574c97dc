//! Work without the interpreter's lock: other threads compute meanwhile, and Ctrl-C ends it.

use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use pyo3::prelude::*;

use crate::error::ComputationError;

/// How often long work looks for Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Looks for signals now and then.
pub(crate) struct Signals {
    looked: Instant,
    /// What a signal raised, `KeyboardInterrupt` as a rule.
    raised: Option<PyErr>,
}

impl Signals {
    /// Breaks once a signal has raised an exception; cheap enough to be called often.
    pub(crate) fn look(&mut self) -> ControlFlow<()> {
        if self.raised.is_none() && self.looked.elapsed() >= SIGNAL_INTERVAL {
            self.raised = Python::attach(|py| py.check_signals()).err();
            self.looked = Instant::now();
        }
        match self.raised {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Does `work` without the interpreter's lock. The caller holds no other lock, for who waits for one while
/// attached keeps this from coming back.
///
/// # Errors
/// Those of `work`; what a signal raised.
pub(crate) fn detached<T: Send>(
    work: impl FnOnce(&mut Signals) -> Result<T, ComputationError> + Send,
) -> Result<T, ComputationError> {
    let observed = || {
        let mut signals = Signals { looked: Instant::now(), raised: None };
        let result = work(&mut signals);
        signals.raised.map_or(result, |error| Err(ComputationError::Interrupted(error)))
    };
    Python::attach(|py| py.detach(observed))
}
