//! PNG images, by the library `png`.
//!
//! - `read.rs`: images as sources;
//! - `write.rs`: results as images;
//! - `output_handle.rs`: a handle to an output stream that the encoder owns a copy of.

mod output_handle;
mod read;
mod write;

pub use read::PngFile;
pub use write::PngSink;

use indim_graph::terminal::shown;
use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;

fn bad(error: &dyn core::error::Error) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_PNG, shown(&error.to_string())).into()
}
