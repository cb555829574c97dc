//! Copies of a graph without the nodes that its outputs do not use.

use std::collections::HashMap;

use indim_graph::{Graph, GraphError, ValueId};

use indim_builder::{GraphBuilder, NodeAccess, Value};

/// The name of the operation in errors.
const INLINE: &str = "inline";

/// For each value of the graph, whether the outputs use it, except through the values for which `is_given` is
/// true.
pub(super) fn used_values(
    graph: &Graph,
    outputs: &[ValueId],
    is_given: impl Fn(ValueId) -> bool,
) -> Vec<bool> {
    let mut used = vec![false; graph.len()];
    outputs.iter().for_each(|output| used[output.index()] = true);
    for (value, node) in graph.iter().rev() {
        if used[value.index()] && !is_given(value) {
            node.operands.iter().for_each(|operand| used[operand.index()] = true);
        }
    }
    used
}

/// Adds to `b` the nodes that `outputs` use; returns the outputs. `given` has a value, of `b` or of a builder
/// outside it, for each used parameter, and for other values that are not computed again.
pub(super) fn inline_used(
    b: &GraphBuilder,
    graph: &Graph,
    outputs: &[ValueId],
    given: &HashMap<ValueId, Value>,
) -> Result<Vec<Value>, GraphError> {
    let used = used_values(graph, outputs, |value| given.contains_key(&value));
    let mut values: Vec<Option<Value>> = Vec::with_capacity(graph.len());
    for (value, node) in graph.iter() {
        values.push(match given.get(&value) {
            _ if !used[value.index()] => None,
            Some(given) => Some(b.local(given)?),
            None => {
                let operand = |operand: &ValueId| b.id(INLINE, used_value(&values, *operand));
                let operands = node.operands.iter().map(operand);
                let operands = operands.collect::<Result<Vec<ValueId>, GraphError>>()?;
                Some(b.add_node(node.kind.clone(), &operands, node.array_type.clone()))
            }
        });
    }
    Ok(outputs.iter().map(|output| used_value(&values, *output).clone()).collect())
}

/// The parameters of a graph with their values.
pub(super) fn given_parameters<'v>(
    graph: &Graph,
    values: impl IntoIterator<Item = &'v Value>,
) -> HashMap<ValueId, Value> {
    graph.parameters().iter().copied().zip(values.into_iter().cloned()).collect()
}

fn used_value(values: &[Option<Value>], value: ValueId) -> &Value {
    values[value.index()].as_ref().expect("invariant: outputs and operands of used nodes are used")
}
