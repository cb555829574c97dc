//! A dense, uncompressed array in a file, as a source.
//!
//! Regions are read, not mapped: truncation of the file then gives an error, not a bus error.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::{ArrayRegion, Source, StoreError, StoreErrorKind};
use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::npy::header::ArrayHeader;
use indim_io::open_file::{FileRange, OpenFile};
use indim_io::runs::FileRuns;

/// An array in a file, row-major or column-major, in either byte order.
#[derive(Debug)]
pub(crate) struct DenseFile {
    file: OpenFile,
    header: ArrayHeader,
    /// File offset of the header in bytes; `header.elements` is relative to it.
    offset: u64,
}

impl DenseFile {
    pub(crate) fn new(
        path: &Path,
        file: File,
        header: ArrayHeader,
        offset: u64,
    ) -> io::Result<Self> {
        Ok(DenseFile { file: OpenFile::new(path, file)?, header, offset })
    }

    /// Reads a region into a buffer in the order of the file.
    fn read_runs(&self, region: &ArrayRegion, mut bytes: &mut [u8]) -> Result<(), StoreErrorKind> {
        let ArrayType { dtype, shape } = &self.header.array_type;
        let elements = self.offset + self.header.elements.start as u64;
        for run in FileRuns::new(shape, region, self.header.is_column_major) {
            let (first, rest) = bytes.split_at_mut(run.elements * dtype.size());
            let offset = elements + (run.start * dtype.size()) as u64;
            let read = FileRange::new(&self.file, offset, first.len() as u64).read_exact(first);
            read.map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => StoreErrorKind::FileChanged,
                _ => StoreErrorKind::Io(error),
            })?;
            self.header.to_native(first);
            bytes = rest;
        }
        Ok(())
    }
}

impl Source for DenseFile {
    fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    fn is_column_major(&self) -> bool {
        self.header.is_column_major
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = self.header.buffer(region, |bytes| self.read_runs(region, bytes));
        read.map_err(|kind| self.file.error(kind))
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.file.check_unchanged()
    }
}
