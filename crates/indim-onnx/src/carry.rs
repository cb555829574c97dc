//! Models with nodes that indim cannot compute or write: the other nodes are a model of their own, and these
//! nodes are inserted into the file that is written from it.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use indim_model::outline::{Outline, OutlineNode, OutlineOptions, ValueIndex};
use indim_model::{
    FormatError, FormatErrorKind, InputBinding, Location, Model, ModelInput, ModelProgram,
    ProgramPart, ReadOptions, SourceFile, WrittenModel, name_counts,
};

use super::infer;
use super::model::OnnxModel;
use super::operators::Operator;
use indim_onnx_file::body::decoded;
use indim_onnx_file::carry::{
    CarriedModel, CarriedNode, decode_all, inline_functions, untyped_value,
};
use indim_onnx_file::messages::{GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use indim_onnx_file::operator::OperatorRow as _;
use indim_onnx_file::sparse::make_dense;
use indim_onnx_file::tensor::Tensors;
use indim_onnx_file::types::{declared_at, declared_input};
use indim_onnx_file::value_info;

/// Operators that become loops or branches, which are not written.
const NOT_WRITTEN: &[&str] = &["If", "Loop", "Scan", "LSTM", "GRU", "RNN"];

/// Versions of operators that indim does not compute, of those that changed.
const CHANGED_OPERATORS: &[(&str, &[i64])] = &[
    ("Bernoulli", &[15, 22]),
    ("Compress", &[9, 11, 28]),
    ("DeformConv", &[19, 22]),
    ("MaxRoiPool", &[1, 22]),
    ("Multinomial", &[7, 22]),
    ("NonMaxSuppression", &[10, 11]),
    ("NonZero", &[9, 13]),
    ("Optional", &[15, 28]),
    ("OptionalGetElement", &[15, 18, 28]),
    ("OptionalHasElement", &[15, 18, 28]),
    ("RandomNormal", &[1, 22]),
    ("RandomNormalLike", &[1, 22]),
    ("RandomUniform", &[1, 22]),
    ("RandomUniformLike", &[1, 22]),
    ("SplitToSequence", &[11, 24]),
    ("Unique", &[11, 28]),
];

/// Operators that ONNX removed, with the first opset that lacks them.
const REMOVED_OPERATORS: &[(&str, i64)] = &[("Scatter", 11), ("Upsample", 10)];

/// A model without the nodes that are carried.
struct CarryingModel {
    computed: OnnxModel,
    carried: CarriedModel,
    /// The inputs of `computed`, then those that only carried nodes read.
    inputs: Vec<ModelInput>,
    /// The operators of the carried nodes, with their number.
    operators: Vec<(String, usize)>,
}

/// The nodes that are carried, and the values between them and the others.
struct Plan {
    /// For each node of the graph, whether it is carried.
    is_carried: Vec<bool>,
    /// For each node of the graph, whether an output depends on it.
    is_needed: Vec<bool>,
    /// Values that carried nodes compute and others read.
    starts: Vec<ValueIndex>,
    /// Values that the other nodes compute and carried nodes read, and outputs that they compute.
    ends: Vec<ValueIndex>,
}

/// Reads a model around the nodes that are carried.
///
/// # Errors
/// The errors in the file.
pub(super) fn read(
    source: &SourceFile,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let limits = &options.limits;
    let whole = source.whole_bytes().map_err(|error| {
        let (file, problem) = (source.name().to_owned(), error.to_string());
        FormatErrorKind::ExternalFile { file, problem }.without_location()
    })?;
    let mut proto: ModelProto = decoded(whole, Location::default)?;
    let tensors = Tensors::new(source, limits);
    if let Some(graph) = &mut proto.graph {
        make_dense(graph, &tensors).map_err(FormatErrorKind::without_location)?;
    }
    let inlined = inline_functions(&mut proto, &tensors, limits, &is_same_operator);
    inlined.map_err(FormatErrorKind::without_location)?;
    let declared = OutlineOptions::new().declared(options.declared.clone());
    let outline = infer::outline(proto.clone(), source, limits, &declared)?;
    let graph = proto.graph.take().unwrap_or_default();
    let nodes: Vec<&OutlineNode> =
        outline.nodes.iter().filter(|node| node.region.is_empty()).collect();
    let plan = Plan::new(&outline, &nodes);
    let parts = Parts { graph: &graph, outline: &outline, nodes: &nodes, plan: &plan };
    let names = parts.names()?;
    let computed = ModelProto { graph: Some(parts.computed(&names)?), ..proto.clone() };
    let computed = OnnxModel::new(computed, source, &ReadOptions::new().limits(*limits), vec![])?;
    let mut inputs = computed.inputs().to_vec();
    for info in &names.inputs {
        if inputs.iter().all(|known| known.name != info.name) {
            let open = ModelInput { name: info.name.clone(), ..unknown_input() };
            let input = declared_input(info, limits).unwrap_or(open);
            inputs.push(ModelInput { has_default: true, ..input });
        }
    }
    let carried = parts.carried(&proto, &tensors)?;
    let operators = name_counts(parts.carried_nodes().map(|at| nodes[at].operator.clone()));
    Ok(Box::new(CarryingModel { computed, carried, inputs, operators }))
}

fn unknown_input() -> ModelInput {
    ModelInput {
        name: String::new(),
        dtype: None,
        sizes: None,
        has_default: false,
        is_shape: false,
    }
}

/// Whether an operator of ONNX means the same in two opsets.
fn is_same_operator(name: &str, from: i64, to: i64) -> bool {
    let removed = REMOVED_OPERATORS.iter().find(|(known, _)| *known == name);
    if removed.is_some_and(|&(_, since)| (from < since) != (to < since)) {
        return false;
    }
    if let Some(operator) = Operator::named(name) {
        return operator.signature.version(from) == operator.signature.version(to);
    }
    let changed = CHANGED_OPERATORS.iter().find(|(known, _)| *known == name);
    let version = |opset: i64| changed.map(|(_, since)| since.iter().rfind(|it| **it <= opset));
    version(from) == version(to)
}

impl Plan {
    /// The plan for the nodes of the graph itself, without those of bodies.
    fn new(outline: &Outline, nodes: &[&OutlineNode]) -> Plan {
        let whole = ProgramPart::default();
        let needed = outline.needed_nodes(&whole);
        let is_main = |(node, _): &(&OutlineNode, bool)| node.region.is_empty();
        let is_needed = outline.nodes.iter().zip(needed).filter(is_main).map(|(_, is)| is);
        let stages = outline.stages(&whole);
        let determines: HashSet<ValueIndex> =
            stages.into_iter().flat_map(|stage| stage.values).collect();
        let is_known = |value: ValueIndex| outline.value(value).value_type.array_type().is_some();
        let mut is_carried = vec![false; nodes.len()];
        let mut of_carried = vec![false; outline.values.len()];
        for (at, node) in nodes.iter().enumerate() {
            let mut shapes = node.shape_operands.iter().filter_map(|&at| *node.operands.get(at)?);
            is_carried[at] = node.is_opaque
                || outline.has_opaque_body(node)
                || NOT_WRITTEN.contains(&&*node.operator)
                || node.read().any(|value| of_carried[value] && !is_known(value))
                || shapes.any(|value| of_carried[value] || determines.contains(&value));
            for &result in node.results.iter().flatten().filter(|_| is_carried[at]) {
                of_carried[result] = true;
            }
        }
        let mut plan =
            Plan { is_carried, is_needed: is_needed.collect(), starts: vec![], ends: vec![] };
        for (at, node) in nodes.iter().enumerate().filter(|&(at, _)| plan.is_needed[at]) {
            let read = node.read();
            match plan.is_carried[at] {
                true => plan.ends.extend(read.filter(|&value| {
                    outline.value(value).producer.is_some() && !of_carried[value]
                })),
                false => plan.starts.extend(read.filter(|&value| of_carried[value])),
            }
        }
        let outputs = outline.outputs.iter().copied().filter(|&value| !of_carried[value]);
        plan.ends.extend(outputs);
        for values in [&mut plan.starts, &mut plan.ends] {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(*value));
        }
        plan
    }
}

