//! Forward mode. Tangents pass through loops and branches next to their values; between these, forward mode
//! is derived from reverse mode.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use indim_graph::{
    Graph, GraphError, Literal, Node, NodeKind, Region, SizeFacts, ValueId, remove_unused,
};
use indim_ops::{ArrayType, ScatterOp};

use super::copy::{given_parameters, inline_used, used_values};
use super::{
    Differentiate, GRADIENT, add_term, carries_derivative, differentiable, numbered_parameter,
    numbered_parameters, parameters_in, unused_parameter_name, vjp_with_facts,
};
use crate::control::{Dependence, result_number};
use indim_builder::{GraphBuilder, NodeAccess, Value};

/// The Jacobian-vector product of `graph` with respect to the parameters `wrt`. With the size facts of the
/// graph's builder, also those of the result, which then has unused nodes.
#[track_caller]
pub(super) fn jvp(
    (graph, facts): (&Graph, Option<&SizeFacts>),
    wrt: &[usize],
) -> Result<(Graph, SizeFacts), GraphError> {
    let mut depends = vec![false; graph.parameters().len()];
    for &parameter in wrt {
        differentiable(graph, parameter)?;
        depends[parameter] = true;
    }
    let dependence = Dependence::of(graph, &depends, carries_derivative);
    let b = GraphBuilder::new();
    let parameters = parameters_in(graph, &b)?;
    let tangents = wrt.iter().enumerate().map(|(position, &parameter)| {
        let array_type = graph[graph.parameters()[parameter]].array_type.clone();
        tangent_parameter(&b, position, array_type)
    });
    let tangents = tangents.collect::<Result<Vec<Value>, GraphError>>()?;
    let is_straight = graph.iter().all(|(value, node)| {
        result_number(&node.kind).is_none() || !dependence.values()[value.index()]
    });
    let outputs = match is_straight {
        true => {
            let mut outputs = b.inline_with((graph, facts), &parameters)?;
            let of_outputs = match facts {
                Some(facts) => {
                    let primals = outputs.clone();
                    sized_pushforward(&b, (graph, facts), wrt, (parameters, &primals), tangents)?
                }
                None => pushforward(&b, graph, wrt, parameters, tangents)?,
            };
            outputs.extend(of_outputs);
            outputs
        }
        false => {
            // A parameter may occur several times in `wrt`.
            let mut of_parameters: Vec<Option<Value>> = vec![None; parameters.len()];
            for (&parameter, tangent) in wrt.iter().zip(tangents) {
                add_term(&mut of_parameters[parameter], tangent);
            }
            outputs_then_tangents(&b, with_tangents(&b, graph, &parameters, of_parameters)?)?
        }
    };
    let graph = b.finish(&outputs)?;
    let mut of_result = b.size_facts();
    if facts.is_some() && !is_straight {
        for (value, node) in graph.iter() {
            let axes = 0..node.array_type.shape.rank();
            axes.for_each(|axis| of_result.pin(value, axis, "a loop or branch has this size"));
        }
    }
    match facts {
        Some(_) => Ok((graph, of_result)),
        None => Ok((remove_unused(&graph).into_owned(), of_result)),
    }
}

/// Like [`pushforward`], for a graph whose sizes vary. The values of cotangents have the shapes of the
/// outputs `primals`, and no node is left out, because it may state a size.
#[track_caller]
fn sized_pushforward(
    b: &GraphBuilder,
    graph: (&Graph, &SizeFacts),
    wrt: &[usize],
    (mut arguments, primals): (Vec<Value>, &[Value]),
    tangents: Vec<Value>,
) -> Result<Vec<Value>, GraphError> {
    let (pullback, facts) = vjp_with_facts(graph, wrt)?;
    let (own, all) = (graph.0.parameters().len(), pullback.parameters().len());
    let seeds: Vec<usize> = (own..all).collect();
    let (pushforward, facts) = vjp_with_facts((&pullback, &facts), &seeds)?;
    for primal in primals {
        let of = primal.array_type()?;
        if super::has_derivatives(&of) {
            let zero = b.literal(Literal::Int(0), of.dtype)?;
            arguments.push(b.broadcast_like(zero, &[], primal)?);
        }
    }
    for (tangent, &parameter) in tangents.iter().zip(wrt) {
        b.equate(tangent, &arguments[parameter]);
    }
    arguments.extend(tangents);
    b.inline_with((&pushforward, Some(&facts)), &arguments)
}

