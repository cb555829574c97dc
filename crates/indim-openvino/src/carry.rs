//! Networks with layers that indim cannot compute or write: the other layers are a network of their own, and
//! these layers are copied into the file that is written from it.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use roxmltree::Node;

use indim_model::{
    FormatError, FormatErrorKind, InputBinding, Location, Model, ModelInput, ModelProgram,
    ReadOptions, SourceFile, WrittenModel, name_counts,
};

use crate::constants;
use crate::element_type::element_type;
use crate::layer::{Edge, Layer};
use crate::model::{IrModel, text};
use crate::network::{Network, topological_order};
use crate::operation::operation_of;
use crate::survey::opaque_layers;
use crate::xml;

/// Operations that become loops or branches, which are not written.
const NOT_WRITTEN: [&str; 6] =
    ["TensorIterator", "Loop", "If", "LSTMSequence", "GRUSequence", "RNNSequence"];

/// An output of a layer: the position of the layer, and the number of the output.
type OutputIndex = (usize, usize);

/// The layers that are copied, and the values between them and the others.
struct Plan {
    /// For each layer, whether it is copied.
    is_copied: Vec<bool>,
    /// For each layer, whether it is in the network that is computed. A constant can be in both.
    is_computed: Vec<bool>,
    /// Values of copied layers that computed ones read.
    starts: Vec<OutputIndex>,
    /// Values of computed layers that copied ones read.
    ends: Vec<OutputIndex>,
}

/// A network without the layers that are copied.
struct CarryingModel {
    computed: IrModel,
    source: SourceFile,
    network: Network,
    plan: Plan,
    /// The names of the inputs of `computed` that are starts.
    starts: HashMap<String, OutputIndex>,
    /// Positions in `network` of the inputs of `computed`, by their names.
    parameters: HashMap<String, usize>,
    /// For each output of `computed`, the position of its layer in `network`, or the value that it ends at.
    results: Vec<Result<usize, OutputIndex>>,
    limits: indim_model::FormatLimits,
}

/// Reads a network around the layers that are copied.
///
/// # Errors
/// The errors in the file.
pub(super) fn read(
    source: &SourceFile,
    options: &ReadOptions,
) -> Result<Box<dyn Model>, FormatError> {
    let limits = options.limits;
    let network = Network::read(text(source)?, &limits)?;
    let plan = Plan::of(&network);
    let mut positions = Vec::new();
    let (island, starts, ends) =
        plan.computed_network(Network::read(text(source)?, &limits)?, &mut positions)?;
    let computed = IrModel::of(island, source, &limits)?;
    let of_result = |(position, _): &(usize, String)| match positions.get(*position) {
        Some(&of_file) => Ok(of_file),
        None => Err(ends[*position - positions.len() - starts.len()]),
    };
    let results = computed.results.iter().map(of_result).collect();
    let (mut names, mut parameters) = (HashMap::new(), HashMap::new());
    for (input, &position) in computed.inputs.iter().zip(&computed.parameters) {
        match positions.get(position) {
            Some(&of_file) => drop(parameters.insert(input.name.clone(), of_file)),
            None => drop(names.insert(input.name.clone(), starts[position - positions.len()])),
        }
    }
    let (source, starts) = (source.clone(), names);
    Ok(Box::new(CarryingModel {
        computed,
        source,
        network,
        plan,
        starts,
        parameters,
        results,
        limits,
    }))
}

/// Whether a network or one of its bodies has layers that indim does not compute.
fn has_opaque(network: &Network) -> bool {
    opaque_layers(network).contains(&true)
        || network.bodies.iter().any(|body| has_opaque(&body.network))
}

