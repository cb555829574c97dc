//! The memory held by cached computations and their compiled programs.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Adds bytes to the total; drop subtracts them.
pub(crate) struct MemoryUse(usize);

impl MemoryUse {
    pub(crate) fn new(bytes: usize) -> MemoryUse {
        HELD_BYTES.fetch_add(bytes, Ordering::Relaxed);
        MemoryUse(bytes)
    }
}

impl Drop for MemoryUse {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The bytes that all cached computations and programs hold now.
#[pyfunction]
#[pyo3(name = "_held_bytes")]
pub(crate) fn held_bytes() -> usize {
    HELD_BYTES.load(Ordering::Relaxed)
}
