//! StableHLO and HLO, the two forms of XLA's programs: readers and writers.
//!
//! Read in this order:
//!
//! * `opcode.rs`: the table of element-wise operations; `operation.rs`, `gather.rs`: lowering of
//!   operations; `reducer.rs`, `reduction.rs`: reductions; `value.rs`: values, which are arrays or tuples.
//! * `stablehlo/` and `hlo/`: the two forms.
//! * `legalize.rs`: rewrites graphs for the writers; `compose.rs`: decompositions for it; `element.rs`:
//!   elements as text.
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
mod stablehlo;
mod value;

pub use hlo::Hlo;
pub use stablehlo::StableHloText;

use indim_model::{FormatError, FormatErrorKind, SourceFile};

/// The file as text; all of it must be text.
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
