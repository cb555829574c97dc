//! The reverse sweep through a graph: it sums the cotangents of each value and propagates them to the
//! operands.

use indim_graph::{Graph, GraphError, GraphErrorKind, Node, NodeKind, SortResult, ValueId};

use crate::BuildResult;
use indim_builder::{GraphBuilder, NodeAccess, Value};

use super::contraction::Factor;
use super::dispatch::elementwise;
use super::rule::NotDifferentiable;
use super::{has_derivatives, reduction, scan, sort, structural, take};

/// A reverse sweep through `graph`. The builder contains the inlined graph, then its derivatives.
pub(super) struct Sweep<'a> {
    graph: &'a Graph,
    builder: &'a GraphBuilder,
    /// The value in the builder of each node of the graph.
    values: Vec<Value>,
    /// For each value, whether it depends differentiably on a requested parameter.
    depends: Vec<bool>,
    /// For each value, the sum of the cotangents so far; `None` is 0.
    cotangents: Vec<Option<Value>>,
}

impl<'a> Sweep<'a> {
    /// A sweep back to the parameters `wrt` of `graph`; `parameters` are the graph's parameters in the
    /// builder.
    pub(super) fn new(
        graph: &'a Graph,
        builder: &'a GraphBuilder,
        parameters: &[Value],
        wrt: &[ValueId],
    ) -> Self {
        let mut depends = vec![false; graph.len()];
        wrt.iter().for_each(|value| depends[value.index()] = true);
        for (value, node) in graph.iter() {
            // The bits of a number have no derivative.
            let has_derivative = !matches!(node.kind, NodeKind::Bitcast);
            let reads_dependent = node.operands.iter().any(|operand| depends[operand.index()]);
            depends[value.index()] |=
                reads_dependent && has_derivative && has_derivatives(&node.array_type);
        }
        let values = builder.inline_nodes(graph, parameters);
        Sweep { graph, builder, values, depends, cotangents: vec![None; graph.len()] }
    }

    /// The value in the builder of a value of the graph.
    pub(super) fn value(&self, value: ValueId) -> Value {
        self.values[value.index()].clone()
    }

    /// Adds to the cotangent of a value.
    pub(super) fn add(&mut self, value: ValueId, cotangent: Value) {
        if !self.depends[value.index()] {
            return;
        }
        let sum = &mut self.cotangents[value.index()];
        *sum = Some(match sum.take() {
            Some(sum_so_far) => sum_so_far + cotangent,
            None => cotangent,
        });
    }

    /// Propagates the cotangents, the last node first, so that all uses of a value are visited before the
    /// value.
    #[track_caller]
    pub(super) fn run(&mut self) -> Result<(), GraphError> {
        for (value, node) in self.graph.iter().rev() {
            let is_independent = node.operands.iter().all(|operand| !self.depends[operand.index()]);
            if is_independent {
                continue;
            }
            if let Some(cotangent) = self.cotangents[value.index()].take() {
                for (operand, cotangent) in self.operand_cotangents(value, node, &cotangent)? {
                    self.add(operand, cotangent);
                }
            }
        }
        Ok(())
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
                (0..2)
                    .filter(|&index| self.depends[node.operands[index].index()])
                    .map(factor)
                    .collect()
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
            NodeKind::While { .. } | NodeKind::Branch { .. } => Err(self.not_differentiable(node)),
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
