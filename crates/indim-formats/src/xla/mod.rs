//! What StableHLO and HLO share, which are two spellings of XLA's operations: the table of those
//! (`opcode.rs`), what they become (`operation.rs`), reductions (`reducer.rs`, `reduction.rs`), and values
//! that may be tuples (`slot.rs`); and on the way back what both lack and is composed (`legalize.rs`, by
//! `compose.rs`), and how elements are written (`element.rs`).

pub(crate) mod compose;
pub(crate) mod element;
pub(crate) mod legalize;
pub(crate) mod opcode;
pub(crate) mod operation;
pub(crate) mod reducer;
pub(crate) mod reduction;
pub(crate) mod slot;

use crate::error::{FormatError, FormatErrorKind};
use crate::source::Source;

/// The whole file, which has to be a text.
///
/// # Errors
/// `damaged`.
pub(crate) fn checked_text(source: &Source) -> Result<&str, FormatError> {
    core::str::from_utf8(source.bytes()).map_err(|error| {
        let problem = "it is no text from here on, in UTF-8".to_owned();
        let place = error.valid_up_to();
        FormatErrorKind::Damaged { problem }.in_text(place..place)
    })
}
