//! The writer of ONNX models.
//!
//! ONNX broadcasts by NumPy's rule. A broadcast therefore needs a `Reshape` only if the operand's axes
//! do not become the last axes of the result, a `Transpose` only if they change their order, and an
//! `Expand` only if a node that reads the result needs its full shape.
//!
//! * `model_writer.rs`: nodes, constants and names of the model.
//! * `structure.rs`, `scatter.rs`, `sort.rs`, `elementwise.rs`, `compositions.rs`: the kinds of graph
//!   nodes.
//! * `idiom.rs`: subgraphs that are written as one operator; among them `normalization.rs`:
//!   normalisations; `product.rs`: matrix products.
//! * `one_node.rs`: models of a single node, for tests of other systems.

mod compositions;
mod elementwise;
mod idiom;
mod model_writer;
mod normalization;
mod one_node;
mod product;
mod scatter;
mod sort;
mod structure;

pub use one_node::OnnxNode;

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use indim_graph::{Graph, Node, NodeKind, ValueId, expand_windows};
use indim_model::{FormatError, FormatErrorKind, WriteOptions, WrittenModel, location_of};
use indim_ops::{ArrayType, DType, DTypeClass, Op};
use prost::Message;

use self::idiom::IdiomPlan;
use self::model_writer::{ModelWriter, int_attribute};
use crate::NEWEST_OPSET;
use crate::messages::{
    DimensionProto, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use crate::types::{declared_at, number_of};

/// The opset of a written model, unless the caller or the source states another one.
const DEFAULT_OPSET: i64 = 21;
/// The oldest opset that the writer supports.
const OLDEST_OPSET: i64 = 18;

/// The opset that introduced `BitCast`.
const BITCAST_SINCE: i64 = 26;
/// The opset that introduced `BitShift` of signed integers.
const SIGNED_SHIFT_SINCE: i64 = 28;

/// The IR version of written models: the one that came with the default opset, 21.
const IR_VERSION: i64 = 10;

/// Maximum bytes of constants in the file; more go into an external file, because a protobuf has
/// at most 2 GiB.
const MAX_INLINE_BYTES: usize = 1 << 30;

/// The value of `data_location` for elements in an external file.
const EXTERNAL: i32 = 1;

/// Writes a graph as an ONNX model, with one name for each output. Every value of the graph must be used.
///
/// # Errors
/// `unsupported-op`, `unsupported-type`.
pub fn write(
    graph: &Graph,
    outputs: &[String],
    options: &WriteOptions,
) -> Result<WrittenModel, FormatError> {
    let graph = &*expand_windows(graph);
    let opset = options.opset.map_or_else(|| default_opset(graph, options), i64::from);
    if !(OLDEST_OPSET..=NEWEST_OPSET).contains(&opset) {
        let what = format!("models for opset {opset}, not {OLDEST_OPSET} to {NEWEST_OPSET}, are");
        return Err(FormatErrorKind::Unsupported { what }.without_location());
    }
    let mut model_writer = ModelWriter::new(graph, outputs, opset);
    let plan = IdiomPlan::of(graph, opset);
    for (value, node) in graph.iter().filter(|(value, _)| plan.is_needed[value.index()]) {
        match &plan.idioms[value.index()] {
            Some(found) => model_writer.idiom(value, found),
            None => model_writer.value(value, node),
        }
    }
    let names = model_writer.outputs(outputs)?;
    let ModelWriter { nodes, mut initializers, notes, .. } = model_writer;
    let (composed, warnings) = notes.finish(options.exact)?;
    let external_file = extract_constants(&mut initializers, &options.name, MAX_INLINE_BYTES);
    let declared = |name: &String, value: &ValueId| value_info(name, &graph[*value].array_type);
    let parameters: Vec<String> =
        (0..graph.parameters().len()).map(|index| graph.parameter_name(index).to_owned()).collect();
    let encoded = |message: &dyn Fn() -> Vec<u8>| Bytes::from(message());
    let model = ModelProto {
        ir_version: IR_VERSION,
        graph: Some(GraphProto {
            node: nodes.iter().map(|node| encoded(&|| node.encode_to_vec())).collect(),
            name: options.name.clone(),
            initializer: initializers.iter().map(|t| encoded(&|| t.encode_to_vec())).collect(),
            input: parameters.iter().zip(graph.parameters()).map(|(n, v)| declared(n, v)).collect(),
            output: names.iter().zip(graph.outputs()).map(|(n, v)| declared(n, v)).collect(),
            value_info: Vec::new(),
            sparse_initializer: Vec::new(),
        }),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: opset }],
        functions: Vec::new(),
    };
    Ok(WrittenModel {
        content: model.encode_to_vec(),
        external_file,
        composed,
        warnings,
        ..WrittenModel::default()
    })
}

