//! Names of axes: propagation through the nodes of a graph.

use std::collections::HashMap;

use indim_shape::{AxisNames, Shape};

use crate::graph::{NodeKind, ValueId};

/// The axis names of the values of a graph that have any.
///
/// ```
/// use indim_graph::{NamedValues, NodeKind, ValueId};
/// use indim_ops::ReduceOp;
/// use indim_shape::{AxisNames, Shape};
///
/// let [x, sum] = [0, 1].map(ValueId::from_index);
/// let mut named = NamedValues::default();
/// named.insert(x, AxisNames::of_each([Some("time"), Some("lat")]));
/// let reduce = NodeKind::Reduce { op: ReduceOp::Add, axis: 0 };
/// named.propagate(sum, &reduce, &[(x, &Shape::from([5, 3]))], &Shape::from([3]));
/// assert_eq!(named.get(sum).unwrap().get(0), Some("lat"));
/// ```
#[derive(Debug, Default)]
pub struct NamedValues(HashMap<ValueId, AxisNames>);

impl NamedValues {
    /// Sets the axis names of a value.
    pub fn insert(&mut self, value: ValueId, names: AxisNames) {
        self.0.insert(value, names);
    }

    /// Whether no value has axis names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The axis names of a value, if any.
    pub fn get(&self, value: ValueId) -> Option<&AxisNames> {
        self.0.get(&value)
    }

    /// Propagates the axis names of the operands to a node. A node that has names already keeps them.
    pub fn propagate(
        &mut self,
        value: ValueId,
        kind: &NodeKind,
        operands: &[(ValueId, &Shape)],
        result: &Shape,
    ) {
        let are_named = operands.iter().any(|(operand, _)| self.0.contains_key(operand));
        if !are_named || self.0.contains_key(&value) {
            return;
        }
        let names = self.result_names(kind, operands, result);
        if names.has_any() {
            self.0.insert(value, names);
        }
    }

    /// Names the axes of a node. An axis that already has another name becomes unnamed, because
    /// hash-consing may share the node between two expressions.
    pub fn merge(&mut self, value: ValueId, names: AxisNames) {
        let unnamed = AxisNames::unnamed(0);
        let existing = self.0.get(&value).unwrap_or(&unnamed);
        let merged = (0..names.len()).map(|axis| match existing.get(axis) {
            Some(other) if names.get(axis) != Some(other) => None,
            _ => Some((&names, axis)),
        });
        let merged = AxisNames::gather(merged);
        self.0.insert(value, merged);
    }

    /// The axis names of the result of a node, by its kind.
    fn result_names(
        &self,
        kind: &NodeKind,
        operands: &[(ValueId, &Shape)],
        result: &Shape,
    ) -> AxisNames {
        let unnamed = AxisNames::unnamed(0);
        let operand_names = |operand: usize| self.get(operands[operand].0).unwrap_or(&unnamed);
        let rank = result.rank();
        // Takes names from the first operand; `axis_of` returns its axis for an axis of the result.
        let first_operand_names = |axis_of: &dyn Fn(usize) -> Option<usize>| {
            AxisNames::gather((0..rank).map(|axis| Some((operand_names(0), axis_of(axis)?))))
        };
        match kind {
            NodeKind::Convert
            | NodeKind::Bitcast
            | NodeKind::Slice(_)
            | NodeKind::Scan { .. }
            | NodeKind::Sort { .. }
            | NodeKind::Scatter { .. } => first_operand_names(&Some),
            NodeKind::Window { .. } => {
                first_operand_names(&|axis| (axis + 1 < rank).then_some(axis))
            }
            NodeKind::SearchSorted { .. } => {
                AxisNames::gather((0..rank).map(|axis| Some((operand_names(1), axis))))
            }
            NodeKind::BroadcastInDim(map) => {
                let kept = |&(axis, &to): &(usize, &usize)| operands[0].1[axis] == result[to];
                let source_axis =
                    |to| map.iter().enumerate().filter(kept).find(|(_, at)| **at == to);
                first_operand_names(&|to| source_axis(to).map(|(axis, _)| axis))
            }
            NodeKind::Reduce { axis: reduced_axis, .. } => {
                first_operand_names(&|axis| Some(axis + usize::from(axis >= *reduced_axis)))
            }
            NodeKind::Reshape => {
                let sources = unit_axis_sources(operands[0].1, result);
                first_operand_names(&|axis| sources.get(axis).copied().flatten())
            }
            NodeKind::Elementwise(_) | NodeKind::Concatenate { .. } | NodeKind::Contract { .. } => {
                AxisNames::gather((0..rank).map(|axis| {
                    let mut named_operands =
                        (0..operands.len()).filter(|&k| operand_names(k).get(axis).is_some());
                    let first = named_operands.next()?;
                    // Under rules other than `named`, axes with different names may meet.
                    let agrees = |k| operand_names(k).get(axis) == operand_names(first).get(axis);
                    named_operands.all(agrees).then_some((operand_names(first), axis))
                }))
            }
            NodeKind::Take { axis: at, .. } => {
                let count = operands[1].1.rank();
                AxisNames::gather((0..rank).map(|axis| match axis.checked_sub(*at) {
                    None => Some((operand_names(0), axis)),
                    Some(inner) if inner < count => Some((operand_names(1), inner)),
                    Some(_) => Some((operand_names(0), axis + 1 - count)),
                }))
            }
            NodeKind::Parameter { .. }
            | NodeKind::Constant(_)
            | NodeKind::Iota { .. }
            | NodeKind::While { .. }
            | NodeKind::Branch { .. } => unnamed,
        }
    }
}

/// The source axis of each axis of a reshape that only adds or drops axes of size 1. `None` for an added
/// or ambiguous axis, and for every axis of another reshape.
fn unit_axis_sources(from: &Shape, to: &Shape) -> Vec<Option<usize>> {
    let others =
        |shape: &Shape| shape.iter().copied().filter(|&size| size != 1).collect::<Vec<_>>();
    let mut sources = vec![None; to.rank()];
    if others(from) != others(to) {
        return sources;
    }
    let position = |shape: &Shape| {
        let kept = shape.iter().enumerate().filter(|(_, size)| **size != 1);
        kept.map(|(axis, _)| axis).collect::<Vec<usize>>()
    };
    let (mut from_start, mut to_start) = (0, 0);
    let ends = [(from.rank(), to.rank())];
    for (from_end, to_end) in position(from).into_iter().zip(position(to)).chain(ends) {
        // With equally many axes of size 1 between two other axes, none was added or dropped there.
        if from_end - from_start == to_end - to_start {
            (0..to_end - to_start).for_each(|k| sources[to_start + k] = Some(from_start + k));
        }
        if to_end < to.rank() {
            sources[to_end] = Some(from_end);
        }
        (from_start, to_start) = (from_end + 1, to_end + 1);
    }
    sources
}
