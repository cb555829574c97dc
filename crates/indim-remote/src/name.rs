//! Names of remote objects, such as `s3://bucket/climate.zarr/temperature`.

use indim_shape::{Diagnostic, ErrorCode};

/// The name of a remote object, or of a prefix of objects.
///
/// ```
/// use indim_remote::{RemoteName, Scheme};
///
/// let name = RemoteName::parse("s3://bucket/climate.zarr/t")?;
/// assert_eq!((name.scheme(), name.host(), name.path()), (Scheme::S3, "bucket", "climate.zarr/t"));
/// assert_eq!(RemoteName::parse("s3://bucket").unwrap_err().code, "remote-name");
/// # Ok::<(), indim_shape::Diagnostic>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteName {
    scheme: Scheme,
    host: String,
    path: String,
}

/// The protocol of a remote name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `s3://BUCKET/PATH`: Amazon S3, and servers with its interface.
    S3,
    /// `gs://BUCKET/PATH`: Google Cloud Storage.
    Google,
    /// `az://CONTAINER/PATH`: Azure Blob Storage.
    Azure,
    /// `https://HOST/PATH`: a web server.
    Https,
    /// `http://HOST/PATH`: a web server, without encryption.
    Http,
}

impl Scheme {
    fn of(text: &str) -> Option<Scheme> {
        Some(match text {
            "s3" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" => Scheme::Azure,
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return None,
        })
    }

    /// The text before `://`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Google => "gs",
            Scheme::Azure => "az",
            Scheme::Https => "https",
            Scheme::Http => "http",
        }
    }

    /// Whether the host of the name is a web server, not a bucket.
    pub(crate) fn is_web(self) -> bool {
        matches!(self, Scheme::Https | Scheme::Http)
    }
}

impl RemoteName {
    /// Parses a name.
    ///
    /// # Errors
    /// `remote-name` for an unknown scheme, a missing bucket or path, and for a web address with a query or
    /// a password, which messages would show.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
        let Some(scheme) = Scheme::of(scheme) else {
            return Err(refuse("the scheme is none of s3://, gs://, az://, https:// and http://"));
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.trim_end_matches('/');
        if scheme.is_web() {
            if host.contains('@') {
                return Err(refuse("a name with a user or a password is not read"));
            }
            if path.contains(['?', '#']) || host.contains(['?', '#']) {
                return Err(refuse("a name with a query (`?...`) or a fragment is not read"));
            }
        }
        if host.is_empty() || path.is_empty() {
            let prefix = scheme.prefix();
            let place = if scheme.is_web() { "HOST" } else { "BUCKET" };
            return Err(refuse(&format!("a name has the form {prefix}://{place}/PATH")));
        }
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(refuse("a path has no empty part, and none that is `.` or `..`"));
        }
        Ok(RemoteName { scheme, host: host.to_owned(), path: path.to_owned() })
    }

    /// The protocol.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The bucket, container, or web server with its port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path in the bucket or on the server, without a slash at its start or end.
    pub fn path(&self) -> &str {
        &self.path
    }
}

fn refuse(message: &str) -> Diagnostic {
    Diagnostic::new(ErrorCode::REMOTE_NAME, message)
}
