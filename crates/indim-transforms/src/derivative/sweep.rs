//! The reverse sweep through a graph: it sums the cotangents of each value and propagates them to the
//! operands.

use std::collections::HashMap;

use indim_graph::{
    Graph, GraphError, GraphErrorKind, Literal, Node, NodeKind, SizeFacts, SortResult, ValueId,
};

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
    GRADIENT, add_term, branches, carries_derivative, reduction, scan, sort, structural, take,
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
    /// The loops of known length, by their first nodes; an error for those without a rule, which is returned
    /// if a cotangent arrives.
    loops: HashMap<ValueId, Result<SavedLoop, GraphError>>,
}

/// The parameters of a graph under a sweep.
pub(super) struct SweptParameters<'a> {
    /// Their values in the builder.
    pub(super) values: &'a [Value],
    /// Whether the sweep propagates cotangents to them.
    pub(super) wrt: &'a [bool],
    /// The integers among them that are known.
    pub(super) integers: &'a [Option<i128>],
    /// The size facts of the graph; without them every size counts as fixed.
    pub(super) facts: Option<&'a SizeFacts>,
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
            false => {
                sweep.values = builder.inline_nodes(graph, parameters.facts, parameters.values)
            }
            true => sweep.add_nodes(parameters.values, parameters.facts)?,
        }
        Ok(sweep)
    }

    /// Adds the nodes of the graph to the builder. Loops of known length also save the states that their
    /// derivatives use.
    fn add_nodes(
        &mut self,
        parameters: &[Value],
        facts: Option<&SizeFacts>,
    ) -> Result<(), GraphError> {
        let graph = self.graph;
        let has_zero_derivative = |value: ValueId| !carries_derivative(&graph[value]);
        let is_used = used_values(graph, graph.outputs(), has_zero_derivative);
        let mut states: HashMap<ValueId, Vec<Value>> = HashMap::new();
        for (value, node) in graph.iter() {
            let first = self.dependence.controls().first(value);
            if first == value
                && self.is_differentiated_loop(value, &is_used)
                && let Some(results) = self.save_loop(value, node)
            {
                states.insert(first, results);
            }
            let added = match (&node.kind, result_number(&node.kind), states.get(&first)) {
                (NodeKind::Parameter { index, .. }, ..) => parameters[*index].clone(),
                (_, Some(result), Some(states)) => states[result].clone(),
                (NodeKind::Constant(count), ..) if facts.is_some_and(|of| of.is_count(value)) => {
                    self.builder.add_distinct(count)
                }
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
        if let Some(facts) = facts {
            self.builder.state_facts(facts, &self.values);
        }
        Ok(())
    }

    /// Adds a loop that saves its states; returns its results. `None` if it cannot be differentiated.
    fn save_loop(&mut self, first: ValueId, node: &Node) -> Option<Vec<Value>> {
        let arguments = LoopArguments {
            operands: self.operands(node),
            depends: self.dependence.operands(first).to_vec(),
            integers: self.operand_integers(node),
        };
        let (saved, results) = match SavedLoop::new(self.builder, node, arguments) {
            Ok(Some((saved, results))) => (Ok(saved), Some(results)),
            Ok(None) => (Err(self.not_differentiable(node)), None),
            Err(error) => (Err(error), None),
        };
        self.loops.insert(first, saved);
        results
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

    /// The values of a node's operands in the builder.
    fn operands(&self, node: &Node) -> Vec<Value> {
        node.operands.iter().map(|&operand| self.value(operand)).collect()
    }

    /// The integers among a node's operands that are known.
    fn operand_integers(&self, node: &Node) -> Vec<Option<i128>> {
        node.operands.iter().map(|operand| self.integers[operand.index()]).collect()
    }

    /// Adds to the cotangent of a value.
    pub(super) fn add(&mut self, value: ValueId, cotangent: Value) {
        if self.depends(value) {
            // A size that a rule used as a number is then one of the value too.
            self.builder.equate(&cotangent, &self.values[value.index()]);
            add_term(&mut self.cotangents[value.index()], cotangent);
        }
    }

    /// The sweep of a region that runs in each step of a loop: a gather adds its cotangents to those that its
    /// operand has already, and adds no whole array. Directly in the body this is done in place; a branch or
    /// an inner loop copies the sum.
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
        if self.dependence.controls().first(value) != value {
            return Ok(());
        }
        let of_results = self.take_result_cotangents(value);
        if of_results.iter().all(Option::is_none) {
            return Ok(());
        }
        let contributions = match &node.kind {
            NodeKind::Branch { branches, .. } => {
                let rule = branches::BranchRule {
                    regions: branches,
                    operands: self.operands(node),
                    depends: self.dependence.operands(value).to_vec(),
                    integers: self.operand_integers(node),
                    is_in_body: self.is_body,
                };
                let sums = self.take_sums(&node.operands[1..]);
                rule.cotangents(self.builder, &of_results, &sums)?
            }
            _ => {
                let Some(saved) = self.loops.remove(&value) else {
                    unreachable!(
                        "invariant: `add_nodes` saves each loop that a cotangent can reach"
                    )
                };
                let sums = self.take_sums(&node.operands[of_results.len()..]);
                let saved = saved.map_err(|error| error.at(core::panic::Location::caller()))?;
                saved.cotangents(self.builder, &[of_results, sums].concat())?
            }
        };
        for (operand, cotangent) in contributions {
            self.add(node.operands[operand], cotangent);
        }
        Ok(())
    }

    /// Takes the cotangents of the results of a loop or branch.
    fn take_result_cotangents(&mut self, first: ValueId) -> Vec<Option<Value>> {
        let mut cotangents = vec![None; self.dependence.results(first).len()];
        for &(result, value) in self.dependence.controls().results(first) {
            if let Some(cotangent) = self.cotangents[value.index()].take() {
                add_term(&mut cotangents[result], cotangent);
            }
        }
        cotangents
    }

    /// Takes the sums of the cotangents of these values so far. A loop or branch that uses the values adds to
    /// the sums and returns them, so that no step adds whole arrays. Of a value that occurs twice, the first
    /// has the sum.
    fn take_sums(&mut self, values: &[ValueId]) -> Vec<Option<Value>> {
        values.iter().map(|value| self.cotangents[value.index()].take()).collect()
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
        match &node.kind {
            NodeKind::Elementwise(op) => {
                match elementwise(*op, &self.operands(node), &self.value(value), cotangent) {
                    Ok(contributions) => Ok(of_operands(node, contributions)),
                    Err(NotDifferentiable) => Err(self.not_differentiable(node)),
                }
            }
            NodeKind::Concatenate { axis } => {
                let contributions =
                    structural::concatenate(*axis, &self.operands(node), cotangent)?;
                Ok(node.operands.iter().copied().zip(contributions).collect())
            }
            NodeKind::Scatter { op, axis, mode } => {
                let scatter = take::ScatterRule {
                    op: *op,
                    axis: *axis,
                    mode: *mode,
                    operand: &self.value(node.operands[0]),
                    indices: &self.value(node.operands[1]),
                    updates: &self.value(node.operands[2]),
                    result: &self.value(value),
                };
                let contributions = scatter.cotangents(cotangent)?;
                let [to_operand, to_updates] =
                    contributions.ok_or_else(|| self.not_differentiable(node))?;
                Ok(vec![(node.operands[0], to_operand), (node.operands[2], to_updates)])
            }
            NodeKind::Reduce { .. } => {
                let in_builder = |value| self.value(value);
                let chain = reduction::ReductionChain::ending_at(self.graph, value, in_builder);
                let source = self.value(chain.source);
                let contribution =
                    reduction::cotangent(&chain, &source, &self.value(value), cotangent)?;
                Ok(contribution.map(|cotangent| (chain.source, cotangent)).into_iter().collect())
            }
            NodeKind::Contract { .. } => self.factor_cotangents(node, cotangent),
            _ => {
                let contribution = self.first_operand_cotangent(value, node, cotangent)?;
                let pair = |contribution| (node.operands[0], contribution);
                Ok(contribution.map(pair).into_iter().collect())
            }
        }
    }

    /// The cotangents of the factors of a contraction that depend.
    fn factor_cotangents(
        &self,
        node: &Node,
        cotangent: &Value,
    ) -> Result<Vec<(ValueId, Value)>, GraphError> {
        let of_factor = |index: usize| {
            let value = node.operands[index];
            let shape = |source: ValueId| self.graph[source].array_type.shape.clone();
            let factor = Factor::new(value, &self.graph[value], shape);
            let other = self.value(node.operands[1 - index]);
            Ok((factor.source, factor.cotangent(self.builder, &other, cotangent)?))
        };
        (0..2).filter(|&index| self.depends(node.operands[index])).map(of_factor).collect()
    }

    /// The cotangent of the first operand of a node whose other operands have none; `None` for a derivative
    /// of 0.
    #[track_caller]
    fn first_operand_cotangent(
        &self,
        value: ValueId,
        node: &Node,
        cotangent: &Value,
    ) -> Result<Option<Value>, GraphError> {
        let operand = |index: usize| self.value(node.operands[index]);
        match &node.kind {
            NodeKind::Convert => structural::convert(&operand(0), cotangent),
            NodeKind::BroadcastInDim(map) => {
                structural::broadcast_in_dim(map, &operand(0), cotangent)
            }
            NodeKind::Reshape => structural::reshape(&operand(0), cotangent),
            NodeKind::Slice(slices) => {
                structural::slice(slices, [&operand(0), &self.value(value)], cotangent)
            }
            NodeKind::Window { axis, window } => {
                take::window(*axis, window, &operand(0), cotangent)
            }
            NodeKind::Take { axis, mode } => {
                take::take(*axis, *mode, &operand(0), &operand(1), cotangent)
            }
            &NodeKind::Scan { op, axis, reverse, exclusive } => {
                let scan = scan::ScanRule { op, axis, reverse, exclusive };
                let of_operand = scan.cotangent(&operand(0), cotangent)?;
                of_operand.ok_or_else(|| self.not_differentiable(node))
            }
            NodeKind::Sort { axis, descending, result: SortResult::Values } => {
                sort::cotangent(*axis, *descending, &operand(0), cotangent)
            }
            NodeKind::Bitcast
            | NodeKind::Sort { .. }
            | NodeKind::SearchSorted { .. }
            | NodeKind::Parameter { .. }
            | NodeKind::Constant(_)
            | NodeKind::Iota { .. } => return Ok(None),
            NodeKind::Elementwise(_)
            | NodeKind::Concatenate { .. }
            | NodeKind::Scatter { .. }
            | NodeKind::Reduce { .. }
            | NodeKind::Contract { .. } => {
                unreachable!("invariant: `operand_cotangents` has the rules of these kinds")
            }
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                unreachable!("invariant: `propagate_through_control` has the rules of these kinds")
            }
        }
        .map(Some)
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
            None => {
                let zero = Literal::Int(0);
                let zero = self.builder.literal(zero, self.graph[parameter].array_type.dtype)?;
                self.builder.broadcast_like(zero, &[], &self.value(parameter))
            }
        }
    }
}

/// The cotangents of the operands that have one, with the operands.
fn of_operands(node: &Node, cotangents: Vec<Option<Value>>) -> Vec<(ValueId, Value)> {
    let pairs = node.operands.iter().copied().zip(cotangents);
    pairs.filter_map(|(operand, cotangent)| Some((operand, cotangent?))).collect()
}
