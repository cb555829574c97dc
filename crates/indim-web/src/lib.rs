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
//! its results. Every request has an answer: an error has `"ok": false` and a
//! report. All that a request can make large is bounded before the work.
//!
//! A page calls them through `boundary.rs`, the only file that exports symbols. It has no unsafe block.
//!
//! - `picture.rs`: drawings as tables: a column for each axis, a row for each operand, and a cell that says
//!   what becomes of the axis;
//! - `report.rs`: an error as an answer: the parts of the report, and the guilty field of the form;
//! - `request.rs`: parsing of requests within limits, and writing of answers;
//! - `state.rs`: the state of the form for a rule: a repair, or the same under another rule, is one, so
//!   that a button can fill it in.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "names that are exported as they stand")]
mod boundary;
mod broadcast;
mod catalogue;
#[cfg(feature = "expressions")]
mod expression;
mod picture;
mod reduction;
mod report;
mod request;
mod state;

pub use broadcast::broadcast;
pub use catalogue::catalogue;
#[cfg(feature = "expressions")]
pub use expression::expression;
pub use reduction::reduction;
pub use request::LONGEST_REQUEST;
