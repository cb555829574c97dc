//! Checks before the build: unsupported operations, and operands that must be known.

use std::collections::HashSet;

use indim_model::{FormatError, FormatErrorKind, UnsupportedOperations};

use crate::element_type::element_type;
use crate::layer::{Edge, Layer};
use crate::network::{Body, Network};
use crate::operation::{Lowering, MissingReason, Operation, operation_of};

/// The rows of the table of operations (`operation.rs`) of the layers of a network.
pub(super) struct NetworkRows {
    /// One row for each layer.
    pub(super) operations: Vec<&'static Operation>,
    /// The rows of each body.
    pub(super) bodies: Vec<NetworkRows>,
}

/// The result of the checks: the table rows of the layers of a file, and its shape inputs.
pub(super) struct Survey {
    pub(super) rows: NetworkRows,
    /// Whether each layer is an input whose elements determine shapes.
    pub(super) is_shape: Vec<bool>,
    /// Whether a loop or branch computes a value that determines shapes.
    pub(super) has_computed_shape: bool,
}

impl Survey {
    /// # Errors
    /// `unsupported-op`, with all unsupported operations; then `wrong-count`, `depends-on-data`.
    pub(super) fn of(network: &Network) -> Result<Survey, FormatError> {
        let mut unsupported = UnsupportedOperations::default();
        count_unsupported(network, &mut unsupported);
        unsupported.check()?;
        let operations = operations(network);
        let (is_shape, has_computed_shape) = shape_inputs(network, &operations);
        let is_known = layers_with_known_results(network, &operations, &is_shape);
        for (layer, operation) in network.layers.iter().zip(&operations) {
            check_count(layer, operation)?;
            check_shape_operands(network, layer, operation, &is_known)?;
        }
        Ok(Survey {
            rows: NetworkRows { operations, bodies: NetworkRows::bodies(network)? },
            is_shape,
            has_computed_shape,
        })
    }
}

impl NetworkRows {
    /// The rows of a network of supported operations. The recursion is bounded by the limit on the depth of
    /// the XML.
    ///
    /// # Errors
    /// `wrong-count`.
    fn of(network: &Network) -> Result<NetworkRows, FormatError> {
        let operations = operations(network);
        for (layer, operation) in network.layers.iter().zip(&operations) {
            check_count(layer, operation)?;
        }
        Ok(NetworkRows { operations, bodies: NetworkRows::bodies(network)? })
    }

    /// The rows of the bodies of a network.
    fn bodies(network: &Network) -> Result<Vec<NetworkRows>, FormatError> {
        network.bodies.iter().map(|body| NetworkRows::of(&body.network)).collect()
    }
}

/// Counts the unsupported operations of a network and of its bodies.
fn count_unsupported(network: &Network, unsupported: &mut UnsupportedOperations) {
    rows(network, unsupported);
    for layer in &network.layers {
        if let Some(reason) = refusal(layer) {
            unsupported.add(&layer.operation, Some(reason), layer.location());
        }
    }
    network.bodies.iter().for_each(|body| count_unsupported(&body.network, unsupported));
}

/// For each layer, whether indim has no lowering for it.
pub(super) fn opaque_layers(network: &Network) -> Vec<bool> {
    let rows = rows(network, &mut UnsupportedOperations::default());
    let is_opaque = |(layer, row): (&Layer, &Option<_>)| row.is_none() || refusal(layer).is_some();
    network.layers.iter().zip(&rows).map(is_opaque).collect()
}

/// The rows of a network of supported operations.
fn operations(network: &Network) -> Vec<&'static Operation> {
    rows(network, &mut UnsupportedOperations::default()).into_iter().flatten().collect()
}

/// The table row of each layer. Layers without a row are counted in `unsupported`.
fn rows(
    network: &Network,
    unsupported: &mut UnsupportedOperations,
) -> Vec<Option<&'static Operation>> {
    network.layers.iter().map(|layer| row(layer, unsupported)).collect()
}

fn row(layer: &Layer, unsupported: &mut UnsupportedOperations) -> Option<&'static Operation> {
    let reason = match operation_of(layer) {
        Ok(operation) => return Some(operation),
        Err(MissingReason::Operation) => None,
        Err(MissingReason::Since(since)) => {
            Some(format!("{} has none, it came with opset{since}", layer.version))
        }
        Err(MissingReason::Set) => Some(format!("of the operation set `{}`", layer.version)),
    };
    unsupported.add(&layer.operation, reason, layer.location());
    None
}

/// The reason why a layer of a supported operation is unsupported: its mode or types.
fn refusal(layer: &Layer) -> Option<String> {
    let is_area = layer.is("Interpolate") && layer.word("mode", "") == "area";
    is_area.then(|| "in the mode `area`".to_owned())
}

