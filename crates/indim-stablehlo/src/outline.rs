//! Every operation of a module with its stated types, also those that indim does not compute.

use std::collections::HashMap;
use std::sync::Arc;

use indim_graph::terminal::printable;
use indim_model::outline::{
    NodeRole, Outline, OutlineNode, StatedNode, SymbolicSize, ValueIndex, ValueType,
};
use indim_model::{FormatError, FormatErrorKind, Location};
use indim_shape::{AnyRule, Diagnostic, RuleSet, TargetRule};
use indim_text::Span;

use crate::argument_name;
use crate::attribute::AttributeReader;
use crate::axis_pairs::axis_pairs;
use crate::lowering::{ArrayOperation, Lowering};
use crate::shape_lists::{CallArgument, ListedOperation, ShapeLists};
use crate::size_sources::size_sources;
use crate::syntax::{Block, Module, SyntaxOperation, Type};
use crate::unsupported::{UnsupportedSet, call_target};
use crate::windows;

/// Maximum characters of an attribute's text, and maximum attributes of a node.
const MAX_ATTRIBUTE: usize = 60;
const MAX_ATTRIBUTES: usize = 8;

/// The outline of a module: the entry function, then the other functions.
///
/// # Errors
/// `undefined` for the first value that is used but not defined, unless an operation is opaque: its regions
/// may define values in another syntax. `cycle` if a function calls itself.
pub(super) fn outline(
    module: &Module,
    attributes: &AttributeReader<'_>,
    entry: usize,
) -> Result<Outline, FormatError> {
    let refused = UnsupportedSet::of(module, attributes);
    if let Some(recursive) = refused.recursive_function() {
        let function = &module.functions[recursive];
        let name = format!("@{}", function.name);
        return Err(FormatErrorKind::Cycle { name }.in_text(function.span.start..function.span.end));
    }
    let outline = Outline::default();
    let lists = ShapeLists::new(module, attributes);
    let mut walk =
        OutlineWalk { attributes, refused, outline, lists, scopes: Vec::new(), undefined: None };
    let others = (0..module.functions.len()).filter(|&number| number != entry);
    for number in core::iter::once(entry).chain(others) {
        let function = &module.functions[number];
        let Some(body) = &function.body else { continue };
        let is_entry = number == entry;
        let region =
            if is_entry { String::new() } else { format!("/{}", printable(&function.name)) };
        let given = walk.lists.arguments(&function.name);
        let (inputs, outputs) = walk.block(body, &Arc::from(region.as_str()), given);
        if is_entry {
            (walk.outline.inputs, walk.outline.outputs) = (inputs, outputs);
        }
    }
    match walk.undefined {
        Some(span) if !walk.outline.nodes.iter().any(|node| node.is_opaque) => {
            let name = printable(span.of(attributes.text));
            let kind = FormatErrorKind::Undefined { what: "value", name };
            Err(kind.in_text(span.start..span.end))
        }
        _ => Ok(walk.outline),
    }
}

/// The traversal of the blocks. `scopes` has the names of each open block, the innermost last; `undefined` is
/// the first use of a name that no open block has.
struct OutlineWalk<'m> {
    attributes: &'m AttributeReader<'m>,
    refused: UnsupportedSet<'m>,
    outline: Outline,
    lists: ShapeLists,
    scopes: Vec<HashMap<&'m str, Vec<ValueIndex>>>,
    undefined: Option<Span>,
}

