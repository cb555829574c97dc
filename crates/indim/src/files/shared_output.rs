//! One file that several results are written to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_stores::{CompleteResult, StoreError};

use super::output_file::CompleteOutput;

/// An output that several sinks write; the last of them completes it.
#[derive(Debug)]
pub(super) struct SharedOutput<T>(Arc<Mutex<SharedState<T>>>);

#[derive(Debug)]
struct SharedState<T> {
    /// Nothing once the last sink has completed it.
    target: Option<T>,
    /// The sinks that are not complete. One that is dropped never is, and neither is the file.
    left: usize,
}

impl<T> SharedOutput<T> {
    /// That of so many sinks.
    pub(super) fn new(target: T, sinks: usize) -> Self {
        SharedOutput(Arc::new(Mutex::new(SharedState { target: Some(target), left: sinks })))
    }

    /// For one more of the sinks.
    pub(super) fn share(&self) -> Self {
        SharedOutput(Arc::clone(&self.0))
    }

    fn lock(&self) -> MutexGuard<'_, SharedState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the target.
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(self.lock().target.as_mut().expect("invariant: this sink is not complete"))
    }

    /// Completes a sink; the target, if it is the last one.
    pub(super) fn complete_one(self) -> Option<T> {
        let mut state = self.lock();
        state.left -= 1;
        if state.left == 0 { state.target.take() } else { None }
    }
}

/// A file that is complete, for the last of its sinks; nothing for the others, and for what is a pipe.
#[derive(Debug)]
pub(super) struct CompleteSharedOutput(pub(super) Option<CompleteOutput>);

impl CompleteResult for CompleteSharedOutput {
    fn put_in_place(self: Box<Self>) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), |output| Ok(output.put_in_place()?))
    }
}
