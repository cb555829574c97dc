//! The files of XLA, `stablehlo/` and `hlo/`: two spellings of the same operations.
//!
//! They share the table of those (`opcode.rs`), what they become (`operation.rs`, `gather.rs`), reductions
//! (`reducer.rs`, `reduction.rs`), and values that may be tuples (`slot.rs`); and on the way back what both
//! lack and is composed (`legalize.rs`, by `compose.rs`), and how elements are written (`element.rs`).
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod compose;
mod element;
mod gather;
mod hlo;
mod legalize;
mod opcode;
mod operation;
mod reducer;
mod reduction;
mod slot;
mod stablehlo;

pub use hlo::Hlo;
pub use stablehlo::StableHloText;

use indim_model::{FormatError, FormatErrorKind, SourceFile};

/// The whole file, which has to be a text.
///
/// # Errors
/// `damaged`.
pub(crate) fn checked_text(source: &SourceFile) -> Result<&str, FormatError> {
    core::str::from_utf8(source.bytes()).map_err(|error| {
        let problem = "it is no text from here on, in UTF-8".to_owned();
        let place = error.valid_up_to();
        FormatErrorKind::Damaged { problem }.in_text(place..place)
    })
}
