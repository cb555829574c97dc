//! HLO, a form of XLA's programs: readers and writers; and the operations that HLO and StableHLO share.
//!
//! Read in this order:
//!
//! * `opcode.rs`: the table of element-wise operations; `operation.rs`, `bitcast.rs`, `gather.rs`,
//!   `scatter.rs`, `dot.rs`, `fourier.rs`: lowering of operations; `reducer.rs`, `reduction.rs`: reductions;
//!   `sort.rs`: sorts; `windows.rs`: convolutions and reductions of windows; `select_scatter.rs`: gradients
//!   of pools; `scan.rs`: scans as windows; `value.rs`: values, which are arrays or tuples.
//! * `hlo/`: HLO, as text and protobuf. StableHLO is in `indim-stablehlo`.
//! * `legalize.rs`: rewrites graphs for the writers; `compose.rs`, `legal_indices.rs`: decompositions for it.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod bitcast;
mod compose;
pub mod dot;
pub mod fourier;
pub mod gather;
mod hlo;
mod legal_indices;
pub mod legalize;
pub mod opcode;
pub mod operation;
pub mod reducer;
pub mod reduction;
pub mod scan;
pub mod scatter;
pub mod select_scatter;
pub mod sort;
pub mod value;
pub mod windows;

pub use hlo::Hlo;

use indim_model::{FormatError, FormatErrorKind, SourceFile};

/// The file as text; all of it must be text.
///
/// # Errors
/// `damaged`.
pub fn checked_text(source: &SourceFile) -> Result<&str, FormatError> {
    core::str::from_utf8(source.bytes()).map_err(|error| {
        let problem = "from here on it is not UTF-8 text".to_owned();
        let offset = error.valid_up_to();
        FormatErrorKind::Damaged { problem }.in_text(offset..offset)
    })
}
