//! Stores of objects under keys, which are read whole or by ranges: files of a folder, objects of a bucket.

use core::fmt;

use crate::StoreErrorKind;

/// Objects under keys, such as the files of a folder or the objects below a prefix of a bucket. Threads
/// read concurrently.
pub trait ByteStore: fmt::Debug + Send + Sync {
    /// Opens the object of a key; `None` only if the store says that it does not exist.
    ///
    /// # Errors
    /// Those of the store, also for an object larger than [`FirstRead::Whole`] admits.
    fn open(
        &self,
        key: &str,
        first: FirstRead,
    ) -> Result<Option<Box<dyn StoredObject>>, StoreErrorKind>;

    /// Number of reads that should be in flight at once because each one waits for a network. `None` for
    /// local files, whose reads need a processor.
    fn concurrent_requests(&self) -> Option<usize> {
        None
    }
}

/// The bytes that the caller reads first from an object, so that one request opens the object and reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstRead {
    /// Nothing is known: only the length is needed.
    Nothing,
    /// The whole object; a larger one is refused before its bytes are read.
    Whole {
        /// Maximum bytes.
        max_bytes: u64,
    },
    /// Bytes at the start; all of a shorter object.
    Start(u64),
    /// Bytes at the end; all of a shorter object.
    End(u64),
}

/// An open object: one version, whose bytes do not change between reads.
pub trait StoredObject: fmt::Debug + Send + Sync {
    /// Length in bytes.
    fn length(&self) -> u64;

    /// Reads `bytes` bytes from `start` on, which the caller has checked against the length and its memory.
    ///
    /// # Errors
    /// `file-changed` for another version; the errors of the store.
    fn read(&self, start: u64, bytes: usize) -> Result<Vec<u8>, StoreErrorKind>;

    /// The whole object, which [`FirstRead::Whole`] has read already.
    ///
    /// # Errors
    /// Like [`StoredObject::read`].
    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, StoreErrorKind>;

    /// Fills `to` from an offset.
    ///
    /// # Errors
    /// Like [`StoredObject::read`].
    fn read_into(&self, start: u64, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        to.copy_from_slice(&self.read(start, to.len())?);
        Ok(())
    }

    /// Fails if the store has another version now.
    ///
    /// # Errors
    /// `file-changed`; the errors of the store.
    fn check_unchanged(&self) -> Result<(), StoreErrorKind>;
}
