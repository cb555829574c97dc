//! Every layer of a network with the types of its ports, also layers that indim does not compute.

use std::sync::Arc;

use indim_builder::GraphBuilder;
use indim_graph::Array;
use indim_graph::terminal::printable;
use indim_model::outline::{
    Contradiction, NodeRole, Outline, OutlineOptions, StatedNode, SymbolicSize, ValueIndex,
    ValueType,
};
use indim_model::shape_values::KnownValue;
use indim_model::{DeclaredSize, FormatErrorKind, FormatLimits, RuleNote};
use indim_ops::{ArrayType, DType};
use indim_shape::{AnyRule, Diagnostic, ErrorCode, TargetRule};

use crate::attributes::PDPD_AXIS_OF_BROADCAST;
use crate::axis_pairs::axis_pairs;
use crate::call::Call;
use crate::constants::ShortLists;
use crate::element_type::element_type;
use crate::layer::{Layer, Port};
use crate::model::declared;
use crate::network::{Body, Network};
use crate::operation::{Lowering, operation_of};
use crate::shape_lists::{LayerOperands, ShapeLists};
use crate::size_sources::size_sources;
use crate::survey::opaque_layers;

/// Maximum characters of one attribute as text.
const MAX_ATTRIBUTE: usize = 60;
/// Maximum attributes of one layer as text.
const MAX_ATTRIBUTES: usize = 8;

/// The outline of a network.
pub(super) fn outline(
    network: &Network,
    options: &OutlineOptions,
    lists: &ShortLists<'_>,
) -> Outline {
    let mut outline = Outline::default();
    let region = Arc::from("");
    (outline.inputs, outline.outputs) = walk(&mut outline, network, (&region, options), lists);
    outline
}

/// Adds the layers of a network; returns its inputs and outputs. The recursion is bounded by the limit on the
/// depth of the XML.
fn walk(
    outline: &mut Outline,
    network: &Network,
    (region, options): (&Arc<str>, &OutlineOptions),
    lists: &ShortLists<'_>,
) -> (Vec<ValueIndex>, Vec<ValueIndex>) {
    let is_opaque = opaque_layers(network);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut values: Vec<Vec<ValueIndex>> = vec![Vec::new(); network.layers.len()];
    let mut shapes = ShapeLists::default();
    for &position in &network.order {
        let layer = &network.layers[position];
        let operands =
            layer.sources.iter().map(|source| values[source.layer].get(source.output).copied());
        let operands: Vec<Option<ValueIndex>> = operands.collect();
        if layer.is("Result") {
            outputs.extend(operands.into_iter().flatten());
            continue;
        }
        let bodies = &network.bodies[network.bodies_of(position)];
        let first_node = outline.nodes.len();
        for body in bodies {
            let path = format!("{}/{}.{}", path_end(region), printable(&layer.name), body.name);
            walk(outline, &body.network, (&Arc::from(path.as_str()), options), lists);
        }
        let ports = layer.outputs.iter().enumerate();
        let mut results: Vec<(String, ValueType)> =
            ports.map(|port| result(layer, port, (region, options))).collect();
        if layer.is("Parameter") {
            values[position] = add_parameter(outline, layer, results);
            for &value in &values[position] {
                outline.values[value].is_internal = !region.is_empty();
            }
            inputs.extend(values[position].iter().copied());
            continue;
        }
        // Size sources read constants from the external file, so only layers with an open size look for
        // them.
        let size_sources = match results.iter().any(|(_, stated)| stated.has_open_size()) {
            true => size_sources(network, position, lists),
            false => Vec::new(),
        };
        let at = LayerOperands { network, layer, operands: &operands, lists };
        if results.iter().any(|(_, stated)| stated.has_open_size())
            && let Some(sizes) = shapes.sizes(outline, &at)
        {
            results[0].1 = results[0].1.clone().with_open_sizes(&sizes);
        }
        let axes = layer.is("Broadcast").then(|| lists.read(network, layer, 2)).flatten();
        let problem = (!is_opaque[position])
            .then(|| problem(outline, (network, layer), &operands, lists))
            .flatten();
        let node = node(layer, operands.clone(), results, axes);
        values[position] = outline.add_node(StatedNode {
            size_sources,
            axis_pairs: axis_pairs(network, layer),
            problem,
            is_opaque: is_opaque[position],
            region: region.clone(),
            bodies: first_node..outline.nodes.len(),
            shape_operands: shape_operands(layer, bodies),
            ..node
        });
        if let Some(&result) = values[position].first() {
            shapes.record(outline, &at, result);
        }
    }
    (inputs, outputs)
}

