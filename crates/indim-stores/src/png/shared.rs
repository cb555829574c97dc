//! An output that the encoder of PNG writes to, and that can be had back from it.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::Output;

/// An output that an encoder writes to, and that is completed when the encoder has gone.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<Option<Box<dyn Output>>>>);

impl Shared {
    pub(super) fn new(output: Box<dyn Output>) -> Self {
        Shared(Arc::new(Mutex::new(Some(output))))
    }

    /// The output, which is written to no more.
    pub(super) fn take(&self) -> Option<Box<dyn Output>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn with<T>(&self, call: impl FnOnce(&mut dyn Output) -> io::Result<T>) -> io::Result<T> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match output.as_deref_mut() {
            Some(output) => call(output),
            None => Err(io::Error::other("it is complete")),
        }
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|output| output.flush())
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.with(|output| output.seek(to))
    }
}
