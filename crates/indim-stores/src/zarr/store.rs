//! The files of chunks, and the version of a metadata file. Only regular files are read, and every read is
//! bounded.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::bad_zarr;
use super::unfinished_folder::writing;
use crate::StoreErrorKind;
use crate::file::open_file;
use indim_io::open_file::{FileRange, OpenFile, version};
use indim_io::system_message;

/// The version of the file at a path.
#[derive(Debug)]
pub(super) struct PathVersion {
    path: PathBuf,
    version: (u64, Option<SystemTime>),
}

impl PathVersion {
    pub(super) fn of(path: PathBuf) -> io::Result<Self> {
        let version = version(&fs::metadata(&path)?);
        Ok(PathVersion { path, version })
    }

    /// Whether the path has the same version of the file, as far as its length and modification time tell.
    pub(super) fn is_current(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|now| version(&now) == self.version)
    }
}

/// A chunk file, which threads read concurrently by offset.
#[derive(Debug)]
pub(super) struct ChunkFile {
    key: String,
    file: OpenFile,
    length: u64,
}

impl ChunkFile {
    /// Opens the file of a chunk; `None` if it does not exist.
    pub(super) fn open(folder: &Path, key: String) -> Result<Option<Self>, StoreErrorKind> {
        let path = folder.join(&key);
        let opened = open_file(&path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok((OpenFile::new(&path, file)?, length))
        });
        match opened {
            Ok((file, length)) => Ok(Some(ChunkFile { key, file, length })),
            Err(StoreErrorKind::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(StoreErrorKind::Io(error)) => Err(io_error(&key, &error)),
            Err(error) => Err(bad_zarr(&format!("`{key}`: {error}"))),
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Reads the whole file, of at most `limit` bytes.
    pub(super) fn read_whole(&self, limit: u64) -> Result<Vec<u8>, StoreErrorKind> {
        self.read(0, self.length, limit)
    }

    /// Reads a byte range of at most `limit` bytes. The range is checked against `limit` and the length
    /// of the file before the allocation.
    pub(super) fn read(
        &self,
        start: u64,
        bytes: u64,
        limit: u64,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        if bytes > limit {
            let key = &self.key;
            let message =
                format!("`{key}`: {bytes} bytes are stored for what takes at most {limit}");
            return Err(bad_zarr(&message));
        }
        let end = start.checked_add(bytes).filter(|end| *end <= self.length);
        let count = usize::try_from(bytes).ok().filter(|_| end.is_some());
        let count = count.ok_or_else(|| self.outside(start, bytes))?;
        let mut read = Vec::new();
        read.try_reserve_exact(count).map_err(|error| bad_zarr(&error.to_string()))?;
        let range = FileRange::new(&self.file, start, bytes);
        range.take(bytes).read_to_end(&mut read).map_err(|error| io_error(&self.key, &error))?;
        match read.len() == count {
            true => Ok(read),
            false => Err(self.outside(start, bytes)),
        }
    }

    /// Fills `to` from an offset.
    pub(super) fn read_into(&self, start: u64, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        let mut range = FileRange::new(&self.file, start, to.len() as u64);
        range.read_exact(to).map_err(|error| io_error(&self.key, &error))
    }

    fn outside(&self, start: u64, bytes: u64) -> StoreErrorKind {
        let (key, length) = (&self.key, self.length);
        bad_zarr(&format!("`{key}` has {length} bytes, not {bytes} from {start} on"))
    }
}

fn io_error(key: &str, error: &io::Error) -> StoreErrorKind {
    bad_zarr(&format!("`{key}`: {}", system_message(error)))
}

/// Writes a file as a whole, and creates missing folders above it. The sink flushes the file to the disk
/// when the result is complete.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // An ending process removes the folder, so no file may be created in it then.
    let _writing = writing();
    let created = match (File::create(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            File::create(path)
        }
        (created, _) => created,
    };
    created?.write_all(bytes)
}
