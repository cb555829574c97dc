//! `Output`: the byte stream of a result that is one file.

use core::fmt;
use std::io::{Seek, Write};

use crate::{Complete, StoreError};

/// A file that is being written: it appears under its name complete, or not at all.
/// `indim::files::OutputFile` is one.
pub trait Output: Write + Seek + fmt::Debug + Send {
    /// The name for messages.
    fn place(&self) -> String;

    /// Writes everything to the disk.
    ///
    /// # Errors
    /// `io`.
    fn complete(self: Box<Self>) -> Result<Box<dyn Complete>, StoreError>;
}
