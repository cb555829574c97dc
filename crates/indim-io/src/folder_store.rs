//! A folder as a store of objects: its regular files.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::StoreErrorKind;
use crate::byte_store::{ByteStore, FirstRead, StoredObject};
use crate::open_file::{FileRange, OpenFile};
use crate::regular_file::open_file;

/// The files of a folder, by their names in it.
#[derive(Debug)]
pub struct FolderStore(PathBuf);

impl FolderStore {
    /// The files of the folder at a path.
    pub fn new(path: &Path) -> Self {
        FolderStore(path.to_owned())
    }
}

impl ByteStore for FolderStore {
    fn open(
        &self,
        key: &str,
        _: FirstRead,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind> {
        let path = self.0.join(key);
        let opened = open_file(&path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok((OpenFile::new(&path, file)?, length))
        });
        match opened {
            Ok((file, length)) => Ok(Some(Box::new(FolderFile { file, length }))),
            Err(StoreErrorKind::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// An open file of a folder.
#[derive(Debug)]
struct FolderFile {
    file: OpenFile,
    length: u64,
}

impl StoredObject for FolderFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&self, start: u64, bytes: usize) -> Result<Vec<u8>, StoreErrorKind> {
        let mut read = Vec::new();
        read.try_reserve_exact(bytes).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        let range = FileRange::new(&self.file, start, bytes as u64);
        range.take(bytes as u64).read_to_end(&mut read)?;
        Ok(read)
    }

    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, StoreErrorKind> {
        self.read(0, usize::try_from(self.length).unwrap_or(usize::MAX))
    }

    fn read_into(&self, start: u64, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        let mut range = FileRange::new(&self.file, start, to.len() as u64);
        Ok(range.read_exact(to)?)
    }

    fn check_unchanged(&self) -> Result<(), StoreErrorKind> {
        match self.file.is_unchanged() {
            true => Ok(()),
            false => Err(StoreErrorKind::FileChanged),
        }
    }
}
