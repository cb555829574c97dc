//! Pictures and grids as TIFF, with the tags of GeoTIFF: `read.rs`, by the library `tiff` over `padded.rs`;
//! `lists.rs`: lists of tags, checked; `stored.rs`: the bytes that strips and tiles are stored in;
//! `write.rs`; `geo.rs`: the tags that say where on the earth a grid lies.

mod geo;
mod lists;
mod padded;
mod read;
mod stored;
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
