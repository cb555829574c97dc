//! Files in NumPy's format `.npy`.
//!
//! - `header.rs`: the header;
//! - `read.rs`: reads arrays into memory; `stream.rs`: reads arrays from a pipe of unknown length;
//! - `source.rs`: a file as a source;
//! - `remote.rs`: an object of a remote store as a source or a sink;
//! - `sink.rs`: a file or stream as a sink. `npy/` of `indim-io` writes whole files.

pub(crate) mod header;
pub(crate) mod read;
#[cfg(feature = "remote")]
mod remote;
mod sink;
mod source;
mod stream;

use std::path::Path;

#[cfg(feature = "remote")]
use indim_ops::ArrayType;

pub use read::read_npy_type;
pub use sink::NpySink;
pub use source::NpySource;
pub use stream::ArrayStream;

#[cfg(feature = "remote")]
use crate::ResultMetadata;
use crate::format_code::{FileWriter, FormatCode, FormatWriter, MapFile};
use crate::{ArrayFile, FileError, Sink, Source, StoreError, write_npy_to};

/// The format `.npy`.
#[derive(Debug)]
pub(crate) struct Npy;

static WRITER: FileWriter = FileWriter {
    sinks: |file, results| {
        let Some((_, array_type)) = results.first() else { return Ok(Vec::new()) };
        Ok(vec![Box::new(NpySink::in_file(file, array_type)?) as Box<dyn Sink>])
    },
    write: |mut output, results| {
        let mut each = results.iter();
        each.try_for_each(|(_, array_type, bytes)| write_npy_to(&mut output, array_type, bytes))
    },
    can_map: true,
};

impl FormatCode for Npy {
    fn open(&self, path: &Path, _: Option<&str>, _: usize) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(NpySource::open(path)?))
    }

    #[cfg(feature = "remote")]
    fn open_remote(
        &self,
        name: &Path,
        limit: usize,
    ) -> Option<Result<Box<dyn Source>, StoreError>> {
        Some(remote::RemoteNpy::open(name, limit).map(|array| Box::new(array) as Box<dyn Source>))
    }

    #[cfg(feature = "remote")]
    fn create_remote(
        &self,
        name: &Path,
        result: &ArrayType,
        _: &ResultMetadata,
    ) -> Option<Result<Box<dyn Sink>, StoreError>> {
        Some(
            remote::RemoteNpySink::create(name, result).map(|sink| Box::new(sink) as Box<dyn Sink>),
        )
    }

    fn load(
        &self,
        path: &Path,
        _: Option<&str>,
        limit: usize,
        map: MapFile<'_>,
    ) -> Option<Result<ArrayFile, FileError>> {
        let length = path.metadata().ok().filter(|file| file.is_file()).map(|file| file.len());
        Some(match length.and_then(map) {
            Some(file) => ArrayFile::from_mapped(path, file, limit),
            // A file that cannot be mapped may still be read.
            None => ArrayFile::open_within(path, limit),
        })
    }

    fn can_load(&self) -> bool {
        true
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::File(&WRITER)
    }
}
