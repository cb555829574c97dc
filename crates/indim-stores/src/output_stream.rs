//! The trait `OutputStream`: the bytes of a result that is one file.

use core::fmt;
use std::io::{Seek, Write};

use crate::{CompleteResult, StoreError};

/// A file being written, which appears under its name complete or not at all.
/// [`OutputFile`](crate::OutputFile) implements it.
pub trait OutputStream: Write + Seek + fmt::Debug + Send {
    /// The name for messages.
    fn place(&self) -> String;

    /// Writes everything to the disk.
    ///
    /// # Errors
    /// `io`.
    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError>;
}
