//! A file that threads read concurrently by offset.

use core::ops::Deref;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(not(unix))]
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::{StoreError, StoreErrorKind};

/// A file that threads read concurrently by offset. Changes of the file are detected.
#[derive(Debug)]
pub struct OpenFile {
    /// The path from the caller.
    path: PathBuf,
    #[cfg(unix)]
    file: File,
    #[cfg(not(unix))]
    file: Mutex<File>,
    /// Length and modification time when it was opened; some systems have no modification time.
    version: (u64, Option<SystemTime>),
}

impl OpenFile {
    /// A file that was opened at this path.
    ///
    /// # Errors
    /// If the system does not tell the file's length.
    pub fn new(path: &Path, file: File) -> io::Result<Self> {
        let version = version(&file.metadata()?);
        #[cfg(not(unix))]
        let file = Mutex::new(file);
        Ok(OpenFile { path: path.to_owned(), file, version })
    }

    /// The path from the caller.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of this file.
    pub fn error(&self, kind: StoreErrorKind) -> StoreError {
        StoreError::new(self.path.to_string_lossy(), kind)
    }

    /// Checks that the file is unchanged.
    ///
    /// # Errors
    /// `file-changed`.
    pub fn check_unchanged(&self) -> Result<(), StoreError> {
        match self.is_unchanged() {
            true => Ok(()),
            false => Err(self.error(StoreErrorKind::FileChanged)),
        }
    }

    /// Whether the file is unchanged, as far as its length and modification time tell.
    pub fn is_unchanged(&self) -> bool {
        self.metadata().is_ok_and(|now| version(&now) == self.version)
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, bytes, offset)
    }

    #[cfg(unix)]
    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read(bytes)
    }

    #[cfg(not(unix))]
    fn metadata(&self) -> io::Result<Metadata> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).metadata()
    }
}

/// Length and modification time, which identify a version of the file.
pub fn version(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

/// A reader of a byte range of a file.
#[derive(Debug)]
pub struct FileRange<F> {
    file: F,
    start: u64,
    next: u64,
    end: u64,
}

impl<F> FileRange<F> {
    /// A reader of `bytes` bytes from byte `start` on.
    pub fn new(file: F, start: u64, bytes: u64) -> Self {
        FileRange { file, start, next: start, end: start.saturating_add(bytes) }
    }
}

impl<F: Deref<Target = OpenFile>> io::Read for FileRange<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(usize::MAX);
        let wanted = bytes.len().min(left);
        let read = self.file.read_at(&mut bytes[..wanted], self.next)?;
        self.next += read as u64;
        Ok(read)
    }
}

/// Positions are relative to the start of the range.
impl<F> io::Seek for FileRange<F> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let next = match to {
            io::SeekFrom::Start(offset) => self.start.checked_add(offset),
            io::SeekFrom::Current(offset) => self.next.checked_add_signed(offset),
            io::SeekFrom::End(offset) => self.end.checked_add_signed(offset),
        };
        self.next = next.filter(|&next| next >= self.start).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.next - self.start)
    }
}
