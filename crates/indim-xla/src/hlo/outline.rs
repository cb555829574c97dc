//! Every instruction of a module with its stated type, also those that indim does not compute.

use std::sync::Arc;

use indim_graph::terminal::printable;
use indim_model::Location;
use indim_model::outline::{NodeRole, Outline, StatedNode, ValueIndex, ValueType};
use indim_shape::{AnyRule, Diagnostic, RuleSet, TargetRule};
use indim_text::Span;

use super::attribute::Attributes;
use super::lowering::{ArrayOperation, Lowering, convolution};
use super::syntax::{Computation, HloShape, Instruction, Module};
use super::unsupported;
use super::user_name;

/// Maximum characters of an attribute's text, and maximum attributes of a node.
const MAX_ATTRIBUTE: usize = 60;
const MAX_ATTRIBUTES: usize = 8;

/// The outline of a module: all computations that come before the entry, and the entry.
///
/// `location` is the place of an instruction in the file.
pub(super) fn outline(
    module: &Module,
    text: &str,
    entry: usize,
    location: &dyn Fn(Span) -> Location,
) -> Outline {
    let mut outline = Outline::default();
    let is_unsupported = unsupported::unsupported_instructions(module, text, entry, false);
    let mut names = vec![""; module.computations.len()];
    for (name, number) in &module.by_name {
        names[*number] = name;
    }
    for (number, computation) in module.computations.iter().enumerate().take(entry + 1) {
        let is_entry = number == entry;
        let region =
            if is_entry { String::new() } else { format!("/{}", printable(names[number])) };
        let region = Arc::from(region.as_str());
        let is_opaque = &is_unsupported[number];
        let values =
            instructions(&mut outline, (computation, is_opaque), (text, location), &region);
        if is_entry {
            outline.inputs = computation.parameters.iter().map(|&index| values[index]).collect();
            outline.outputs = vec![values[computation.root]];
        }
    }
    outline
}

/// Adds the instructions of a computation to the outline. Returns the value of each instruction.
fn instructions(
    outline: &mut Outline,
    (computation, is_opaque): (&Computation, &[bool]),
    (text, location): (&str, &dyn Fn(Span) -> Location),
    region: &Arc<str>,
) -> Vec<ValueIndex> {
    let mut values: Vec<ValueIndex> = Vec::with_capacity(computation.instructions.len());
    for (instruction, &is_opaque) in computation.instructions.iter().zip(is_opaque) {
        let name = instruction.plain_name(text).unwrap_or_default();
        let value_type = value_type(instruction.shape.as_ref());
        let is_tuple = matches!(instruction.shape, Some(HloShape::Tuple(_)));
        if instruction.opcode == "parameter" {
            let users = user_name(instruction, text).filter(|_| region.is_empty());
            let name = users.unwrap_or(name);
            let value = outline.add_value(name.to_owned(), value_type, false);
            outline.values[value].is_internal = !region.is_empty();
            values.push(value);
            continue;
        }
        let operands: Vec<Option<ValueIndex>> =
            instruction.operands.iter().map(|&operand| values.get(operand).copied()).collect();
        let lowering = Lowering::of(&instruction.opcode);
        let (role, rule) = role(lowering, instruction, text);
        let target = matches!(rule, Some(AnyRule::Target(_))).then(|| value_type.sizes.clone());
        let problem = problem(outline, lowering, (instruction, text), &operands);
        let given = given_type(outline, lowering, (instruction, text), &operands);
        let node = outline.add_node(StatedNode {
            name: name.to_owned(),
            operator: operator(lowering, instruction, text),
            location: location(instruction.span),
            region: region.clone(),
            operands,
            results: vec![(name.to_owned(), value_type)],
            attributes: attributes(instruction, text),
            is_opaque,
            role,
            rule,
            target: target.flatten(),
            given: given.map(|given| (0, given)).into_iter().collect(),
            problem,
            // Array types in HLO state all their sizes; a dynamic shape has no rank here.
            ..StatedNode::default()
        });
        outline.values[node[0]].is_internal |= is_tuple;
        values.push(node[0]);
    }
    values
}

