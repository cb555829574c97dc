//! The error of a read that needs more memory than the limit leaves.

use core::fmt;

use indim_shape::{Diagnostic, ErrorCode};

/// Reading an array needs more memory than the limit leaves. The check precedes the allocation.
///
/// ```
/// use indim_io::MemoryLimitError;
///
/// let error = MemoryLimitError::new(Some(4096), 1000, "a chunk takes 4096 bytes: raise the limit");
/// assert_eq!((error.needed, error.limit), (Some(4096), 1000));
/// assert_eq!(error.to_string(), "a chunk takes 4096 bytes: raise the limit");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimitError {
    /// Needed bytes; `None` if only reading the whole file would tell.
    pub needed: Option<usize>,
    /// Allowed bytes.
    pub limit: usize,
    message: String,
}

impl MemoryLimitError {
    /// An error with a message in the terms of the format.
    pub fn new(needed: Option<usize>, limit: usize, message: impl Into<String>) -> Self {
        MemoryLimitError { needed, limit, message: message.into() }
    }

    /// The error as a diagnostic for people.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(ErrorCode::MEMORY_LIMIT, self.message.as_str())
    }
}

impl fmt::Display for MemoryLimitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl core::error::Error for MemoryLimitError {}