/// The opset of the source, or `DEFAULT_OPSET`; a later one if an operation of the graph needs it.
fn default_opset(graph: &Graph, options: &WriteOptions) -> i64 {
    let preferred = options.source_opset.map_or(DEFAULT_OPSET, i64::from);
    let preferred = preferred.clamp(OLDEST_OPSET, NEWEST_OPSET);
    let plan = IdiomPlan::of(graph, preferred);
    let written = graph
        .iter()
        .filter(|(value, _)| plan.is_needed[value.index()] && plan.idioms[value.index()].is_none());
    written.map(|(_, node)| least_opset(node)).fold(preferred, i64::max)
}

/// The first opset, from `OLDEST_OPSET` on, that supports a node.
fn least_opset(node: &Node) -> i64 {
    let is_signed = node.array_type.dtype.class() == DTypeClass::Signed;
    match node.kind {
        NodeKind::Bitcast => BITCAST_SINCE,
        NodeKind::Elementwise(Op::ShrArithmetic) if is_signed => SIGNED_SHIFT_SINCE,
        _ => OLDEST_OPSET,
    }
}

/// Name and type of an input or output, encoded.
pub fn value_info(name: &str, array_type: &ArrayType) -> Bytes {
    let dim = |&size: &usize| DimensionProto { dim_value: Some(size as i64), dim_param: None };
    let shape = TensorShapeProto { dim: array_type.shape.iter().map(dim).collect() };
    let tensor = TensorTypeProto { elem_type: number_of(array_type.dtype), shape: Some(shape) };
    let declared = TypeProto { tensor_type: Some(tensor), ..TypeProto::default() };
    Bytes::from(ValueInfoProto { name: name.to_owned(), r#type: Some(declared) }.encode_to_vec())
}

/// Moves the constants to an external file if they have more than `max` bytes together. Returns the name
/// and the content of the file.
fn extract_constants(
    tensors: &mut [TensorProto],
    name: &str,
    max: usize,
) -> Option<(String, Vec<u8>)> {
    let size = |tensor: &TensorProto| tensor.raw_data.as_ref().map_or(0, Bytes::len);
    if tensors.iter().map(size).sum::<usize>() <= max {
        return None;
    }
    let mut file = (format!("{name}.onnx.data"), Vec::new());
    tensors.iter_mut().for_each(|tensor| extract(tensor, &mut file));
    Some(file)
}

/// Adds the constants from `first` on to the external file, if the model has one or needs one with them.
pub(crate) fn append_constants(
    tensors: &mut [TensorProto],
    first: usize,
    file: &mut Option<(String, Vec<u8>)>,
    name: &str,
) {
    match file {
        Some(file) => tensors[first..].iter_mut().for_each(|tensor| extract(tensor, file)),
        None => *file = extract_constants(tensors, name, MAX_INLINE_BYTES),
    }
}

/// Moves the elements of a constant to the end of an external file.
fn extract(tensor: &mut TensorProto, (file, content): &mut (String, Vec<u8>)) {
    let Some(raw) = tensor.raw_data.take() else { return };
    let entry = |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
    tensor.external_data = vec![
        entry("location", file.clone()),
        entry("offset", content.len().to_string()),
        entry("length", raw.len().to_string()),
    ];
    tensor.data_location = EXTERNAL;
    content.extend_from_slice(&raw);
}

impl ModelWriter<'_> {
    fn value(&mut self, value: ValueId, node: &Node) {
        let ArrayType { dtype, shape } = node.array_type.clone();
        if dtype.class() == DTypeClass::Complex {
            let reason = Some("ONNX computes nothing with complex numbers".to_owned());
            self.notes.unsupported(node.kind.name(), reason, location_of(self.graph, value));
        }
        if dtype.is_storage() {
            let reason = Some(format!("results of type {dtype} are not written to ONNX"));
            self.notes.unsupported(node.kind.name(), reason, location_of(self.graph, value));
        }
        match &node.kind {
            NodeKind::Parameter { name, .. } => self.set_value(value, name.clone(), shape),
            NodeKind::Constant(array) => {
                let name = self.constant(array);
                self.set_value(value, name, shape);
            }
            NodeKind::Iota { axis } => self.iota(value, *axis),
            NodeKind::Elementwise(op) => self.elementwise(value, node, *op),
            NodeKind::Convert => self.convert(value, node, dtype),
            NodeKind::Bitcast => self.bit_cast(value, node, dtype),
            NodeKind::BroadcastInDim(map) => self.broadcast(value, node.operands[0], map),
            NodeKind::Reshape => self.reshape(value, node.operands[0]),
            NodeKind::Reduce { op, axis } => self.reduce(value, node, *op, *axis),
            NodeKind::Slice(slices) => self.slice(value, node.operands[0], slices),
            NodeKind::Concatenate { axis } => self.concatenate(value, node, *axis),
            NodeKind::Take { axis, mode } => self.take(value, node, *axis, *mode),
            NodeKind::Scatter { op, axis, mode } => self.scatter(value, node, *op, (*axis, *mode)),
            NodeKind::Contract { summed } => self.contract(value, node, *summed),
            NodeKind::Scan { op, axis, reverse, exclusive } => {
                self.scan(value, node, (*op, *axis), [*reverse, *exclusive]);
            }
            NodeKind::Sort { .. } => self.sort(value, node),
            NodeKind::Window { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. } => {
                let location = location_of(self.graph, value);
                self.notes.unsupported(node.kind.name(), None, location);
                self.set_value(value, String::new(), shape);
            }
        }
    }

    fn convert(&mut self, value: ValueId, node: &Node, dtype: DType) {
        let compact = self.compact_value(node.operands[0]);
        let from = self.graph[node.operands[0]].array_type.dtype;
        if from.is_float() && dtype.is_integer() {
            self.notes.warning("floats beyond a type of whole numbers are undefined there in ONNX");
        }
        let name = self.cast(&compact.name, dtype);
        self.set_value(value, name, compact.sizes);
    }

    fn bit_cast(&mut self, value: ValueId, node: &Node, dtype: DType) {
        let compact = self.compact_value(node.operands[0]);
        if self.opset < BITCAST_SINCE {
            let reason = Some("BitCast came with opset 26".to_owned());
            self.notes.unsupported("bitcast", reason, location_of(self.graph, value));
        }
        let attributes = vec![int_attribute("to", number_of(dtype).into())];
        let name = self.node("BitCast", &[&compact.name], attributes);
        self.set_value(value, name, compact.sizes);
    }

    /// Gives the outputs their names: renames the result of a node, or adds an `Identity` for a constant,
    /// a parameter, or a value that is renamed already.
    fn outputs(&mut self, outputs: &[String]) -> Result<Vec<String>, FormatError> {
        let graph = self.graph;
        let value_names: Vec<String> =
            graph.outputs().iter().map(|&value| self.materialized(value)).collect();
        let result_names: HashSet<String> =
            self.nodes.iter().flat_map(|node| node.output.clone()).collect();
        let parameters: HashSet<&str> =
            (0..graph.parameters().len()).map(|index| graph.parameter_name(index)).collect();
        let mut distinct = HashSet::new();
        let mut renamed: HashMap<String, String> = HashMap::new();
        for (whole, output) in value_names.into_iter().zip(outputs) {
            let is_other = parameters.contains(output.as_str()) && whole != *output;
            if !distinct.insert(output) || is_other {
                let name = output.clone();
                let kind = FormatErrorKind::Duplicate { what: "name", name };
                return Err(kind.at(declared_at("output", output)));
            }
            if whole == *output {
                continue;
            }
            let is_free = !renamed.contains_key(&whole);
            match result_names.contains(&whole) && is_free {
                true => drop(renamed.insert(whole, output.clone())),
                false => self.named_node("Identity", &[&whole], Vec::new(), output.clone()),
            }
        }
        for node in &mut self.nodes {
            for name in node.input.iter_mut().chain(&mut node.output) {
                if let Some(output) = renamed.get(name) {
                    name.clone_from(output);
                }
            }
        }
        Ok(outputs.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use indim_graph::Array;
    use indim_model::{Folder, FormatLimits, SourceFile};

    use super::*;
    use crate::tensor::Tensors;

    /// A folder with one external file.
    struct MemoryFolder(String, Vec<u8>);

    impl Folder for MemoryFolder {
        fn read(&self, name: &str) -> io::Result<Bytes> {
            assert_eq!(name, self.0);
            Ok(Bytes::from(self.1.clone()))
        }
    }

    #[test]
    fn large_constants_are_read_back_from_an_external_file() {
        let nothing: [indim_builder::Value; 0] = [];
        let graph = indim_builder::GraphBuilder::new().finish(&nothing).unwrap();
        let mut model_writer = ModelWriter::new(&graph, &[], DEFAULT_OPSET);
        let arrays = [
            Array::new([3], vec![1.0f32, 2.0, 3.0]).unwrap(),
            Array::new([2, 1], vec![true, false]).unwrap(),
            Array::from_scalar(7i64),
        ];
        arrays.iter().for_each(|array| drop(model_writer.constant(array)));
        let mut tensors = model_writer.initializers;
        assert_eq!(extract_constants(&mut tensors, "m", 22), None);
        let (name, content) = extract_constants(&mut tensors, "m", 21).expect("a file");
        assert_eq!((name.as_str(), content.len()), ("m.onnx.data", 22));
        let source = SourceFile::new("m.onnx", Vec::new())
            .with_folder(Arc::new(MemoryFolder(name, content)));
        let reader = Tensors::new(&source, &FormatLimits::default());
        let read: Vec<Array> = tensors.iter().map(|t| reader.array(t).unwrap()).collect();
        assert_eq!(read, arrays);
    }
}
