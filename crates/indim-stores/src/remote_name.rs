//! The errors of builds and formats without remote stores, and the memory of uploads.

use std::path::Path;

use indim_io::remote_name::without_query;
use indim_shape::{Diagnostic, ErrorCode};

#[cfg(feature = "remote")]
use crate::ArrayFormat;
use crate::StoreError;

/// The error of a build without remote stores.
#[cfg(not(feature = "remote"))]
pub(crate) fn remote_off(name: &Path) -> StoreError {
    let mut error = Diagnostic::new(
        ErrorCode::REMOTE_OFF,
        "this build has no remote stores: the feature `remote` is off",
    );
    error.help("install the command with it: cargo install indim-cli --features remote");
    error.help("or use a file, and copy it");
    StoreError::new(without_query(name), error)
}

/// The error of a format that remote stores do not have.
#[cfg(feature = "remote")]
pub(crate) fn not_remote(name: &Path, format: &str) -> StoreError {
    let mut error = Diagnostic::new(
        ErrorCode::REMOTE_NAME,
        format!("remote stores have `.npy` and Zarr, not `{format}`"),
    );
    error.help("use a file, and copy it");
    StoreError::new(without_query(name), error)
}

/// Bytes of memory that a `.npy` result takes while it is uploaded; 0 for a path that is not a remote name.
#[cfg(feature = "remote")]
pub fn upload_bytes(path: &Path, result: &indim_ops::ArrayType) -> usize {
    let bytes = result.shape.byte_count(result.dtype.size()).unwrap_or(usize::MAX);
    match indim_io::remote_name::is_remote(path)
        && ArrayFormat::of_name(path) == Some(ArrayFormat::npy())
    {
        true => indim_remote::Upload::memory_bytes(bytes as u64),
        false => 0,
    }
}

/// Without the feature `remote` nothing is uploaded.
#[cfg(not(feature = "remote"))]
pub fn upload_bytes(_: &Path, _: &indim_ops::ArrayType) -> usize {
    0
}