/// Adds the values of a `Parameter`. Its attribute `shape` bounds the sizes that its port leaves open.
fn add_parameter(
    outline: &mut Outline,
    layer: &Layer,
    results: Vec<(String, ValueType)>,
) -> Vec<ValueIndex> {
    let declared = declared(layer, &FormatLimits::default()).ok();
    let mut values = Vec::with_capacity(results.len());
    for (name, mut stated) in results {
        let value = outline.values.len();
        if let Some(sizes) = declared.as_ref().and_then(|declared| declared.sizes.as_ref()) {
            if let Some(message) = contradiction(&name, &stated, sizes) {
                let location = layer.data_location();
                outline.contradictions.push(Contradiction { value, node: None, location, message });
            }
            let open =
                stated.sizes.iter_mut().flatten().zip(sizes).filter(|(size, _)| size.is_open());
            for (size, declared) in open {
                if let DeclaredSize::Range { min, max } = declared {
                    *size = size.within(*min, *max);
                }
            }
        }
        values.push(outline.add_value(name, stated, false));
    }
    values
}

/// The difference between the attribute `shape` of a `Parameter` and the sizes of its port, if there is one.
fn contradiction(name: &str, stated: &ValueType, declared: &[DeclaredSize]) -> Option<String> {
    // A port without sizes can be one of unknown rank.
    let sizes = stated.sizes.as_ref().filter(|sizes| !sizes.is_empty())?;
    let differs = |(size, declared): (&SymbolicSize, &DeclaredSize)| {
        let declared = SymbolicSize::declared(declared, || "?".to_owned());
        !size.may_be_equal(&declared, 0)
    };
    let fits = sizes.len() == declared.len() && !sizes.iter().zip(declared).any(differs);
    let name = printable(name);
    let shape: Vec<String> = declared.iter().map(DeclaredSize::to_string).collect();
    let shape = shape.join(", ");
    (!fits).then(|| {
        format!("the attribute `shape` of {name} is [{shape}], its port has the type {stated}")
    })
}

/// Positions of the operands whose elements must be known at build time. The trip count and the condition
/// of a `Loop` determine the size of an output that joins the results of its steps.
fn shape_operands(layer: &Layer, bodies: &[Body]) -> &'static [usize] {
    let joins = |body: &Body| body.ports.outputs.iter().any(|port| port.parts.is_some());
    match operation_of(layer) {
        Ok(_) if layer.is("Loop") && bodies.iter().any(joins) => &[0, 1],
        Ok(operation) => operation.shape_operands,
        Err(_) => &[],
    }
}

/// The last 200 bytes of a region path, because nested regions make paths long.
fn path_end(path: &str) -> &str {
    let mut start = path.len().saturating_sub(200);
    while !path.is_char_boundary(start) {
        start += 1;
    }
    &path[start..]
}

/// The node of a layer; `axes` are those of a `Broadcast` in the mode `explicit`.
fn node(
    layer: &Layer,
    operands: Vec<Option<ValueIndex>>,
    results: Vec<(String, ValueType)>,
    axes: Option<Vec<i64>>,
) -> StatedNode {
    let lowering = operation_of(layer).ok().map(|operation| operation.lowering);
    let shortened = |text: &str| printable(&text.chars().take(MAX_ATTRIBUTE).collect::<String>());
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
    let is_broadcast = rule.is_some();
    let target = layer.is("Broadcast").then(|| known_sizes(&results)).flatten();
    let rule = rule.or_else(|| target_rule(layer, axes).filter(|_| target.is_some()));
    // A target rule applies to operand 0. The other operands of a `Broadcast` are its target shape and
    // its axes.
    let rule = rule.filter(|rule| !matches!(rule, AnyRule::Target(_)) || !operands.is_empty());
    StatedNode {
        name: layer.name.clone(),
        operator: layer.operation.clone(),
        location: layer.data_location(),
        role: role(layer, lowering, is_broadcast),
        operands,
        results,
        attributes: attributes.map(|(name, text)| (printable(name), shortened(text))).collect(),
        reads_types: matches!(lowering, Some(Lowering::Shape(_))),
        rule,
        target,
        ..StatedNode::default()
    }
}

