//! Names of remote objects, such as `s3://bucket/x.zarr`: their recognition, and the errors of builds and
//! formats without them.

use std::path::Path;

use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreError;

/// Whether a path is a remote name: it begins with a scheme, as in `s3://` or `https://`.
///
/// ```
/// use std::path::Path;
///
/// assert!(indim_stores::is_remote(Path::new("s3://bucket/x.zarr")));
/// assert!(!indim_stores::is_remote(Path::new("C:/x.zarr")));
/// ```
pub fn is_remote(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The error of a build without remote stores.
#[cfg(not(feature = "remote"))]
pub(crate) fn remote_off(name: &Path) -> StoreError {
    let mut error = Diagnostic::new(
        ErrorCode::REMOTE_OFF,
        "this build reads no remote stores: the feature `remote` is off",
    );
    error.help("install the command with it: cargo install indim-cli --features remote");
    error.help("or copy the object to a file first");
    StoreError::new(without_query(name), error)
}

/// The error of a format that is not read from remote stores.
#[cfg(feature = "remote")]
pub(crate) fn not_remote(name: &Path, format: &str) -> StoreError {
    let mut error = Diagnostic::new(
        ErrorCode::REMOTE_NAME,
        format!("`{format}` is not read from remote stores, only `.npy` and Zarr are"),
    );
    error.help("copy the object to a file first");
    StoreError::new(without_query(name), error)
}

/// The error of a result in a remote store.
pub(crate) fn not_written(name: &Path) -> StoreError {
    let mut error =
        Diagnostic::new(ErrorCode::REMOTE_NAME, "results are not written to remote stores");
    error.help("write it to a file, and copy that");
    StoreError::new(without_query(name), error)
}

/// A remote name for messages, without a password and without a query, which may be a signature.
pub(crate) fn without_query(name: &Path) -> String {
    let text = name.to_string_lossy();
    let text = text.split('?').next().unwrap_or_default();
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => text.to_owned(),
    }
}
