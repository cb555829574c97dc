//! A deflated array in an archive, as a sequential source.
//!
//! A deflate stream has no random access. Cursors keep the decoder state, so consecutive regions are inflated
//! once. A region before all cursors is inflated from the beginning.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{ArrayRegion, Source, StoreError, StoreErrorKind};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use indim_arrays::Array;
use indim_ops::ArrayType;

use super::read::MAX_TRAILING_BYTES;
use crate::npy::header::ArrayHeader;
use crate::{FileError, FileErrorKind};
use indim_io::open_file::{FileRange, OpenFile};
use indim_io::runs::FileRuns;

/// Maximum number of cursors. A program that reads several slices of the array in turn needs one for each
/// slice.
const MAX_CURSORS: usize = 64;

/// Approximate bytes of a cursor: window, tables and compressed input.
const CURSOR_BYTES: usize = 128 << 10;

/// Bytes inflated at a time while skipping.
const SKIP_BYTES: usize = 64 << 10;

/// The location of a member in its archive, with its recorded size and checksum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemberLocation {
    /// File offset of the compressed bytes.
    pub(crate) start: u64,
    pub(crate) compressed_bytes: u64,
    /// The CRC-32 of the whole member.
    pub(crate) checksum: u32,
}

/// A deflated array in a file.
#[derive(Debug)]
pub(crate) struct DeflatedFile {
    file: Arc<OpenFile>,
    header: ArrayHeader,
    location: MemberLocation,
    /// The most recently used cursor is at the end.
    cursors: Mutex<Vec<InflateCursor>>,
}

/// A decoder, which has inflated the member up to a position.
#[derive(Debug)]
struct InflateCursor {
    decoder: DeflateDecoder<FileRange<Arc<OpenFile>>>,
    /// Number of inflated bytes.
    position: u64,
    /// Checksum of the bytes up to `position`.
    checksum: Crc,
}

impl DeflatedFile {
    pub(crate) fn new(
        path: &Path,
        file: File,
        header: ArrayHeader,
        location: MemberLocation,
    ) -> io::Result<Self> {
        let file = Arc::new(OpenFile::new(path, file)?);
        Ok(DeflatedFile { file, header, location, cursors: Mutex::default() })
    }

    /// Reads a region into a buffer in the order of the file.
    fn read_runs(&self, region: &ArrayRegion, mut bytes: &mut [u8]) -> io::Result<()> {
        let ArrayType { dtype, shape } = &self.header.array_type;
        let position_of = |start: usize| (self.header.elements.start + start * dtype.size()) as u64;
        let mut runs = FileRuns::new(shape, region, self.header.is_column_major).peekable();
        let Some(first) = runs.peek() else { return Ok(()) };
        let mut cursor = self.cursor_before(position_of(first.start));
        for run in runs {
            let (first, rest) = bytes.split_at_mut(run.elements * dtype.size());
            cursor.skip_to(position_of(run.start))?;
            cursor.read(first)?;
            self.header.to_native(first);
            bytes = rest;
        }
        if cursor.position == self.header.elements.end as u64 {
            return cursor.finish(self.location.checksum);
        }
        self.cache(cursor);
        Ok(())
    }

    /// Takes the nearest cursor at or before a position, or a new one at the beginning.
    fn cursor_before(&self, position: u64) -> InflateCursor {
        let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cursors.iter().enumerate().filter(|(_, cursor)| cursor.position <= position);
        match before.max_by_key(|(_, cursor)| cursor.position).map(|(index, _)| index) {
            Some(index) => cursors.remove(index),
            None => {
                let MemberLocation { start, compressed_bytes, .. } = self.location;
                let part = FileRange::new(Arc::clone(&self.file), start, compressed_bytes);
                InflateCursor {
                    decoder: DeflateDecoder::new(part),
                    position: 0,
                    checksum: Crc::new(),
                }
            }
        }
    }

    /// Caches a cursor for later regions; evicts the least recently used one if there are too many.
    fn cache(&self, cursor: InflateCursor) {
        let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
        if cursors.len() == MAX_CURSORS {
            cursors.remove(0);
        }
        cursors.push(cursor);
    }

    /// Errors of the decoder mean that the archive is damaged, or that it has changed since it was opened.
    fn read_error(&self, error: io::Error) -> StoreErrorKind {
        match error.kind() {
            _ if error.raw_os_error().is_some() => StoreErrorKind::Io(error),
            _ if !self.file.is_unchanged() => StoreErrorKind::FileChanged,
            ErrorKind::UnexpectedEof => {
                self.bad_archive("the compressed bytes of the member end early")
            }
            _ => self.bad_archive(&error.to_string()),
        }
    }

    fn bad_archive(&self, message: &str) -> StoreErrorKind {
        let kind = FileErrorKind::BadArchive(message.to_owned());
        StoreError::from(FileError::new(self.file.path(), kind)).kind
    }
}

impl InflateCursor {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.decoder.read_exact(bytes)?;
        self.checksum.update(bytes);
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn skip_to(&mut self, target: u64) -> io::Result<()> {
        let mut buffer = [0; SKIP_BYTES];
        while self.position < target {
            let bytes = (target - self.position).min(SKIP_BYTES as u64) as usize;
            self.read(&mut buffer[..bytes])?;
        }
        Ok(())
    }

    /// Reads the bytes after the elements, and compares the checksum of the member.
    fn finish(mut self, expected: u32) -> io::Result<()> {
        let damaged = |message: String| Err(io::Error::other(message));
        let mut trailing = Vec::new();
        let limit = MAX_TRAILING_BYTES + 1;
        self.decoder.by_ref().take(limit).read_to_end(&mut trailing)?;
        if trailing.len() as u64 == limit {
            return damaged(format!(
                "more than {MAX_TRAILING_BYTES} bytes stand behind the elements of the member"
            ));
        }
        self.checksum.update(&trailing);
        match self.checksum.sum() {
            sum if sum == expected => Ok(()),
            sum => damaged(format!(
                "the member has the checksum {sum:08x}, the archive says {expected:08x}"
            )),
        }
    }
}

impl Source for DeflatedFile {
    fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    fn is_column_major(&self) -> bool {
        self.header.is_column_major
    }

    fn is_sequential(&self) -> bool {
        true
    }

    /// One cursor. A plan that reads several slices of the array counts these bytes for each slice, and a
    /// cursor is kept for each.
    fn scratch_bytes(&self) -> usize {
        CURSOR_BYTES
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = self.header.buffer(region, |bytes| {
            self.read_runs(region, bytes).map_err(|error| self.read_error(error))
        });
        read.map_err(|kind| self.file.error(kind))
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.file.check_unchanged()
    }
}
