//! Arrays from a pipe, whose length is unknown beforehand.

use std::io::Read;

use indim_ops::ArrayType;

use super::header::ArrayHeader;
use super::{ArrayFile, FileErrorKind, read};

/// So many bytes are taken room for before any has come; beyond that as many as have come.
const FIRST_BYTES: usize = 1 << 20;

/// A `.npy` array whose header has been read, but not its elements.
///
/// A header may claim more than ever comes: memory is taken for what has come, and as much again.
///
/// ```
/// use indim::files::{ArrayStream, write_npy_to};
/// use indim::{ArrayType, DType};
///
/// let mut pipe = Vec::new();
/// write_npy_to(&mut pipe, &ArrayType::new(DType::U8, [3]), &[1, 2, 3])?;
/// let stream = ArrayStream::open(&pipe[..])?;
/// assert_eq!(stream.array_type().to_string(), "u8[3]");
/// assert_eq!(stream.read(usize::MAX)?.bytes(), [1, 2, 3]);
/// # Ok::<(), indim::files::FileErrorKind>(())
/// ```
#[derive(Debug)]
pub struct ArrayStream<R> {
    input: R,
    /// What has been read: the header, and maybe elements.
    start: Vec<u8>,
    header: ArrayHeader,
}

impl<R: Read> ArrayStream<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Like [`ArrayFile::open`] of what a header can tell; `io` when the pipe breaks.
    pub fn open(mut input: R) -> Result<Self, FileErrorKind> {
        let (start, header) = read::read_header(&mut input, usize::MAX)?;
        Ok(ArrayStream { input, start, header })
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    /// Reads the elements, of at most `limit` bytes.
    ///
    /// # Errors
    /// `memory-limit`, before anything is read; `wrong-length` when fewer come; `out-of-memory`; `io`.
    pub fn read(self, limit: usize) -> Result<ArrayFile, FileErrorKind> {
        let ArrayStream { input, start, header } = self;
        read::read_elements(input, &start, header, limit, FIRST_BYTES)
    }
}
