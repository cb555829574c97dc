//! The types of one node's results: from its lowering or its shape rule, from the file, from the caller.

use std::sync::Arc;

use indim_graph::terminal::printable;
use indim_model::outline::{
    Contradiction, NodeRole, OutlineBroadcast, OutlineNode, OutlineValue, TypeSource, ValueType,
    Verdict, shape_problem,
};
use indim_model::{FormatError, FormatErrorKind, Location};

use super::lowered::{self, LoweredResult};
use super::repeated::repeated_axes;
use super::scope::StatedType;
use super::walker::Walker;
use crate::operators::Operator;
use indim_onnx_file::NEWEST_OPSET;
use indim_onnx_file::body::{BodyNode, NodeAttributes, domain_of};
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::messages::AttributeProto;
use indim_onnx_file::operator::OperatorRow as _;
use indim_onnx_file::unsupported::refusal;
use indim_onnx_rules::{NodeInference, RuleRow, TypedValue, label};
use indim_shape::Diagnostic;

/// Maximum characters of one attribute as text.
const MAX_ATTRIBUTE: usize = 60;

/// Maximum attributes of one node as text.
const MAX_ATTRIBUTES: usize = 16;

/// The shape rule of a node, and the row of `operators.rs` with its lowering.
struct NodeRules {
    row: Option<&'static RuleRow>,
    operator: Option<&'static Operator>,
}

/// The inference with the results of the lowering, the symbolic elements of the shape rule, and no
/// conditions, because a node whose lowering succeeds is valid.
fn refined(by_rule: NodeInference, results: Vec<LoweredResult>) -> NodeInference {
    let of_rule = by_rule.results.unwrap_or_default();
    let results = results.into_iter().enumerate().map(|(at, result)| TypedValue {
        value_type: ValueType::of_arrays(&result.array_type),
        elements: of_rule.get(at).and_then(|typed| typed.elements.clone()),
        array: result.elements,
        ..TypedValue::default()
    });
    NodeInference {
        results: Some(results.collect()),
        broadcasts: by_rule.broadcasts,
        ..NodeInference::default()
    }
}

/// The inference without results, because the lowering fails. Its error is recorded if the shape rule found
/// none.
fn without_results(by_rule: NodeInference, kind: FormatErrorKind) -> NodeInference {
    refused_with(by_rule, || kind.diagnostic())
}

fn refused_with(mut by_rule: NodeInference, problem: impl FnOnce() -> Diagnostic) -> NodeInference {
    if !by_rule.broadcasts.iter().any(is_illegal) && by_rule.problems.is_empty() {
        by_rule.problems.push(problem());
    }
    NodeInference { results: None, ..by_rule }
}

/// The inference without results, with an error that does not depend on sizes. Its drawing would show sizes
/// that stand for names; the operands have their names.
fn with_error_for_all_sizes(
    by_rule: NodeInference,
    kind: &FormatErrorKind,
    (flat, operands): (&FlatNode, &[Option<TypedValue>]),
) -> NodeInference {
    let Diagnostic { code, headline, .. } = kind.clone().diagnostic();
    let named = |typed: &TypedValue| (printable(&typed.name), typed.value_type.clone());
    let operands: Vec<_> = operands.iter().flatten().map(named).collect();
    let problem = Diagnostic { code, ..shape_problem(&label(flat), &headline, &operands) };
    refused_with(by_rule, || problem)
}

