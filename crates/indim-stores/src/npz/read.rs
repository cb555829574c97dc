//! Members of `.npz` archives, stored or deflated.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use indim_ops::ArrayType;
use zip::CompressionMethod;
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::deflated::MemberLocation;
use crate::npy::header::ArrayHeader;
use crate::npy::read::{read_header, read_npy};
use crate::{ArrayFile, FileError, FileErrorKind};

/// Maximum ratio of deflate: decompressed bytes per compressed byte.
const DEFLATE_RATIO: u64 = 1032;

/// Maximum bytes after the elements of a member. They are ignored, but the checksum needs all bytes of the
/// member.
pub(crate) const MAX_TRAILING_BYTES: u64 = 1 << 20;

/// Reads the member `member` (with or without `.npy`) of the archive at `path` into memory.
///
/// ```
/// use indim_stores::{read_npz_member, write_npz_to};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let file = std::fs::File::create(&path)?;
/// let bytes = ArrayType::new(DType::U8, [2]);
/// assert!(write_npz_to(file, [("x", &bytes, &[1, 2][..])]).is_ok());
/// assert_eq!(read_npz_member(&path, "x")?.bytes(), [1, 2]);
/// assert_eq!(read_npz_member(&path, "y").unwrap_err().code(), "no-member");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `bad-archive` if the archive is damaged or the checksum of the member differs; `no-member`; for the member
/// those of [`ArrayFile::open`]. Sizes that the archive claims are not trusted: at most 1 MiB beyond the
/// member's own header and elements is read, and nothing is allocated that the compressed bytes cannot fill.
pub fn read_npz_member(path: &Path, member: &str) -> Result<ArrayFile, FileError> {
    read_npz_member_within(path, member, usize::MAX)
}

/// Like [`read_npz_member`], with at most `limit` bytes of elements.
///
/// ```
/// use indim_stores::{read_npz_member_within, write_npz_to};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let file = std::fs::File::create(&path)?;
/// let bytes = ArrayType::new(DType::U8, [2]);
/// assert!(write_npz_to(file, [("x", &bytes, &[1, 2][..])]).is_ok());
/// let error = read_npz_member_within(&path, "x", 1).unwrap_err();
/// assert_eq!(error.code(), "memory-limit");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`read_npz_member`], and `memory-limit`, before the elements are allocated.
pub fn read_npz_member_within(
    path: &Path,
    member: &str,
    limit: usize,
) -> Result<ArrayFile, FileError> {
    read_member(path, member, |mut file, length| {
        let array = read_npy(&mut file, length, limit)?;
        let trailing = io::copy(&mut file.take(MAX_TRAILING_BYTES + 1), &mut io::sink())?;
        match trailing > MAX_TRAILING_BYTES {
            true => Err(FileErrorKind::BadArchive(format!(
                "more than {MAX_TRAILING_BYTES} bytes stand behind the elements of `{member}`"
            ))),
            false => Ok(array),
        }
    })
}

/// Element type and shape of a member; reads only its header.
///
/// ```
/// use indim_stores::{read_npz_member_type, write_npz_to};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let file = std::fs::File::create(&path)?;
/// let bytes = ArrayType::new(DType::U8, [2]);
/// assert!(write_npz_to(file, [("x", &bytes, &[1, 2][..])]).is_ok());
/// assert_eq!(read_npz_member_type(&path, "x")?.to_string(), "u8[2]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`read_npz_member`], without the check of the checksum.
pub fn read_npz_member_type(path: &Path, member: &str) -> Result<ArrayType, FileError> {
    read_member(path, member, |mut file, length| Ok(read_header(&mut file, length)?.1.array_type))
}

