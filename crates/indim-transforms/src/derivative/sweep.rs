//! The reverse sweep through a graph: it sums the cotangents of each value and propagates them to the
//! operands.

use std::collections::HashMap;

use indim_graph::{Graph, GraphError, GraphErrorKind, Node, NodeKind, SortResult, ValueId};

use indim_ops::ScatterOp;

use crate::BuildResult;
use crate::control::{Dependence, result_number};
use indim_builder::{GraphBuilder, NodeAccess, Value};

use super::contraction::Factor;
use super::copy::used_values;
use super::dispatch::elementwise;
use super::loops::{LoopArguments, SavedLoop};
use super::rule::NotDifferentiable;
use super::trip_count::known_integers;
use super::{
    GRADIENT, branches, carries_derivative, has_derivatives, reduction, scan, sort, structural,
    take,
};

/// A reverse sweep through `graph`. The builder contains the inlined graph, then its derivatives.
pub(super) struct Sweep<'a> {
    graph: &'a Graph,
    builder: &'a GraphBuilder,
    /// The value in the builder of each node of the graph.
    values: Vec<Value>,
    /// Which values depend differentiably on a requested parameter.
    dependence: Dependence<'a>,
    /// For each value, the sum of the cotangents so far; `None` is 0.
    cotangents: Vec<Option<Value>>,
    /// Whether the graph is the body of a loop: [`Sweep::of_body`].
    is_body: bool,
    /// The integers among the values that are known.
    integers: Vec<Option<i128>>,
    /// The loops of known length, by their first nodes.
    loops: HashMap<ValueId, SavedLoop>,
}

/// The parameters of a graph under a sweep.
pub(super) struct SweptParameters<'a> {
    /// Their values in the builder.
    pub(super) values: &'a [Value],
    /// Whether the sweep propagates cotangents to them.
    pub(super) wrt: &'a [bool],
    /// The integers among them that are known.
    pub(super) integers: &'a [Option<i128>],
}

impl<'a> Sweep<'a> {
    /// A sweep back to some parameters of `graph`.
    pub(super) fn new(
        graph: &'a Graph,
        builder: &'a GraphBuilder,
        parameters: SweptParameters<'_>,
    ) -> Result<Self, GraphError> {
        let mut sweep = Sweep {
            graph,
            builder,
            values: Vec::with_capacity(graph.len()),
            dependence: Dependence::of(graph, parameters.wrt, carries_derivative),
            cotangents: vec![None; graph.len()],
            is_body: false,
            integers: known_integers(graph, parameters.integers),
            loops: HashMap::new(),
        };
        let depends = |(value, node): (ValueId, &Node)| {
            matches!(node.kind, NodeKind::While { .. }) && sweep.depends(value)
        };
        match graph.iter().any(depends) {
            false => sweep.values = builder.inline_nodes(graph, parameters.values),
            true => sweep.add_nodes(parameters.values)?,
        }
        Ok(sweep)
    }

    /// Adds the nodes of the graph to the builder. Loops of known length also save the states that their
    /// derivatives use.
    fn add_nodes(&mut self, parameters: &[Value]) -> Result<(), GraphError> {
        let graph = self.graph;
        let has_derivative = |output: &&ValueId| has_derivatives(&graph[**output].array_type);
        let outputs = graph.outputs().iter().filter(has_derivative);
        let is_used = used_values(graph, &outputs.copied().collect::<Vec<ValueId>>(), |_| false);
        let mut states: HashMap<ValueId, Vec<Value>> = HashMap::new();
        for (value, node) in graph.iter() {
            let first = self.dependence.controls().first(value);
            if first == value && self.is_differentiated_loop(value, &is_used) {
                let operands = node.operands.iter().map(|operand| self.value(*operand)).collect();
                let integers = node.operands.iter().map(|operand| self.integers[operand.index()]);
                let arguments = LoopArguments {
                    operands,
                    depends: self.dependence.operands(first).to_vec(),
                    integers: integers.collect(),
                };
                if let Some((saved, results)) = SavedLoop::new(self.builder, node, arguments)? {
                    self.loops.insert(first, saved);
                    states.insert(first, results);
                }
            }
            let added = match (&node.kind, result_number(&node.kind), states.get(&first)) {
                (NodeKind::Parameter { index, .. }, ..) => parameters[*index].clone(),
                (_, Some(result), Some(states)) => states[result].clone(),
                (kind, ..) => {
                    let ids = node.operands.iter();
                    let ids =
                        ids.map(|operand| self.builder.id(GRADIENT, &self.values[operand.index()]));
                    let ids = ids.collect::<Result<Vec<ValueId>, GraphError>>()?;
                    self.builder.add_node(kind.clone(), &ids, node.array_type.clone())
                }
            };
            self.values.push(added);
        }
        Ok(())
    }

