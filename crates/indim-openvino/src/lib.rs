//! OpenVINO's IR, versions 10 and 11: an XML file with the layers and an external file with the constants.
//!
//! Read in this order:
//!
//! * `xml.rs`: parses the text; `layer.rs`: a layer; `attributes.rs`: its attributes; `attribute_table.rs`:
//!   the attributes of each operation; `network.rs`: the layers in topological order; `port_map.rs`: the
//!   ports of bodies of loops and branches; `part.rs`: the layers between named values; `element_type.rs`:
//!   names of element types; `constants.rs`: the external file; `metadata.rs`: `rt_info`.
//! * `survey.rs`: finds unsupported operations and operands that must be known at build time; `model.rs`:
//!   the model.
//! * `outline.rs`: every layer with the types of its ports; `axis_pairs.rs`: operand axes whose sizes must
//!   agree; `size_sources.rs`: operand axes that give the sizes which ports leave open; `shape_lists.rs`:
//!   lists that a network computes from sizes.
//! * `build.rs`: builds the graph, with constant folding of shapes; `control.rs`: its loops and branches;
//!   `call.rs`: a layer with its operands; `operation.rs`: the table of operations. The lowerings are in
//!   `activation.rs`, `attention.rs`, `blocks.rs`, `elementwise.rs`, `fourier.rs`, `gather.rs`,
//!   `interpolate.rs`, `product.rs`, `recurrent.rs`, `reduction.rs`, `scatter.rs`, `slice.rs`, `sort.rs`,
//!   `view.rs` and `windows.rs`.
//! * `carry.rs`: networks around layers that are written as they are.
//! * `write/`: the writer.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod activation;
mod attention;
mod attribute_table;
mod attributes;
mod axis_pairs;
mod blocks;
mod build;
mod call;
mod carry;
mod constants;
mod control;
mod element_type;
mod elementwise;
mod fourier;
mod gather;
mod interpolate;
mod layer;
mod metadata;
mod model;
mod network;
mod operation;
mod outline;
mod part;
mod port_map;
mod product;
mod recurrent;
mod reduction;
mod scatter;
mod shape_lists;
mod size_sources;
mod slice;
mod sort;
mod survey;
mod view;
mod windows;
mod write;
mod xml;

use indim_graph::Graph;
use indim_model::outline::{Outline, OutlineOptions};
use indim_model::{
    FormatError, Model, ReadOptions, Reader, SourceFile, WriteOptions, Writer, WrittenModel,
};

use crate::model::IrModel;

/// The reader and writer of OpenVINO's IR.
#[derive(Debug, Clone, Copy)]
pub struct OpenVino;

impl Reader for OpenVino {
    fn read(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
    ) -> Result<Box<dyn Model>, FormatError> {
        if options.carries {
            return carry::read(source, options);
        }
        Ok(Box::new(IrModel::read(source, options)?))
    }

    fn outline(
        &self,
        source: &SourceFile,
        options: &ReadOptions,
        outline: &OutlineOptions,
    ) -> Result<Outline, FormatError> {
        let network = network::Network::read(model::text(source)?, &options.limits)?;
        let lists = constants::ShortLists::new(source, &options.limits);
        Ok(outline::outline(&network, outline, &lists))
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