impl<'m> OutlineWalk<'m> {
    /// Adds the operations of a block; returns its arguments and the operands of its last operation. `given`
    /// has facts about the first arguments. The recursion is bounded by the parser's nesting limit.
    fn block(
        &mut self,
        block: &Block,
        region: &Arc<str>,
        given: Vec<CallArgument>,
    ) -> (Vec<ValueIndex>, Vec<ValueIndex>) {
        let text = self.attributes.text;
        let mut names = HashMap::new();
        let mut arguments = Vec::with_capacity(block.arguments.len());
        let given = given.into_iter().chain(core::iter::repeat_with(CallArgument::default));
        for (argument, given) in block.arguments.iter().zip(given) {
            let name = argument.name.of(text);
            let value_type = self.value_type(&argument.value_type, name);
            let value_type = value_type.with_open_sizes(&given.sizes);
            let shown = match region.is_empty() {
                true => argument_name(argument, self.attributes),
                false => value_name(name),
            };
            let value = self.outline.add_value(shown, value_type, false);
            self.outline.values[value].is_internal = !region.is_empty();
            self.lists.define(value, given.elements);
            names.insert(name, vec![value]);
            arguments.push(value);
        }
        self.scopes.push(names);
        let mut last = Vec::new();
        for operation in &block.operations {
            let operands: Vec<Option<ValueIndex>> = operation
                .operands
                .iter()
                .map(|used| self.value(used.name.of(text), used.index))
                .collect();
            if self.undefined.is_none() {
                let missing = operands.iter().position(Option::is_none);
                self.undefined = missing.map(|missing| operation.operands[missing].name);
            }
            if operation.name.ends_with(".return") {
                last = operands.into_iter().flatten().collect();
                continue;
            }
            self.operation(operation, operands, region);
        }
        self.scopes.pop();
        (arguments, last)
    }

