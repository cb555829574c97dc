//! Every layer of a network with the types of its ports, also layers that indim does not compute.

use std::sync::Arc;

use indim_graph::terminal::shown;
use indim_model::outline::{
    NodeRole, Outline, OutlineOptions, StatedNode, SymbolicSize, ValueIndex, ValueType,
};
use indim_shape::AnyRule;

use crate::element_type::element_type;
use crate::layer::{Layer, Port};
use crate::network::Network;
use crate::operation::{Lowering, operation_of};
use crate::survey::opaque;

/// Characters of one attribute as text, and their number.
const MAX_ATTRIBUTE: usize = 60;
const MAX_ATTRIBUTES: usize = 8;

/// The outline of a network.
pub(super) fn outline(network: &Network, options: &OutlineOptions) -> Outline {
    let mut outline = Outline::default();
    let is_opaque = opaque(network);
    let mut values: Vec<Vec<ValueIndex>> = vec![Vec::new(); network.layers.len()];
    for &position in &network.order {
        let layer = &network.layers[position];
        let operands =
            layer.sources.iter().map(|source| values[source.layer].get(source.output).copied());
        let operands: Vec<Option<ValueIndex>> = operands.collect();
        if layer.is("Result") {
            outline.outputs.extend(operands.into_iter().flatten());
            continue;
        }
        let results: Vec<(String, ValueType)> = layer
            .outputs
            .iter()
            .enumerate()
            .map(|(at, port)| result(layer, (at, port), options))
            .collect();
        if layer.is("Parameter") {
            let added =
                results.into_iter().map(|(name, stated)| outline.add_value(name, stated, false));
            values[position] = added.collect();
            outline.inputs.extend(values[position].iter().copied());
            continue;
        }
        let node = node(layer, operands, results);
        values[position] = outline.add_node(StatedNode { is_opaque: is_opaque[position], ..node });
    }
    outline
}

fn node(
    layer: &Layer,
    operands: Vec<Option<ValueIndex>>,
    results: Vec<(String, ValueType)>,
) -> StatedNode {
    let lowering = operation_of(layer).ok().map(|operation| operation.meaning);
    let shortened = |text: &str| shown(&text.chars().take(MAX_ATTRIBUTE).collect::<String>());
    let attributes = layer.attributes.iter().take(MAX_ATTRIBUTES);
    let is_broadcast = layer.attribute("auto_broadcast").is_some()
        || matches!(
            lowering,
            Some(
                Lowering::Arithmetic(_)
                    | Lowering::Comparison(_)
                    | Lowering::Logical(_)
                    | Lowering::Bitwise(_)
            )
        );
    let rule = layer.rule().ok().filter(|_| is_broadcast && operands.len() > 1).map(AnyRule::from);
    StatedNode {
        name: layer.name.clone(),
        operator: layer.operation.clone(),
        place: layer.data_place(),
        role: role(layer, lowering, rule.is_some()),
        operands,
        results,
        attributes: attributes.map(|(name, text)| (shown(name), shortened(text))).collect(),
        rule,
        ..StatedNode::default()
    }
}

fn role(layer: &Layer, lowering: Option<Lowering>, is_broadcast: bool) -> NodeRole {
    let is_any = |names: &[&str]| names.iter().any(|name| layer.is(name));
    match lowering {
        _ if is_any(&["Const", "Range"]) => NodeRole::Constant,
        _ if is_any(&["Broadcast", "Tile"]) => NodeRole::Expand,
        _ if is_any(&["Reshape", "Squeeze", "Unsqueeze"]) => NodeRole::Reshape,
        _ if is_any(&[
            "Convolution",
            "GroupConvolution",
            "ConvolutionBackpropData",
            "MaxPool",
            "AvgPool",
        ]) =>
        {
            NodeRole::Channels(1)
        }
        Some(Lowering::Comparison(_) | Lowering::Logical(_)) => NodeRole::Predicate,
        _ if is_broadcast => NodeRole::Elementwise,
        Some(_) if layer.inputs.len() == 1 && has_one_shape(layer) => NodeRole::SameShape,
        _ => NodeRole::Other,
    }
}

/// Whether the layer gives the shape of its operand and is no permutation.
fn has_one_shape(layer: &Layer) -> bool {
    let (input, output) = (layer.inputs.first(), layer.outputs.first());
    !layer.is("Transpose")
        && input.zip(output).is_some_and(|(input, output)| input.sizes == output.sizes)
}

/// Name and type of a result. The first name of the port, else the layer's, is its name.
fn result(
    layer: &Layer,
    (position, port): (usize, &Port),
    options: &OutlineOptions,
) -> (String, ValueType) {
    let name = port.names.first().cloned().unwrap_or_else(|| layer.value_name(position));
    let stated = port.precision.as_deref().or_else(|| layer.attribute("element_type"));
    let element = stated.and_then(|stated| match element_type(stated.trim()) {
        Ok(dtype) => dtype.map(|dtype| Arc::<str>::from(dtype.name())),
        Err(_) => Some(Arc::from(shown(&stated.to_lowercase()).as_str())),
    });
    let size = |(axis, size): (usize, &Option<usize>)| match size {
        Some(size) => SymbolicSize::known(i64::try_from(*size).unwrap_or(i64::MAX)),
        None => SymbolicSize::atom(&format!("{name}[{axis}]")),
    };
    let sizes = port.sizes.iter().enumerate().map(size).collect();
    let stated = ValueType { element, sizes: Some(sizes) };
    let declared = options.declared.iter().find(|(known, _)| *known == name);
    let value_type = declared.map_or(stated, |(_, declared)| declared.clone());
    (name, value_type)
}
