//! Mapped input files. Holds unsafe code.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::time::SystemTime;

use crate::system_memory::Mmap;

/// The bytes of a file, mapped into memory. The system reads each page at its first access.
///
/// ```
/// use indim_arrays::MappedFile;
///
/// let path = std::env::temp_dir().join(format!("indim-{}", std::process::id()));
/// std::fs::write(&path, [1, 2, 3])?;
/// // SAFETY: nobody else knows the file.
/// let file = unsafe { MappedFile::open(&path)? };
/// assert_eq!((&file[..], file.is_unchanged()), (&[1, 2, 3][..], true));
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    file: File,
    /// Length and modification time at opening.
    version: (u64, Option<SystemTime>),
}

impl MappedFile {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped.
    ///
    /// # Safety
    /// No process changes or shortens the file while it is mapped. Otherwise the caller accepts that bytes
    /// change while they are read, and that the system sends `SIGBUS` for a read beyond the new end.
    pub unsafe fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let map = match metadata.len() {
            0 => None,
            // SAFETY:
            // - the map is only read, as bytes, for which every value is valid;
            // - the caller guarantees that no process changes the file, or accepts changed bytes and the
            //   signal of a read beyond the new end.
            _ => Some(unsafe { Mmap::map(&file)? }),
        };
        Ok(MappedFile { map, file, version: version(&metadata) })
    }

    /// Whether the length and the modification time of the file are those at opening.
    pub fn is_unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| version(&metadata) == self.version)
    }
}

/// Length and modification time; some systems record no time.
fn version(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

impl Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