/// A model and its plan.
struct Parts<'m> {
    graph: &'m GraphProto,
    outline: &'m Outline,
    nodes: &'m [&'m OutlineNode],
    plan: &'m Plan,
}

/// The declarations of a graph, by their names.
struct Names {
    inputs: Vec<ValueInfoProto>,
    outputs: Vec<ValueInfoProto>,
    initializers: HashMap<String, Bytes>,
}

impl Parts<'_> {
    fn names(&self) -> Result<Names, FormatError> {
        let GraphProto { input, output, initializer, .. } = self.graph;
        let named = || -> Result<Names, FormatErrorKind> {
            let tensors: Vec<TensorProto> = decode_all(initializer)?;
            let names = tensors.into_iter().map(|tensor| tensor.name);
            let initializers = names.zip(initializer.iter().cloned()).collect();
            Ok(Names { inputs: decode_all(input)?, outputs: decode_all(output)?, initializers })
        };
        named().map_err(FormatErrorKind::without_location)
    }

    /// The positions of the carried nodes.
    fn carried_nodes(&self) -> impl Iterator<Item = usize> {
        let Plan { is_carried, is_needed, .. } = self.plan;
        (0..self.nodes.len()).filter(|&at| is_carried[at] && is_needed[at])
    }

    fn name(&self, value: ValueIndex) -> &str {
        &self.outline.value(value).name
    }

    /// The graph of the other nodes. A node that is left out keeps its position, for messages.
    fn computed(&self, names: &Names) -> Result<GraphProto, FormatError> {
        let Plan { is_carried, is_needed, starts, ends } = self.plan;
        let computed = |at: &usize| is_needed[*at] && !is_carried[*at];
        let read = (0..self.nodes.len()).filter(computed).flat_map(|at| self.nodes[at].read());
        let read: HashSet<&str> =
            read.chain(ends.iter().copied()).map(|value| self.name(value)).collect();
        let node = |(at, bytes): (usize, &Bytes)| match computed(&at) {
            true => bytes.clone(),
            false => Bytes::new(),
        };
        let inputs = names.inputs.iter().zip(&self.graph.input);
        let inputs = inputs.filter(|(info, _)| read.contains(info.name.as_str()));
        let start = |&value: &ValueIndex| {
            let array_type = self.outline.value(value).value_type.array_type();
            array_type.map(|array_type| value_info(self.name(value), &array_type))
        };
        let output = |&value: &ValueIndex| {
            let name = self.name(value);
            let declared = names.outputs.iter().position(|info| info.name == name);
            declared.map_or_else(|| untyped_value(name), |at| self.graph.output[at].clone())
        };
        let read_array = |bytes: &&Bytes| {
            decoded((*bytes).clone(), Location::default)
                .is_ok_and(|tensor: TensorProto| read.contains(tensor.name.as_str()))
        };
        Ok(GraphProto {
            node: self.graph.node.iter().enumerate().map(node).collect(),
            name: self.graph.name.clone(),
            initializer: self.graph.initializer.iter().filter(read_array).cloned().collect(),
            input: inputs
                .map(|(_, bytes)| bytes.clone())
                .chain(starts.iter().filter_map(start))
                .collect(),
            output: ends.iter().map(output).collect(),
            ..GraphProto::default()
        })
    }

    /// The parts that are written as they are.
    fn carried(&self, proto: &ModelProto, tensors: &Tensors) -> Result<CarriedModel, FormatError> {
        let names = self.names()?;
        let mut carried = CarriedModel {
            nodes: Vec::new(),
            initializers: Vec::new(),
            inputs: Vec::new(),
            outputs: self.graph.output.clone(),
            value_infos: Vec::new(),
            ir_version: proto.ir_version,
            opsets: proto.opset_import.clone(),
            is_same: is_same_operator,
        };
        let mut known_arrays = HashSet::new();
        let mut results = HashSet::new();
        for at in self.carried_nodes() {
            let node = self.nodes[at];
            let read: Vec<String> = node.read().map(|it| self.name(it).to_owned()).collect();
            for name in &read {
                let Some(bytes) = names.initializers.get(name) else { continue };
                if known_arrays.insert(name.clone()) {
                    let mut tensor: TensorProto = decoded(bytes.clone(), Location::default)?;
                    let embedded = tensors.embed(&mut tensor);
                    embedded.map_err(|kind| kind.at(declared_at("initializer", name)))?;
                    carried.initializers.push(tensor);
                }
            }
            let encoded = self.graph.node[at].clone();
            let proto: NodeProto = decoded(encoded.clone(), Location::default)?;
            results.extend(proto.output.iter().cloned());
            carried.nodes.push(CarriedNode { encoded, read, results: proto.output });
        }
        for (info, bytes) in names.inputs.iter().zip(&self.graph.input) {
            let has_default = names.initializers.contains_key(&info.name);
            carried.inputs.push((bytes.clone(), has_default));
        }
        for bytes in &self.graph.value_info {
            let info: ValueInfoProto = decoded(bytes.clone(), Location::default)?;
            if results.contains(&info.name) {
                carried.value_infos.push(bytes.clone());
            }
        }
        Ok(carried)
    }
}

impl Model for CarryingModel {
    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.computed.outputs()
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        let count = self.computed.inputs().len();
        self.computed.build(inputs.get(..count).unwrap_or(inputs))
    }

    fn opset(&self) -> Option<u32> {
        self.computed.opset()
    }

    fn carries(&self) -> bool {
        true
    }

    fn complete(
        &self,
        written: WrittenModel,
        inputs: &[InputBinding],
    ) -> Result<WrittenModel, FormatError> {
        let bound = self.inputs.iter().zip(inputs).skip(self.computed.inputs().len());
        let bound = bound.filter_map(|(input, bound)| {
            Some((input.name.clone(), value_info(&input.name, &bound.array_type()?)))
        });
        let completed = self.carried.complete(written, &bound.collect());
        let mut completed = completed.map_err(FormatErrorKind::without_location)?;
        completed.carried = self.operators.clone();
        Ok(completed)
    }

    fn with_metadata(
        &self,
        written: WrittenModel,
        is_own_format: bool,
    ) -> Result<WrittenModel, FormatError> {
        self.computed.with_metadata(written, is_own_format)
    }

    fn location(&self, number: usize) -> Location {
        self.computed.location(number)
    }
}