/// For each layer, whether it is an integer input on which a shape operand or the size of a concatenated
/// loop output depends, or another input that is a shape operand. Also whether a loop or branch lies between.
fn shape_inputs(network: &Network, operations: &[&Operation]) -> (Vec<bool>, bool) {
    let mut pending: Vec<usize> = Vec::new();
    for (layer, operation) in network.layers.iter().zip(operations) {
        pending.extend(
            operation
                .shape_operands
                .iter()
                .filter_map(|&shape| Some(layer.sources.get(shape)?.layer)),
        );
    }
    // The trip count determines the size of an output that concatenates the results of all steps.
    let edges = network.layers.iter().flat_map(|layer| &layer.sources);
    let edges = edges.filter(|_| !network.bodies.is_empty());
    let port = |edge: &Edge| (edge.layer, network.layers[edge.layer].outputs[edge.output].id);
    let read: HashSet<(usize, u64)> = edges.map(port).collect();
    let joins_parts = |body: &&Body| {
        let is_read = |id| read.contains(&(body.layer, id));
        let mut joined_outputs = body.ports.outputs.iter().filter(|port| port.parts.is_some());
        joined_outputs.any(|port| port.external.is_some_and(is_read))
    };
    for body in network.bodies.iter().filter(joins_parts) {
        let layer = &network.layers[body.layer];
        let trips = layer.sources.first().filter(|_| layer.is("Loop"));
        pending.extend(trips.map(|source| source.layer));
    }
    let direct: HashSet<usize> = pending.iter().copied().collect();
    let mut has_computed_shape = false;
    let mut is_seen = vec![false; network.layers.len()];
    let mut is_shape = vec![false; network.layers.len()];
    while let Some(position) = pending.pop() {
        if core::mem::replace(&mut is_seen[position], true) {
            continue;
        }
        let layer = &network.layers[position];
        match operations[position].lowering {
            Lowering::Parameter => {
                is_shape[position] = is_of_integers(layer) || direct.contains(&position);
            }
            Lowering::Shape(_) => {}
            lowering => {
                has_computed_shape |= matches!(lowering, Lowering::Control);
                pending.extend(layer.sources.iter().map(|source| source.layer));
            }
        }
    }
    (is_shape, has_computed_shape)
}

fn is_of_integers(layer: &Layer) -> bool {
    let dtype = layer.attribute("element_type").and_then(|name| element_type(name).ok().flatten());
    dtype.is_some_and(|dtype| dtype.is_integer())
}

/// Whether the results of each layer are known at build time.
fn layers_with_known_results(
    network: &Network,
    operations: &[&Operation],
    is_shape: &[bool],
) -> Vec<bool> {
    let mut is_known = vec![false; network.layers.len()];
    for &position in &network.order {
        let sources = &network.layers[position].sources;
        is_known[position] = match operations[position].lowering {
            Lowering::Constant | Lowering::Shape(_) => true,
            Lowering::Parameter => is_shape[position],
            _ => !sources.is_empty() && sources.iter().all(|source| is_known[source.layer]),
        };
    }
    is_known
}

fn check_count(layer: &Layer, operation: &Operation) -> Result<(), FormatError> {
    let given = layer.sources.len();
    if operation.operands.contains(&given) {
        return Ok(());
    }
    let (min, max) = (operation.operands.start(), operation.operands.end());
    let expected = match (min == max, *max == usize::MAX) {
        (true, _) => min.to_string(),
        (false, true) => format!("{min} or more"),
        (false, false) => format!("{min} to {max}"),
    };
    let kind = FormatErrorKind::Count { what: "operands", expected, given };
    Err(kind.at(layer.location()))
}

/// Checks that the operands that determine shapes are known at build time.
fn check_shape_operands(
    network: &Network,
    layer: &Layer,
    operation: &Operation,
    is_known: &[bool],
) -> Result<(), FormatError> {
    for &shape in operation.shape_operands {
        let Some(source) = layer.sources.get(shape) else { continue };
        if !is_known[source.layer] {
            let chain = unknown_chain(network, source.layer, is_known);
            return Err(FormatErrorKind::DependsOnData { chain }.at(layer.location()));
        }
    }
    Ok(())
}

/// The unknown layers on the way from an input to the layer `from`, the last `MAX_SHOWN` of them.
fn unknown_chain(network: &Network, from: usize, is_known: &[bool]) -> Vec<String> {
    /// Maximum number of layers that an error lists; more do not help the user.
    const MAX_SHOWN: usize = 8;
    let mut chain = vec![network.layers[from].described()];
    let mut current = from;
    while chain.len() < MAX_SHOWN
        && let Some(source) =
            network.layers[current].sources.iter().find(|source| !is_known[source.layer])
    {
        current = source.layer;
        chain.insert(0, network.layers[current].described());
    }
    chain
}
