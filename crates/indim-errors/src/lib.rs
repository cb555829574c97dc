//! Error codes and diagnostics of all crates.
//!
//! - `registry/`: the registry of error codes, each with its page;
//! - `diagnostic.rs`: diagnostics, and their renderer;
//! - `printable.rs`: classification of printable characters.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod diagnostic;
mod printable;
mod registry;

pub use diagnostic::{Diagnostic, DiagnosticPart, Mark, MarkedLine, WriteDiagnosticPart};
pub use printable::is_printable;
pub use registry::{ErrorCode, ErrorEntry, ErrorExample, ErrorSection, UnknownErrorCode};
