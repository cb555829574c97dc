//! Images and grids as TIFF, with GeoTIFF tags.
//!
//! - `read.rs`: pages as sources, with the library `tiff`;
//! - `patched_file.rs`: a file with some bytes replaced, for tiles that cross the edge of a page;
//! - `lists.rs`: checks of tag lists; `page_storage.rs`: upper bounds of the memory for strips and tiles;
//!   `zstd_page.rs`: strips and tiles compressed by zstd;
//! - `write.rs`: writes results, with geographic tags; `geo.rs`: reads these tags.

mod geo;
mod lists;
mod page_storage;
mod patched_file;
mod read;
mod write;
mod zstd_page;

pub use read::TiffFile;
pub use write::TiffSink;

use std::path::Path;

use indim_graph::terminal::printable;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::format_code::{FormatCode, FormatWriter};
use crate::{OutputFile, ResultMetadata, Source, StoreError, StoreErrorKind, image};

/// The format TIFF.
#[derive(Debug)]
pub(crate) struct Tiff;

impl FormatCode for Tiff {
    fn open(
        &self,
        path: &Path,
        page: Option<&str>,
        limit: usize,
    ) -> Result<Box<dyn Source>, StoreError> {
        let number = |page: &str| page.parse().map_err(|_| bad_page_number(path, page));
        Ok(Box::new(TiffFile::open(path, page.map(number).transpose()?, limit)?))
    }

    fn writer(&self) -> FormatWriter {
        FormatWriter::Path(|path, array_type, metadata| {
            let file = OutputFile::create(path)?;
            let geography = metadata.geography.as_ref();
            Ok(Box::new(TiffSink::create(file, array_type, geography)?))
        })
    }

    fn chunks(&self, result: &ArrayType, _: &ResultMetadata) -> Option<Vec<usize>> {
        image::strip_shape(result)
    }

    fn are_sequential(&self, results: &[&ArrayType]) -> Vec<bool> {
        vec![true; results.len()]
    }

    fn has_geography(&self) -> bool {
        true
    }
}

fn bad_page_number(path: &Path, page: &str) -> StoreError {
    let page = printable(page);
    let message =
        format!("`{page}` is not a page number; pages are counted from 0, as in `file.tif:0`");
    StoreError::new(path.to_string_lossy(), Diagnostic::new(ErrorCode::NO_PAGE, message))
}

fn tiff_error(error: &dyn core::error::Error) -> StoreErrorKind {
    bad_tiff(&error.to_string())
}

fn bad_tiff(text: &str) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_TIFF, printable(text)).into()
}
