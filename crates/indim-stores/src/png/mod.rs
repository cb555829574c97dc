//! Pictures as PNG, by the library `png`: `read.rs` and `write.rs`.
//!
//! - `shared.rs`: an output that the encoder of PNG writes to, and that can be had back from it.

mod read;
mod shared;
mod write;

pub use read::PngFile;
pub use write::PngSink;

use indim_graph::terminal::shown;
use indim_shape::{Diagnostic, ErrorCode};

use crate::StoreErrorKind;

fn bad(error: &dyn core::error::Error) -> StoreErrorKind {
    Diagnostic::new(ErrorCode::BAD_PNG, shown(&error.to_string())).into()
}