    /// Whether the node is the first one of a loop with a result through which a cotangent can pass.
    fn is_differentiated_loop(&self, first: ValueId, is_used: &[bool]) -> bool {
        let passes = |&(_, value): &(usize, ValueId)| self.depends(value) && is_used[value.index()];
        matches!(self.graph[first].kind, NodeKind::While { .. })
            && self.dependence.controls().results(first).iter().any(passes)
    }

    fn depends(&self, value: ValueId) -> bool {
        self.dependence.values()[value.index()]
    }

    /// The value in the builder of a value of the graph.
    pub(super) fn value(&self, value: ValueId) -> Value {
        self.values[value.index()].clone()
    }

    /// Adds to the cotangent of a value.
    pub(super) fn add(&mut self, value: ValueId, cotangent: Value) {
        if !self.depends(value) {
            return;
        }
        let sum = &mut self.cotangents[value.index()];
        *sum = Some(match sum.take() {
            Some(sum_so_far) => sum_so_far + cotangent,
            None => cotangent,
        });
    }

    /// The sweep of the body of a loop: a gather adds its cotangents to those that its operand has already,
    /// in place, so that a step of the loop costs what it reads, not the whole array.
    pub(super) fn of_body(self) -> Self {
        Sweep { is_body: true, ..self }
    }

    /// Begins the sum of the cotangents of a value with `sum`.
    pub(super) fn begin_sum(&mut self, value: ValueId, sum: Value) {
        self.cotangents[value.index()] = Some(sum);
    }

    /// Propagates the cotangents, the last node first, so that all uses of a value are visited before the
    /// value.
    #[track_caller]
    pub(super) fn run(&mut self) -> Result<(), GraphError> {
        for (value, node) in self.graph.iter().rev() {
            let is_independent = node.operands.iter().all(|operand| !self.depends(*operand));
            if result_number(&node.kind).is_some() {
                self.propagate_through_control(value, node)?;
                continue;
            }
            if is_independent {
                continue;
            }
            if let Some(cotangent) = self.cotangents[value.index()].take() {
                if self.add_to_gathered_sum(node, &cotangent)? {
                    continue;
                }
                for (operand, cotangent) in self.operand_cotangents(value, node, &cotangent)? {
                    self.add(operand, cotangent);
                }
            }
        }
        Ok(())
    }

    /// Propagates the cotangents of all results of a loop or branch, at its first node.
    #[track_caller]
    fn propagate_through_control(&mut self, value: ValueId, node: &Node) -> Result<(), GraphError> {
        let controls = self.dependence.controls();
        if controls.first(value) != value {
            return Ok(());
        }
        let nodes = controls.results(value).to_vec();
        let mut cotangents: Vec<Option<Value>> = vec![None; self.dependence.results(value).len()];
        for (result, value) in nodes {
            let Some(cotangent) = self.cotangents[value.index()].take() else { continue };
            let sum = &mut cotangents[result];
            *sum = Some(match sum.take() {
                Some(sum_so_far) => sum_so_far + cotangent,
                None => cotangent,
            });
        }
        if cotangents.iter().all(Option::is_none) {
            return Ok(());
        }
        let contributions = match &node.kind {
            NodeKind::Branch { branches, .. } => {
                let rule = branches::BranchRule {
                    regions: branches,
                    operands: node.operands.iter().map(|&operand| self.value(operand)).collect(),
                    depends: self.dependence.operands(value),
                    integers: node.operands.iter().map(|it| self.integers[it.index()]).collect(),
                };
                rule.cotangents(self.builder, &cotangents)?
            }
            _ => match self.loops.get(&value) {
                Some(saved) => saved.cotangents(self.builder, &cotangents)?,
                None => return Err(self.not_differentiable(node)),
            },
        };
        for (operand, cotangent) in contributions {
            self.add(node.operands[operand], cotangent);
        }
        Ok(())
    }

    /// Whether the node is a gather in the body of a loop whose operand has a cotangent; if so, adds the
    /// cotangents of the gathered elements to it.
    fn add_to_gathered_sum(&mut self, node: &Node, cotangent: &Value) -> Result<bool, GraphError> {
        let NodeKind::Take { axis, mode } = node.kind else { return Ok(false) };
        let (b, operand) = (self.builder, node.operands[0]);
        let (true, Some(sum)) = (self.is_body, &self.cotangents[operand.index()]) else {
            return Ok(false);
        };
        let (indices, axis) = (self.value(node.operands[1]), axis as i64);
        let sum = match indices.array_type()?.shape.is_scalar() {
            // A scatter that sets one part is computed in place; a sum of floats is not.
            true => {
                let part = b.take(sum, &indices, axis, mode)? + cotangent;
                b.scatter(ScatterOp::Set, sum, &indices, part, axis, mode)?
            }
            false => b.scatter_add(sum, indices, cotangent, axis, mode)?,
        };
        self.cotangents[operand.index()] = Some(sum);
        Ok(true)
    }

