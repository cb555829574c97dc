//! Opens regular files for reading. Pipes and devices are refused: a pipe may never answer, a device may
//! never end.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;

/// Opens a regular file, or a link to one.
///
/// # Errors
/// `not-a-file`; `io`.
pub fn open_file(path: &Path) -> Result<File, StoreErrorKind> {
    // Opening a pipe waits for its writer, so the file type is checked first.
    if !fs::metadata(path)?.is_file() {
        return Err(not_a_file());
    }
    let file = File::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_a_file()),
    }
}

/// Reads a regular file of at most `max_bytes` bytes. A longer file gives its length as the inner error.
///
/// # Errors
/// Like [`open_file`].
pub fn read_file(path: &Path, max_bytes: u64) -> Result<Result<Vec<u8>, u64>, StoreErrorKind> {
    let file = open_file(path)?;
    let length = file.metadata()?.len();
    if length > max_bytes {
        return Ok(Err(length));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > max_bytes { Err(bytes.len() as u64) } else { Ok(bytes) })
}

fn not_a_file() -> StoreErrorKind {
    Diagnostic::new(ErrorCode::NOT_A_FILE, "not a regular file").into()
}
