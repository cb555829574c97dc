//! Loops and branches of a graph: which nodes are results of the same one, and what depends on what through
//! their regions.

use std::collections::HashMap;

use indim_graph::{Graph, Node, NodeKind, Operands, Region, ValueId};

/// The loops and branches of a graph. One with several results is several nodes with the same operands and
/// regions.
pub(crate) struct Controls {
    /// For each node of a loop or branch, the first node of the same one.
    first: HashMap<ValueId, ValueId>,
    /// For each first node, all nodes of the loop or branch, with the numbers of their results.
    results: HashMap<ValueId, Vec<(usize, ValueId)>>,
}

impl Controls {
    pub(crate) fn of(graph: &Graph) -> Controls {
        let mut with_operands: HashMap<Operands, Vec<ValueId>> = HashMap::new();
        let mut controls = Controls { first: HashMap::new(), results: HashMap::new() };
        for (value, node) in graph.iter() {
            let Some(result) = result_number(&node.kind) else { continue };
            let others = with_operands.entry(node.operands.clone()).or_default();
            let kind = first_result(&node.kind);
            let is_same = |other: &&ValueId| first_result(&graph[**other].kind) == kind;
            let first = match others.iter().find(is_same) {
                Some(&first) => first,
                None => {
                    others.push(value);
                    value
                }
            };
            controls.first.insert(value, first);
            controls.results.entry(first).or_default().push((result, value));
        }
        controls
    }

    /// The first node of the loop or branch of this node.
    pub(crate) fn first(&self, value: ValueId) -> ValueId {
        self.first.get(&value).copied().unwrap_or(value)
    }

    /// The nodes of the loop or branch with this first node, with the numbers of their results.
    pub(crate) fn results(&self, first: ValueId) -> &[(usize, ValueId)] {
        self.results.get(&first).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The number of the result that a node of a loop or branch returns; `None` for other kinds.
pub(crate) fn result_number(kind: &NodeKind) -> Option<usize> {
    match kind {
        NodeKind::While { result, .. } | NodeKind::Branch { result, .. } => Some(*result),
        _ => None,
    }
}

/// The kind of the first result of a loop or branch.
fn first_result(kind: &NodeKind) -> NodeKind {
    let mut kind = kind.clone();
    if let NodeKind::While { result, .. } | NodeKind::Branch { result, .. } = &mut kind {
        *result = 0;
    }
    kind
}

/// The values of a graph that depend on some of its parameters, through loops and branches.
///
/// A region is visited again when more of its parameters depend. The visit keeps the results of the previous
/// one. So the number of visits of a region is at most the number of states of the loops around it.
pub(crate) struct Dependence<'a> {
    graph: &'a Graph,
    /// Whether the result of a node depends on its operands.
    carries: fn(&Node) -> bool,
    controls: Controls,
    depends: Vec<bool>,
    /// The loops and branches that have been visited, by their first nodes.
    visited: HashMap<ValueId, DependentControl<'a>>,
}

/// The dependence of the results of a loop or branch on its operands.
pub(crate) struct DependentControl<'a> {
    /// For each operand, whether it depends, for a state in any step.
    operands: Vec<bool>,
    results: Vec<bool>,
    /// The body and the condition of a loop, or all regions of a branch.
    regions: Vec<Dependence<'a>>,
    is_loop: bool,
}

