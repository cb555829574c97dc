//! indim for the browser: functions from a request to an answer, both JSON.
//!
//! ```
//! let answer = indim_web::broadcast(
//!     r#"{"rule": "numpy", "operands": [{"name": "x", "shape": "2, 3"}, {"name": "v", "shape": "3"}]}"#,
//! );
//! assert!(answer.starts_with(r#"{"ok":true,"rule":"numpy","shape":[2,3],"maps":[[0,1],[1]]"#));
//! ```
//!
//! [`catalogue`] lists the rules and their attributes, [`broadcast`] draws operands under a rule,
//! [`reduction`] an operand under a rule for reductions, and [`expression`] an expression with its loops and
//! its results. [`ModelReader`] reads a model from ranges of its file. Every request has an answer; that of
//! an error has `"ok": false` and a report. Limits bound the work of a request before it begins.
//!
//! A page calls these functions through `boundary.rs`, the only file that exports symbols. It has no unsafe
//! block.
//!
//! - `models/`: models in files;
//! - `picture.rs`: drawings as tables, with a column for each axis and a row for each operand;
//! - `report.rs`: the answer for an error: the parts of the report, and the wrong field of the form;
//! - `request.rs`: parsing of requests within limits, and writing of answers;
//! - `state.rs`: contents of the form: those of a repair, or of the same broadcast under another rule, with
//!   which a button fills it.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "exports have unmangled names")]
mod boundary;
mod broadcast;
mod catalogue;
#[cfg(feature = "expressions")]
mod expression;
#[cfg(feature = "models")]
mod models;
mod picture;
mod reduction;
mod report;
mod request;
mod state;

pub use broadcast::broadcast;
pub use catalogue::catalogue;
#[cfg(feature = "expressions")]
pub use expression::expression;
#[cfg(feature = "models")]
pub use models::{MAX_RANGE_BYTES, ModelReader};
pub use reduction::reduction;
pub use request::MAX_REQUEST_BYTES;
