//! External files: a reader asks for ranges of them, the page gives these, and the reader runs again.

use core::ops::Range;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use indim::formats::Folder;

/// Maximum bytes of one range. Constants that determine shapes have at most 1024 elements.
const MAX_BYTES: usize = 1 << 14;

/// Maximum number of ranges: 16 MiB together.
const MAX_RANGES: usize = 1024;

/// The folder of a model, as far as the user gave its files.
#[derive(Default)]
pub(super) struct ExternalFiles {
    /// Bytes of each file.
    sizes: HashMap<String, u64>,
    ranges: Mutex<Ranges>,
}

#[derive(Default)]
struct Ranges {
    /// The bytes of each range, once the page gave them.
    known: HashMap<(String, Range<u64>), Option<Bytes>>,
    /// Ranges that the page has not been asked for.
    missing: VecDeque<(String, Range<u64>)>,
}

impl ExternalFiles {
    pub(super) fn new(sizes: impl Iterator<Item = (String, u64)>) -> Self {
        ExternalFiles { sizes: sizes.collect(), ranges: Mutex::default() }
    }

    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next range that a reader asked for and the page has not been.
    pub(super) fn next_missing(&self) -> Option<(String, Range<u64>)> {
        self.ranges().missing.pop_front()
    }

    /// The bytes of a missing range.
    pub(super) fn supply(&self, name: &str, range: Range<u64>, bytes: Bytes) {
        self.ranges().known.insert((name.to_owned(), range), Some(bytes));
    }
}

impl Folder for ExternalFiles {
    fn read(&self, _: &str) -> io::Result<Bytes> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_range(&self, name: &str, range: Range<usize>) -> io::Result<Bytes> {
        let Some(&size) = self.sizes.get(name) else { return Err(io::ErrorKind::NotFound.into()) };
        let range = range.start as u64..range.end as u64;
        if range.start >= range.end || range.end > size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut ranges = self.ranges();
        let key = (name.to_owned(), range);
        if let Some(known) = ranges.known.get(&key) {
            return known.clone().ok_or_else(|| io::ErrorKind::WouldBlock.into());
        }
        let is_small = key.1.end - key.1.start <= MAX_BYTES as u64;
        if is_small && ranges.known.len() < MAX_RANGES {
            ranges.known.insert(key.clone(), None);
            ranges.missing.push_back(key);
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}