/// The error of a layer on arrays of known types: that of its lowering, or another type than a port states.
/// `None` also if an operand that determines shapes or axes is no short constant list.
fn problem(
    outline: &Outline,
    (network, layer): (&Network, &Layer),
    operands: &[Option<ValueIndex>],
    lists: &ShortLists<'_>,
) -> Option<Diagnostic> {
    let operation = operation_of(layer).ok()?;
    let types = outline.array_types(operands)?;
    let (builder, rule) = (GraphBuilder::new(), RuleNote::default());
    let mut known: Vec<KnownValue> = Vec::with_capacity(types.len());
    for (position, (name, ArrayType { dtype, shape })) in types.into_iter().enumerate() {
        let before = operands[..position].iter().position(|&other| other == operands[position]);
        let parameter = |name: &str| builder.parameter(name, dtype, shape.clone());
        known.push(match before {
            Some(before) => known[before].clone(),
            None if operation.shape_operands.contains(&position) => {
                let elements = lists.read(network, layer, position);
                let elements = elements.filter(|_| dtype == DType::I64)?;
                KnownValue::constant(&builder, Array::new(shape.clone(), elements).ok()?)
            }
            // Ports of several layers can have the same name.
            None => {
                let value = parameter(&name);
                value.or_else(|_| parameter(&format!("operand {position}"))).ok()?.into()
            }
        });
    }
    let limits = FormatLimits::default();
    let is_complete = operation.operands.contains(&known.len());
    let (builder, rule, limits) = (&builder, &rule, &limits);
    let call = Call { builder, layer, operands: &known, limits, rule, reads_second: false };
    let checked = || {
        for (value, port) in operation.lower(&call)?.iter().zip(&layer.outputs) {
            check_shape(port, &value.array_type()?)?;
        }
        Ok::<(), FormatErrorKind>(())
    };
    let is_unsupported = |kind: &FormatErrorKind| {
        kind.clone().without_location().is_out_of_scope()
            || matches!(kind, FormatErrorKind::Limit { .. })
    };
    let error = is_complete.then(checked)?.err();
    let problem = error.filter(|kind| !is_unsupported(kind)).map(FormatErrorKind::diagnostic);
    // OpenVINO gives the smallest or the largest number for the maximum or minimum of nothing.
    problem.filter(|problem| problem.code != ErrorCode::EMPTY_REDUCTION)
}

/// Compares the shape of a result with the sizes that its port states.
fn check_shape(port: &Port, inferred: &ArrayType) -> Result<(), FormatErrorKind> {
    let sizes = || port.sizes.iter().zip(inferred.shape.iter());
    let fits = port.sizes.len() == inferred.shape.rank()
        && sizes().all(|(stated, size)| stated.is_none_or(|stated| stated == *size));
    // A port without sizes can be one of unknown rank.
    if fits || port.sizes.is_empty() {
        return Ok(());
    }
    let size = |size: &Option<usize>| size.map_or("?".to_owned(), |size| size.to_string());
    let stated: Vec<String> = port.sizes.iter().map(size).collect();
    let stated = format!("{}[{}]", inferred.dtype.name(), stated.join(", "));
    Err(FormatErrorKind::TypeMismatch { stated, inferred: inferred.to_string() })
}

/// The sizes of the first result, if they are numbers.
fn known_sizes(results: &[(String, ValueType)]) -> Option<Vec<SymbolicSize>> {
    let sizes = results.first()?.1.sizes.clone()?;
    sizes.iter().all(|size| size.number().is_some()).then_some(sizes)
}

/// The rule of a `Broadcast` onto its stated result; `axes` are its third operand, if they are constant.
fn target_rule(layer: &Layer, axes: Option<Vec<i64>>) -> Option<AnyRule> {
    let rule = match layer.word("mode", "numpy").as_str() {
        "numpy" | "bidirectional" => TargetRule::Unidirectional,
        "pdpd" => TargetRule::Pdpd { axis: layer.pdpd_axis(PDPD_AXIS_OF_BROADCAST).ok()? },
        "explicit" | "none" => TargetRule::Explicit { axes: axes? },
        _ => return None,
    };
    layer.is("Broadcast").then(|| rule.into())
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

/// Whether the result has the shape of the operand, and the layer does not permute axes.
fn has_one_shape(layer: &Layer) -> bool {
    let (input, output) = (layer.inputs.first(), layer.outputs.first());
    !layer.is("Transpose")
        && input.zip(output).is_some_and(|(input, output)| input.sizes == output.sizes)
}

/// Name and type of a result. The name is the first one of the port, else it comes from the layer
/// (`Layer::value_name`).
fn result(
    layer: &Layer,
    (position, port): (usize, &Port),
    (region, options): (&str, &OutlineOptions),
) -> (String, ValueType) {
    let name = port.names.first().cloned().unwrap_or_else(|| layer.value_name(position));
    let stated = port.precision.as_deref().or_else(|| layer.attribute("element_type"));
    let element = stated.and_then(|stated| match element_type(stated.trim()) {
        Ok(dtype) => dtype.map(|dtype| Arc::<str>::from(dtype.name())),
        Err(_) => Some(Arc::from(printable(&stated.to_lowercase()).as_str())),
    });
    let size = |(axis, size): (usize, &Option<usize>)| match size {
        Some(size) => SymbolicSize::known(i64::try_from(*size).unwrap_or(i64::MAX)),
        // Names are unique only within a body, so the path of the body precedes them.
        None if region.is_empty() => SymbolicSize::open(&name, axis),
        None => SymbolicSize::open(&format!("{region}/{name}"), axis),
    };
    let sizes = port.sizes.iter().enumerate().map(size).collect();
    let stated = ValueType { element, sizes: Some(sizes) };
    let declared = options.declared.iter().find(|(known, _)| *known == name);
    let value_type = declared.map_or(stated, |(_, declared)| declared.clone());
    (name, value_type)
}
