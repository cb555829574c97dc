//! Arrays from a pipe of unknown length.

use core::fmt;
use std::io::{self, Chain, Cursor, ErrorKind, Read};
use std::sync::{Mutex, PoisonError};

use indim_arrays::Array;
use indim_ops::ArrayType;

use super::header::ArrayHeader;
use super::read;
use crate::{ArrayFile, ArrayRegion, FileError, FileErrorKind, Source, StoreError, StoreErrorKind};
use indim_io::runs::FileRuns;

/// Initial capacity of the buffer, in bytes; it doubles when it is full.
const FIRST_BYTES: usize = 1 << 20;

/// A `.npy` array whose header has been read, but not its elements.
///
/// The stream is a [`Source`] that is sequential and read once: each region begins at the end of the
/// region before it, or later. A header may claim more than the pipe delivers. The buffer of
/// [`ArrayStream::read_all`] therefore grows with the bytes received: it has at most twice as many bytes,
/// or 1 MiB if that is more.
///
/// ```
/// use indim_stores::{ArrayStream, ArrayRegion, Source, write_npy_to};
/// use indim_ops::{ArrayType, DType};
///
/// let mut pipe = Vec::new();
/// write_npy_to(&mut pipe, &ArrayType::new(DType::U8, [3]), &[1, 2, 3])?;
/// let stream = ArrayStream::open(&pipe[..])?;
/// assert_eq!(stream.array_type().to_string(), "u8[3]");
/// assert_eq!(stream.read_all(usize::MAX)?.bytes(), [1, 2, 3]);
///
/// let stream = ArrayStream::open(&pipe[..])?;
/// assert_eq!(stream.read(&ArrayRegion::new([1], [2])).unwrap().bytes(), [2, 3]);
/// assert_eq!(stream.read(&ArrayRegion::new([0], [1])).unwrap_err().code(), "read-once");
/// # Ok::<(), indim_stores::FileErrorKind>(())
/// ```
#[derive(Debug)]
pub struct ArrayStream<R> {
    /// Names the pipe in errors.
    name: &'static str,
    header: ArrayHeader,
    elements: Mutex<Elements<R>>,
}

/// The unread elements.
#[derive(Debug)]
struct Elements<R> {
    /// The bytes that were read with the header, then the pipe.
    input: Chain<Cursor<Vec<u8>>, R>,
    /// Bytes of elements read so far.
    position: usize,
}

impl<R: Read> ArrayStream<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Those of the header as in [`ArrayFile::open`]; `io` if the pipe breaks.
    pub fn open(mut input: R) -> Result<Self, FileErrorKind> {
        let (mut start, header) = read::read_header(&mut input, usize::MAX)?;
        start.drain(..header.elements.start.min(start.len()));
        let elements = Elements { input: Cursor::new(start).chain(input), position: 0 };
        Ok(ArrayStream { name: "", header, elements: Mutex::new(elements) })
    }

    /// The stream with a name of its pipe, which errors of regions begin with.
    pub fn with_name(self, name: &'static str) -> Self {
        ArrayStream { name, ..self }
    }

    /// Reads all elements, at most `limit` bytes. No region may have been read.
    ///
    /// # Errors
    /// `memory-limit`, before any element is read; `wrong-length` if the pipe ends early;
    /// `out-of-memory`; `io`.
    pub fn read_all(self, limit: usize) -> Result<ArrayFile, FileErrorKind> {
        let Elements { input, .. } =
            self.elements.into_inner().unwrap_or_else(PoisonError::into_inner);
        read::read_elements(input, &[], self.header, limit, FIRST_BYTES)
    }
}

impl<R: Read> Elements<R> {
    /// Fills `bytes`. If the pipe ends early, the error has the number of bytes that it delivered.
    fn read(&mut self, bytes: &mut [u8], header: &ArrayHeader) -> Result<(), StoreErrorKind> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) => return Err(self.end_of_pipe(header)),
                Ok(count) => {
                    filled += count;
                    self.position += count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreErrorKind::Io(error)),
            }
        }
        Ok(())
    }

    /// Reads and drops the bytes before `target`.
    fn skip_to(&mut self, target: usize, header: &ArrayHeader) -> Result<(), StoreErrorKind> {
        let Some(bytes) = target.checked_sub(self.position) else {
            return Err(StoreErrorKind::ReadOnce { position: self.position, requested: target });
        };
        let skipped = io::copy(&mut self.input.by_ref().take(bytes as u64), &mut io::sink());
        self.position += skipped.map_err(StoreErrorKind::Io)? as usize;
        if self.position == target { Ok(()) } else { Err(self.end_of_pipe(header)) }
    }

    fn end_of_pipe(&self, header: &ArrayHeader) -> StoreErrorKind {
        let (shape, expected) = (header.array_type.shape.clone(), header.elements.len());
        let kind = FileErrorKind::WrongLength { shape, expected, available: self.position };
        StoreError::from(FileError::new("".as_ref(), kind)).kind
    }
}

impl<R: Read + Send + fmt::Debug> Source for ArrayStream<R> {
    fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    fn is_column_major(&self) -> bool {
        self.header.is_column_major
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn is_read_once(&self) -> bool {
        true
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let ArrayType { dtype, shape } = &self.header.array_type;
        let read = self.header.buffer(region, |mut bytes| {
            let mut elements = self.elements.lock().unwrap_or_else(PoisonError::into_inner);
            for run in FileRuns::new(shape, region, self.header.is_column_major) {
                let (first, rest) = bytes.split_at_mut(run.elements * dtype.size());
                elements.skip_to(run.start * dtype.size(), &self.header)?;
                elements.read(first, &self.header)?;
                self.header.to_native(first);
                bytes = rest;
            }
            Ok(())
        });
        read.map_err(|kind| StoreError::new(self.name, kind))
    }
}
