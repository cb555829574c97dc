//! Types of `If`, `Loop` and `Scan`, from their bodies. Each body has its own names.

use std::sync::Arc;

use indim_model::outline::{OutlineNode, SymbolicSize, ValueType};
use indim_model::{FormatError, FormatErrorKind, Location};

use super::scope::{Scope, value_of};
use super::walker::Walker;
use indim_onnx_file::body::decoded;
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::messages::GraphProto;
use indim_onnx_rules::{NodeInference, TypedValue, counted_axis, label};

/// Maximum number of loop bodies that are walked twice, because a state changes its type.
const MAX_SECOND_WALKS: usize = 4096;

impl Walker<'_> {
    /// Goes through the bodies of a node; returns its results.
    pub(super) fn control(
        &mut self,
        flat: &FlatNode,
        operands: &[Option<TypedValue>],
    ) -> Result<NodeInference, FormatError> {
        let results = match &flat.node.proto.op_type[..] {
            "If" => self.branches(flat, operands.first().and_then(Option::as_ref))?,
            "SequenceMap" => self.infer_map(flat, operands)?,
            "Loop" => self.infer_loop(flat, operands)?,
            _ => self.infer_scan(flat, operands)?,
        };
        Ok(NodeInference { results, ..NodeInference::default() })
    }

    /// Goes through a body whose inputs have the types `given`; returns the types of its outputs. `None`
    /// if the node lacks the attribute.
    fn region(
        &mut self,
        flat: &FlatNode,
        attribute: &str,
        given: &[TypedValue],
    ) -> Result<Option<Vec<TypedValue>>, FormatError> {
        let Some(graph) = flat.attributes.get(attribute).and_then(|graph| graph.g.clone()) else {
            return Ok(None);
        };
        let location = || Location::described(format!("{attribute} of {}", label(flat)));
        let graph: GraphProto = decoded(graph, location)?;
        let outer_body = self.scope().body.clone();
        let body = outer_body.region(&graph.node, self.limits)?;
        let region = self.path_of_body(flat, attribute);
        let place = format!("{attribute} of {}", place_of(flat));
        let scope = Scope::new(Arc::new(body), Arc::from(region.as_str()));
        let mut scope = scope.placed(place, self.scope());
        (scope.is_body, scope.address) = (true, None);
        scope.arguments = self.scope().arguments.clone();
        scope.function = self.scope().function.clone();
        let named_before = self.size_names.mark();
        self.enter(scope)?;
        self.inputs(&graph, Some(given))?;
        self.graph(&graph)?;
        let mut outputs = Vec::with_capacity(graph.output.len());
        for bytes in &graph.output {
            let stated = super::scope::StatedType::decode(bytes, "output", self.limits)?;
            let value =
                value_of(&self.scopes, &stated.input.name).map_err(|kind| kind.at(location()))?;
            self.body_outputs.extend(value);
            outputs.push(value.map(|value| self.typed(value)).unwrap_or_default());
        }
        self.scopes.pop();
        self.size_names.undo(named_before);
        Ok(Some(outputs))
    }

    /// `If`: a size that differs between the branches becomes a new symbol; a rank or element type that
    /// differs is unknown. A branch that never runs, because the condition is known, is left out.
    fn branches(
        &mut self,
        flat: &FlatNode,
        condition: Option<&TypedValue>,
    ) -> Result<Option<Vec<TypedValue>>, FormatError> {
        if let Some([condition]) = condition.and_then(TypedValue::symbols).as_deref()
            && let Some(number) = condition.number()
        {
            let live = if number != 0 { "then_branch" } else { "else_branch" };
            return self.region(flat, live, &[]);
        }
        let [before, ..] = self.checkpoint();
        let then = self.region(flat, "then_branch", &[])?;
        let [between, ..] = self.checkpoint();
        let other = self.region(flat, "else_branch", &[])?;
        let (Some(then), Some(other)) = (then, other) else { return Ok(None) };
        let has_error = |nodes: &[OutlineNode]| nodes.iter().any(OutlineNode::is_illegal);
        let (first, second) = self.outline.nodes[before..].split_at(between - before);
        let (then_fails, other_fails) = (has_error(first), has_error(second));
        let result =
            |position: usize| flat.node.proto.output.get(position).map_or("", String::as_str);
        // A branch with an error gives nothing, so the type that it lacks is that of the other branch.
        let joined = |(at, (a, b)): (usize, (TypedValue, TypedValue))| match (
            a.value_type.is_known(),
            b.value_type.is_known(),
        ) {
            (false, true) if then_fails => b,
            (true, false) if other_fails => a,
            _ => a.joined(&b, result(at)),
        };
        Ok(Some(then.into_iter().zip(other).enumerate().map(joined).collect()))
    }

    /// `Loop`: the final states, then the values of all steps, stacked along a new axis 0. If the body
    /// changes the type of a state, each size that differs becomes a new symbol and the body is walked
    /// again.
    fn infer_loop(
        &mut self,
        flat: &FlatNode,
        operands: &[Option<TypedValue>],
    ) -> Result<Option<Vec<TypedValue>>, FormatError> {
        let operand = |position: usize| operands.get(position).cloned().flatten();
        let unit = |element: &str| TypedValue::of(ValueType::new(element, Vec::new()));
        let carried: Vec<TypedValue> = (2..operands.len())
            .map(|at| without_elements(operand(at).unwrap_or_default()))
            .collect();
        // A step runs only while the condition is true.
        let condition = unit("bool").with_elements(Some(vec![SymbolicSize::known(1)]));
        let mut given = [&[unit("i64"), condition], &carried[..]].concat();
        let marks = self.checkpoint();
        let Some(mut outputs) = self.region(flat, "body", &given)? else { return Ok(None) };
        // An error in a branch inside the body leaves a state without a type, which is no change.
        let fails = self.outline.nodes[marks[0]..].iter().any(OutlineNode::is_illegal);
        let changed = (0..carried.len()).filter(|&at| {
            let before = &carried[at].value_type;
            let is_lost = |after: &ValueType| fails && before.is_known() && !after.is_known();
            let output = outputs.get(at + 1).map(|output| &output.value_type);
            output.is_some_and(|after| after != before && !is_lost(after))
        });
        let changed: Vec<usize> = changed.collect();
        // The error of the first step, whose types are known, counts; a later step has no such types.
        if !changed.is_empty() && !self.has_error_in(flat, "body", marks) {
            self.rollback(marks);
            self.count_second_walk(flat)?;
            for at in changed {
                let name = operand(at + 2).map_or(String::new(), |operand| operand.name);
                let name = format!("{name} of a later step");
                given[at + 2] = carried[at].joined(&outputs[at + 1], &name);
            }
            outputs = self.region(flat, "body", &given)?.unwrap_or_default();
        }
        let trips = operand(0).and_then(|trips| trips.symbols()?.first().cloned()).map(at_least_0);
        // A condition, that of the node or of the body, may end the loop before the trip count.
        let starts = operand(1).is_none_or(|condition| is_true(&condition));
        let trips = trips.filter(|_| starts && outputs.first().is_some_and(is_true));
        let mut results = Vec::new();
        for (at, output) in outputs.into_iter().skip(1).enumerate() {
            let name = flat.node.proto.output.get(at).map_or("", String::as_str);
            results.push(match given.get(at + 2) {
                Some(before) => before.joined(&output, name),
                None => {
                    let trips = trips.clone();
                    let trips = trips.unwrap_or_else(|| SymbolicSize::atom(&format!("{name}[0]")));
                    TypedValue::of(stack_type(output.value_type, 0, trips))
                }
            });
        }
        Ok(Some(results))
    }

    /// `Scan`: the final states, then the values of all steps, stacked along an axis.
    fn infer_scan(
        &mut self,
        flat: &FlatNode,
        operands: &[Option<TypedValue>],
    ) -> Result<Option<Vec<TypedValue>>, FormatError> {
        let ints = |name: &str| flat.attributes.get(name).map(|list| list.ints.clone());
        let count = flat.attributes.get("num_scan_inputs").and_then(|count| count.i).unwrap_or(0);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let Some(states) = operands.len().checked_sub(count) else {
            let expected = format!("at least {count}");
            let kind = FormatErrorKind::Count { what: "operands", expected, given: operands.len() };
            return Err(kind.at(flat.location()));
        };
        // Version 8 has a batch axis and an operand before the states.
        if flat.opset < 9 {
            return Ok(None);
        }
        let axes = ints("scan_input_axes").unwrap_or_default();
        let mut length = None;
        let mut given = Vec::new();
        for (at, operand) in operands.iter().enumerate() {
            let mut typed = without_elements(operand.clone().unwrap_or_default());
            if let Some(scan) = at.checked_sub(states)
                && let Some(sizes) = &mut typed.value_type.sizes
            {
                let axis = counted_axis(axes.get(scan).copied().unwrap_or(0), sizes.len());
                let Some(axis) = axis else { return Ok(None) };
                // A known length stands for all inputs, whose lengths are equal.
                let size = sizes.remove(axis);
                length =
                    length.filter(|known: &SymbolicSize| known.number().is_some()).or(Some(size));
            }
            given.push(typed);
        }
        let Some(outputs) = self.region(flat, "body", &given)? else { return Ok(None) };
        let axes = ints("scan_output_axes").unwrap_or_default();
        let results = outputs.into_iter().enumerate().map(|(at, output)| {
            let name = flat.node.proto.output.get(at).map_or("", String::as_str);
            let Some(scan) = at.checked_sub(states) else {
                return given[at].joined(&output, name);
            };
            let length =
                length.clone().unwrap_or_else(|| SymbolicSize::atom(&format!("{name}[length]")));
            let axis = axes.get(scan).copied().unwrap_or(0);
            let rank = output.value_type.sizes.as_ref().map_or(0, Vec::len) + 1;
            TypedValue::of(match counted_axis(axis, rank) {
                Some(axis) => stack_type(output.value_type, axis, length),
                None => ValueType::default(),
            })
        });
        Ok(Some(results.collect()))
    }

    /// `SequenceMap`: a sequence of the results of the body, which runs for each element of operand 0.
    fn infer_map(
        &mut self,
        flat: &FlatNode,
        operands: &[Option<TypedValue>],
    ) -> Result<Option<Vec<TypedValue>>, FormatError> {
        let operand = |typed: &Option<TypedValue>| typed.clone().unwrap_or_default();
        let Some(length) = operands.first().map(operand).and_then(|it| it.value_type.sizes?.pop())
        else {
            return Ok(None);
        };
        let given: Vec<TypedValue> = operands
            .iter()
            .map(operand)
            .map(|typed| typed.item.clone().map_or(typed, TypedValue::of))
            .collect();
        let outputs = self.region(flat, "body", &given)?;
        let sequence = |output: TypedValue| TypedValue::sequence(output.value_type, length.clone());
        Ok(outputs.map(|outputs| outputs.into_iter().map(sequence).collect()))
    }

    /// Counts a body that is walked again. Each level of nested loops doubles the walks of the innermost
    /// body.
    ///
    /// # Errors
    /// `limit`.
    fn count_second_walk(&mut self, flat: &FlatNode) -> Result<(), FormatError> {
        self.second_walks += 1;
        let (what, limit) = ("loop bodies with states that change their type", MAX_SECOND_WALKS);
        match self.second_walks > limit {
            true => Err(FormatErrorKind::Limit { what, limit }.at(flat.location())),
            false => Ok(()),
        }
    }

    /// The path of a body of a node of the innermost scope.
    fn path_of_body(&mut self, flat: &FlatNode, attribute: &str) -> String {
        format!("{}/{}.{attribute}", path_end(&self.scope().region), label_in_path(flat))
    }

    /// Whether a node of this body, added since `checkpoint`, is illegal. Nodes of branches and loops inside
    /// the body, which a step may skip, do not count.
    fn has_error_in(&mut self, flat: &FlatNode, attribute: &str, [nodes, ..]: [usize; 3]) -> bool {
        let path = self.path_of_body(flat, attribute);
        let mut added = self.outline.nodes[nodes..].iter();
        added.any(|node| *node.region == *path && node.is_illegal())
    }

    /// The lengths of the outline's lists before a body that may be walked again.
    fn checkpoint(&self) -> [usize; 3] {
        let outline = &self.outline;
        [outline.nodes.len(), outline.values.len(), outline.contradictions.len()]
    }

    /// Drops the nodes and values that a body has added since `checkpoint`.
    fn rollback(&mut self, [nodes, values, contradictions]: [usize; 3]) {
        self.outline.nodes.truncate(nodes);
        self.outline.values.truncate(values);
        self.arrays.truncate(values);
        self.items.retain(|&value, _| value < values);
        self.outline.contradictions.truncate(contradictions);
    }
}

