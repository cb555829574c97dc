//! Files as memory. Holds unsafe code.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file, read by the system when they are touched.
///
/// Who changes or shortens the file meanwhile changes the bytes, or makes the system end the
/// process; that is the price of reading without a copy, and the same as with any mapped file.
#[derive(Debug)]
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// When the file cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile { map: None });
        }
        // SAFETY: the map is only read, as bytes, for which every value is valid; that others leave
        // the file alone is asked of the user in the documentation of this type.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedFile { map: Some(map) })
    }
}

impl Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