/// The type that the operands give to an instruction with one result.
fn given_type(
    outline: &Outline,
    lowering: Option<Lowering>,
    (instruction, text): (&Instruction, &str),
    operands: &[Option<ValueIndex>],
) -> Option<ValueType> {
    let Some(HloShape::Array(..)) = &instruction.shape else { return None };
    let operand = outline.value((*operands.first()?)?).value_type.clone();
    // The element type of a reduction or a scatter is that of its computation.
    let sized = ValueType { element: None, ..operand.clone() };
    match lowering? {
        Lowering::Sort | Lowering::While => Some(operand),
        Lowering::Scatter => Some(sized),
        Lowering::Reduce => {
            let axes = Attributes { text, instruction }.integers("dimensions").ok()?;
            Some(sized.without_axes(&axes))
        }
        _ => None,
    }
}

/// The error of an instruction on arrays of known types.
fn problem(
    outline: &Outline,
    lowering: Option<Lowering>,
    (instruction, text): (&Instruction, &str),
    operands: &[Option<ValueIndex>],
) -> Option<Diagnostic> {
    let Some(Lowering::Array(array_operation)) = lowering else { return None };
    let Some(HloShape::Array(stated, _)) = &instruction.shape else { return None };
    let operands = outline.array_types(operands)?;
    match array_operation.operation(Attributes { text, instruction }) {
        Ok(built) => built.problem(&operands, stated),
        Err(_) => None,
    }
}

/// The opcode; a custom call has its target: `custom-call "foreign"`.
fn operator(lowering: Option<Lowering>, instruction: &Instruction, text: &str) -> String {
    let target = Attributes { text, instruction }.optional("custom_call_target");
    match (lowering, target) {
        (Some(Lowering::CustomCall), Some(target)) => {
            format!("{} {}", instruction.opcode, printable(target))
        }
        _ => instruction.opcode.clone(),
    }
}

fn value_type(shape: Option<&HloShape>) -> ValueType {
    match shape {
        Some(HloShape::Array(array_type, _)) => ValueType::of_arrays(array_type),
        Some(HloShape::Tuple(_)) => ValueType { element: Some(Arc::from("tuple")), sizes: None },
        Some(HloShape::Dynamic(_) | HloShape::Other(_)) | None => ValueType::default(),
    }
}

fn role(
    lowering: Option<Lowering>,
    instruction: &Instruction,
    text: &str,
) -> (NodeRole, Option<AnyRule>) {
    let is_several = instruction.operands.len() > 1;
    match (&instruction.opcode[..], lowering) {
        ("broadcast", _) => {
            let dims = Attributes { text, instruction }.integers("dimensions").ok();
            let rule = dims.map(|dims| TargetRule::HloBroadcast { dims }.into());
            (NodeRole::Expand, rule)
        }
        ("constant" | "iota", _) => (NodeRole::Constant, None),
        ("reshape", _) => (NodeRole::Reshape, None),
        ("convolution", _) => {
            let convolution = convolution(Attributes { text, instruction });
            (convolution.map(|it| NodeRole::Channels(it.axes[2].feature)).unwrap_or_default(), None)
        }
        ("select", _) => (NodeRole::Elementwise, Some(RuleSet::StableHloSelect.into())),
        (_, Some(Lowering::Array(ArrayOperation::Compare))) => {
            (NodeRole::Predicate, Some(RuleSet::StableHlo.into()))
        }
        (_, Some(Lowering::Array(ArrayOperation::Elementwise(_)))) if is_several => {
            (NodeRole::Elementwise, Some(RuleSet::StableHlo.into()))
        }
        // A call has the shape that its computation gives.
        (_, Some(lowering)) if lowering.is_elementwise() && lowering != Lowering::Call => {
            (NodeRole::SameShape, None)
        }
        _ => (NodeRole::Other, None),
    }
}

fn attributes(instruction: &Instruction, text: &str) -> Vec<(String, String)> {
    let shortened = |text: &str| printable(&text.chars().take(MAX_ATTRIBUTE).collect::<String>());
    let listed = instruction.attributes.iter().take(MAX_ATTRIBUTES);
    let listed = listed.filter(|(name, _)| name.of(text) != "metadata");
    listed.map(|(name, value)| (printable(name.of(text)), shortened(value.of(text)))).collect()
}