impl<'a> Dependence<'a> {
    /// The values of `graph` that depend on the parameters in `parameters`.
    pub(crate) fn of(
        graph: &'a Graph,
        parameters: &[bool],
        carries: fn(&Node) -> bool,
    ) -> Dependence<'a> {
        let mut dependence = Dependence::none(graph, carries);
        dependence.extend(parameters);
        dependence
    }

    fn none(graph: &'a Graph, carries: fn(&Node) -> bool) -> Dependence<'a> {
        let depends = vec![false; graph.len()];
        let (controls, visited) = (Controls::of(graph), HashMap::new());
        Dependence { graph, carries, controls, depends, visited }
    }

    /// For each value, whether it depends.
    pub(crate) fn values(&self) -> &[bool] {
        &self.depends
    }

    /// The loops and branches of the graph.
    pub(crate) fn controls(&self) -> &Controls {
        &self.controls
    }

    /// For each operand of a loop or branch, whether it depends; a state depends if it does in any step.
    pub(crate) fn operands(&self, first: ValueId) -> &[bool] {
        self.visited.get(&first).map(|control| &control.operands[..]).unwrap_or_default()
    }

    /// For each result of a loop or branch, whether it depends.
    pub(crate) fn results(&self, first: ValueId) -> &[bool] {
        self.visited.get(&first).map(|control| &control.results[..]).unwrap_or_default()
    }

    /// For each output, whether it depends.
    fn outputs(&self) -> Vec<bool> {
        self.graph.outputs().iter().map(|output| self.depends[output.index()]).collect()
    }

    /// Adds the parameters in `parameters` to those on which values depend.
    fn extend(&mut self, parameters: &[bool]) {
        for (value, node) in self.graph.iter() {
            let operands = || node.operands.iter().map(|operand| self.depends[operand.index()]);
            let depends = match (&node.kind, result_number(&node.kind)) {
                (NodeKind::Parameter { index, .. }, _) => parameters[*index],
                (_, Some(result)) => {
                    let (operands, first) = (operands().collect(), self.controls.first(value));
                    if first == value {
                        self.visit(value, node, operands);
                    }
                    self.visited[&first].results[result] && (self.carries)(node)
                }
                _ => operands().any(|depends| depends) && (self.carries)(node),
            };
            self.depends[value.index()] |= depends;
        }
    }

    /// Visits the regions of a loop or branch.
    fn visit(&mut self, first: ValueId, node: &'a Node, operands: Vec<bool>) {
        let carries = self.carries;
        let control =
            self.visited.entry(first).or_insert_with(|| DependentControl::none(node, carries));
        control.extend(operands);
    }
}

impl<'a> DependentControl<'a> {
    /// The loop or branch of `node` if its operands in `operands` depend.
    pub(crate) fn of(node: &'a Node, operands: Vec<bool>, carries: fn(&Node) -> bool) -> Self {
        let mut control = DependentControl::none(node, carries);
        control.extend(operands);
        control
    }

    fn none(node: &'a Node, carries: fn(&Node) -> bool) -> Self {
        let regions = |regions: &[&'a Region]| -> Vec<Dependence<'a>> {
            regions.iter().map(|region| Dependence::none(region.graph(), carries)).collect()
        };
        DependentControl {
            is_loop: matches!(node.kind, NodeKind::While { .. }),
            operands: vec![false; node.operands.len()],
            results: Vec::new(),
            regions: match &node.kind {
                NodeKind::While { condition, body, .. } => regions(&[body, condition]),
                kind => regions(&kind.regions().collect::<Vec<&Region>>()),
            },
        }
    }

    /// For each operand, whether it depends; a state depends if it does in any step.
    pub(crate) fn operands(&self) -> &[bool] {
        &self.operands
    }

    /// For each result, whether it depends.
    pub(crate) fn results(&self) -> &[bool] {
        &self.results
    }

    /// Whether the condition of a loop depends.
    pub(crate) fn condition(&self) -> bool {
        self.is_loop && self.regions[1].outputs()[0]
    }

    /// Adds the operands in `operands` to those that depend, and visits the regions until nothing changes.
    fn extend(&mut self, operands: Vec<bool>) {
        self.operands.iter_mut().zip(operands).for_each(|(old, new)| *old |= new);
        if self.is_loop { self.visit_loop() } else { self.visit_branch() }
    }

    /// A state depends if its initial value does, or its next value. If the condition depends, all states
    /// do, because the number of steps does.
    fn visit_loop(&mut self) {
        loop {
            self.regions.iter_mut().for_each(|region| region.extend(&self.operands));
            let (next, condition) = (self.regions[0].outputs(), self.condition());
            let mut is_stable = true;
            for (state, depends) in next.iter().enumerate() {
                if (*depends || condition) && !self.operands[state] {
                    self.operands[state] = true;
                    is_stable = false;
                }
            }
            if is_stable {
                self.results = self.operands[..next.len()].to_vec();
                return;
            }
        }
    }

    /// A result depends if it does in some region, or if the index depends.
    fn visit_branch(&mut self) {
        let (index, arguments) = (self.operands[0], &self.operands[1..]);
        let mut results = Vec::new();
        for region in &mut self.regions {
            region.extend(arguments);
            let of_region = region.outputs();
            results.resize(of_region.len(), index);
            results.iter_mut().zip(of_region).for_each(|(result, depends)| *result |= depends);
        }
        self.results = results;
    }
}
