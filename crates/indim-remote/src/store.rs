//! The objects below a remote name, and reads of them.

use core::fmt;
use core::future::poll_fn;
use std::io;
use std::sync::Arc;

use indim_io::{ByteStore, FirstRead, StoreErrorKind, StoredObject};
use indim_shape::{Diagnostic, ErrorCode};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use crate::failure::{failed, request_failed};
use crate::name::{RemoteName, Scheme};
use crate::runtime::wait;
use crate::settings::Settings;

/// Requests in flight at once. A request to a near region takes about 20 ms, so 32 of them move 6 GB/s of
/// chunks of 4 MiB, more than a usual network.
const CONCURRENT_REQUESTS: usize = 32;

/// The objects below a name, such as the chunks below `s3://bucket/climate.zarr/t`; the key `""` is the
/// object of the name itself.
///
/// ```no_run
/// use indim_io::{ByteStore, FirstRead};
/// use indim_remote::{RemoteStore, Settings};
///
/// let store = RemoteStore::open("https://example.org/x.zarr", &Settings::from_environment())?;
/// let metadata = store.open("zarr.json", FirstRead::Whole { max_bytes: 1 << 20 }).unwrap();
/// # Ok::<(), indim_shape::Diagnostic>(())
/// ```
pub struct RemoteStore(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) client: Arc<dyn ObjectStore>,
    pub(crate) name: RemoteName,
    /// The path of the name.
    prefix: Path,
    settings: Settings,
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RemoteStore({:?})", self.0.name)
    }
}

impl RemoteStore {
    /// The store below a name. No request is sent.
    ///
    /// # Errors
    /// `remote-name` for a name that cannot be read, and for settings that are incomplete or wrong.
    pub fn open(name: &str, settings: &Settings) -> Result<Self, Diagnostic> {
        let name = RemoteName::parse(name)?;
        let prefix = match name.scheme().is_web() {
            true => Path::from_url_path(name.path()),
            false => Path::parse(name.path()),
        };
        let prefix =
            prefix.map_err(|error| Diagnostic::new(ErrorCode::REMOTE_NAME, error.to_string()))?;
        let client = settings.client(&name)?;
        let settings = settings.clone();
        Ok(RemoteStore(Arc::new(Shared { client, name, prefix, settings })))
    }

