//! The nodes of the source and the written nodes in one model.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use bytes::Bytes;
use indim_model::{FormatErrorKind, WrittenModel};
use prost::Message as _;

use super::wire::{Field, decode, fields, text_of};
use crate::body::domain_of;
use crate::messages::{ModelProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto};
use crate::write::append_constants;

/// A node of the source.
pub struct CarriedNode {
    /// The encoded [`NodeProto`].
    pub encoded: Bytes,
    /// The values that it and its bodies read.
    pub read: Vec<String>,
    /// Its results.
    pub results: Vec<String>,
}

/// The parts of a model that are written as they are, around the nodes that a writer wrote.
pub struct CarriedModel {
    /// The nodes.
    pub nodes: Vec<CarriedNode>,
    /// The arrays of the source that the nodes read.
    pub initializers: Vec<TensorProto>,
    /// Inputs of the model, encoded, in order, and whether each has a default.
    pub inputs: Vec<(Bytes, bool)>,
    /// Outputs of the model, encoded, in order.
    pub outputs: Vec<Bytes>,
    /// Types of values, encoded.
    pub value_infos: Vec<Bytes>,
    /// The IR version and the operator sets of the source.
    pub ir_version: i64,
    /// The operator sets that the source imports.
    pub opsets: Vec<OperatorSetIdProto>,
    /// Whether an operator of ONNX means the same in two opsets.
    pub is_same: fn(&str, i64, i64) -> bool,
}

impl CarriedModel {
    /// Inserts the carried nodes into a written model, whose inputs and outputs are values that the carried
    /// nodes compute and read, or inputs and outputs of the model. `bound` has the declarations of inputs
    /// that only carried nodes read, if they differ from those of the source.
    ///
    /// # Errors
    /// `cycle`: no order computes all nodes; `damaged`.
    pub fn complete(
        &self,
        written: WrittenModel,
        bound: &HashMap<String, Bytes>,
    ) -> Result<WrittenModel, FormatErrorKind> {
        let mut model: ModelProto = decode(&written.content[..])?;
        let mut graph = model.graph.take().unwrap_or_default();
        let mut nodes: Vec<NodeProto> = decode_all(&graph.node)?;
        let mut initializers: Vec<TensorProto> = decode_all(&graph.initializer)?;
        let inputs: Vec<ValueInfoProto> = decode_all(&graph.input)?;
        let outputs: Vec<ValueInfoProto> = decode_all(&graph.output)?;
        let infos = inputs.iter().chain(&outputs).map(|info| info.name.clone());
        self.rename_colliding(&mut nodes, &mut initializers, &infos.collect())?;
        self.name_constants(&mut nodes, &mut initializers)?;
        let mut external_file = written.external_file;
        let first_carried = initializers.len();
        // An array that is an output has its name from a written node.
        let results: HashSet<&String> = nodes.iter().flat_map(|node| &node.output).collect();
        let arrays = self.initializers.iter().filter(|tensor| !results.contains(&tensor.name));
        initializers.extend(arrays.cloned());
        append_constants(&mut initializers, first_carried, &mut external_file, &graph.name);
        graph.node = self.ordered(nodes)?;
        graph.initializer = initializers.iter().map(|it| it.encode_to_vec().into()).collect();
        let mut known = bound.clone();
        known.extend(by_name(&graph.input)?);
        let is_input = |(info, (_, has_default)): &(&ValueInfoProto, &(Bytes, bool))| {
            !has_default || known.contains_key(&info.name)
        };
        let own: Vec<Bytes> = self.inputs.iter().map(|(bytes, _)| bytes.clone()).collect();
        let infos: Vec<ValueInfoProto> = decode_all(&own)?;
        let own = infos.iter().zip(&self.inputs).filter(is_input);
        graph.input =
            declared(&own.map(|(_, (bytes, _))| bytes.clone()).collect::<Vec<_>>(), &known)?;
        graph.output = declared(&self.outputs, &by_name(&graph.output)?)?;
        graph.value_info.clone_from(&self.value_infos);
        model.ir_version = model.ir_version.max(self.ir_version);
        self.check_opset(&model.opset_import)?;
        let others = self.opsets.iter().filter(|it| !domain_of(&it.domain).is_empty());
        model.opset_import.extend(others.cloned());
        let content = ModelProto { graph: Some(graph), ..model }.encode_to_vec();
        Ok(WrittenModel { content, external_file, ..written })
    }

