//! Results in remote stores: whole objects, and objects that are uploaded part by part.

use core::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use indim_io::StoreErrorKind;
use indim_shape::{Diagnostic, ErrorCode};
use object_store::{Error, ObjectStoreExt, WriteMultipart};

use crate::runtime::wait;
use crate::store::{RemoteStore, Shared};

/// Minimum bytes of a part. S3 refuses parts below 5 MiB, except for the last one.
const MIN_PART_BYTES: u64 = 8 << 20;
/// Maximum number of parts: S3 has at most 10,000.
const MAX_PARTS: u64 = 9_999;
/// Maximum number of parts that are uploaded at once.
const CONCURRENT_PARTS: usize = 4;

impl RemoteStore {
    /// Fails if results cannot be written to the store.
    ///
    /// # Errors
    /// `remote-name` for a web server.
    pub fn check_writable(&self) -> Result<(), StoreErrorKind> {
        if !self.0.name.scheme().is_web() {
            return Ok(());
        }
        let message = "results are written to s3://, gs:// and az://, and not to web servers";
        Err(Diagnostic::new(ErrorCode::REMOTE_NAME, message).into())
    }

    /// Stores an object, or replaces it.
    ///
    /// # Errors
    /// `request-failed`.
    pub fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), StoreErrorKind> {
        let (client, path) = (Arc::clone(&self.0.client), self.0.path(key));
        let answer = wait(async move { client.put(&path, bytes.into()).await });
        answer?.map(drop).map_err(|error| self.0.error(key, &error))
    }

    /// Begins an object of `total_bytes` bytes with the name of the store. It appears when the upload is
    /// finished; an earlier object stays until then.
    ///
    /// # Errors
    /// `request-failed`.
    pub fn upload(&self, total_bytes: u64) -> Result<Upload, StoreErrorKind> {
        let part_bytes = MIN_PART_BYTES.max(total_bytes.div_ceil(MAX_PARTS));
        let part_bytes = usize::try_from(part_bytes).unwrap_or(usize::MAX);
        let (client, path) = (Arc::clone(&self.0.client), self.0.path(""));
        let begun = wait(async move { client.put_multipart(&path).await })?;
        let upload = begun.map_err(|error| self.0.error("", &error))?;
        let parts = Some(WriteMultipart::new_with_chunk_size(upload, part_bytes));
        Ok(Upload {
            shared: Arc::clone(&self.0),
            parts,
            part_bytes,
            buffer: Vec::new(),
            failure: None,
        })
    }
}

/// An object that is uploaded part by part. Dropping it before [`Upload::finish`] removes its parts.
pub struct Upload {
    shared: Arc<Shared>,
    /// `None` after an error, or the end.
    parts: Option<WriteMultipart>,
    part_bytes: usize,
    buffer: Vec<u8>,
    /// The error of the last [`Write::write`], which has no other way out.
    failure: Option<StoreErrorKind>,
}

impl fmt::Debug for Upload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Upload({:?})", self.shared.name)
    }
}

impl Upload {
    /// Bytes of memory of an upload of `total_bytes` bytes: the parts in flight, and the next one twice.
    pub fn memory_bytes(total_bytes: u64) -> usize {
        let part = MIN_PART_BYTES.max(total_bytes.div_ceil(MAX_PARTS)).min(total_bytes);
        usize::try_from(part).unwrap_or(usize::MAX).saturating_mul(CONCURRENT_PARTS + 2)
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// `request-failed`; the upload is then given up.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreErrorKind> {
        while !bytes.is_empty() {
            let count = bytes.len().min(self.part_bytes - self.buffer.len());
            self.buffer.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if self.buffer.len() == self.part_bytes {
                self.send(CONCURRENT_PARTS)?;
            }
        }
        Ok(())
    }

    /// The error of a failed [`Write::write`].
    pub fn take_failure(&mut self) -> Option<StoreErrorKind> {
        self.failure.take()
    }

    /// Waits until all parts but the last are stored.
    ///
    /// # Errors
    /// Like [`Upload::write`].
    pub fn complete(&mut self) -> Result<(), StoreErrorKind> {
        self.send(1)
    }

    /// Makes the object appear.
    ///
    /// # Errors
    /// Like [`Upload::write`].
    pub fn finish(mut self) -> Result<(), StoreErrorKind> {
        self.send(CONCURRENT_PARTS)?;
        let Some(parts) = self.parts.take() else { return Err(given_up()) };
        // A failed `finish` removes the parts.
        let answer = wait(async move { parts.finish().await.map(drop) })?;
        answer.map_err(|error| self.shared.error("", &error))
    }

    /// Hands the buffer over, when fewer than `limit` parts are in flight.
    fn send(&mut self, limit: usize) -> Result<(), StoreErrorKind> {
        let Some(mut parts) = self.parts.take() else { return Err(given_up()) };
        let buffer = core::mem::take(&mut self.buffer);
        let sent = wait(async move {
            match parts.wait_for_capacity(limit).await {
                Ok(()) => {
                    parts.write(&buffer);
                    Ok((parts, buffer))
                }
                Err(error) => {
                    // The first error is the one to report.
                    let _ = parts.abort().await;
                    Err(error)
                }
            }
        });
        let (parts, mut buffer) = sent?.map_err(|error: Error| self.shared.error("", &error))?;
        buffer.clear();
        (self.parts, self.buffer) = (Some(parts), buffer);
        Ok(())
    }
}

fn given_up() -> StoreErrorKind {
    io::Error::other("the upload was given up after an error").into()
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // Nobody can handle the error; the documents say what then is left.
            let _ = wait(async move { parts.abort().await });
        }
    }
}

/// For writers of regions. [`Upload::take_failure`] has the error of a request.
impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(kind) = Upload::write(self, bytes) {
            self.failure = Some(kind);
            return Err(io::Error::other("a request failed"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
