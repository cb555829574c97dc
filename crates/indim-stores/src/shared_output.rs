//! One file that several sinks write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{CompleteResult, StoreError};

use crate::output_file::CompleteOutput;

/// A target that several sinks write. The last sink to complete takes it, to complete the file.
#[derive(Debug)]
pub(crate) struct SharedOutput<T>(Arc<Mutex<SharedState<T>>>);

#[derive(Debug)]
struct SharedState<T> {
    /// `None` after the last sink has taken it.
    target: Option<T>,
    /// Number of incomplete sinks. If one is dropped, the file never completes.
    left: usize,
}

impl<T> SharedOutput<T> {
    /// A target shared by this number of sinks.
    pub(crate) fn new(target: T, sinks: usize) -> Self {
        SharedOutput(Arc::new(Mutex::new(SharedState { target: Some(target), left: sinks })))
    }

    /// A handle for another sink.
    pub(crate) fn share(&self) -> Self {
        SharedOutput(Arc::clone(&self.0))
    }

    fn lock(&self) -> MutexGuard<'_, SharedState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `act` with the target.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(self.lock().target.as_mut().expect("invariant: this sink is not complete"))
    }

    /// Counts a sink as complete; returns the target for the last one.
    pub(crate) fn complete_one(self) -> Option<T> {
        let mut state = self.lock();
        state.left -= 1;
        if state.left == 0 { state.target.take() } else { None }
    }
}

/// The complete file for the sink that completed last; `None` for the sinks before it, and for a pipe.
#[derive(Debug)]
pub(crate) struct CompleteSharedOutput(pub(crate) Option<CompleteOutput>);

impl CompleteResult for CompleteSharedOutput {
    fn put_in_place(self: Box<Self>) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), |output| Ok(output.put_in_place()?))
    }
}