    /// Checks that the operators of ONNX in carried nodes mean the same in the written opset.
    fn check_opset(&self, written: &[OperatorSetIdProto]) -> Result<(), FormatErrorKind> {
        let version = |opsets: &[OperatorSetIdProto]| {
            opsets.iter().find(|it| domain_of(&it.domain).is_empty()).map(|it| it.version)
        };
        let (Some(from), Some(to)) = (version(&self.opsets), version(written)) else {
            return Ok(());
        };
        if from == to {
            return Ok(());
        }
        let mut operators = HashSet::new();
        self.nodes.iter().try_for_each(|node| operators_in(&node.encoded, &mut operators))?;
        let mut changed: Vec<String> =
            operators.into_iter().filter(|name| !(self.is_same)(name, from, to)).collect();
        changed.sort_unstable();
        match changed.first() {
            None => Ok(()),
            Some(name) => Err(FormatErrorKind::Unsupported {
                what: format!("{name} of opset {from} in a model of opset {to} is"),
            }),
        }
    }

    /// Gives new names to written values whose names the inputs, or the carried nodes and their bodies, use
    /// for other values.
    fn rename_colliding(
        &self,
        nodes: &mut [NodeProto],
        initializers: &mut [TensorProto],
        shared: &HashSet<String>,
    ) -> Result<(), FormatErrorKind> {
        let mut used: HashSet<String> = HashSet::new();
        for node in &self.nodes {
            names_in(&node.encoded, &mut used)?;
            used.extend(node.read.iter().cloned());
        }
        used.extend(self.initializers.iter().map(|tensor| tensor.name.clone()));
        // Inputs that no node reads keep their names too.
        let inputs: Vec<Bytes> = self.inputs.iter().map(|(bytes, _)| bytes.clone()).collect();
        let inputs: Vec<ValueInfoProto> = decode_all(&inputs)?;
        used.extend(inputs.into_iter().map(|info| info.name));
        let written = initializers.iter().map(|tensor| &tensor.name);
        let written = written.chain(nodes.iter().flat_map(|node| &node.output));
        let mut taken: HashSet<String> = used.union(shared).cloned().collect();
        taken.extend(written.clone().cloned());
        let mut renamed: HashMap<String, String> = HashMap::new();
        let mut next = 0_usize;
        for name in written.filter(|name| used.contains(*name) && !shared.contains(*name)) {
            let new = loop {
                let new = format!("w{next}");
                next += 1;
                if taken.insert(new.clone()) {
                    break new;
                }
            };
            renamed.insert(name.clone(), new);
        }
        let of_nodes = nodes.iter_mut().flat_map(|it| it.input.iter_mut().chain(&mut it.output));
        for name in of_nodes.chain(initializers.iter_mut().map(|tensor| &mut tensor.name)) {
            if let Some(new) = renamed.get(name) {
                name.clone_from(new);
            }
        }
        Ok(())
    }

    /// Gives constants that carried nodes read their names in the source, in place of an `Identity`: some
    /// operators take only an array of the file.
    fn name_constants(
        &self,
        nodes: &mut Vec<NodeProto>,
        initializers: &mut Vec<TensorProto>,
    ) -> Result<(), FormatErrorKind> {
        let outputs: Vec<ValueInfoProto> = decode_all(&self.outputs)?;
        let outputs: HashSet<String> = outputs.into_iter().map(|info| info.name).collect();
        let arrays: HashMap<String, TensorProto> =
            initializers.iter().map(|tensor| (tensor.name.clone(), tensor.clone())).collect();
        nodes.retain(|node| {
            let array = match (&node.op_type[..], &node.input[..]) {
                ("Identity", [input]) => arrays.get(input),
                _ => None,
            };
            let Some(array) = array.filter(|_| !outputs.contains(&node.output[0])) else {
                return true;
            };
            initializers.push(TensorProto { name: node.output[0].clone(), ..array.clone() });
            false
        });
        let mut read: HashSet<&String> = nodes.iter().flat_map(|node| &node.input).collect();
        read.extend(self.nodes.iter().flat_map(|node| &node.read));
        initializers.retain(|tensor| read.contains(&tensor.name) || outputs.contains(&tensor.name));
        Ok(())
    }