/// The outputs, then the tangents of those of floats or complex numbers.
fn outputs_then_tangents(
    b: &GraphBuilder,
    results: Vec<(Value, Option<Value>)>,
) -> Result<Vec<Value>, GraphError> {
    let mut outputs: Vec<Value> = results.iter().map(|(value, _)| value.clone()).collect();
    for (value, tangent) in results {
        let of = value.array_type()?;
        if super::has_derivatives(&of) {
            outputs.push(tangent_or_zeros(b, tangent, &of)?);
        }
    }
    Ok(outputs)
}

/// The tangents of the outputs of a graph, computed from those of the parameters `wrt`. The graph is
/// straight: no tangent passes through a loop or branch. `arguments` are the values of its parameters.
///
/// The pullback is linear in the cotangents, so its own pullback maps tangents to tangents. That needs no
/// value of a cotangent, so zeros take their place.
#[track_caller]
fn pushforward(
    b: &GraphBuilder,
    graph: &Graph,
    wrt: &[usize],
    mut arguments: Vec<Value>,
    tangents: Vec<Value>,
) -> Result<Vec<Value>, GraphError> {
    let pullback = graph.vjp(wrt)?;
    let (own, all) = (graph.parameters().len(), pullback.parameters().len());
    let pushforward = pullback.vjp(&(own..all).collect::<Vec<usize>>())?;
    for &cotangent in &pullback.parameters()[own..] {
        arguments.push(b.zeros(&pullback[cotangent].array_type)?);
    }
    arguments.extend(tangents);
    inline_used(b, &pushforward, pushforward.outputs(), &given_parameters(&pushforward, &arguments))
}

/// Adds a graph with these values and tangents of its parameters to the builder; returns the value and the
/// tangent of each output. `None` is a tangent of zeros.
fn with_tangents(
    b: &GraphBuilder,
    graph: &Graph,
    parameters: &[Value],
    tangents: Vec<Option<Value>>,
) -> Result<Vec<(Value, Option<Value>)>, GraphError> {
    let depends: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let dependence = Dependence::of(graph, &depends, carries_derivative);
    let mut last_uses = vec![0; graph.len()];
    for (value, node) in graph.iter() {
        node.operands.iter().for_each(|operand| last_uses[operand.index()] = value.index());
    }
    graph.outputs().iter().for_each(|output| last_uses[output.index()] = usize::MAX);
    let is_used = used_values(graph, graph.outputs(), |value| !carries_derivative(&graph[value]));
    let (values, of_values) = (Vec::with_capacity(graph.len()), vec![None; graph.len()]);
    let mut sweep =
        ForwardSweep { b, graph, dependence, is_used, last_uses, values, tangents: of_values };
    sweep.run(parameters, tangents)?;
    let output = |output: &ValueId| {
        let index = output.index();
        (sweep.values[index].clone(), sweep.tangents[index].clone())
    };
    Ok(graph.outputs().iter().map(output).collect())
}

/// A sweep from the parameters of a graph to its outputs. The builder contains the graph and the tangents.
struct ForwardSweep<'a> {
    b: &'a GraphBuilder,
    graph: &'a Graph,
    dependence: Dependence<'a>,
    /// Whether the derivative of an output uses the value.
    is_used: Vec<bool>,
    /// The index of the last node that uses each value; `usize::MAX` for outputs.
    last_uses: Vec<usize>,
    /// The value in the builder of each node so far.
    values: Vec<Value>,
    /// The tangent of each value that has one, once its segment is complete.
    tangents: Vec<Option<Value>>,
}

