//! The rules of loops and branches.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use indim_graph::{Graph, GraphError, Node, NodeKind, Region, ScatterMode, TakeMode, ValueId};
use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::AxisMap;

use super::VMAP;
use super::walk::{BatchValue, Batcher};
use crate::BuildResult;
use crate::control::{Controls, DependentControl};
use indim_builder::{GraphBuilder, NodeAccess, Value};

/// The results of the loops and branches of a graph so far. A loop with several results is several nodes; it
/// is vectorised once.
pub(super) struct ControlResults {
    controls: Controls,
    /// The results, by the first nodes.
    results: HashMap<ValueId, Vec<BatchValue>>,
}

impl ControlResults {
    pub(super) fn of(graph: &Graph) -> Self {
        ControlResults { controls: Controls::of(graph), results: HashMap::new() }
    }
}

impl Batcher<'_> {
    /// The results of a loop or branch.
    pub(super) fn control<'r>(
        &self,
        (value, node): (ValueId, &Node),
        operands: &[BatchValue],
        so_far: &'r mut ControlResults,
    ) -> Result<&'r [BatchValue], GraphError> {
        Ok(match so_far.results.entry(so_far.controls.first(value)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(match &node.kind {
                NodeKind::While { condition, body, limit, .. } => {
                    self.while_loop(node, (condition, body, *limit), operands)?
                }
                NodeKind::Branch { branches, .. } => self.branch(node, branches, operands)?,
                _ => unreachable!("invariant: the node is a loop or a branch"),
            }),
        })
    }

    fn while_loop(
        &self,
        node: &Node,
        (condition, body, limit): (&Region, &Region, u64),
        operands: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        let batched = operands.iter().map(|operand| operand.is_batched).collect();
        let control = DependentControl::of(node, batched, |_| true);
        let (batched, is_masked) = (control.operands(), control.condition());
        if is_masked && (can_fail(condition.graph()) || can_fail(body.graph())) {
            return self.one_by_one(node, operands);
        }
        let condition_region = self.region(condition, batched, |batcher, parameters| {
            let value = batcher.graph(condition.graph(), parameters)?.swap_remove(0);
            Ok(vec![match value.is_batched {
                true => batcher.b.reduce(ReduceOp::Or, &value.value, 0)?,
                false => value.value,
            }])
        })?;
        let body_region = self.region(body, batched, |batcher, parameters| {
            let next = batcher.graph(body.graph(), parameters)?;
            match is_masked {
                false => batcher.with_axes(&next, batched),
                true => {
                    let runs = batcher.graph(condition.graph(), parameters)?.swap_remove(0);
                    batcher.selected(&runs, &next, parameters)
                }
            }
        })?;
        let operands = self.with_axes(operands, batched)?;
        let states = self.b.while_of(&condition_region, &body_region, &operands, limit)?;
        Ok(batch_values(states, batched))
    }

    fn branch(
        &self,
        node: &Node,
        branches: &[Region],
        operands: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        let (index, arguments) = (&operands[0], &operands[1..]);
        if index.is_batched {
            return match branches.iter().any(|branch| can_fail(branch.graph())) {
                true => self.one_by_one(node, operands),
                false => self.all_branches(index, branches, arguments),
            };
        }
        let batched = operands.iter().map(|operand| operand.is_batched).collect();
        let control = DependentControl::of(node, batched, |_| true);
        let (batched, results) = (&control.operands()[1..], control.results());
        let region = |branch: &Region| {
            self.region(branch, batched, |batcher, parameters| {
                batcher.with_axes(&batcher.graph(branch.graph(), parameters)?, results)
            })
        };
        let regions = branches.iter().map(region).collect::<Result<Vec<Region>, GraphError>>()?;
        let arguments: Vec<&Value> = arguments.iter().map(|argument| &argument.value).collect();
        Ok(batch_values(self.b.branch_of(&index.value, &regions, &arguments)?, results))
    }

    /// Computes all branches, and selects the result of one for each element.
    fn all_branches(
        &self,
        index: &BatchValue,
        branches: &[Region],
        arguments: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        let index = self.b.convert(&index.value, DType::I64)?;
        let mut results: Option<Vec<BatchValue>> = None;
        // The last branch runs for each index that is none of the others.
        for (number, branch) in branches.iter().enumerate().rev() {
            let of_branch = self.graph(branch.graph(), arguments)?;
            results = Some(match results {
                None => of_branch,
                Some(results) => {
                    let value = self.b.eq(&index, number as i64, &[])?;
                    let is_chosen = BatchValue { value, is_batched: true };
                    let selected = self.selected(&is_chosen, &of_branch, &results)?;
                    selected
                        .into_iter()
                        .map(|value| BatchValue { value, is_batched: true })
                        .collect()
                }
            });
        }
        Ok(results.unwrap_or_default())
    }

    /// For each element, the values `on_true` or those of the same position in `on_false`, which may have
    /// more.
    fn selected(
        &self,
        mask: &BatchValue,
        on_true: &[BatchValue],
        on_false: &[BatchValue],
    ) -> Result<Vec<Value>, GraphError> {
        let mask = self.b.id(VMAP, &self.batched(mask)?)?;
        let select = |(on_true, on_false): (&BatchValue, &BatchValue)| -> BuildResult {
            let [on_true, on_false] = [self.batched(on_true)?, self.batched(on_false)?];
            let result = on_true.array_type()?;
            let map = AxisMap::from(vec![0]);
            let mask = self.b.checked_broadcast(VMAP, mask, &map, &result.shape)?;
            let operands =
                [self.b.id(VMAP, &mask)?, self.b.id(VMAP, &on_true)?, self.b.id(VMAP, &on_false)?];
            Ok(self.b.add_node(NodeKind::Elementwise(Op::Select), &operands, result))
        };
        on_true.iter().zip(on_false).map(select).collect()
    }

    /// A region with the batch as the first axis of the parameters in `batched`. `build` returns its
    /// results.
    fn region(
        &self,
        region: &Region,
        batched: &[bool],
        build: impl FnOnce(&Batcher<'_>, &[BatchValue]) -> Result<Vec<Value>, GraphError>,
    ) -> Result<Region, GraphError> {
        let b = GraphBuilder::new();
        let batcher = Batcher { b: &b, size: self.size, facts: None };
        let mut parameters = Vec::with_capacity(batched.len());
        for (index, (of, &is_batched)) in region.parameter_types().zip(batched).enumerate() {
            let ArrayType { dtype, shape } = match is_batched {
                true => self.batched_type(of)?,
                false => of.clone(),
            };
            let value = b.parameter(region.graph().parameter_name(index), dtype, shape)?;
            parameters.push(BatchValue { value, is_batched });
        }
        let results = build(&batcher, &parameters)?;
        Ok(Region::new(b.finish(&results)?))
    }

    /// The values, with the batch as the first axis of those in `batched`.
    fn with_axes(&self, values: &[BatchValue], batched: &[bool]) -> Result<Vec<Value>, GraphError> {
        let with_axis = |(value, &is_batched): (&BatchValue, &bool)| match is_batched {
            true => self.batched(value),
            false => Ok(value.value.clone()),
        };
        values.iter().zip(batched).map(with_axis).collect()
    }

    /// The results of a node for a batch without elements.
    fn empty_results(&self, node: &Node) -> Result<Vec<BatchValue>, GraphError> {
        let empty = |of: ArrayType| {
            let value = self.b.zeros(&self.batched_type(&of)?)?;
            Ok(BatchValue { value, is_batched: true })
        };
        result_types(node).into_iter().map(empty).collect()
    }

    /// The results of a node, computed in a loop over the elements of the batch.
    pub(super) fn one_by_one(
        &self,
        node: &Node,
        operands: &[BatchValue],
    ) -> Result<Vec<BatchValue>, GraphError> {
        if self.size == 0 {
            return self.empty_results(node);
        }
        let batched = operands.iter().filter(|operand| operand.is_batched);
        let batched: Vec<&Value> = batched.map(|operand| &operand.value).collect();
        let states: [Value; 0] = [];
        let (_, results) =
            self.b.scan_loop(self.size, &states, &batched, false, |b, _, slices| {
                let mut slices = slices.iter();
                let mut values = Vec::with_capacity(operands.len());
                for operand in operands {
                    values.push(match operand.is_batched {
                        true => slices.next().cloned().unwrap_or_else(|| operand.value.clone()),
                        false => b.local(&operand.value)?,
                    });
                }
                Ok((Vec::new(), results_of(b, node, &values)?))
            })?;
        Ok(results.into_iter().map(|value| BatchValue { value, is_batched: true }).collect())
    }
}

