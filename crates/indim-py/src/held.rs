//! The memory held by cached computations and their compiled programs.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Bytes that count as held for as long as this lives.
pub(crate) struct Held(usize);

impl Held {
    pub(crate) fn new(bytes: usize) -> Held {
        HELD_BYTES.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The bytes held now.
#[pyfunction]
#[pyo3(name = "_held_bytes")]
pub(crate) fn held_bytes() -> usize {
    HELD_BYTES.load(Ordering::Relaxed)
}
