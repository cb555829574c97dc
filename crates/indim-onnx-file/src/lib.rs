//! Files of ONNX: their messages, tensors and attributes, and the writer. `indim-onnx` reads models.
//!
//! - `messages.rs`: the protobuf messages; `tensor.rs`: arrays; `types.rs`: element types and declared
//!   inputs;
//! - `body.rs`: nodes of a graph or a function; `attribute_table.rs`: the table of their attributes;
//! - `write/`: the writer.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

pub mod attribute_table;
pub mod body;
pub mod messages;
pub mod tensor;
pub mod types;
mod write;

pub use tensor::read_onnx_tensor;
pub use write::{OnnxNode, write};

/// The newest opset of the tables of operators and attributes.
pub const NEWEST_OPSET: i64 = 28;