impl Plan {
    fn of(network: &Network) -> Plan {
        let layers = &network.layers;
        let is_carried = carried_layers(network);
        let is_end = |layer: &Layer| layer.outputs.is_empty() || layer.is("Assign");
        let ends = layers.iter().enumerate().filter(|(_, layer)| is_end(layer));
        let ends = ends.map(|(position, _)| position).collect();
        let sources = |position: usize| layers[position].sources.iter().map(|it| it.layer);
        let needed = indim_model::remaining_positions(layers.len(), ends, sources);
        let mut is_read = [vec![false; layers.len()], vec![false; layers.len()]];
        for (position, layer) in layers.iter().enumerate().filter(|(at, _)| needed[*at].is_some()) {
            let by = &mut is_read[usize::from(is_carried[position])];
            layer.sources.iter().for_each(|edge| by[edge.layer] = true);
        }
        let [by_computed, by_copied] = is_read;
        let (mut is_copied, mut is_computed) = (Vec::new(), Vec::new());
        for (position, layer) in layers.iter().enumerate() {
            let is_needed = needed[position].is_some();
            let (copied, computed) = match () {
                () if layer.is("Parameter") => (!by_computed[position], by_computed[position]),
                () if layer.is("Const") => (by_copied[position], by_computed[position]),
                () => (is_carried[position] && is_needed, !is_carried[position] && is_needed),
            };
            is_copied.push(copied);
            is_computed.push(computed);
        }
        let between = |readers: &[bool], others: &dyn Fn(usize) -> bool| {
            let mut seen = HashSet::new();
            let readers = layers.iter().zip(readers).filter(|(_, reads)| **reads);
            let edges = readers.flat_map(|(layer, _)| &layer.sources);
            let values = edges.map(|edge| (edge.layer, edge.output));
            values
                .filter(|value| others(value.0) && seen.insert(*value))
                .collect::<Vec<OutputIndex>>()
        };
        let starts = between(&is_computed, &|layer| !is_computed[layer]);
        let ends = between(&is_copied, &|layer| !is_copied[layer]);
        Plan { is_copied, is_computed, starts, ends }
    }

    /// The network of the computed layers, with the values at which it starts and ends. `positions` gets the
    /// position in the file of each layer.
    fn computed_network(
        &self,
        network: Network,
        positions: &mut Vec<usize>,
    ) -> Result<(Network, Vec<OutputIndex>, Vec<OutputIndex>), FormatError> {
        let Network { layers, bodies, .. } = network;
        let first_id = layers.iter().map(|layer| layer.id).max().unwrap_or(0);
        let mut ids = (first_id..u64::MAX).skip(1);
        positions.extend((0..layers.len()).filter(|&position| self.is_computed[position]));
        let new_position: HashMap<usize, usize> =
            positions.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let mut names: HashSet<String> = layers.iter().map(|layer| layer.name.clone()).collect();
        names.extend(layers.iter().flat_map(|it| &it.outputs).flat_map(|port| port.names.clone()));
        let mut unique = |layer: &Layer, output: usize| {
            let mut name = layer.value_name(output) + "_";
            while !names.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let mut start = |&(layer, output): &OutputIndex| {
            let layer: &Layer = &layers[layer];
            layer.as_parameter(ids.next().unwrap_or_default(), &unique(layer, output), output)
        };
        let mut added: Vec<Layer> = self.starts.iter().map(&mut start).collect();
        for &(layer, output) in &self.ends {
            let edge = Edge { layer, output, span: layers[layer].outputs[output].span.clone() };
            let id = ids.next().unwrap_or_default();
            let name = unique(&layers[layer], output);
            added.push(layers[layer].as_result(id, &name, edge));
        }
        let own = layers.into_iter().enumerate().filter(|(at, _)| self.is_computed[*at]);
        let mut computed: Vec<Layer> = own.map(|(_, layer)| layer).collect();
        computed.append(&mut added);
        for edge in computed.iter_mut().flat_map(|layer| &mut layer.sources) {
            let start = self.starts.iter().position(|it| *it == (edge.layer, edge.output));
            match start {
                Some(start) => (edge.layer, edge.output) = (positions.len() + start, 0),
                None => edge.layer = new_position.get(&edge.layer).copied().unwrap_or_default(),
            }
        }
        let kept = bodies.into_iter().filter_map(|mut body| {
            body.layer = *new_position.get(&body.layer)?;
            Some(body)
        });
        let (order, bodies) = (topological_order(&computed)?, kept.collect());
        let network = Network { layers: computed, order, bodies };
        Ok((network, self.starts.clone(), self.ends.clone()))
    }
}

/// For each layer, whether indim cannot compute or write it, or does not know the types that it reads.
fn carried_layers(network: &Network) -> Vec<bool> {
    let layers = &network.layers;
    let is_opaque = opaque_layers(network);
    let is_typed = |edge: &Edge| {
        let port = &layers[edge.layer].outputs[edge.output];
        let dtype = port.precision.as_deref().and_then(|name| element_type(name).ok().flatten());
        dtype.is_some() && port.sizes.iter().all(Option::is_some)
    };
    let mut is_carried = vec![false; layers.len()];
    let mut is_behind = vec![false; layers.len()];
    for &position in &network.order {
        let layer = &layers[position];
        let shapes = operation_of(layer).map_or(&[][..], |row| row.shape_operands);
        let mut shapes = shapes.iter().filter_map(|&at| layer.sources.get(at));
        let mut bodies = network.bodies[network.bodies_of(position)].iter();
        let reads_carried = |edge: &Edge| is_carried[edge.layer];
        is_carried[position] = is_opaque[position]
            || bodies.any(|body| has_opaque(&body.network))
            || NOT_WRITTEN.iter().any(|name| layer.is(name))
            || layer.sources.iter().any(|edge| reads_carried(edge) && !is_typed(edge))
            || shapes.any(|edge| is_behind[edge.layer])
            || (layer.is("Result") && layer.sources.iter().any(reads_carried));
        is_behind[position] =
            is_carried[position] || layer.sources.iter().any(|edge| is_behind[edge.layer]);
    }
    is_carried
}

/// The file that is assembled: texts of layers with the order of each, edges, and constants.
struct Assembly {
    layers: Vec<((u8, usize), String)>,
    edges: Vec<[u64; 4]>,
    constants: Vec<u8>,
}

impl CarryingModel {
    /// The identifiers of the copied layers, which follow those of the written ones.
    fn new_ids(&self, first: u64) -> HashMap<usize, u64> {
        let copied = (0..self.network.layers.len()).filter(|&at| self.plan.is_copied[at]);
        copied.zip(first..).collect()
    }

