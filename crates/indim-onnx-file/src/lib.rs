//! Files of ONNX: their messages, tensors, attributes and flattened nodes, and the writer. `indim-onnx` reads
//! models.
//!
//! - `messages.rs`: the protobuf messages; `tensor.rs`: arrays; `sparse.rs`: sparse initializers; `types.rs`:
//!   element types and declared inputs;
//! - `body.rs`: nodes of a graph or a function; `attribute_table.rs`: the table of their attributes;
//!   `attributes.rs`: typed access to attributes;
//! - `operator.rs`: the facts about an operator that flattening needs; `flatten/`: one list of a model's
//!   nodes; `inlined.rs`: the number of operations with calls inlined; `unsupported.rs`: nodes that indim
//!   does not compute;
//! - `carry/`: nodes that a written model has from its source;
//! - `skip_weights.rs`: a copy of a file without its large constants;
//! - `write/`: the writer.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

pub mod attribute_table;
mod attributes;
pub mod body;
pub mod carry;
pub mod flatten;
pub mod inlined;
pub mod messages;
pub mod operator;
mod skip_weights;
pub mod sparse;
pub mod tensor;
pub mod types;
pub mod unsupported;
mod write;

pub use skip_weights::{SkippedModel, WeightSkipper};
pub use tensor::read_onnx_tensor;
pub use write::{OnnxNode, value_info, write};

/// The newest opset of the tables of operators and attributes.
pub const NEWEST_OPSET: i64 = 28;
