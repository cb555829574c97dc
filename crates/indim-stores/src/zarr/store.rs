//! A folder as a `zarrs` store. It reads only regular files, and bounds each read.
//!
//! The filesystem store of `zarrs` keeps a lock for every file seen, allocates a byte range before it checks
//! the file length, and blocks on pipes.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs::storage::{
    Bytes, MaybeBytesIterator, OffsetBytesIterator, ReadableStorageTraits, StorageError, StoreKey,
    StorePrefix, WritableStorageTraits,
};

use super::MAX_METADATA_BYTES;
use super::unfinished_folder::writing;
use crate::StoreErrorKind;
use crate::file::open_file;

/// A store whose values are the files of a folder.
#[derive(Debug)]
pub(super) struct FolderStore {
    folder: PathBuf,
    /// Maximum bytes of one read.
    limit: AtomicU64,
}

impl FolderStore {
    pub(super) fn new(folder: &Path) -> Self {
        FolderStore { folder: folder.to_owned(), limit: AtomicU64::new(MAX_METADATA_BYTES) }
    }

    /// Sets the maximum bytes of one read.
    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    fn path(&self, key: &StoreKey) -> PathBuf {
        self.folder.join(key.as_str().trim_start_matches('/'))
    }

    /// The file of a key and its length; `None` if it does not exist.
    fn open(&self, key: &StoreKey) -> Result<Option<(File, u64)>, StorageError> {
        match open_file(&self.path(key)) {
            Ok(file) => {
                let length = file.metadata()?.len();
                Ok(Some((file, length)))
            }
            Err(StoreErrorKind::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(StoreErrorKind::Io(error)) => Err(error.into()),
            Err(error) => Err(StorageError::Other(format!("`{key}`: {error}"))),
        }
    }

    /// Reads a byte range. Length and limit are checked before the allocation.
    fn read(
        &self,
        key: &StoreKey,
        (file, length): &mut (File, u64),
        range: ByteRange,
    ) -> Result<Bytes, StorageError> {
        let outside = || StorageError::Other(format!("`{key}` has {length} bytes, not {range}"));
        let (start, end) = match range {
            ByteRange::FromStart(start, None) => (start, *length),
            ByteRange::FromStart(start, Some(bytes)) => {
                (start, start.checked_add(bytes).ok_or_else(outside)?)
            }
            ByteRange::Suffix(bytes) => (length.checked_sub(bytes).ok_or_else(outside)?, *length),
        };
        let bytes = end.checked_sub(start).filter(|_| end <= *length).ok_or_else(outside)?;
        let limit = self.limit.load(Ordering::Relaxed);
        if bytes > limit {
            let message =
                format!("`{key}`: {bytes} bytes are stored for what takes at most {limit}");
            return Err(StorageError::Other(message));
        }
        let count = usize::try_from(bytes).map_err(|_| outside())?;
        let mut read = Vec::new();
        read.try_reserve_exact(count).map_err(|error| StorageError::Other(error.to_string()))?;
        file.seek(SeekFrom::Start(start))?;
        file.take(bytes).read_to_end(&mut read)?;
        match read.len() == count {
            true => Ok(read.into()),
            false => Err(outside()),
        }
    }
}

impl ReadableStorageTraits for FolderStore {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        byte_ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(mut file) = self.open(key)? else { return Ok(None) };
        let key = key.clone();
        Ok(Some(Box::new(byte_ranges.map(move |range| self.read(&key, &mut file, range)))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        match fs::metadata(self.path(key)) {
            Ok(file) => Ok(Some(file.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

/// Files are written whole. The sink flushes them to the disk when the result is complete.
impl WritableStorageTraits for FolderStore {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        // An ending process removes the folder, so no file may be created in it then.
        let _writing = writing();
        let path = self.path(key);
        let created = match (File::create(&path), path.parent()) {
            (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                File::create(&path)
            }
            (created, _) => created,
        };
        Ok(created?.write_all(&value)?)
    }

    fn set_partial_many(
        &self,
        key: &StoreKey,
        _: OffsetBytesIterator<'_>,
    ) -> Result<(), StorageError> {
        Err(StorageError::Unsupported(format!("`{key}` is written as a whole")))
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        match fs::remove_file(self.path(key)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        match fs::remove_dir_all(self.folder.join(prefix.as_str().trim_start_matches('/'))) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