    fn assembled(&self, written: WrittenModel) -> Result<WrittenModel, FormatError> {
        let damaged = |_| {
            let problem = "the written network is not read".to_owned();
            FormatErrorKind::Damaged { problem }.without_location()
        };
        let content = String::from_utf8(written.content).map_err(|it| damaged(it.to_string()))?;
        let document = xml::parse(&content, &self.limits)?;
        let section = |name: &str| xml::child(document.root_element(), name);
        let own: Vec<Node<'_, '_>> =
            section("layers").into_iter().flat_map(|it| xml::children(it, "layer")).collect();
        let edges = section("edges").into_iter().flat_map(|it| xml::children(it, "edge"));
        let edges: Vec<[u64; 4]> = edges.map(edge_numbers).collect::<Result<_, _>>()?;
        let ids = self.new_ids(own.len() as u64);
        let (file, constants) = written.external_file.unwrap_or_default();
        let mut assembly = Assembly { layers: Vec::new(), edges: Vec::new(), constants };
        // The port that gives a value of a copied layer to the layers that read a written input.
        let mut replaced: HashMap<u64, [u64; 2]> = HashMap::new();
        let mut ends: HashMap<u64, OutputIndex> = HashMap::new();
        let mut results = self.results.iter();
        for (id, layer) in own.iter().enumerate() {
            let name = layer.attribute("name").unwrap_or_default();
            let order = match layer.attribute("type").unwrap_or_default() {
                "Parameter" => match (self.starts.get(name), self.parameters.get(name)) {
                    (Some(&value), _) => {
                        replaced.insert(id as u64, self.copied_port(value, &ids));
                        continue;
                    }
                    (None, position) => (0, position.copied().unwrap_or_default()),
                },
                "Result" => match results.next() {
                    Some(Err(value)) => {
                        ends.insert(id as u64, *value);
                        continue;
                    }
                    result => (3, result.and_then(|it| it.as_ref().ok()).copied().unwrap_or(id)),
                },
                _ => (1, id),
            };
            assembly.layers.push((order, content[layer.range()].to_owned()));
        }
        let mut sources: HashMap<OutputIndex, [u64; 2]> = HashMap::new();
        for [from, port, to, input] in edges {
            let from = replaced.get(&from).copied().unwrap_or([from, port]);
            match ends.get(&to) {
                Some(&value) => drop(sources.insert(value, from)),
                None => assembly.edges.push([from[0], from[1], to, input]),
            }
        }
        self.copy_layers(&mut assembly, &ids, &sources)?;
        let content = assembly.text(&content[..own_start(&content)]).into_bytes();
        let external_file = Some((file, assembly.constants));
        Ok(WrittenModel { content, external_file, carried: self.operators(), ..written })
    }

    /// The identifiers of a copied layer and of its port.
    fn copied_port(&self, (layer, output): OutputIndex, ids: &HashMap<usize, u64>) -> [u64; 2] {
        let port = self.network.layers[layer].outputs[output].id;
        [ids.get(&layer).copied().unwrap_or_default(), port]
    }

