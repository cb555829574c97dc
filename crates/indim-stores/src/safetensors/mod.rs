//! Tensors in `.safetensors` files.
//!
//! - `header.rs`: the header, parsed entry by entry;
//! - `tensors.rs`: finds, reads and writes tensors;
//! - `source.rs`: a tensor as a source; `sink.rs`: tensors as sinks.

mod header;
mod sink;
mod source;
pub(crate) mod tensors;

use std::path::Path;

pub use sink::safetensors_sinks;
pub use source::SafetensorsSource;
pub use tensors::{read_tensor, read_tensor_type, write_safetensors_to};

use crate::format_code::{self, FileWriter, FormatCode, FormatWriter, MapFile};
use crate::{ArrayFile, FileError, FileErrorKind, Source, StoreError};

/// The format `.safetensors`.
#[derive(Debug)]
pub(crate) struct Safetensors;

static WRITER: FileWriter = FileWriter {
    sinks: safetensors_sinks,
    write: |output, results| write_safetensors_to(output, results),
    can_map: false,
};

fn member_not_named(path: &Path) -> FileError {
    let names = tensors::tensor_names(path);
    FileError::new(path, format_code::member_not_named("safetensors", names))
}

impl FormatCode for Safetensors {
    fn open(
        &self,
        path: &Path,
        tensor: Option<&str>,
        _: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        let tensor = tensor.ok_or_else(|| member_not_named(path))?;
        Ok(Box::new(SafetensorsSource::open(path, tensor)?))
    }

    fn load(
        &self,
        path: &Path,
        tensor: Option<&str>,
        limit: usize,
        map: MapFile<'_>,
    ) -> Option<Result<ArrayFile, FileError>> {
        let load = || {
            let tensor = tensor.ok_or_else(|| member_not_named(path))?;
            let array_type = read_tensor_type(path, tensor)?;
            let bytes = array_type.shape.byte_count(array_type.dtype.size());
            match bytes.ok().and_then(|bytes| map(bytes as u64)) {
                Some(file) => ArrayFile::from_mapped_tensor(path, file, tensor, limit),
                None => read_tensor(path, tensor, limit),
            }
        };
        Some(load())
    }

    fn members(&self, path: &Path) -> Option<Result<Vec<String>, FileErrorKind>> {
        Some(tensors::tensor_names(path))
    }

    fn can_load(&self) -> bool {
        true
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::File(&WRITER)
    }
}