    /// Opens an object that may be missing, such as the attributes of an array. A refusal (401, 403) counts
    /// as missing: stores answer so for an object that does not exist, unless the caller may list the bucket.
    ///
    /// # Errors
    /// Like [`ByteStore::open`], except for a refusal.
    pub fn open_optional(
        &self,
        key: &str,
        first: FirstRead,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind> {
        match self.open_object(key, first) {
            Err(OpenError::Request(
                Error::PermissionDenied { .. } | Error::Unauthenticated { .. },
            )) => Ok(None),
            opened => self.found(key, opened),
        }
    }

    fn open_object(&self, key: &str, first: FirstRead) -> Result<RemoteObject, OpenError> {
        let shared = &self.0;
        // Azure has no ranges from the end.
        let is_azure = shared.name.scheme() == Scheme::Azure;
        let (head, range, rest) = match first {
            FirstRead::Nothing => (true, None, 0),
            FirstRead::Whole { .. } => (false, None, 0),
            FirstRead::End(bytes) if is_azure => (true, None, bytes),
            FirstRead::Start(bytes) => (bytes == 0, Some(GetRange::Bounded(0..bytes)), 0),
            FirstRead::End(bytes) => (bytes == 0, Some(GetRange::Suffix(bytes)), 0),
        };
        let max_bytes = match first {
            FirstRead::Whole { max_bytes } => max_bytes,
            _ => u64::MAX,
        };
        let range = range.filter(|_| !head);
        let has_range = range.is_some();
        let options = GetOptions { head, range, ..GetOptions::default() };
        let (client, path) = (Arc::clone(&shared.client), shared.path(key));
        let answer = wait(async move {
            let answer = client.get_opts(&path, options).await?;
            let (meta, start) = (answer.meta.clone(), answer.range.start);
            let bytes = match head || meta.size > max_bytes {
                true => Vec::new(),
                false => body(answer).await?,
            };
            Ok((meta, start, bytes))
        });
        let (meta, start, bytes) = match answer.map_err(StoreErrorKind::from)? {
            Ok(answer) => answer,
            // An empty object has no range.
            Err(error) if has_range && is_range_refused(&error) => {
                return self.open_object(key, FirstRead::Nothing);
            }
            Err(error) => return Err(OpenError::Request(error)),
        };
        if meta.size > max_bytes {
            let message = format!("it has {} bytes, of at most {max_bytes}", meta.size);
            let object = if key.is_empty() { shared.name.path() } else { key };
            return Err(StoreErrorKind::from(failed(object, &message)).into());
        }
        let shared = Arc::clone(shared);
        let mut object = RemoteObject { shared, key: key.to_owned(), meta, start, bytes };
        if rest > 0 {
            object.start = object.length().saturating_sub(rest);
            let count = usize::try_from(object.length() - object.start).unwrap_or(usize::MAX);
            object.bytes = object.request(object.start, count)?;
        }
        Ok(object)
    }

    /// The object, or `None` if the server says that it does not exist.
    fn found(
        &self,
        key: &str,
        opened: Result<RemoteObject, OpenError>,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind> {
        match opened {
            Ok(object) => Ok(Some(Box::new(object))),
            Err(OpenError::Request(Error::NotFound { .. })) => Ok(None),
            Err(OpenError::Request(error)) => Err(self.0.error(key, &error)),
            Err(OpenError::Other(kind)) => Err(kind),
        }
    }
}

impl Shared {
    pub(crate) fn path(&self, key: &str) -> Path {
        key.split('/')
            .filter(|part| !part.is_empty())
            .fold(self.prefix.clone(), |path, part| path.join(part))
    }

    pub(crate) fn error(&self, key: &str, error: &Error) -> StoreErrorKind {
        request_failed(&self.name, key, &self.settings, error)
    }
}

/// The error of an object that cannot be opened.
enum OpenError {
    Request(Error),
    Other(StoreErrorKind),
}

impl From<StoreErrorKind> for OpenError {
    fn from(kind: StoreErrorKind) -> Self {
        OpenError::Other(kind)
    }
}

/// Whether the server answered 416: it has no bytes in the range. The library has no name for this status.
fn is_range_refused(error: &Error) -> bool {
    matches!(error, Error::Generic { .. }) && error.to_string().contains("status code: 416")
}

/// The body of an answer. The library checks the range that the server states, not the bytes that follow.
async fn body(answer: GetResult) -> Result<Vec<u8>, Error> {
    let invalid = |message: &str| Error::Generic { store: "indim", source: message.into() };
    let expected = usize::try_from(answer.range.end - answer.range.start).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(expected);
    reserved.map_err(|_| invalid("there is no memory for the answer"))?;
    let mut stream = answer.into_stream();
    while let Some(part) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
        let part = part?;
        if part.len() > expected - bytes.len() {
            return Err(invalid(&format!(
                "the answer has more than the {expected} bytes of its range"
            )));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

impl ByteStore for RemoteStore {
    fn open(
        &self,
        key: &str,
        first: FirstRead,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind> {
        self.found(key, self.open_object(key, first))
    }

    fn concurrent_requests(&self) -> Option<usize> {
        Some(CONCURRENT_REQUESTS)
    }
}

/// One version of an object, with the bytes that were read when it was opened.
struct RemoteObject {
    shared: Arc<Shared>,
    key: String,
    meta: ObjectMeta,
    /// Offset of `bytes`.
    start: u64,
    bytes: Vec<u8>,
}

impl fmt::Debug for RemoteObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RemoteObject({:?}, {} bytes)", self.key, self.meta.size)
    }
}

impl RemoteObject {
    /// Conditions under which the server answers with this version only. A weak tag never matches by
    /// HTTP, so it is compared with that of the answer.
    fn options(&self) -> GetOptions {
        let strong = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        GetOptions { if_match: strong, ..GetOptions::default() }
    }

    fn check_version(&self, now: &ObjectMeta) -> Result<(), StoreErrorKind> {
        let is_same = match (&self.meta.e_tag, &now.e_tag) {
            (Some(tag), Some(tag_now)) => tag == tag_now,
            _ => self.meta.last_modified == now.last_modified,
        };
        match is_same && self.meta.size == now.size {
            true => Ok(()),
            false => Err(StoreErrorKind::FileChanged),
        }
    }

    fn request(&self, start: u64, bytes: usize) -> Result<Vec<u8>, StoreErrorKind> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let range = Some(GetRange::Bounded(start..start.saturating_add(bytes as u64)));
        let options = GetOptions { range, ..self.options() };
        let (client, path) = (Arc::clone(&self.shared.client), self.shared.path(&self.key));
        let answer = wait(async move {
            let answer = client.get_opts(&path, options).await?;
            let meta = answer.meta.clone();
            Ok((meta, body(answer).await?))
        });
        let (meta, read) = answer?.map_err(|error| self.changed_or_failed(&error))?;
        self.check_version(&meta)?;
        match read.len() == bytes {
            true => Ok(read),
            false => Err(StoreErrorKind::FileChanged),
        }
    }

    /// An object that was there and is not there any more has changed.
    fn changed_or_failed(&self, error: &Error) -> StoreErrorKind {
        match error {
            Error::NotFound { .. } => StoreErrorKind::FileChanged,
            _ => self.shared.error(&self.key, error),
        }
    }
}

impl StoredObject for RemoteObject {
    fn length(&self) -> u64 {
        self.meta.size
    }

    fn read(&self, start: u64, bytes: usize) -> Result<Vec<u8>, StoreErrorKind> {
        let held = start.checked_sub(self.start).and_then(|from| {
            let from = usize::try_from(from).ok()?;
            self.bytes.get(from..from.checked_add(bytes)?)
        });
        match held {
            Some(held) => Ok(held.to_vec()),
            None => self.request(start, bytes),
        }
    }

    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, StoreErrorKind> {
        match self.start == 0 && self.bytes.len() as u64 == self.meta.size {
            true => Ok(self.bytes),
            false => {
                let length = usize::try_from(self.meta.size);
                self.read(0, length.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?)
            }
        }
    }

    fn check_unchanged(&self) -> Result<(), StoreErrorKind> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let (client, path) = (Arc::clone(&self.shared.client), self.shared.path(&self.key));
        let meta = wait(async move { Ok(client.get_opts(&path, options).await?.meta) });
        self.check_version(&meta?.map_err(|error| self.changed_or_failed(&error))?)
    }
}
