//! ONNX: models in protobuf.
//!
//! Messages are in `messages.rs`, arrays in `tensor.rs`, types in `types.rs`. `body.rs` holds the nodes of a
//! graph or a function, `flatten.rs` makes one list of them, calls replaced, operators looked up in the table
//! of `operators.rs`, their attributes in that of `declared.rs`; `refused.rs` and `analysis.rs` say what of
//! it cannot be had. A `model.rs` of that is built by `build.rs` for inputs of known types: each node is a
//! `Call`, of which the other files make nodes of a graph. `write/` is the way back.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod activations;
mod analysis;
mod attributes;
mod body;
mod build;
mod call;
mod constants;
mod declared;
mod elementwise;
mod flat_node;
mod flatten;
mod messages;
mod model;
mod normalizations;
mod operators;
mod quantization;
mod reductions;
mod refused;
mod tensor;
mod types;
mod views;
mod write;

pub use tensor::read_onnx_tensor;
pub use write::OnnxNode;

use indim_model::{FormatError, Location, Model, ReadOptions, Reader, SourceFile};

use self::messages::ModelProto;

/// Reads and writes models of ONNX.
#[derive(Debug, Clone, Copy)]
pub struct Onnx;

impl Reader for Onnx {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        let proto: ModelProto = body::decoded(source.shared_bytes(), Location::default)?;
        Ok(Box::new(model::OnnxModel::new(proto, source, &options.limits)?))
    }

    fn operations(&self) -> Vec<String> {
        operators::names()
    }
}
