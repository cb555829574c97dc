//! Arrays from a pipe of unknown length.

use std::io::Read;

use indim_ops::ArrayType;

use super::header::ArrayHeader;
use super::read;
use crate::{ArrayFile, FileErrorKind};

/// Initial capacity of the buffer, in bytes; it doubles when it is full.
const FIRST_BYTES: usize = 1 << 20;

/// A `.npy` array whose header has been read, but not its elements.
///
/// A header may claim more than the pipe delivers. Memory is at most twice the bytes received, or 1 MiB.
///
/// ```
/// use indim_stores::{ArrayStream, write_npy_to};
/// use indim_ops::{ArrayType, DType};
///
/// let mut pipe = Vec::new();
/// write_npy_to(&mut pipe, &ArrayType::new(DType::U8, [3]), &[1, 2, 3])?;
/// let stream = ArrayStream::open(&pipe[..])?;
/// assert_eq!(stream.array_type().to_string(), "u8[3]");
/// assert_eq!(stream.read(usize::MAX)?.bytes(), [1, 2, 3]);
/// # Ok::<(), indim_stores::FileErrorKind>(())
/// ```
#[derive(Debug)]
pub struct ArrayStream<R> {
    input: R,
    /// Bytes read so far: the header, and possibly elements.
    start: Vec<u8>,
    header: ArrayHeader,
}

impl<R: Read> ArrayStream<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Those of the header as in [`ArrayFile::open`]; `io` if the pipe breaks.
    pub fn open(mut input: R) -> Result<Self, FileErrorKind> {
        let (start, header) = read::read_header(&mut input, usize::MAX)?;
        Ok(ArrayStream { input, start, header })
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    /// Reads the elements, at most `limit` bytes.
    ///
    /// # Errors
    /// `memory-limit`, before anything is read; `wrong-length` if the pipe ends early; `out-of-memory`; `io`.
    pub fn read(self, limit: usize) -> Result<ArrayFile, FileErrorKind> {
        let ArrayStream { input, start, header } = self;
        read::read_elements(input, &start, header, limit, FIRST_BYTES)
    }
}
