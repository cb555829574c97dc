//! PNG images, by the library `png`.
//!
//! - `read.rs`: images as sources;
//! - `write.rs`: results as images;
//! - `output_handle.rs`: a shared handle to the output file, for the encoder and the sink.

mod output_handle;
mod read;
mod write;

pub use read::PngFile;
pub use write::PngSink;

use std::path::Path;

use indim_graph::terminal::printable;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::format_code::{FormatCode, FormatWriter};
use crate::{OutputFile, ResultMetadata, Source, StoreError, StoreErrorKind, image};
use indim_io::result_metadata::chunk_bytes;

/// The format PNG.
#[derive(Debug)]
pub(crate) struct Png;

impl FormatCode for Png {
    fn open(
        &self,
        path: &Path,
        _: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(PngFile::open(path, limit)?))
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::Path(|path, array_type, _| {
            let file = OutputFile::create(path)?;
            Ok(Box::new(PngSink::create(file, array_type)?))
        })
    }

    fn chunks(&self, result: &ArrayType, _: &ResultMetadata) -> Option<Vec<usize>> {
        image::strip_shape(result)
    }

    fn scratch_bytes(&self, result: &ArrayType, _: &ResultMetadata) -> usize {
        let strip = image::strip_shape(result);
        strip.map_or(0, |strip| chunk_bytes(result.dtype, &strip).saturating_mul(2))
    }

    fn are_sequential(&self, results: &[&ArrayType]) -> Vec<bool> {
        vec![true; results.len()]
    }
}

fn png_error(error: &dyn core::error::Error) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_PNG, printable(&error.to_string())).into()
}
