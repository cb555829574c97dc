//! A shared handle to the output file of a PNG image, for the encoder and the sink.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use indim_io::OutputFile;

/// A shared handle to an output file. The encoder owns one copy and writes through it; the sink takes the
/// file back through the other copy, to complete it.
#[derive(Debug, Clone)]
pub(super) struct OutputHandle(Arc<Mutex<Option<OutputFile>>>);

impl OutputHandle {
    pub(super) fn new(output: OutputFile) -> Self {
        OutputHandle(Arc::new(Mutex::new(Some(output))))
    }

    /// Takes the file. Later writes through any handle fail.
    pub(super) fn take(&self) -> Option<OutputFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn with<T>(&self, call: impl FnOnce(&mut OutputFile) -> io::Result<T>) -> io::Result<T> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match output.as_mut() {
            Some(output) => call(output),
            None => Err(io::Error::other("it is complete")),
        }
    }
}

impl Write for OutputHandle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|output| output.flush())
    }
}

impl Seek for OutputHandle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.with(|output| output.seek(to))
    }
}
