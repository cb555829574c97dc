//! Loops and branches: nodes whose bodies are graphs of their own.
//!
//! - `build.rs`: the builder's loops and branches;
//! - `capture.rs`: values of an outer builder in the body of a loop or branch;
//! - `scan.rs`: loops that stack a result of every step.

pub(crate) mod build;
pub(crate) mod capture;
mod scan;