/// The types of all results of a node.
fn result_types(node: &Node) -> Vec<ArrayType> {
    match &node.kind {
        NodeKind::While { body: region, .. } => region.result_types().cloned().collect(),
        NodeKind::Branch { branches, .. } => branches[0].result_types().cloned().collect(),
        _ => vec![node.array_type.clone()],
    }
}

/// All results of a node with these operands.
fn results_of(b: &GraphBuilder, node: &Node, operands: &[Value]) -> Result<Vec<Value>, GraphError> {
    match &node.kind {
        NodeKind::While { condition, body, limit, .. } => {
            b.while_of(condition, body, operands, *limit)
        }
        NodeKind::Branch { branches, .. } => b.branch_of(&operands[0], branches, &operands[1..]),
        kind => {
            let ids = operands.iter().map(|operand| b.id(VMAP, operand));
            let ids = ids.collect::<Result<Vec<ValueId>, GraphError>>()?;
            Ok(vec![b.add_node(kind.clone(), &ids, node.array_type.clone())])
        }
    }
}

fn batch_values(values: Vec<Value>, batched: &[bool]) -> Vec<BatchValue> {
    let pairs = values.into_iter().zip(batched);
    pairs.map(|(value, &is_batched)| BatchValue { value, is_batched }).collect()
}

/// Whether a run of the graph can fail: by an index out of range, or by the limit of a loop's steps.
fn can_fail(graph: &Graph) -> bool {
    graph.iter().any(|(_, node)| match &node.kind {
        NodeKind::Take { mode, .. } => *mode == TakeMode::Error,
        NodeKind::Scatter { mode, .. } => *mode == ScatterMode::Take(TakeMode::Error),
        NodeKind::While { .. } => true,
        kind => kind.regions().any(|region| can_fail(region.graph())),
    })
}
