//! The layers of a file in topological order.

use core::ops::Range;
use std::collections::{HashMap, VecDeque};

use roxmltree::Node;

use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};

use crate::layer::{Edge, Layer};
use crate::port_map::PortMap;
use crate::xml;

/// Supported versions of the format.
const VERSIONS: [u64; 2] = [10, 11];

/// The layers after all edges have been matched to ports.
#[derive(Debug)]
pub(super) struct Network {
    /// In the order of the file.
    pub(super) layers: Vec<Layer>,
    /// Positions in `layers`; each one follows its sources.
    pub(super) order: Vec<usize>,
    /// The bodies of its loops and branches, in the order of the layers.
    pub(super) bodies: Vec<Body>,
}

/// A network within a layer: the body of a `TensorIterator` or `Loop`, a branch of an `If`.
#[derive(Debug)]
pub(super) struct Body {
    /// Position of the layer.
    pub(super) layer: usize,
    /// The element of the file: `body`, `then_body`, `else_body`.
    pub(super) name: &'static str,
    pub(super) network: Network,
    pub(super) ports: PortMap,
}

/// The XML elements with a body of a layer, each with the element of its port map.
const BODIES: [(&str, &str); 3] =
    [("body", "port_map"), ("then_body", "then_port_map"), ("else_body", "else_port_map")];

impl Network {
    /// # Errors
    /// Returns the errors of the XML, and errors within and between layers.
    pub(super) fn read(text: &str, limits: &FormatLimits) -> Result<Network, FormatError> {
        let document = xml::parse(text, limits)?;
        let net = document.root_element();
        check_version(net)?;
        Network::of(net, limits)
    }

    /// The recursion is bounded by the limit on the depth of the XML.
    fn of(net: Node<'_, '_>, limits: &FormatLimits) -> Result<Network, FormatError> {
        let mut layers = read_layers(section(net, "layers")?, limits)?;
        connect(&mut layers, section(net, "edges")?)?;
        let order = topological_order(&layers)?;
        let mut bodies = Vec::new();
        for (layer, node) in xml::children(section(net, "layers")?, "layer").enumerate() {
            for (name, ports) in BODIES {
                for body in xml::children(node, name) {
                    let network = Network::of(body, limits)?;
                    let ports = PortMap::read(node, ports, &network.layers)?;
                    bodies.push(Body { layer, name, network, ports });
                }
            }
        }
        Ok(Network { layers, order, bodies })
    }

    /// The range of the bodies of a layer in `bodies`.
    pub(super) fn bodies_of(&self, layer: usize) -> Range<usize> {
        let first = |layer: usize| self.bodies.partition_point(|body| body.layer < layer);
        first(layer)..first(layer + 1)
    }
}

fn check_version(net: Node<'_, '_>) -> Result<(), FormatError> {
    let location = || xml::start_tag(&net);
    if !net.has_tag_name("net") {
        let expected = "`<net`, as the IR of OpenVINO begins".to_owned();
        return Err(FormatErrorKind::Unexpected { expected }.in_text(location()));
    }
    let version = xml::number(net, "version")?;
    if VERSIONS.contains(&version) {
        return Ok(());
    }
    let what = format!("IR of version {version}: versions 10 and 11 are read; this one is");
    Err(FormatErrorKind::Unsupported { what }.in_text(location()))
}

fn section<'a, 't>(net: Node<'a, 't>, name: &str) -> Result<Node<'a, 't>, FormatError> {
    let missing = || {
        let expected = format!("`<{name}>` in the network");
        FormatErrorKind::Unexpected { expected }.in_text(xml::start_tag(&net))
    };
    xml::child(net, name).ok_or_else(missing)
}

fn read_layers(section: Node<'_, '_>, limits: &FormatLimits) -> Result<Vec<Layer>, FormatError> {
    let mut layers = Vec::new();
    for node in xml::children(section, "layer") {
        if layers.len() == limits.operations {
            let kind = FormatErrorKind::Limit { what: "operations", limit: limits.operations };
            return Err(kind.in_text(xml::start_tag(&node)));
        }
        layers.push(Layer::read(node, limits)?);
    }
    Ok(layers)
}