    /// The cotangents of a node's operands, computed from the node's cotangent.
    #[track_caller]
    fn operand_cotangents(
        &self,
        value: ValueId,
        node: &Node,
        cotangent: &Value,
    ) -> Result<Vec<(ValueId, Value)>, GraphError> {
        let operand = |index: usize| self.value(node.operands[index]);
        let for_first_operand = |contribution: Value| Ok(vec![(node.operands[0], contribution)]);
        match &node.kind {
            NodeKind::Elementwise(op) => {
                let operands: Vec<Value> =
                    node.operands.iter().map(|&operand| self.value(operand)).collect();
                match elementwise(*op, &operands, &self.value(value), cotangent) {
                    Ok(contributions) => {
                        let pairs = node.operands.iter().copied().zip(contributions);
                        Ok(pairs
                            .filter_map(|(operand, contribution)| Some((operand, contribution?)))
                            .collect())
                    }
                    Err(NotDifferentiable) => Err(self.not_differentiable(node)),
                }
            }
            NodeKind::Convert => for_first_operand(structural::convert(&operand(0), cotangent)?),
            NodeKind::BroadcastInDim(map) => {
                for_first_operand(structural::broadcast_in_dim(map, &operand(0), cotangent)?)
            }
            NodeKind::Reshape => for_first_operand(structural::reshape(&operand(0), cotangent)?),
            NodeKind::Slice(slices) => {
                for_first_operand(structural::slice(slices, &operand(0), cotangent)?)
            }
            NodeKind::Window { axis, window } => {
                for_first_operand(take::window(*axis, window, &operand(0), cotangent)?)
            }
            NodeKind::Concatenate { axis } => {
                let operands: Vec<Value> = (0..node.operands.len()).map(operand).collect();
                let contributions = structural::concatenate(*axis, &operands, cotangent)?;
                Ok(node.operands.iter().copied().zip(contributions).collect())
            }
            NodeKind::Take { axis, mode } => {
                for_first_operand(take::take(*axis, *mode, &operand(0), &operand(1), cotangent)?)
            }
            NodeKind::Scatter { op, axis, mode } => {
                let scatter = take::ScatterRule {
                    op: *op,
                    axis: *axis,
                    mode: *mode,
                    operand: &operand(0),
                    indices: &operand(1),
                    updates: &operand(2),
                    result: &self.value(value),
                };
                match scatter.cotangents(cotangent)? {
                    Some([to_operand, to_updates]) => {
                        Ok(vec![(node.operands[0], to_operand), (node.operands[2], to_updates)])
                    }
                    None => Err(self.not_differentiable(node)),
                }
            }
            NodeKind::Reduce { .. } => {
                let chain = reduction::ReductionChain::ending_at(self.graph, value);
                let source = self.value(chain.source);
                let contribution =
                    reduction::cotangent(&chain, &source, &self.value(value), cotangent)?;
                Ok(contribution.map(|cotangent| (chain.source, cotangent)).into_iter().collect())
            }
            NodeKind::Contract { .. } => {
                let factor = |index: usize| {
                    let value = node.operands[index];
                    let shape = |source: ValueId| self.graph[source].array_type.shape.clone();
                    let factor = Factor::new(value, &self.graph[value], shape);
                    let contribution =
                        factor.cotangent(self.builder, &operand(1 - index), cotangent)?;
                    Ok((factor.source, contribution))
                };
                (0..2).filter(|&index| self.depends(node.operands[index])).map(factor).collect()
            }
            NodeKind::Scan { op, axis, reverse, exclusive } => {
                let scan = scan::ScanRule {
                    op: *op,
                    axis: *axis,
                    reverse: *reverse,
                    exclusive: *exclusive,
                };
                match scan.cotangent(&operand(0), cotangent)? {
                    Some(of_operand) => for_first_operand(of_operand),
                    None => Err(self.not_differentiable(node)),
                }
            }
            NodeKind::Sort { axis, descending, result: SortResult::Values } => {
                for_first_operand(sort::cotangent(*axis, *descending, &operand(0), cotangent)?)
            }
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                unreachable!("invariant: `propagate_through_control` has the rules of these kinds")
            }
            NodeKind::Bitcast
            | NodeKind::Sort { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::Parameter { .. }
            | NodeKind::Constant(_)
            | NodeKind::Iota { .. } => Ok(Vec::new()),
        }
    }

    #[track_caller]
    fn not_differentiable(&self, node: &Node) -> GraphError {
        let describe = |&operand: &ValueId| {
            (self.graph.value_name(operand), self.graph[operand].array_type.clone())
        };
        let operands = node.operands.iter().map(describe).collect();
        GraphError::new(GraphErrorKind::NotDifferentiable, node.kind.name(), operands)
            .at(core::panic::Location::caller())
    }

    /// The cotangent of a parameter; zeros if nothing was propagated to it.
    pub(super) fn gradient(&self, parameter: ValueId) -> BuildResult {
        match &self.cotangents[parameter.index()] {
            Some(cotangent) => Ok(cotangent.clone()),
            None => self.builder.zeros(&self.graph[parameter].array_type),
        }
    }
}
