//! A `.npy` object of a remote store as a source: the runs of a region are read by requests for ranges.

use std::path::Path;

use indim_arrays::Array;
use indim_io::runs::FileRuns;
use indim_io::{ByteStore, FileErrorKind, FirstRead, StoredObject};
use indim_ops::ArrayType;
use indim_remote::{RemoteStore, Settings};
use indim_shape::{Diagnostic, ErrorCode};

use super::header::{self, ArrayHeader, MAX_PREFIX_BYTES};
use crate::remote_name::without_query;
use crate::{ArrayRegion, FileError, Source, StoreError, StoreErrorKind};
use indim_io::concurrent::for_each_concurrently;

/// Maximum bytes of one request. A longer run is read by several requests at once.
const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Runs with a gap of at most this many bytes are read by one request: a request takes about as long as
/// the transfer of so many bytes.
const MAX_GAP_BYTES: usize = 64 << 10;
/// Maximum requests at once: each holds up to [`MAX_REQUEST_BYTES`].
const MAX_REQUESTS: usize = 16;

/// An array in a `.npy` object.
#[derive(Debug)]
pub(super) struct RemoteNpy {
    name: String,
    object: Box<dyn StoredObject>,
    header: ArrayHeader,
    requests: usize,
}

/// A byte range of the object for one request, and the number of bytes in it that the region needs.
#[derive(Debug)]
struct Request<'a> {
    /// Offset in the object.
    start: u64,
    bytes: usize,
    /// The parts that the region needs: offset in the range, and where they belong.
    parts: Vec<(usize, &'a mut [u8])>,
}

impl RemoteNpy {
    /// Opens an object and reads its header by one request.
    pub(super) fn open(name: &Path, limit: usize) -> Result<Self, StoreError> {
        let shown = without_query(name);
        let open = || {
            let store = RemoteStore::open(&name.to_string_lossy(), &Settings::from_environment())?;
            let first = FirstRead::Start(MAX_PREFIX_BYTES as u64);
            let Some(object) = store.open("", first)? else {
                let message = "the server says that there is no such object";
                return Err(Diagnostic::new(ErrorCode::IO, message).into());
            };
            let length = usize::try_from(object.length()).unwrap_or(usize::MAX);
            let start = object.read(0, length.min(MAX_PREFIX_BYTES))?;
            let header = header::parse(&start, length).map_err(header_error)?;
            let requests = (limit / 16 / MAX_REQUEST_BYTES).clamp(1, MAX_REQUESTS);
            Ok(RemoteNpy { name: shown.clone(), object, header, requests })
        };
        open().map_err(|kind: StoreErrorKind| StoreError::new(shown.clone(), kind))
    }

    fn read_runs(&self, region: &ArrayRegion, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        let requests = Requests { npy: self, runs: self.runs(region), rest: to, next: None };
        for_each_concurrently(requests, self.requests, |request| {
            let read = self.object.read(request.start, request.bytes)?;
            for (offset, part) in request.parts {
                part.copy_from_slice(&read[offset..offset + part.len()]);
                self.header.to_native(part);
            }
            Ok(())
        })
    }

    /// Byte offsets in the object and lengths of the runs of a region; long runs are cut.
    fn runs(&self, region: &ArrayRegion) -> impl Iterator<Item = (u64, usize)> + use<> {
        let ArrayType { dtype, shape } = &self.header.array_type;
        let (size, elements) = (dtype.size(), self.header.elements.start as u64);
        // A cut between elements, so that each part can be converted alone.
        let max_bytes = MAX_REQUEST_BYTES / size * size;
        FileRuns::new(shape, region, self.header.is_column_major).flat_map(move |run| {
            let (start, bytes) = (elements + (run.start * size) as u64, run.elements * size);
            (0..bytes)
                .step_by(max_bytes)
                .map(move |offset| (start + offset as u64, max_bytes.min(bytes - offset)))
        })
    }
}

/// The requests for the runs of a region: near runs are joined.
struct Requests<'a, 'n, R> {
    npy: &'n RemoteNpy,
    runs: R,
    /// The bytes of the runs from `next` on.
    rest: &'a mut [u8],
    next: Option<(u64, usize)>,
}

impl<'a, R: Iterator<Item = (u64, usize)>> Iterator for Requests<'a, '_, R> {
    type Item = Request<'a>;

    fn next(&mut self) -> Option<Request<'a>> {
        let (start, mut bytes) = self.next.take().or_else(|| self.runs.next())?;
        debug_assert!(start < self.npy.object.length(), "the header has been checked");
        let mut parts = Vec::new();
        let mut take = |offset: usize, count: usize| {
            let (part, rest) = core::mem::take(&mut self.rest).split_at_mut(count);
            self.rest = rest;
            parts.push((offset, part));
        };
        take(0, bytes);
        for run in self.runs.by_ref() {
            let (run_start, count) = run;
            // Runs ascend, so an offset in the range fits if the range does.
            let offset = (run_start - start) as usize;
            if offset > bytes + MAX_GAP_BYTES || offset + count > MAX_REQUEST_BYTES {
                self.next = Some(run);
                break;
            }
            take(offset, count);
            bytes = offset + count;
        }
        Some(Request { start, bytes, parts })
    }
}

fn header_error(kind: FileErrorKind) -> StoreErrorKind {
    StoreError::from(FileError::new(Path::new(""), kind)).kind
}

impl Source for RemoteNpy {
    fn array_type(&self) -> &ArrayType {
        &self.header.array_type
    }

    fn is_column_major(&self) -> bool {
        self.header.is_column_major
    }

    fn scratch_bytes(&self) -> usize {
        self.requests * MAX_REQUEST_BYTES
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let read = self.header.buffer(region, |bytes| self.read_runs(region, bytes));
        read.map_err(|kind| StoreError::new(self.name.clone(), kind))
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        let check = self.object.check_unchanged();
        check.map_err(|kind| StoreError::new(self.name.clone(), kind))
    }
}
