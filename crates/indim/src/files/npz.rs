//! Members of `.npz` archives, stored or deflated.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::{ArrayFile, FileError, FileErrorKind};

/// Bytes of a member that are read before its header has said how many there are.
const HEADER_BYTES: u64 = 128 * 1024;

/// Reads the member `member` (with or without `.npy`) of the archive at `path` into memory.
///
/// # Errors
/// When the archive or the member cannot be read, or there is no such member. The sizes that the
/// archive claims are not trusted: no more is read than the member's own header asks for.
pub fn read_npz_member(path: &Path, member: &str) -> Result<ArrayFile, FileError> {
    let located = |kind| FileError::new(path, kind);
    let file = File::open(path).map_err(|error| located(error.into()))?;
    let mut archive = ZipArchive::new(file).map_err(|error| located(archive_error(error)))?;
    let name = find(&archive, member).map_err(located)?;
    let reader = archive.by_name(&name).map_err(|error| located(archive_error(error)))?;
    read(reader).and_then(ArrayFile::from_bytes).map_err(located)
}

fn find(archive: &ZipArchive<File>, member: &str) -> Result<String, FileErrorKind> {
    let mut members: Vec<String> = archive.file_names().flatten().map(Into::into).collect();
    members.sort();
    let with_suffix = format!("{member}.npy");
    let found = members.iter().find(|name| **name == member || **name == with_suffix);
    found.cloned().ok_or_else(|| FileErrorKind::NoMember {
        member: member.to_owned(),
        members: members.iter().map(|name| name.trim_end_matches(".npy").to_owned()).collect(),
    })
}

/// The whole member: first enough for its header, then as much as that asks for.
fn read(mut reader: impl Read) -> Result<Vec<u8>, FileErrorKind> {
    let mut bytes = Vec::new();
    reader.by_ref().take(HEADER_BYTES).read_to_end(&mut bytes)?;
    let Err(error) = super::header::parse(&bytes) else {
        return Ok(bytes);
    };
    let FileErrorKind::WrongLength { expected, available, .. } = error else {
        return Err(error);
    };
    if let Some(missing) = expected.checked_sub(available) {
        // Memory grows with what is really there, whatever the header claims.
        reader.take(missing as u64 + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn archive_error(error: ZipError) -> FileErrorKind {
    match error {
        ZipError::Io(error) => FileErrorKind::Io(error),
        other => FileErrorKind::BadArchive(other.to_string()),
    }
}
