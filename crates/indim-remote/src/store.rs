//! The objects below a remote name, and reads of them.

use core::fmt;
use std::io;
use std::sync::Arc;

use indim_io::{ByteStore, FirstRead, StoreErrorKind, StoredObject};
use indim_shape::{Diagnostic, ErrorCode};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectMeta, ObjectStore};

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
    /// Whether requests carry no credentials.
    is_anonymous: bool,
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
        let is_anonymous = settings.is_anonymous(name.scheme());
        Ok(RemoteStore(Arc::new(Shared { client, name, prefix, is_anonymous })))
    }
}

impl Shared {
    pub(crate) fn path(&self, key: &str) -> Path {
        key.split('/')
            .filter(|part| !part.is_empty())
            .fold(self.prefix.clone(), |path, part| path.join(part))
    }

    pub(crate) fn error(&self, key: &str, error: &Error) -> StoreErrorKind {
        request_failed(&self.name, key, self.is_anonymous, error)
    }
}

impl ByteStore for RemoteStore {
    fn open(
        &self,
        key: &str,
        first: FirstRead,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind> {
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
        let options = GetOptions { head, range: range.filter(|_| !head), ..GetOptions::default() };
        let (client, path) = (Arc::clone(&shared.client), shared.path(key));
        let answer = wait(async move {
            let answer = client.get_opts(&path, options).await?;
            let (meta, range) = (answer.meta.clone(), answer.range.clone());
            if head || meta.size > max_bytes && range.end - range.start > max_bytes {
                return Ok((meta, 0, Vec::new()));
            }
            let bytes = answer.bytes().await?;
            Ok((meta, range.start, Vec::from(bytes)))
        });
        let (meta, start, bytes) = match answer? {
            Ok(answer) => answer,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(shared.error(key, &error)),
        };
        if meta.size > max_bytes {
            let message = format!("it has {} bytes, of at most {max_bytes}", meta.size);
            return Err(
                failed(if key.is_empty() { shared.name.path() } else { key }, &message).into()
            );
        }
        let shared = Arc::clone(shared);
        let mut object = RemoteObject { shared, key: key.to_owned(), meta, start, bytes };
        if rest > 0 {
            object.start = object.length().saturating_sub(rest);
            let count = usize::try_from(object.length() - object.start).unwrap_or(usize::MAX);
            object.bytes = object.request(object.start, count)?;
        }
        Ok(Some(Box::new(object)))
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
            Ok((meta, answer.bytes().await?))
        });
        let (meta, read) = answer?.map_err(|error| self.changed_or_failed(&error))?;
        self.check_version(&meta)?;
        match read.len() == bytes {
            true => Ok(Vec::from(read)),
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