impl ForwardSweep<'_> {
    fn run(
        &mut self,
        parameters: &[Value],
        tangents: Vec<Option<Value>>,
    ) -> Result<(), GraphError> {
        for (&parameter, tangent) in self.graph.parameters().iter().zip(tangents) {
            self.tangents[parameter.index()] = tangent;
        }
        let mut results: HashMap<ValueId, Vec<(Value, Option<Value>)>> = HashMap::new();
        let mut segment_start = 0;
        for (value, node) in self.graph.iter() {
            if self.is_direct(value, node) {
                self.add_tangents_of(segment_start..value.index())?;
                segment_start = value.index() + 1;
                let first = self.dependence.controls().first(value);
                let (added, tangent) = match result_number(&node.kind) {
                    None => self.scatter(value, node)?,
                    Some(result) => {
                        if first == value {
                            results.insert(first, self.control(value, node)?);
                        }
                        results[&first][result].clone()
                    }
                };
                self.tangents[value.index()] = tangent;
                self.values.push(added);
                continue;
            }
            let added = match &node.kind {
                NodeKind::Parameter { index, .. } => parameters[*index].clone(),
                kind => {
                    let operands = self.ids(node, |index| self.values[index].clone())?;
                    self.b.add_node(kind.clone(), &operands, node.array_type.clone())
                }
            };
            self.values.push(added);
        }
        self.add_tangents_of(segment_start..self.graph.len())
    }

    /// Whether the tangent of a value is computed.
    fn has_tangent(&self, value: ValueId) -> bool {
        self.dependence.values()[value.index()] && self.is_used[value.index()]
    }

    /// Whether the tangent of a node is computed by a node of the same kind: that of a loop, a branch, and a
    /// linear scatter, so that a loop updates the tangent of a stack in place.
    fn is_direct(&self, value: ValueId, node: &Node) -> bool {
        match node.kind {
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                let controls = self.dependence.controls();
                let results = controls.results(controls.first(value));
                results.iter().any(|&(_, value)| self.has_tangent(value))
            }
            NodeKind::Scatter { op: ScatterOp::Set | ScatterOp::Add, .. } => {
                self.has_tangent(value)
            }
            _ => false,
        }
    }

    /// The operands of a node in the builder.
    fn ids(&self, node: &Node, value: impl Fn(usize) -> Value) -> Result<Vec<ValueId>, GraphError> {
        let id = |operand: &ValueId| self.b.id(GRADIENT, &value(operand.index()));
        node.operands.iter().map(id).collect()
    }

    /// Computes the tangents of the values in a segment of straight nodes.
    fn add_tangents_of(&mut self, segment: Range<usize>) -> Result<(), GraphError> {
        let results: Vec<ValueId> = self
            .nodes(&segment)
            .filter(|(value, node)| {
                let is_parameter = matches!(node.kind, NodeKind::Parameter { .. });
                let is_used_later = self.last_uses[value.index()] >= segment.end;
                !is_parameter && is_used_later && self.has_tangent(*value)
            })
            .map(|(value, _)| value)
            .collect();
        if results.is_empty() {
            return Ok(());
        }
        let (graph, parameters) = self.segment_graph(&segment, &results)?;
        let (mut wrt, mut tangents) = (Vec::new(), Vec::new());
        for (position, value) in parameters.iter().enumerate() {
            if let Some(tangent) = &self.tangents[value.index()] {
                wrt.push(position);
                tangents.push(tangent.clone());
            }
        }
        let arguments = parameters.iter().map(|value| self.values[value.index()].clone());
        let of_results = pushforward(self.b, &graph, &wrt, arguments.collect(), tangents)?;
        for (value, tangent) in results.into_iter().zip(of_results) {
            self.tangents[value.index()] = Some(tangent);
        }
        Ok(())
    }

    /// The nodes of a segment.
    fn nodes(&self, segment: &Range<usize>) -> impl Iterator<Item = (ValueId, &Node)> {
        self.graph.iter().skip(segment.start).take(segment.len())
    }

    /// A segment as a graph with the outputs `results`. Its parameters are the returned values.
    fn segment_graph(
        &self,
        segment: &Range<usize>,
        results: &[ValueId],
    ) -> Result<(Graph, Vec<ValueId>), GraphError> {
        let inner = GraphBuilder::new();
        let mut copies: HashMap<ValueId, Value> = HashMap::new();
        let mut parameters: Vec<ValueId> = Vec::new();
        let mut add_parameter = |value: ValueId, copies: &mut HashMap<ValueId, Value>| {
            if let Entry::Vacant(entry) = copies.entry(value) {
                let of = &self.graph[value].array_type;
                entry.insert(numbered_parameter(&inner, 'p', parameters.len(), of)?);
                parameters.push(value);
            }
            Ok::<(), GraphError>(())
        };
        for (value, node) in self.nodes(segment) {
            let is_control = result_number(&node.kind).is_some();
            if is_control || matches!(node.kind, NodeKind::Parameter { .. }) {
                add_parameter(value, &mut copies)?;
                continue;
            }
            for &operand in node.operands.iter() {
                add_parameter(operand, &mut copies)?;
            }
            let operands = node.operands.iter().map(|operand| inner.id(GRADIENT, &copies[operand]));
            let operands = operands.collect::<Result<Vec<ValueId>, GraphError>>()?;
            let copy = inner.add_node(node.kind.clone(), &operands, node.array_type.clone());
            copies.insert(value, copy);
        }
        let outputs: Vec<&Value> = results.iter().map(|value| &copies[value]).collect();
        Ok((inner.finish(&outputs)?, parameters))
    }

    /// The value and the tangent of a linear scatter.
    fn scatter(&self, value: ValueId, node: &Node) -> Result<(Value, Option<Value>), GraphError> {
        let scatter = |operands: &[ValueId]| {
            self.b.add_node(node.kind.clone(), operands, self.graph[value].array_type.clone())
        };
        let result = scatter(&self.ids(node, |index| self.values[index].clone())?);
        let mut of_operands = Vec::with_capacity(node.operands.len());
        for (position, operand) in node.operands.iter().enumerate() {
            let tangent = self.tangents[operand.index()].clone();
            of_operands.push(match position {
                1 => self.values[operand.index()].clone(),
                _ => tangent_or_zeros(self.b, tangent, &self.graph[*operand].array_type)?,
            });
        }
        let ids = of_operands.iter().map(|operand| self.b.id(GRADIENT, operand));
        let ids = ids.collect::<Result<Vec<ValueId>, GraphError>>()?;
        Ok((result, Some(scatter(&ids))))
    }

    /// The results of a loop or branch, with their tangents.
    fn control(
        &self,
        first: ValueId,
        node: &Node,
    ) -> Result<Vec<(Value, Option<Value>)>, GraphError> {
        let operands: Vec<Value> =
            node.operands.iter().map(|operand| self.values[operand.index()].clone()).collect();
        let tangents: Vec<Option<Value>> =
            node.operands.iter().map(|operand| self.tangents[operand.index()].clone()).collect();
        let depends = self.dependence.results(first);
        let count = depends.len();
        let mut results = match &node.kind {
            NodeKind::While { .. } => loop_results(self.b, node, depends, (&operands, &tangents))?,
            NodeKind::Branch { branches, .. } => {
                let mut bodies = Vec::with_capacity(branches.len());
                for branch in branches.iter() {
                    let (inner, _) = self.b.begin_region(&[])?;
                    let of_arguments: Vec<bool> =
                        tangents[1..].iter().map(Option::is_some).collect();
                    let graph = region_with_tangents(branch, &of_arguments, depends)?;
                    let arguments = operands[1..].iter().chain(tangents[1..].iter().flatten());
                    let given = given_parameters(&graph, arguments);
                    let results = inline_used(&inner, &graph, graph.outputs(), &given)?;
                    bodies.push(inner.end_region(&results)?);
                }
                self.b.branch_between(&operands[0], &bodies)?
            }
            _ => unreachable!("invariant: the node is a loop or a branch"),
        };
        let mut of_results = results.split_off(count).into_iter();
        let tangent = |depends: bool| if depends { of_results.next() } else { None };
        let of_results: Vec<Option<Value>> = depends.iter().copied().map(tangent).collect();
        Ok(results.into_iter().zip(of_results).collect())
    }
}