impl Walker<'_> {
    /// Infers the types of a node's results, and adds the node to the outline.
    pub(super) fn operator(
        &mut self,
        (index, node): (usize, &Arc<BodyNode>),
        operands: Vec<Option<usize>>,
        attributes: NodeAttributes,
        location: Location,
    ) -> Result<(), FormatError> {
        let proto = &node.proto;
        let opset = self.scope().body.opset(&proto.domain).unwrap_or(NEWEST_OPSET);
        let is_own = domain_of(&proto.domain).is_empty();
        let operator = Operator::named(&proto.op_type).filter(|_| is_own);
        let operator =
            operator.and_then(|operator| Some((operator, operator.signature.version(opset)?)));
        let row = RuleRow::named(domain_of(&proto.domain), &proto.op_type);
        let name = row.map_or("", |row| row.static_name(&proto.op_type));
        let flat = FlatNode {
            node: node.clone(),
            operator: operator.map_or(name, |(operator, _)| operator.signature.name),
            version: operator.map_or(opset, |(_, version)| version),
            opset,
            attributes,
            results: results(&proto.output),
            operands,
            index,
            within: self.scope().within(),
        };
        let typed: Vec<Option<TypedValue>> =
            flat.operands.iter().map(|operand| operand.map(|it| self.typed(it))).collect();
        let rules = NodeRules { row, operator: operator.map(|(operator, _)| operator) };
        let outline_node = self.outline_node(&flat, &rules, location);
        let (first_node, first_value) = (self.outline.nodes.len(), self.outline.values.len());
        let has_bodies =
            is_own && matches!(&proto.op_type[..], "If" | "Loop" | "Scan" | "SequenceMap");
        let (inference, captured) = match has_bodies {
            true => {
                let inference = self.control(&flat, &typed)?;
                (inference, self.captured(first_node, first_value))
            }
            false => (self.infer_results(&flat, &rules, &typed), Vec::new()),
        };
        // The nodes in the bodies of this node are in the list before it.
        let number = self.outline.nodes.len();
        self.outline.nodes.push(OutlineNode {
            bodies: first_node..number,
            captured,
            broadcasts: inference.broadcasts,
            conditions: inference.conditions,
            problems: inference.problems,
            ..outline_node
        });
        self.define_results(number, &flat, inference.results.unwrap_or_default())
    }

    fn outline_node(
        &mut self,
        flat: &FlatNode,
        rules: &NodeRules,
        location: Location,
    ) -> OutlineNode {
        let texts = flat.attributes.iter().take(MAX_ATTRIBUTES);
        let perm = flat.attributes.get("perm").map(|perm| &perm.ints);
        let order =
            perm.and_then(|perm| perm.iter().map(|&axis| usize::try_from(axis).ok()).collect());
        let role = match (flat.operator, order) {
            ("Transpose", Some(order)) => NodeRole::Transpose(order),
            _ => rules.row.map(|row| row.role.clone()).unwrap_or_default(),
        };
        OutlineNode {
            name: flat.node.proto.name.clone(),
            operator: flat.node.operator_name(),
            location,
            region: self.scope().region.clone(),
            operands: flat.operands.clone(),
            results: Vec::new(),
            attributes: texts.map(|(name, it)| (printable(name), attribute_text(it))).collect(),
            is_opaque: rules.operator.is_none() || refusal(flat).is_some(),
            shape_operands: shape_operands(flat, rules),
            reads_types: rules.operator.is_some_and(|operator| operator.signature.reads_types),
            role,
            ..OutlineNode::default()
        }
    }

    /// The values from outside the bodies of a node that the bodies read. They begin at these nodes and
    /// values.
    fn captured(&mut self, first_node: usize, first_value: usize) -> Vec<usize> {
        let outputs = core::mem::take(&mut self.body_outputs);
        let read = self.outline.nodes[first_node..].iter().flat_map(OutlineNode::read);
        let mut captured: Vec<usize> =
            read.chain(outputs.iter().copied()).filter(|&value| value < first_value).collect();
        captured.sort_unstable();
        captured.dedup();
        if self.scopes.iter().any(|scope| scope.is_body) {
            // The outputs of a body inside this one may be values from outside it, too.
            self.body_outputs = outputs;
        }
        captured
    }

    /// The results of the lowering, or of the shape rule if the lowering gives no types.
    fn infer_results(
        &self,
        flat: &FlatNode,
        rules: &NodeRules,
        operands: &[Option<TypedValue>],
    ) -> NodeInference {
        let by_rule = match rules.row {
            Some(row) => row.infer(flat, operands, &self.tensors),
            None => NodeInference::default(),
        };
        let Some(operator) = rules.operator else { return by_rule };
        // The lowering of an illegal broadcast only finds the same error again.
        if by_rule.broadcasts.iter().any(is_illegal) {
            return NodeInference { results: None, ..by_rule };
        }
        match lowered::results(operator, flat, operands, &self.tensors) {
            Ok(None) if by_rule.problems.is_empty() => {
                let error = lowered::error_for_all_sizes(operator, flat, operands, &self.tensors);
                match error {
                    Some(kind) => with_error_for_all_sizes(by_rule, &kind, (flat, operands)),
                    None => by_rule,
                }
            }
            Ok(None) => by_rule,
            // The lowering can be more tolerant than ONNX, such as for a bias of one element.
            Ok(Some(_)) if !by_rule.problems.is_empty() => by_rule,
            Ok(Some(results)) => refined(by_rule, results),
            Err(kind) => without_results(by_rule, kind),
        }
    }

    /// Defines the results: inferred types, else those of the file, else those that the caller declares.
    pub(super) fn define_results(
        &mut self,
        number: usize,
        flat: &FlatNode,
        mut results: Vec<TypedValue>,
    ) -> Result<(), FormatError> {
        results.resize_with(flat.node.proto.output.len(), TypedValue::default);
        let cause = self.cause_of_unknown(number);
        let location = self.outline.nodes[number].location.clone();
        for (name, typed) in flat.node.proto.output.iter().zip(results) {
            if name.is_empty() {
                self.outline.nodes[number].results.push(None);
                continue;
            }
            let stated = self.scope().stated.get(name).cloned();
            let item = typed.item.clone().or_else(|| stated.as_ref()?.item.clone());
            let value = self.result(number, name, typed, stated.as_ref());
            let (mut value, array) = value;
            value.repeated_axes = constant_axes(flat);
            if !value.value_type.is_known() {
                value.source = TypeSource::UnknownBecauseOf(cause);
            }
            let index = self.new_value(value, array);
            self.items.extend(item.map(|item| (index, item)));
            self.outline.nodes[number].results.push(Some(index));
            let defined = self.scope().define(name, Some(index));
            defined.map_err(|kind| kind.at(location.clone()))?;
        }
        Ok(())
    }

    /// A result with its inferred type, completed by the types that the file and the caller state.
    /// Records contradictions between them.
    fn result(
        &mut self,
        number: usize,
        name: &str,
        typed: TypedValue,
        stated: Option<&StatedType>,
    ) -> (OutlineValue, Option<indim_graph::Array>) {
        let mut value = OutlineValue {
            name: name.to_owned(),
            producer: Some(number),
            source: TypeSource::Rule,
            elements: typed.elements,
            is_constant: self.outline.nodes[number].role == NodeRole::Constant,
            ..OutlineValue::default()
        };
        value.value_type = typed.value_type;
        // The result of an `Einsum` can have more axes than indim supports.
        let is_long = |sizes: &Vec<_>| sizes.len() > indim_shape::MAX_RANK;
        if value.value_type.sizes.as_ref().is_some_and(is_long) {
            value.value_type.sizes = None;
        }
        if let Some(stated) = stated {
            let difference = self.size_names.compare(&stated.input, &value.value_type);
            self.contradiction(number, difference);
            if !value.value_type.is_known() {
                value.value_type = value.value_type.completed_by(&stated.value_type);
                value.source = TypeSource::File;
            }
        }
        if let Some(declared) = self.declared(name) {
            if value.value_type.contradicts(&declared) {
                let (name, inferred) = (printable(name), &value.value_type);
                let message = format!("{name} is declared {declared}, its node gives {inferred}");
                self.contradiction(number, Some(message));
            }
            if !value.value_type.is_known() {
                value.value_type = value.value_type.completed_by(&declared);
                value.source = TypeSource::Declared;
            }
        }
        (value, typed.array)
    }

    fn contradiction(&mut self, number: usize, message: Option<String>) {
        if let Some(message) = message {
            let location = self.outline.nodes[number].location.clone();
            let value = self.outline.values.len();
            self.outline.contradictions.push(Contradiction {
                value,
                node: Some(number),
                location,
                message,
            });
        }
    }

    /// The node that is the cause if a result of this node is unknown: the cause of an unknown operand,
    /// or this node. Types of its operands would not help an opaque node.
    fn cause_of_unknown(&self, number: usize) -> usize {
        let node = &self.outline.nodes[number];
        if node.is_opaque {
            return number;
        }
        let before = node.operands.iter().flatten().find_map(|&operand| {
            match self.outline.values[operand].source {
                TypeSource::UnknownBecauseOf(cause) => Some(cause),
                _ => None,
            }
        });
        before.unwrap_or(number)
    }
}

