//! One file that several sinks write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{CompleteResult, StoreError};

use crate::output_file::CompleteOutput;

/// A target that several sinks write. The last sink to complete takes it, to complete the file.
#[derive(Debug)]
pub struct SharedOutput<T>(Arc<Mutex<SharedState<T>>>);

#[derive(Debug)]
struct SharedState<T> {
    /// `None` after the last sink has taken it.
    target: Option<T>,
    /// Number of incomplete sinks. If one is dropped, the file never completes.
    incomplete_sinks: usize,
}

impl<T> SharedOutput<T> {
    /// A target shared by this number of sinks.
    pub fn new(target: T, sinks: usize) -> Self {
        SharedOutput(Arc::new(Mutex::new(SharedState {
            target: Some(target),
            incomplete_sinks: sinks,
        })))
    }

    /// A handle for another sink.
    pub fn share(&self) -> Self {
        SharedOutput(Arc::clone(&self.0))
    }

    fn lock(&self) -> MutexGuard<'_, SharedState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `call` with the target.
    pub fn with<R>(&self, call: impl FnOnce(&mut T) -> R) -> R {
        call(self.lock().target.as_mut().expect("invariant: this sink is not complete"))
    }

    /// Counts a sink as complete; returns the target for the last one.
    pub fn complete_one(self) -> Option<T> {
        let mut state = self.lock();
        state.incomplete_sinks -= 1;
        if state.incomplete_sinks == 0 { state.target.take() } else { None }
    }
}

/// The complete file for the sink that completed last; `None` for the sinks before it, and for a `.npy`
/// stream, which has no name to get.
#[derive(Debug)]
pub struct CompleteSharedOutput(pub Option<CompleteOutput>);

impl CompleteResult for CompleteSharedOutput {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), |output| Ok(output.commit()?))
    }
}