/// The final states of a loop, then the tangents of those that depend.
fn loop_results(
    b: &GraphBuilder,
    node: &Node,
    depends: &[bool],
    (operands, tangents): (&[Value], &[Option<Value>]),
) -> Result<Vec<Value>, GraphError> {
    let NodeKind::While { condition, body, limit, .. } = &node.kind else {
        unreachable!("invariant: the node is a loop")
    };
    let count = depends.len();
    let mut initial = operands[..count].to_vec();
    for (state, _) in depends.iter().enumerate().filter(|(_, depends)| **depends) {
        let of = operands[state].array_type()?;
        initial.push(tangent_or_zeros(b, tangents[state].clone(), &of)?);
    }
    let outside = tangents[count..].iter();
    let has_tangent: Vec<bool> =
        depends.iter().copied().chain(outside.clone().map(Option::is_some)).collect();
    let graph = region_with_tangents(body, &has_tangent, depends)?;
    b.while_loop_up_to(
        *limit,
        &initial,
        |b, current| {
            let operands = current[..count].iter().chain(&operands[count..]);
            let graph = condition.graph();
            let results =
                inline_used(b, graph, graph.outputs(), &given_parameters(graph, operands));
            Ok(results?.swap_remove(0))
        },
        |b, current| {
            let (states, of_states) = current.split_at(count);
            let operands = states.iter().chain(&operands[count..]);
            let of_operands = of_states.iter().chain(outside.flatten());
            let given = given_parameters(&graph, operands.chain(of_operands));
            inline_used(b, &graph, graph.outputs(), &given)
        },
    )
}