    fn copy_layers(
        &self,
        assembly: &mut Assembly,
        ids: &HashMap<usize, u64>,
        sources: &HashMap<OutputIndex, [u64; 2]>,
    ) -> Result<(), FormatError> {
        let text = text(&self.source)?;
        let document = xml::parse(text, &self.limits)?;
        let layers = xml::child(document.root_element(), "layers");
        let nodes = layers.into_iter().flat_map(|layers| xml::children(layers, "layer"));
        let mut file = None;
        for (position, node) in nodes.enumerate().filter(|(at, _)| ids.contains_key(at)) {
            let layer = &self.network.layers[position];
            let kind = match () {
                () if layer.is("Parameter") => 0,
                () if layer.is("Result") => 3,
                () => 2,
            };
            let id = ids[&position];
            let copy = copied_text(text, node, id, &mut |data| {
                let content = match &file {
                    Some(content) => Bytes::clone(content),
                    None => {
                        let content = constants::external_file(&self.source)
                            .map_err(|kind| kind.at(layer.location()))?;
                        file.insert(content).clone()
                    }
                };
                let bytes = constants::bytes_at(&content, data)
                    .map_err(|kind| kind.at(layer.location()))?;
                let offset = assembly.constants.len();
                assembly.constants.extend_from_slice(&bytes);
                Ok(offset)
            })?;
            assembly.layers.push(((kind, position), copy));
            for (port, edge) in layer.inputs.iter().zip(&layer.sources) {
                let value = (edge.layer, edge.output);
                let from = match ids.contains_key(&edge.layer) {
                    true => self.copied_port(value, ids),
                    false => sources.get(&value).copied().unwrap_or_default(),
                };
                assembly.edges.push([from[0], from[1], id, port.id]);
            }
        }
        Ok(())
    }

    /// The operations of the copied layers, without constants, inputs and outputs, with their number.
    fn operators(&self) -> Vec<(String, usize)> {
        let layers = self.network.layers.iter().zip(&self.plan.is_copied);
        let ends = ["Parameter", "Result", "Const"];
        let layers =
            layers.filter(|(layer, copied)| **copied && !ends.iter().any(|it| layer.is(it)));
        name_counts(layers.map(|(layer, _)| layer.operation.clone()))
    }
}

/// The byte offset of the first layer's line in a written file.
fn own_start(content: &str) -> usize {
    content.find("<layers>").map_or(0, |start| start + "<layers>".len())
}

/// The identifiers of an edge: the layer and port from which it leads, and those to which.
fn edge_numbers(edge: Node<'_, '_>) -> Result<[u64; 4], FormatError> {
    let number = |name: &str| xml::number(edge, name);
    Ok([number("from-layer")?, number("from-port")?, number("to-layer")?, number("to-port")?])
}

/// The text of a layer with another identifier, and with the offsets of its constants, also in its bodies,
/// that `moved` returns.
fn copied_text<'a, 't: 'a>(
    text: &str,
    node: Node<'a, 't>,
    id: u64,
    moved: &mut dyn FnMut(Node<'a, 't>) -> Result<usize, FormatError>,
) -> Result<String, FormatError> {
    let mut changes = Vec::new();
    changes.extend(node.attribute_node("id").map(|it| (it.range_value(), id.to_string())));
    let is_constant = |layer: &Node<'_, '_>| {
        layer.attribute("type").is_some_and(|name| name.eq_ignore_ascii_case("Const"))
    };
    for layer in node.descendants().filter(is_constant) {
        let data = xml::child(layer, "data");
        let Some(data) = data else { continue };
        if let Some(offset) = data.attribute_node("offset") {
            changes.push((offset.range_value(), moved(data)?.to_string()));
        }
    }
    changes.sort_by_key(|(range, _)| range.start);
    let (mut copy, mut position) = (String::new(), node.range().start);
    for (range, new) in changes {
        copy += &text[position..range.start];
        copy += &new;
        position = range.end;
    }
    Ok(copy + &text[position..node.range().end])
}

impl Assembly {
    fn text(&mut self, header: &str) -> String {
        self.layers.sort_by_key(|(order, _)| *order);
        let mut text = format!("{header}\n");
        for (_, layer) in &self.layers {
            text += &format!("\t\t{layer}\n");
        }
        text += "\t</layers>\n\t<edges>\n";
        for [from, port, to, input] in &self.edges {
            text += &format!(
                "\t\t<edge from-layer=\"{from}\" from-port=\"{port}\" to-layer=\"{to}\" \
                 to-port=\"{input}\" />\n"
            );
        }
        text + "\t</edges>\n\t<rt_info />\n</net>\n"
    }
}

impl Model for CarryingModel {
    fn inputs(&self) -> &[ModelInput] {
        &self.computed.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.computed.outputs()
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        self.computed.build(inputs)
    }

    fn carries(&self) -> bool {
        true
    }

    fn complete(
        &self,
        written: WrittenModel,
        _: &[InputBinding],
    ) -> Result<WrittenModel, FormatError> {
        self.assembled(written)
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
