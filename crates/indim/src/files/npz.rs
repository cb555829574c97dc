//! Members of `.npz` archives, stored or deflated.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::{ArrayFile, FileError, FileErrorKind};

/// Bytes of a member that are read before its header has said how many there are.
const HEADER_BYTES: u64 = 128 * 1024;

/// Deflate makes at most this many bytes of one.
const LARGEST_RATIO: u64 = 1032;

/// Reads the member `member` (with or without `.npy`) of the archive at `path` into memory.
///
/// # Errors
/// When the archive or the member cannot be read, or there is no such member. What the archive claims
/// is not trusted: no more is read than the member's own header asks for, and nothing is allocated
/// that the compressed bytes cannot fill.
pub fn read_npz_member(path: &Path, member: &str) -> Result<ArrayFile, FileError> {
    let read = || {
        super::require_file(path)?;
        let mut archive = ZipArchive::new(File::open(path)?).map_err(archive_error)?;
        let name = find(&archive, member)?;
        let file = archive.by_name(&name).map_err(archive_error)?;
        let most = file.compressed_size().saturating_mul(LARGEST_RATIO);
        ArrayFile::from_bytes(read_member(file, most)?)
    };
    read().map_err(|kind| FileError::new(path, kind))
}

/// What to say of an archive where one array is wanted: which members it has.
pub(super) fn member_not_named(path: &Path) -> FileErrorKind {
    let opened = File::open(path).map_err(FileErrorKind::Io);
    match opened.and_then(|file| ZipArchive::new(file).map_err(archive_error)) {
        Ok(archive) => FileErrorKind::MemberNotNamed { members: bare(&file_names(&archive)) },
        Err(error) => error,
    }
}

fn find(archive: &ZipArchive<File>, member: &str) -> Result<String, FileErrorKind> {
    let members = file_names(archive);
    let found = members.iter().find(|name| **name == member || without_suffix(name) == member);
    found.cloned().ok_or_else(|| FileErrorKind::NoMember {
        member: member.to_owned(),
        members: bare(&members),
    })
}

fn file_names(archive: &ZipArchive<File>) -> Vec<String> {
    let mut names: Vec<String> = archive.file_names().flatten().map(Into::into).collect();
    names.sort();
    names
}

fn bare(names: &[String]) -> Vec<String> {
    names.iter().map(|name| without_suffix(name).to_owned()).collect()
}

fn without_suffix(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

/// The whole member: first enough for its header, then as much as that asks for, `most` bytes at most.
fn read_member(mut member: impl Read, most: u64) -> Result<Vec<u8>, FileErrorKind> {
    let mut first = Vec::new();
    member.by_ref().take(HEADER_BYTES).read_to_end(&mut first)?;
    let (shape, expected, available) = match super::header::parse(&first) {
        Ok(_) => return Ok(first),
        Err(FileErrorKind::WrongLength { shape, expected, available }) => {
            (shape, expected, available)
        }
        Err(error) => return Err(error),
    };
    let is_all = (first.len() as u64) < HEADER_BYTES;
    if is_all || expected as u64 > most {
        return Err(FileErrorKind::WrongLength { shape, expected, available });
    }
    let missing = expected - available;
    // Asking for one byte more brings the archive's checksum of a whole member into play.
    let mut bytes = super::reserve(first.len() + missing + 1)?;
    bytes.append(&mut first);
    member.take(missing as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn archive_error(error: ZipError) -> FileErrorKind {
    match error {
        ZipError::Io(error) => FileErrorKind::Io(error),
        other => FileErrorKind::BadArchive(other.to_string()),
    }
}
