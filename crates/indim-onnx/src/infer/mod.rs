//! Types of every node of a model, also of those that indim does not compute.
//!
//! - `walker.rs`: goes through graphs, functions and regions, each with its own names; `scope.rs`: the names;
//!   `repeated.rs`: axes along which constants repeat, evenly spaced constants;
//! - `node.rs`: the types of one node: from its shape rule (`indim-onnx-rules`), its lowering, the file, the
//!   caller; `lowered.rs`: from its lowering; `control.rs`: from the bodies of `If`, `Loop` and `Scan`.

mod control;
mod lowered;
mod node;
mod repeated;
mod scope;
mod walker;

pub(super) use walker::outline;
