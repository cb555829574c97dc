//! Errors of sources and sinks.

use core::fmt;
use std::io;

use indim_arrays::ArrayError;
use indim_graph::terminal::printable;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode, Shape};

use crate::{ArrayRegion, MemoryLimitError};

/// An array that cannot be read, or a result that cannot be written.
///
/// ```
/// use indim_shape::Shape;
/// use indim_io::{ArrayRegion, StoreError, StoreErrorKind};
///
/// let kind = StoreErrorKind::OutsideOfArray { region: ArrayRegion::new([4], [2]), shape: Shape::from([5]) };
/// let error = StoreError::new("x.zarr", kind);
/// assert_eq!(error.code(), "outside-of-array");
/// assert_eq!(error.to_string(), "x.zarr: an array of shape [5] has not the region [4:6]");
/// assert_eq!(error.diagnostic().to_string(), format!("error[outside-of-array]: {error}\n"));
/// ```
#[derive(Debug)]
pub struct StoreError {
    /// Path of the array, with its member or page; empty if unknown.
    pub location: String,
    /// The kind of error.
    pub kind: StoreErrorKind,
}

/// The kinds of errors.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// An error of the operating system.
    Io(io::Error),
    /// The region is not within the array.
    OutsideOfArray {
        /// The requested region.
        region: ArrayRegion,
        /// The shape of the array.
        shape: Shape,
    },
    /// The values of a region have another element type or shape than the region.
    WrongPiece {
        /// The actual type.
        actual: ArrayType,
        /// The expected type.
        expected: ArrayType,
    },
    /// The result was finished before all its elements were written.
    Incomplete {
        /// Number of elements written.
        written: usize,
        /// The number of elements of the result.
        elements: usize,
    },
    /// The array does not fit into memory.
    Array(ArrayError),
    /// Reading needs more memory than the limit leaves.
    MemoryLimit(MemoryLimitError),
    /// The file changed while it was read.
    FileChanged,
    /// A pipe was asked for elements that it had passed.
    ReadOnce {
        /// Bytes of elements that were read.
        position: usize,
        /// Byte offset of the first requested element, counted from the first byte of all elements.
        requested: usize,
    },
    /// Another error of the format; the diagnostic does not name the location.
    Other(Box<Diagnostic>),
}

impl StoreError {
    /// An error at this location.
    pub fn new(location: impl Into<String>, kind: impl Into<StoreErrorKind>) -> Self {
        StoreError { location: location.into(), kind: kind.into() }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            StoreErrorKind::Io(_) => ErrorCode::IO,
            StoreErrorKind::OutsideOfArray { .. } => ErrorCode::OUTSIDE_OF_ARRAY,
            StoreErrorKind::WrongPiece { .. } => ErrorCode::WRONG_PIECE,
            StoreErrorKind::Incomplete { .. } => ErrorCode::INCOMPLETE,
            StoreErrorKind::Array(error) => error.error_code(),
            StoreErrorKind::MemoryLimit(_) => ErrorCode::MEMORY_LIMIT,
            StoreErrorKind::FileChanged => ErrorCode::FILE_CHANGED,
            StoreErrorKind::ReadOnce { .. } => ErrorCode::READ_ONCE,
            StoreErrorKind::Other(diagnostic) => diagnostic.code,
        }
    }

    /// The error as a diagnostic for people.
    pub fn diagnostic(&self) -> Diagnostic {
        let headline = self.to_string();
        match &self.kind {
            StoreErrorKind::Other(diagnostic) => Diagnostic { headline, ..(**diagnostic).clone() },
            _ => Diagnostic::new(self.error_code(), headline),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location.is_empty() {
            true => write!(formatter, "{}", self.kind),
            false => write!(formatter, "{}: {}", printable(&self.location), self.kind),
        }
    }
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreErrorKind::Io(error) => formatter.write_str(&system_message(error)),
            StoreErrorKind::OutsideOfArray { region, shape } => {
                write!(formatter, "an array of shape {shape} has not the region {region}")
            }
            StoreErrorKind::WrongPiece { actual, expected } => {
                write!(formatter, "a piece of type {actual} cannot be written where {expected} belongs")
            }
            StoreErrorKind::Incomplete { written, elements } => {
                write!(formatter, "{written} of {elements} elements were written")
            }
            StoreErrorKind::Array(error) => write!(formatter, "{error}"),
            StoreErrorKind::MemoryLimit(error) => write!(formatter, "{error}"),
            StoreErrorKind::FileChanged => formatter.write_str(
                "it changed while it was read, so that there is no telling of what the result would be; \
                 let its writer finish first, or give a copy of it",
            ),
            StoreErrorKind::ReadOnce { position, requested } => write!(
                formatter,
                "a pipe is read once, in order: byte {requested} of the elements is asked for after \
                 {position} bytes were read; store the array in a file"
            ),
            StoreErrorKind::Other(diagnostic) => formatter.write_str(&diagnostic.headline),
        }
    }
}

/// The message of a system error, with advice if the disk is full.
///
/// ```
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// let message = indim_io::system_message(&full);
/// assert_eq!(message, "no storage space: make room, or write to another disk");
/// ```
pub fn system_message(error: &io::Error) -> String {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let is_own = error.get_ref().is_some();
    match error.kind() {
        StorageFull | FileTooLarge | QuotaExceeded if !is_own => {
            format!("{error}: make room, or write to another disk")
        }
        _ => error.to_string(),
    }
}

impl core::error::Error for StoreError {}

/// The error gets an empty `location`. This conversion is for `?` and
/// [`Array::filled`](indim_arrays::Array::filled) in your own implementation of
/// [`Source`](crate::Source).
///
/// ```
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
/// use indim_io::StoreError;
///
/// fn zeros(sizes: &[usize]) -> Result<Array, StoreError> {
///     Array::filled(ArrayType::new(DType::F32, sizes), |_| Ok(()))
/// }
///
/// let error = zeros(&[usize::MAX, 2]).unwrap_err();
/// assert_eq!((error.code(), error.location.as_str()), ("too-large", ""));
/// assert!(!error.to_string().starts_with(':'));
/// ```
impl From<ArrayError> for StoreError {
    fn from(error: ArrayError) -> Self {
        StoreError::new("", error)
    }
}

impl From<io::Error> for StoreErrorKind {
    fn from(error: io::Error) -> Self {
        StoreErrorKind::Io(error)
    }
}

impl From<ArrayError> for StoreErrorKind {
    fn from(error: ArrayError) -> Self {
        StoreErrorKind::Array(error)
    }
}

impl From<MemoryLimitError> for StoreErrorKind {
    fn from(error: MemoryLimitError) -> Self {
        StoreErrorKind::MemoryLimit(error)
    }
}

impl From<Diagnostic> for StoreErrorKind {
    fn from(diagnostic: Diagnostic) -> Self {
        StoreErrorKind::Other(Box::new(diagnostic))
    }
}