/// A region with tangents. Its parameters are those of the region, then the tangents of those in
/// `has_tangent`; its outputs are those of the region, then the tangents of those in `depends`.
fn region_with_tangents(
    region: &Region,
    has_tangent: &[bool],
    depends: &[bool],
) -> Result<Graph, GraphError> {
    let b = GraphBuilder::new();
    let parameters = numbered_parameters(&b, 's', region.parameter_types().enumerate())?;
    let mut tangents = vec![None; parameters.len()];
    for (number, of) in region.parameter_types().enumerate() {
        if has_tangent[number] {
            tangents[number] = Some(numbered_parameter(&b, 't', number, of)?);
        }
    }
    let results = with_tangents(&b, region.graph(), &parameters, tangents)?;
    let mut outputs: Vec<Value> = results.iter().map(|(value, _)| value.clone()).collect();
    for ((value, tangent), _) in results.into_iter().zip(depends).filter(|(_, depends)| **depends) {
        outputs.push(tangent_or_zeros(&b, tangent, &value.array_type()?)?);
    }
    b.finish(&outputs)
}

fn tangent_or_zeros(
    b: &GraphBuilder,
    tangent: Option<Value>,
    of: &ArrayType,
) -> Result<Value, GraphError> {
    tangent.map_or_else(|| b.zeros(of), Ok)
}

/// A parameter for the tangent of the parameter at `position` in `wrt`, with a new name.
fn tangent_parameter(
    b: &GraphBuilder,
    position: usize,
    of: ArrayType,
) -> Result<Value, GraphError> {
    b.parameter(&unused_parameter_name(b, "tangent", position), of.dtype, of.shape)
}