    /// The written and the carried nodes in an order in which each reads values of earlier ones.
    fn ordered(&self, written: Vec<NodeProto>) -> Result<Vec<Bytes>, FormatErrorKind> {
        let count = written.len();
        let reads = written.iter().map(|node| &node.input[..]);
        let reads: Vec<&[String]> =
            reads.chain(self.nodes.iter().map(|node| &node.read[..])).collect();
        let results = written.iter().map(|node| &node.output[..]);
        let results = results.chain(self.nodes.iter().map(|node| &node.results[..]));
        let mut producers: HashMap<&str, usize> = HashMap::new();
        for (index, names) in results.enumerate() {
            let named = names.iter().filter(|name| !name.is_empty());
            producers.extend(named.map(|name| (name.as_str(), index)));
        }
        let mut waiting = vec![0_usize; reads.len()];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); reads.len()];
        for (index, names) in reads.iter().enumerate() {
            for &producer in names.iter().filter_map(|name| producers.get(name.as_str())) {
                waiting[index] += 1;
                readers[producer].push(index);
            }
        }
        // Written nodes first, so that each kind keeps its own order.
        let ready = (0..reads.len()).filter(|&index| waiting[index] == 0);
        let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
        let mut ordered = Vec::with_capacity(reads.len());
        while let Some(Reverse(index)) = ready.pop() {
            ordered.push(match index.checked_sub(count) {
                None => Bytes::from(written[index].encode_to_vec()),
                Some(carried) => self.nodes[carried].encoded.clone(),
            });
            for &reader in &readers[index] {
                waiting[reader] -= 1;
                if waiting[reader] == 0 {
                    ready.push(Reverse(reader));
                }
            }
        }
        match ordered.len() == reads.len() {
            true => Ok(ordered),
            false => {
                let stuck = waiting.iter().skip(count).position(|&count| count > 0);
                let name = stuck.and_then(|index| self.nodes[index].results.first().cloned());
                Err(FormatErrorKind::Cycle { name: name.unwrap_or_default() })
            }
        }
    }
}

/// Declarations of the model, each replaced by the known one of the same name.
fn declared(
    of_model: &[Bytes],
    known: &HashMap<String, Bytes>,
) -> Result<Vec<Bytes>, FormatErrorKind> {
    let decoded: Vec<ValueInfoProto> = decode_all(of_model)?;
    let all = decoded.iter().zip(of_model);
    Ok(all.map(|(info, own)| known.get(&info.name).unwrap_or(own).clone()).collect())
}

/// The encoded declaration of a value without its type.
pub fn untyped_value(name: &str) -> Bytes {
    ValueInfoProto { name: name.to_owned(), r#type: None }.encode_to_vec().into()
}

/// Encoded declarations by their names.
fn by_name(infos: &[Bytes]) -> Result<HashMap<String, Bytes>, FormatErrorKind> {
    let decoded: Vec<ValueInfoProto> = decode_all(infos)?;
    Ok(decoded.into_iter().map(|info| info.name).zip(infos.iter().cloned()).collect())
}

/// Decodes messages.
///
/// # Errors
/// `damaged`.
pub fn decode_all<M: prost::Message + Default>(
    messages: &[Bytes],
) -> Result<Vec<M>, FormatErrorKind> {
    messages.iter().cloned().map(decode).collect()
}

/// The encoded bodies of a node with these fields.
fn bodies<'b>(node: &[Field<'b>]) -> Result<Vec<&'b [u8]>, FormatErrorKind> {
    let mut bodies = Vec::new();
    for attribute in node.iter().filter(|field| field.number == 5) {
        let parts = fields(attribute.bytes())?;
        bodies.extend(parts.iter().filter(|it| matches!(it.number, 6 | 11)).map(Field::bytes));
    }
    Ok(bodies)
}

/// The names in a node and in its bodies.
pub(super) fn names_in(node: &[u8], names: &mut HashSet<String>) -> Result<(), FormatErrorKind> {
    let all = fields(node)?;
    for field in all.iter().filter(|field| matches!(field.number, 1 | 2)) {
        names.insert(field.text()?.to_owned());
    }
    for body in bodies(&all)? {
        for part in fields(body)? {
            match part.number {
                1 => names_in(part.bytes(), names)?,
                5 => drop(names.insert(text_of(part.bytes(), 8)?)),
                11 => drop(names.insert(text_of(part.bytes(), 1)?)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The operators of ONNX's own domain in a node and its bodies.
fn operators_in(node: &[u8], operators: &mut HashSet<String>) -> Result<(), FormatErrorKind> {
    let all = fields(node)?;
    let text = |number: u64| all.iter().rev().find(|it| it.number == number).map(|it| it.text());
    if domain_of(text(7).transpose()?.unwrap_or_default()).is_empty() {
        operators.extend(text(4).transpose()?.map(str::to_owned));
    }
    for body in bodies(&all)? {
        for inner in fields(body)?.iter().filter(|it| it.number == 1) {
            operators_in(inner.bytes(), operators)?;
        }
    }
    Ok(())
}
