//! OpenVINO's IR, versions 10 and 11: an XML file with the layers, and a file of constants beside it.
//!
//! `xml.rs` reads the text; `layer.rs` and `network.rs` are what it says, the layers in an order in which
//! they can be computed; `survey.rs` finds what is not to be had, and what must be known of operands.
//! `build.rs` makes graphs: each layer is a `Call` (`call.rs`) of a row of the table in `operation.rs`, whose
//! definitions are in the other files. Shapes that the file computes are known while the graph is made.
//! `write/` is the way back.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod activation;
mod attributes;
mod build;
mod call;
mod constants;
mod element_type;
mod elementwise;
mod known;
mod layer;
mod model;
mod network;
mod operation;
mod reduction;
mod slice;
mod survey;
mod view;
mod write;
mod xml;

use indim_graph::Graph;
use indim_model::{
    FormatError, Model, ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel,
};

use crate::model::IrModel;

/// Reads and writes OpenVINO's IR.
#[derive(Debug, Clone, Copy)]
pub struct OpenVino;

impl Reader for OpenVino {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        Ok(Box::new(IrModel::read(source, &options.limits)?))
    }

    fn operations(&self) -> Vec<String> {
        operation::names()
    }
}

impl Writer for OpenVino {
    fn write(
        &self,
        graph: &Graph,
        outputs: &[String],
        options: &WriteOptions,
    ) -> Result<WrittenModel, FormatError> {
        write::write(graph, outputs, options)
    }
}
