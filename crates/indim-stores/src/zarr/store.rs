//! The stored bytes of chunks, and the version of a metadata file. Every read is bounded.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::bad_zarr;
use crate::StoreErrorKind;
use indim_io::open_file::version;
use indim_io::unfinished_folder::writing;
use indim_io::{ByteStore, FirstRead, StoredObject, system_message};
use indim_shape::ErrorCode;

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

/// The stored bytes of a chunk, which threads read concurrently by offset.
#[derive(Debug)]
pub(super) struct ChunkFile {
    key: String,
    object: Box<dyn StoredObject>,
}

impl ChunkFile {
    /// Opens a chunk; `None` if it does not exist.
    pub(super) fn open(
        store: &dyn ByteStore,
        key: String,
        first: FirstRead,
    ) -> Result<Option<Self>, StoreErrorKind> {
        match store.open(&key, first) {
            Ok(object) => Ok(object.map(|object| ChunkFile { key, object })),
            Err(error) => Err(with_key(&key, error)),
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.object.length()
    }

    /// Reads the whole chunk, of at most `limit` bytes.
    pub(super) fn read_whole(self, limit: u64) -> Result<Vec<u8>, StoreErrorKind> {
        let (key, length) = (self.key, self.object.length());
        check_limit(&key, length, limit)?;
        let read = self.object.into_bytes().map_err(|error| with_key(&key, error))?;
        match read.len() as u64 == length {
            true => Ok(read),
            false => Err(outside(&key, read.len() as u64, 0, length)),
        }
    }

    /// Reads a byte range of at most `limit` bytes. The range is checked against `limit` and the length
    /// of the file before the allocation.
    pub(super) fn read(
        &self,
        start: u64,
        bytes: u64,
        limit: u64,
    ) -> Result<Vec<u8>, StoreErrorKind> {
        check_limit(&self.key, bytes, limit)?;
        let outside = || outside(&self.key, self.length(), start, bytes);
        let end = start.checked_add(bytes).filter(|end| *end <= self.length());
        let count = usize::try_from(bytes).ok().filter(|_| end.is_some());
        let count = count.ok_or_else(outside)?;
        let read = self.object.read(start, count).map_err(|error| with_key(&self.key, error))?;
        match read.len() == count {
            true => Ok(read),
            false => Err(outside()),
        }
    }

    /// Fills `to` from an offset.
    pub(super) fn read_into(&self, start: u64, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        self.object.read_into(start, to).map_err(|error| with_key(&self.key, error))
    }
}

fn check_limit(key: &str, bytes: u64, limit: u64) -> Result<(), StoreErrorKind> {
    match bytes > limit {
        true => Err(bad_zarr(&format!(
            "`{key}`: {bytes} bytes are stored for what takes at most {limit}"
        ))),
        false => Ok(()),
    }
}

fn outside(key: &str, length: u64, start: u64, bytes: u64) -> StoreErrorKind {
    bad_zarr(&format!("`{key}` has {length} bytes, not {bytes} from {start} on"))
}

/// The error of a chunk, with its key.
fn with_key(key: &str, error: StoreErrorKind) -> StoreErrorKind {
    match error {
        StoreErrorKind::Io(error) => bad_zarr(&format!("`{key}`: {}", system_message(&error))),
        StoreErrorKind::Other(error) if error.code == ErrorCode::NOT_A_FILE => {
            bad_zarr(&format!("`{key}`: {}", error.headline))
        }
        error => error,
    }
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
