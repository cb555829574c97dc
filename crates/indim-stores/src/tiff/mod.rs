//! Images and grids as TIFF, with GeoTIFF tags.
//!
//! - `read.rs`: pages as sources, with the library `tiff`;
//! - `patched_file.rs`: the file as the library sees it;
//! - `lists.rs`: checks of tag lists; `page_storage.rs`: stored bytes of strips and tiles;
//! - `write.rs`: results; `geo.rs`: reads the geographic tags.

mod geo;
mod lists;
mod page_storage;
mod patched_file;
mod read;
mod write;

pub use read::TiffFile;
pub use write::TiffSink;

use indim_graph::terminal::shown;
use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;

fn bad(error: &dyn core::error::Error) -> StoreErrorKind {
    bad_text(&error.to_string())
}

fn bad_text(text: &str) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_TIFF, shown(text)).into()
}
