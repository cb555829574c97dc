//! ONNX: reads and writes models in protobuf.
//!
//! `indim-onnx-file` has the messages, the list of a model's nodes with calls inlined, and the writer. Read
//! in this order:
//!
//! * `operators.rs`: the table of operators; `part.rs`: the part of a model between named values;
//!   `analysis.rs`: values that must be known at build time; `model.rs`: the model.
//! * `carry.rs`: models around nodes that are written as they are;
//! * `build.rs`: builds the program for inputs of known types; `control.rs`: its loops and branches;
//!   `call.rs`: a node with its operands; the other files lower calls to nodes of a graph:
//!   `activations.rs`, `attention.rs`, `constants.rs`, `elementwise.rs`, `gathers.rs`, `losses.rs`,
//!   `normalizations.rs`, `products.rs`, `quantization.rs`, `recurrent.rs`, `reductions.rs`, `resize.rs`,
//!   `sampling.rs`, `signals.rs`, `sort.rs`, `views.rs`, `windows.rs`.
//! * `infer/`: types of every node, also of those without a lowering.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod activations;
mod analysis;
mod attention;
mod build;
mod call;
mod carry;
mod constants;
mod control;
mod elementwise;
mod gathers;
mod infer;
mod losses;
mod model;
mod normalizations;
mod operators;
mod part;
mod products;
mod quantization;
mod recurrent;
mod reductions;
mod resize;
mod sampling;
mod signals;
mod sort;
mod views;
mod windows;

pub use indim_onnx_file::{OnnxNode, SkippedModel, WeightSkipper, read_onnx_tensor};

use indim_graph::Graph;
use indim_model::outline::{Outline, OutlineOptions};
use indim_model::{
    FormatError, Location, Model, ReadOptions, Reader, SourceFile, WriteOptions, Writer,
    WrittenModel,
};

use indim_onnx_file::{body, messages::ModelProto};

/// The reader and writer of ONNX models.
#[derive(Debug, Clone, Copy)]
pub struct Onnx;

impl Reader for Onnx {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        if options.carries {
            return carry::read(source, options);
        }
        let decoded = || body::decoded(source.shared_bytes(), Location::default);
        let starts = part::starts(&options.part, || {
            infer::outline(decoded()?, source, &options.limits, &OutlineOptions::default())
        });
        Ok(Box::new(model::OnnxModel::new(decoded()?, source, options, starts)?))
    }

    fn outline(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
        outline: &OutlineOptions,
    ) -> Result<Outline, FormatError> {
        let proto: ModelProto = body::decoded(source.shared_bytes(), Location::default)?;
        infer::outline(proto, source, &options.limits, outline)
    }

    fn operations(&self) -> Vec<String> {
        operators::names()
    }
}

impl Writer for Onnx {
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<WrittenModel, FormatError> {
        indim_onnx_file::write(graph, outputs, options)
    }
}
