//! A `.npy` object of a remote store: a source, whose runs are read by requests for ranges, and a sink, which
//! uploads an object in parts.

use std::path::Path;

use indim_arrays::Array;
use indim_io::npy::npy_header;
use indim_io::range_requests::{MAX_REQUEST_BYTES, MAX_REQUEST_MEMORY, read_runs};
use indim_io::runs::{FileRuns, write_next};
use indim_io::{
    ByteStore, CompleteResult, FileErrorKind, FirstRead, Sink, StoredObject, check_complete,
    with_elements,
};
use indim_ops::ArrayType;
use indim_remote::{RemoteStore, Settings, Upload};
use indim_shape::{Diagnostic, ErrorCode};

use super::header::{self, ArrayHeader, MAX_PREFIX_BYTES};
use crate::{ArrayRegion, FileError, Source, StoreError, StoreErrorKind};
use indim_io::remote_name::without_query;

/// Maximum requests at once: each holds up to [`MAX_REQUEST_MEMORY`].
const MAX_REQUESTS: usize = 16;

/// An array in a `.npy` object.
#[derive(Debug)]
pub(super) struct RemoteNpy {
    name: String,
    object: Box<dyn StoredObject>,
    header: ArrayHeader,
    requests: usize,
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
            let requests = (limit / 16 / MAX_REQUEST_MEMORY).clamp(1, MAX_REQUESTS);
            Ok(RemoteNpy { name: shown.clone(), object, header, requests })
        };
        open().map_err(|kind: StoreErrorKind| StoreError::new(shown.clone(), kind))
    }

    fn read_runs(&self, region: &ArrayRegion, to: &mut [u8]) -> Result<(), StoreErrorKind> {
        let read = |start, bytes| self.object.read(start, bytes);
        let convert = |part: &mut [u8]| self.header.to_native(part);
        read_runs(self.runs(region), to, self.requests, read, convert)
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
        self.requests * MAX_REQUEST_MEMORY
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

/// A `.npy` object that is uploaded in parts, in row-major order.
#[derive(Debug)]
pub(super) struct RemoteNpySink {
    name: String,
    array_type: ArrayType,
    elements_written: usize,
    upload: Upload,
}

impl RemoteNpySink {
    pub(super) fn create(name: &Path, array_type: &ArrayType) -> Result<Self, StoreError> {
        let shown = without_query(name);
        let create = || {
            let store = RemoteStore::open(&name.to_string_lossy(), &Settings::from_environment())?;
            store.check_writable()?;
            let header = npy_header(array_type);
            let total = array_bytes(array_type).saturating_add(header.len() as u64);
            let mut upload = store.upload(total)?;
            upload.write(&header)?;
            let (name, array_type) = (shown.clone(), array_type.clone());
            Ok(RemoteNpySink { name, array_type, elements_written: 0, upload })
        };
        create().map_err(|kind: StoreErrorKind| StoreError::new(shown.clone(), kind))
    }
}

fn array_bytes(array_type: &ArrayType) -> u64 {
    let bytes = array_type.shape.byte_count(array_type.dtype.size());
    bytes.map_or(u64::MAX, |bytes| bytes as u64)
}

impl Sink for RemoteNpySink {
    fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn scratch_bytes(&self) -> usize {
        Upload::memory_bytes(array_bytes(&self.array_type))
    }

    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError> {
        let Self { name, array_type, elements_written, upload } = self;
        let written = with_elements(region, values, array_type, |bytes| {
            let next = write_next(upload, *elements_written, array_type, region, bytes);
            *elements_written =
                next.map_err(|error| upload.take_failure().unwrap_or(StoreErrorKind::Io(error)))?;
            Ok(())
        });
        written.map_err(|kind| StoreError::new(name.clone(), kind))
    }

    fn complete(mut self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError> {
        let completed = check_complete(&self.array_type, self.elements_written)
            .and_then(|()| self.upload.complete());
        completed.map_err(|kind| StoreError::new(self.name.clone(), kind))?;
        Ok(self)
    }
}

impl CompleteResult for RemoteNpySink {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let Self { name, upload, .. } = *self;
        upload.finish().map_err(|kind| StoreError::new(name, kind))
    }
}