/// Assigns a source to each input of each layer.
fn connect(layers: &mut [Layer], section: Node<'_, '_>) -> Result<(), FormatError> {
    let ports = Ports::of(layers)?;
    let mut sources: Vec<Vec<Option<Edge>>> =
        layers.iter().map(|layer| vec![None; layer.inputs.len()]).collect();
    for node in xml::children(section, "edge") {
        let span = xml::start_tag(&node);
        let from = ports.find(&ports.outputs, node, ["from-layer", "from-port"])?;
        let to = ports.find(&ports.inputs, node, ["to-layer", "to-port"])?;
        let edge = Edge { layer: from.0, output: from.1, span: span.clone() };
        if sources[to.0][to.1].replace(edge).is_some() {
            let name = format!("layer {}, port {}", layers[to.0].id, layers[to.0].inputs[to.1].id);
            return Err(FormatErrorKind::Duplicate { what: "edge to", name }.in_text(span));
        }
    }
    for (layer, sources) in layers.iter_mut().zip(sources) {
        if let Some(input) = sources.iter().position(Option::is_none) {
            let port = &layer.inputs[input];
            let expected = format!("an edge that leads to port {}", port.id);
            return Err(FormatErrorKind::Unexpected { expected }.at(layer.port_location(port)));
        }
        layer.sources = sources.into_iter().flatten().collect();
    }
    Ok(())
}

/// Positions of layers by their identifier, and positions of their ports by the position of the layer
/// and the identifier of the port.
struct Ports {
    layers: HashMap<u64, usize>,
    inputs: HashMap<(usize, u64), usize>,
    outputs: HashMap<(usize, u64), usize>,
}

impl Ports {
    fn of(layers: &[Layer]) -> Result<Ports, FormatError> {
        let mut ports =
            Ports { layers: HashMap::new(), inputs: HashMap::new(), outputs: HashMap::new() };
        for (position, layer) in layers.iter().enumerate() {
            if ports.layers.insert(layer.id, position).is_some() {
                let name = layer.id.to_string();
                return Err(FormatErrorKind::Duplicate { what: "layer", name }.at(layer.location()));
            }
            let sides = [(&layer.inputs, &mut ports.inputs), (&layer.outputs, &mut ports.outputs)];
            for (side, known) in sides {
                for (index, port) in side.iter().enumerate() {
                    if known.insert((position, port.id), index).is_some() {
                        let (what, name) = ("port", port.id.to_string());
                        let kind = FormatErrorKind::Duplicate { what, name };
                        return Err(kind.at(layer.port_location(port)));
                    }
                }
            }
        }
        Ok(ports)
    }

    /// The positions of the layer and of the port at one end of an edge.
    fn find(
        &self,
        side: &HashMap<(usize, u64), usize>,
        edge: Node<'_, '_>,
        [layer, port]: [&str; 2],
    ) -> Result<(usize, usize), FormatError> {
        let undefined = |what, number: u64| {
            let name = number.to_string();
            FormatErrorKind::Undefined { what, name }.in_text(xml::start_tag(&edge))
        };
        let (layer, port) = (xml::number(edge, layer)?, xml::number(edge, port)?);
        let Some(&position) = self.layers.get(&layer) else {
            return Err(undefined("layer", layer));
        };
        match side.get(&(position, port)) {
            Some(&index) => Ok((position, index)),
            None => Err(undefined("port", port)),
        }
    }
}

/// Positions of the layers in topological order (Kahn's algorithm). Layers that become ready at the same
/// time stay in the order of the file.
pub(super) fn topological_order(layers: &[Layer]) -> Result<Vec<usize>, FormatError> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); layers.len()];
    let mut missing_sources: Vec<usize> = Vec::with_capacity(layers.len());
    for (position, layer) in layers.iter().enumerate() {
        missing_sources.push(layer.sources.len());
        layer.sources.iter().for_each(|source| users[source.layer].push(position));
    }
    let mut ready: VecDeque<usize> =
        (0..layers.len()).filter(|&l| missing_sources[l] == 0).collect();
    let mut order = Vec::with_capacity(layers.len());
    while let Some(position) = ready.pop_front() {
        order.push(position);
        for &user in &users[position] {
            missing_sources[user] -= 1;
            if missing_sources[user] == 0 {
                ready.push_back(user);
            }
        }
    }
    match missing_sources.iter().position(|&count| count > 0) {
        Some(waiting_layer) => Err(cycle_error(layers, &missing_sources, waiting_layer)),
        None => Ok(order),
    }
}

/// The error of a cycle, at one of its edges. Each waiting layer has a waiting source, so the walk from
/// source to source ends in a cycle.
fn cycle_error(layers: &[Layer], missing_sources: &[usize], waiting_layer: usize) -> FormatError {
    let missing_source = |layer: usize| {
        layers[layer].sources.iter().find(|source| missing_sources[source.layer] > 0)
    };
    let (mut seen, mut current) = (vec![false; layers.len()], waiting_layer);
    while let Some(source) = missing_source(current) {
        if seen[source.layer] || source.layer == current {
            let layer = &layers[source.layer];
            let location = Location {
                described: Some(layer.described()),
                ..Location::text(source.span.clone())
            };
            return FormatErrorKind::Cycle { name: layer.name.clone() }.at(location);
        }
        seen[current] = true;
        current = source.layer;
    }
    FormatErrorKind::Cycle { name: layers[current].name.clone() }.at(layers[current].location())
}