/// Positions of the operands whose elements must be known at build time. The trip count and the condition
/// of a `Loop` determine the size of its stacked results.
fn shape_operands(flat: &FlatNode, rules: &NodeRules) -> &'static [usize] {
    let proto = &flat.node.proto;
    let states = proto.input.len().saturating_sub(2);
    match rules.operator {
        Some(_) if flat.operator == "Loop" && proto.output.len() > states => &[0, 1],
        Some(operator) => operator.signature.shape_operands,
        None => &[],
    }
}

/// Axes along which the elements of a `Constant` repeat.
fn constant_axes(flat: &FlatNode) -> Vec<usize> {
    let is_constant = flat.operator == "Constant";
    let value = flat.attributes.get("value").filter(|_| is_constant);
    value.and_then(|value| value.t.as_ref()).map(repeated_axes).unwrap_or_default()
}

/// The position of each named result, in place of its value, which no rule reads.
fn results(names: &[String]) -> Vec<Option<usize>> {
    let one = |(at, name): (usize, &String)| (!name.is_empty()).then_some(at);
    names.iter().enumerate().map(one).collect()
}

fn is_illegal(broadcast: &OutlineBroadcast) -> bool {
    matches!(broadcast.verdict, Verdict::Illegal(_))
}

/// An attribute as a short text.
fn attribute_text(attribute: &AttributeProto) -> String {
    let text = match attribute {
        AttributeProto { s: Some(text), .. } => {
            let end = text.len().min(MAX_ATTRIBUTE);
            format!("\"{}\"", String::from_utf8_lossy(&text[..end]))
        }
        AttributeProto { t: Some(tensor), .. } => indim_onnx_rules::header(tensor).to_string(),
        AttributeProto { g: Some(_), .. } => "a graph".to_owned(),
        AttributeProto { f: Some(number), .. } => number.to_string(),
        AttributeProto { i: Some(number), .. } => number.to_string(),
        _ if !attribute.ints.is_empty() => list_text(&attribute.ints),
        _ if !attribute.floats.is_empty() => list_text(&attribute.floats),
        _ if !attribute.graphs.is_empty() => format!("{} graphs", attribute.graphs.len()),
        _ => "0".to_owned(),
    };
    printable(&text.chars().take(MAX_ATTRIBUTE).collect::<String>())
}

fn list_text<T: ToString>(list: &[T]) -> String {
    let more = if list.len() > 8 { ", ..." } else { "" };
    let texts: Vec<String> = list.iter().take(8).map(ToString::to_string).collect();
    format!("[{}{more}]", texts.join(", "))
}