/// Opens a member and calls `read` with its bytes and their maximum number.
fn read_member<T>(
    path: &Path,
    member: &str,
    read: impl FnOnce(&mut dyn Read, usize) -> Result<T, FileErrorKind>,
) -> Result<T, FileError> {
    let read = || {
        let (file, _) = crate::npy::read::open(path)?;
        let mut archive = ZipArchive::new(file).map_err(archive_error)?;
        let name = file_name(&archive, member)?;
        let mut file = archive.by_name(&name).map_err(archive_error)?;
        let length = max_bytes(&file);
        read(&mut file, length).map_err(as_archive_error)
    };
    read().map_err(|kind| FileError::new(path, kind))
}

/// A member of an archive, with its header.
pub(crate) struct ArchiveMember {
    pub(crate) file: File,
    pub(crate) header: ArrayHeader,
    pub(crate) compression: CompressionMethod,
    pub(crate) location: MemberLocation,
}

/// Finds a member, and reads its header.
pub(crate) fn locate(path: &Path, member: &str) -> Result<ArchiveMember, FileErrorKind> {
    let (file, file_length) = crate::npy::read::open(path)?;
    let mut archive = ZipArchive::new(file).map_err(archive_error)?;
    let name = file_name(&archive, member)?;
    let mut file = archive.by_name(&name).map_err(archive_error)?;
    let length = max_bytes(&file);
    let header = read_header(&mut file, length).map_err(as_archive_error)?.1;
    let compression = file.compression();
    let (compressed_bytes, checksum) = (file.compressed_size(), file.crc32());
    let start = file.data_start();
    drop(file);
    let end = start.and_then(|start| start.checked_add(compressed_bytes));
    match (start, end.filter(|&end| end <= file_length as u64)) {
        (Some(start), Some(_)) => {
            let location = MemberLocation { start, compressed_bytes, checksum };
            Ok(ArchiveMember { file: archive.into_inner(), header, compression, location })
        }
        _ => Err(FileErrorKind::BadArchive(format!("`{member}` is longer than the archive"))),
    }
}

/// Maximum bytes of a member: the claimed size, bounded by the compressed size.
fn max_bytes(member: &ZipFile<'_, File>) -> usize {
    let compressed = member.compressed_size();
    let limit = match member.compression() {
        CompressionMethod::Stored => compressed,
        _ => compressed.saturating_mul(DEFLATE_RATIO),
    };
    usize::try_from(member.size().min(limit)).unwrap_or(usize::MAX)
}

/// The names of the members, without `.npy`, sorted.
pub(crate) fn members(path: &Path) -> Result<Vec<String>, FileErrorKind> {
    let archive = ZipArchive::new(crate::npy::read::open(path)?.0).map_err(archive_error)?;
    Ok(without_suffixes(&file_names(&archive)))
}

fn file_name(archive: &ZipArchive<File>, member: &str) -> Result<String, FileErrorKind> {
    let members = file_names(archive);
    let found = members.iter().find(|name| **name == member || without_suffix(name) == member);
    found.cloned().ok_or_else(|| FileErrorKind::NoMember {
        member: member.to_owned(),
        members: without_suffixes(&members),
    })
}

fn file_names(archive: &ZipArchive<File>) -> Vec<String> {
    let mut names: Vec<String> = archive.file_names().flatten().map(Into::into).collect();
    names.sort();
    names
}

fn without_suffixes(names: &[String]) -> Vec<String> {
    names.iter().map(|name| without_suffix(name).to_owned()).collect()
}

fn without_suffix(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

/// The library reports a damaged archive as an I/O error; only errors with a system code are from the system.
fn as_archive_error(kind: FileErrorKind) -> FileErrorKind {
    match kind {
        FileErrorKind::Io(error) if error.raw_os_error().is_none() => {
            FileErrorKind::BadArchive(error.to_string())
        }
        kind => kind,
    }
}

fn archive_error(error: ZipError) -> FileErrorKind {
    match error {
        ZipError::Io(error) => FileErrorKind::Io(error),
        other => FileErrorKind::BadArchive(other.to_string()),
    }
}