    fn value(&self, name: &str, index: usize) -> Option<ValueIndex> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name))?;
        found.get(index).copied()
    }

    fn operation(
        &mut self,
        operation: &SyntaxOperation,
        operands: Vec<Option<ValueIndex>>,
        region: &Arc<str>,
    ) {
        let text = self.attributes.text;
        let names = operation.results.iter().flat_map(|names| {
            let name = names.name.of(text);
            (0..names.count).map(move |index| match names.count {
                1 => value_name(name),
                _ => format!("{}#{index}", value_name(name)),
            })
        });
        let names: Vec<String> = names.collect();
        let first = names.first().cloned().unwrap_or_default();
        let (first_node, first_value) = (self.outline.nodes.len(), self.outline.values.len());
        let mut returned = Vec::with_capacity(operation.regions.len());
        for (number, body) in operation.regions.iter().enumerate() {
            let path = format!(
                "{}/{}.{number}",
                path_end(region),
                if first.is_empty() { "region" } else { &first }
            );
            returned.push(self.block(body, &Arc::from(path.as_str()), Vec::new()).1);
        }
        let bodies = first_node..self.outline.nodes.len();
        let read = self.outline.nodes[first_node..].iter().flat_map(OutlineNode::read);
        let mut captured: Vec<ValueIndex> = read
            .chain(returned.iter().flatten().copied())
            .filter(|&value| value < first_value)
            .collect();
        captured.sort_unstable();
        captured.dedup();
        let mut types = self.result_types(operation, &names);
        let attributes = self.attributes;
        let listed =
            ListedOperation { operation, attributes, outline: &self.outline, operands: &operands };
        self.lists.record_call(&listed);
        let elements = self.lists.computed(&listed);
        if let Some(first) = types.first_mut().filter(|first| first.has_open_size()) {
            *first = core::mem::take(first).with_open_sizes(&self.lists.sizes(&listed));
        }
        let lowering = Lowering::of(&operation.name);
        let (role, rule) = self.role(lowering, operation);
        let target = match &rule {
            Some(AnyRule::Target(_)) => types.first().and_then(|first| first.sizes.clone()),
            _ => None,
        };
        let rule = rule.filter(|rule| !matches!(rule, AnyRule::Target(_)) || target.is_some());
        let rank = |operand: &Option<ValueIndex>| {
            self.outline.value((*operand)?).value_type.sizes.as_ref().map(Vec::len)
        };
        let ranks: Vec<Option<usize>> = operands.iter().map(rank).collect();
        let size_sources = match types.iter().any(ValueType::has_open_size) {
            true => size_sources(operation, self.attributes, &ranks),
            false => Vec::new(),
        };
        let axis_pairs = match self.outline.array_types(&operands) {
            Some(_) => Vec::new(),
            None => axis_pairs(operation, self.attributes, &ranks),
        };
        let problem = self.problem(lowering, operation, &operands);
        let given = self.given_types(lowering, operation, (&operands, &returned));
        let node = self.outline.add_node(StatedNode {
            name: first,
            operator: self.operator(lowering, operation),
            location: Location::text(operation.span.start..operation.span.end),
            region: region.clone(),
            operands,
            results: names.into_iter().zip(types).collect(),
            attributes: self.attribute_texts(operation),
            is_opaque: self.refused.is_unsupported(operation),
            bodies,
            captured,
            role,
            rule,
            target,
            size_sources,
            axis_pairs,
            given,
            problem,
            ..StatedNode::default()
        });
        if let Some(&first) = node.first() {
            self.lists.define(first, elements);
        }
        let mut node = node.into_iter();
        if let Some(scope) = self.scopes.last_mut() {
            for names in &operation.results {
                scope.insert(names.name.of(text), node.by_ref().take(names.count).collect());
            }
        }
    }

    /// The error of an operation on arrays of known types.
    fn problem(
        &self,
        lowering: Option<Lowering>,
        operation: &SyntaxOperation,
        operands: &[Option<ValueIndex>],
    ) -> Option<Diagnostic> {
        let Some(Lowering::Array(array_operation)) = lowering else { return None };
        let (operands, stated) =
            (self.outline.array_types(operands)?, operation.first_array_type()?);
        match array_operation.operation(operation, self.attributes) {
            Ok(built) => built.problem(&operands, stated),
            Err(_) => None,
        }
    }

    /// The types that operands and the values which regions return give to the results.
    fn given_types(
        &self,
        lowering: Option<Lowering>,
        operation: &SyntaxOperation,
        (operands, returned): (&[Option<ValueIndex>], &[Vec<ValueIndex>]),
    ) -> Vec<(usize, ValueType)> {
        let typed = |value: ValueIndex| self.outline.value(value).value_type.clone();
        let sized = |value| ValueType { element: None, ..typed(value) };
        let numbered = |values: &[ValueIndex]| -> Vec<(usize, ValueType)> {
            values.iter().map(|&value| typed(value)).enumerate().collect()
        };
        let operands: Option<Vec<ValueIndex>> = operands.iter().copied().collect();
        let operands = operands.unwrap_or_default();
        match lowering {
            Some(Lowering::Sort) => numbered(&operands),
            Some(Lowering::While) => {
                let body = returned.get(1).map(|body| numbered(body));
                [numbered(&operands), body.unwrap_or_default()].concat()
            }
            Some(Lowering::Case | Lowering::If) => {
                returned.iter().flat_map(|values| numbered(values)).collect()
            }
            // The element type is that of the region's arithmetic.
            Some(Lowering::Scatter) => {
                operands.iter().map(|&operand| sized(operand)).enumerate().collect()
            }
            Some(Lowering::Reduce) => {
                let axes = self.attributes.integers(operation, "dimensions").unwrap_or_default();
                let arrays = &operands[..operands.len() / 2];
                arrays.iter().map(|&array| sized(array).without_axes(&axes)).enumerate().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The name of an operation; a custom call has its target: `stablehlo.custom_call @foreign`.
    fn operator(&self, lowering: Option<Lowering>, operation: &SyntaxOperation) -> String {
        match lowering {
            Some(Lowering::CustomCall) => {
                let target = call_target(operation, self.attributes);
                format!("{} @{}", operation.name, printable(&target))
            }
            _ => operation.name.clone(),
        }
    }

    /// A type for each result, unknown if the signature has another number of types.
    fn result_types(&self, operation: &SyntaxOperation, names: &[String]) -> Vec<ValueType> {
        let result_type = |(at, name): (usize, &String)| match operation.result_type(at) {
            Some(value_type) => self.value_type(value_type, name),
            None => ValueType::default(),
        };
        names.iter().enumerate().map(result_type).collect()
    }

    fn value_type(&self, value_type: &Type, name: &str) -> ValueType {
        match value_type {
            Type::Array(array_type) => ValueType::of_arrays(array_type),
            Type::Tuple(_) => ValueType { element: Some(Arc::from("tuple")), sizes: None },
            Type::Dynamic(span) | Type::Other(span) => {
                tensor(span.of(self.attributes.text), &value_name(name)).unwrap_or_default()
            }
        }
    }

    fn role(
        &self,
        lowering: Option<Lowering>,
        operation: &SyntaxOperation,
    ) -> (NodeRole, Option<AnyRule>) {
        let is_several = operation.operands.len() > 1;
        let short = operation.name.rsplit('.').next().unwrap_or_default();
        match (short, lowering) {
            ("broadcast_in_dim", Some(_)) => {
                let dims = self.attributes.integers(operation, "broadcast_dimensions").ok();
                let rule = dims.map(|dims| TargetRule::StableHloBroadcastInDim { dims }.into());
                (NodeRole::Expand, rule)
            }
            ("constant" | "iota", _) => (NodeRole::Constant, None),
            ("reshape", _) => (NodeRole::Reshape, None),
            ("convolution", Some(_)) => {
                let convolution = windows::convolution(operation, self.attributes);
                let role = convolution.map(|it| NodeRole::Channels(it.axes[2].feature));
                (role.unwrap_or_default(), None)
            }
            ("select", Some(_)) => (NodeRole::Elementwise, Some(RuleSet::StableHloSelect.into())),
            (_, Some(Lowering::Array(ArrayOperation::NumpyCompare))) => {
                (NodeRole::Predicate, Some(RuleSet::Numpy.into()))
            }
            (_, Some(Lowering::Array(ArrayOperation::Numpy(_)))) if is_several => {
                (NodeRole::Elementwise, Some(RuleSet::Numpy.into()))
            }
            (_, Some(Lowering::Array(ArrayOperation::Compare))) => {
                (NodeRole::Predicate, Some(RuleSet::StableHlo.into()))
            }
            (_, Some(Lowering::Array(ArrayOperation::Elementwise(_)))) if is_several => {
                (NodeRole::Elementwise, Some(RuleSet::StableHlo.into()))
            }
            (_, Some(Lowering::Array(_) | Lowering::Same))
                if lowering.is_some_and(Lowering::is_elementwise) =>
            {
                (NodeRole::SameShape, None)
            }
            _ => (NodeRole::Other, None),
        }
    }

    fn attribute_texts(&self, operation: &SyntaxOperation) -> Vec<(String, String)> {
        let text = |span: Span| {
            let text: String = span.of(self.attributes.text).chars().take(MAX_ATTRIBUTE).collect();
            printable(&text)
        };
        let listed = operation.attributes.iter().take(MAX_ATTRIBUTES);
        listed.map(|it| (printable(&it.name), it.value.map_or(String::new(), text))).collect()
    }
}

/// The name of a value without `%`.
fn value_name(name: &str) -> String {
    name.trim_start_matches('%').to_owned()
}

/// The last 200 bytes of a path, because paths of nested regions are long.
fn path_end(path: &str) -> &str {
    let mut start = path.len().saturating_sub(200);
    while !path.is_char_boundary(start) {
        start += 1;
    }
    &path[start..]
}

/// `tensor<?x3xf32>`, `tensor<2x!quant.uniform<i8:f32, 0.1>>`.
fn tensor(text: &str, name: &str) -> Option<ValueType> {
    let mut rest = text.trim().strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut sizes = Vec::new();
    while let Some((size, behind)) = rest.split_once('x') {
        let size = match size.trim() {
            "?" => SymbolicSize::open(name, sizes.len()),
            number => match number.parse() {
                Ok(number) => SymbolicSize::known(number),
                Err(_) => break,
            },
        };
        sizes.push(size);
        rest = behind;
    }
    if sizes.len() > indim_shape::MAX_RANK {
        return None;
    }
    // An encoding follows a comma.
    let element = if rest.starts_with('!') { rest } else { rest.split(',').next()?.trim() };
    let element = match element {
        "i1" => "bool",
        _ => element.strip_prefix('u').filter(|rest| rest.starts_with('i')).map_or(element, |_| {
            match element {
                "ui8" => "u8",
                "ui16" => "u16",
                "ui32" => "u32",
                "ui64" => "u64",
                _ => element,
            }
        }),
    };
    let element: String = element.chars().take(MAX_ATTRIBUTE).collect();
    Some(ValueType::new(&printable(&element), sizes))
}
