//! Reads `.npy` data into memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use indim_ops::ArrayType;

use super::header::{self, ArrayHeader, MAX_PREFIX_BYTES};
use crate::{ArrayFile, ArrayFormat, FileError, FileErrorKind};

/// Element type and shape of a `.npy` file; reads only its header.
///
/// ```
/// use indim_stores::{read_npy_type, write_npy};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// write_npy(&path, &ArrayType::new(DType::U8, [2, 2]), &[1, 2, 3, 4])?;
/// assert_eq!(read_npy_type(&path)?.to_string(), "u8[2, 2]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`ArrayFile::open`].
pub fn read_npy_type(path: &Path) -> Result<ArrayType, FileError> {
    let read = || {
        let (mut file, length) = open(path)?;
        let (_, header) = read_header(&mut file, length)?;
        Ok(header.array_type)
    };
    read().map_err(|kind| open_error(path, kind))
}

/// Like [`ArrayFile::open`], with at most `limit` bytes of elements.
pub(crate) fn open_npy(path: &Path, limit: usize) -> Result<ArrayFile, FileError> {
    let read = || {
        let (file, length) = open(path)?;
        read_npy(file, length, limit)
    };
    read().map_err(|kind| open_error(path, kind))
}

/// Adds the path to an error of reading `.npy`. If the file is an archive instead, the error becomes that
/// of a path that names no member.
pub(crate) fn open_error(path: &Path, kind: FileErrorKind) -> FileError {
    let kind = match kind {
        FileErrorKind::NotNpy => ArrayFormat::of_content(path)
            .and_then(|format| format.member_not_named(path))
            .unwrap_or(kind),
        kind => kind,
    };
    FileError::new(path, kind)
}

/// Opens a regular file and returns its length in bytes. Other file types are refused before they are
/// opened: opening a pipe blocks until a writer comes.
pub(crate) fn open(path: &Path) -> Result<(File, usize), FileErrorKind> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(FileErrorKind::NotAFile);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, usize::try_from(length).unwrap_or(usize::MAX)))
}

/// Reads and parses a header. `length` is the length of the whole file. Returns the bytes read, and the
/// header.
pub(crate) fn read_header(
    input: &mut impl Read,
    length: usize,
) -> Result<(Vec<u8>, ArrayHeader), FileErrorKind> {
    let mut start = Vec::new();
    input.take(MAX_PREFIX_BYTES as u64).read_to_end(&mut start)?;
    let header = header::parse(&start, length)?;
    Ok((start, header))
}

/// Reads an array up to its last element. `length` is the length of the whole file. The elements are
/// allocated only after header, `length` and `limit` have been checked.
pub(crate) fn read_npy(
    mut input: impl Read,
    length: usize,
    limit: usize,
) -> Result<ArrayFile, FileErrorKind> {
    let (start, header) = read_header(&mut input, length)?;
    let bytes = header.elements.len();
    read_elements(input, &start, header, limit, bytes)
}

/// Reads the elements, at most `limit` bytes. `start` is the prefix of the file already read. The buffer
/// begins with capacity for `initial_capacity` bytes and doubles when it is full.
pub(crate) fn read_elements(
    mut input: impl Read,
    start: &[u8],
    header: ArrayHeader,
    limit: usize,
    initial_capacity: usize,
) -> Result<ArrayFile, FileErrorKind> {
    let expected = header.elements.len();
    if expected > limit {
        return Err(FileErrorKind::MemoryLimit { bytes: expected, limit });
    }
    let first = header.elements.start.min(start.len())..header.elements.end.min(start.len());
    let mut bytes = Vec::new();
    let mut prefix = &start[first];
    while bytes.len() < expected {
        let count = initial_capacity.max(bytes.len()).min(expected - bytes.len());
        bytes
            .try_reserve_exact(count)
            .map_err(|_| FileErrorKind::OutOfMemory { bytes: expected })?;
        let read = prefix.chain(&mut input).take(count as u64).read_to_end(&mut bytes)?;
        prefix = &prefix[read.min(prefix.len())..];
        if read < count {
            let (shape, available) = (header.array_type.shape, bytes.len());
            return Err(FileErrorKind::WrongLength { shape, expected, available });
        }
    }
    Ok(ArrayFile::from_elements(header, bytes))
}