/// Whether the value is known to be true.
fn is_true(value: &TypedValue) -> bool {
    matches!(value.symbols().as_deref(), Some([one]) if one.number() == Some(1))
}

/// A negative trip count runs no step.
fn at_least_0(trips: SymbolicSize) -> SymbolicSize {
    match trips.number() {
        Some(..0) => SymbolicSize::known(0),
        _ => trips,
    }
}

fn stack_type(mut value_type: ValueType, axis: usize, length: SymbolicSize) -> ValueType {
    if let Some(sizes) = &mut value_type.sizes {
        sizes.insert(axis.min(sizes.len()), length);
    }
    value_type
}

/// The type without elements: a later step can have other elements than the first.
fn without_elements(typed: TypedValue) -> TypedValue {
    TypedValue { elements: None, array: None, ..typed }
}

/// The position, name and operator of a node: nodes can share a name.
fn place_of(flat: &FlatNode) -> String {
    let proto = &flat.node.proto;
    let name = match proto.name.as_str() {
        "" => String::new(),
        name => format!(" `{name}`"),
    };
    indim_graph::terminal::printable(&format!("node {}{name} ({})", flat.index, proto.op_type))
}

fn label_in_path(flat: &FlatNode) -> String {
    let name = match flat.node.proto.name.as_str() {
        "" => format!("{}_{}", flat.node.proto.op_type, flat.index),
        name => name.trim_start_matches('/').to_owned(),
    };
    indim_graph::terminal::printable(&name)
}

/// The last 200 bytes of a region path, because nested regions make paths long.
fn path_end(path: &str) -> &str {
    let mut start = path.len().saturating_sub(200);
    while !path.is_char_boundary(start) {
        start += 1;
    }
    &path[start..]
}
