//! A `.npy` file or stream as a sink.

use core::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{
    ArrayRegion, CompleteResult, Sink, StoreError, StoreErrorKind, check_complete, with_elements,
};
use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::{FileError, FileErrorKind};
use indim_io::OutputFile;
use indim_io::npy::npy_header;
use indim_io::runs::{write_next, write_runs};
use indim_io::shared_output::CompleteSharedOutput;

/// A sink that writes a row-major `.npy` file, which appears complete or not at all (see [`OutputFile`]), or
/// writes to a pipe.
///
/// ```
/// use indim_stores::{ArrayFile, NpySink, NpySource, write_npy};
/// use indim_stores::{ArrayRegion, Sink, Source};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let (x, y) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
/// let array_type = ArrayType::new(DType::U8, [2, 2]);
/// write_npy(&x, &array_type, &[1, 2, 3, 4])?;
///
/// let source = NpySource::open(&x)?;
/// let mut sink = Box::new(NpySink::create(&y, &array_type)?);
/// for row in ArrayRegion::grid(&array_type.shape, &[1, 2]) {
///     sink.write(&row, &source.read(&row)?)?;
/// }
/// assert!(!y.exists());
/// sink.finish()?;
/// assert_eq!(ArrayFile::open(&y)?.bytes(), [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpySink {
    path: PathBuf,
    array_type: ArrayType,
    header_bytes: u64,
    elements_written: usize,
    target: NpyTarget,
}

enum NpyTarget {
    File(OutputFile),
    Stream(Box<dyn Write + Send>),
}

impl fmt::Debug for NpySink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NpySink({}, {})", self.path.display(), self.array_type)
    }
}

impl NpySink {
    /// Creates a file for an array of this type, and reserves its space on the disk.
    ///
    /// # Errors
    /// Like [`OutputFile::create`]; `io` if the disk is full; `too-large`.
    pub fn create(path: &Path, array_type: &ArrayType) -> Result<Self, FileError> {
        Self::in_file(OutputFile::create(path)?, array_type)
    }

    /// Like [`NpySink::create`], in an open file.
    ///
    /// # Errors
    /// Like [`NpySink::create`].
    pub fn in_file(mut file: OutputFile, array_type: &ArrayType) -> Result<Self, FileError> {
        let path = file.path().to_owned();
        let error = |kind: FileErrorKind| FileError::new(&path, kind);
        let header = npy_header(array_type);
        let elements = array_type.shape.byte_count(array_type.dtype.size());
        let elements = elements.map_err(|shape| error(FileErrorKind::TooLarge(shape)))?;
        file.reserve(header.len() as u64 + elements as u64)?;
        let target = match file.is_stream() {
            true => NpyTarget::Stream(Box::new(file)),
            false => NpyTarget::File(file),
        };
        Self::with_header(path.clone(), target, &header, array_type).map_err(|it| error(it.into()))
    }

    /// A sink that writes to a stream, called `name` in messages. Regions must come in row-major order.
    ///
    /// # Errors
    /// `io` if the header cannot be written.
    pub fn to_stream(
        name: &str,
        stream: Box<dyn Write + Send>,
        array_type: &ArrayType,
    ) -> Result<Self, FileError> {
        let path = PathBuf::from(name);
        let sink = Self::with_header(
            path.clone(),
            NpyTarget::Stream(stream),
            &npy_header(array_type),
            array_type,
        );
        sink.map_err(|error| FileError::new(&path, error.into()))
    }

    fn with_header(
        path: PathBuf,
        mut target: NpyTarget,
        header: &[u8],
        array_type: &ArrayType,
    ) -> io::Result<Self> {
        target.output().write_all(header)?;
        let (array_type, header_bytes) = (array_type.clone(), header.len() as u64);
        Ok(NpySink { path, array_type, header_bytes, elements_written: 0, target })
    }

    fn error(&self, kind: impl Into<StoreErrorKind>) -> StoreError {
        StoreError::new(self.path.to_string_lossy(), kind)
    }

    fn write_region(&mut self, region: &ArrayRegion, bytes: &[u8]) -> io::Result<()> {
        let (array_type, written) = (&self.array_type, self.elements_written);
        self.elements_written = match &mut self.target {
            NpyTarget::File(file) => {
                write_runs(file, self.header_bytes, array_type, region, bytes)?;
                written + bytes.len() / array_type.dtype.size()
            }
            NpyTarget::Stream(stream) => write_next(stream, written, array_type, region, bytes)?,
        };
        Ok(())
    }
}

impl NpyTarget {
    fn output(&mut self) -> &mut dyn Write {
        match self {
            NpyTarget::File(file) => file,
            NpyTarget::Stream(stream) => stream,
        }
    }
}

impl Sink for NpySink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn is_sequential(&self) -> bool {
        matches!(self.target, NpyTarget::Stream(_))
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        let array_type = self.array_type.clone();
        let write = |elements: &[u8]| Ok(self.write_region(region, elements)?);
        let written = with_elements(region, values, &array_type, write);
        written.map_err(|kind| self.error(kind))
    }

    fn complete(mut self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        check_complete(&self.array_type, self.elements_written).map_err(|kind| self.error(kind))?;
        let path = self.path.clone();
        let output = match self.target {
            NpyTarget::File(file) => Some(file.complete(&mut |_| ())?),
            NpyTarget::Stream(ref mut stream) => {
                let flushed = stream.flush();
                flushed.map_err(|error| StoreError::new(path.to_string_lossy(), error))?;
                None
            }
        };
        Ok(Box::new(CompleteSharedOutput(output)))
    }
}
