//! Names of remote objects, such as `s3://bucket/x.zarr`, among paths.

use std::path::Path;

/// Whether a path is a remote name: it begins with a scheme, as in `s3://` or `https://`.
///
/// ```
/// use std::path::Path;
///
/// assert!(indim_io::remote_name::is_remote(Path::new("s3://bucket/x.zarr")));
/// assert!(!indim_io::remote_name::is_remote(Path::new("C:/x.zarr")));
/// ```
pub fn is_remote(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A path for messages; a remote name is without a password and without a query, which may be a signature.
pub fn without_query(name: &Path) -> String {
    let text = name.to_string_lossy();
    if !is_remote(name) {
        return text.into_owned();
    }
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
