//! What values are called in an explanation: by the user's names as far as that stays short.

use indim_graph::{Array, Graph, NodeKind, ValueId, bf16, c64, c128, f16, for_each_element};

/// A longer description gives way to the value's number in the graph's text.
const MAXIMUM_LENGTH: usize = 32;

/// How many operations a description holds inside each other.
const MAXIMUM_DEPTH: usize = 3;

/// A value as an expression over the parameters, such as `exp(u)`, or its number, such as `%7`.
pub(super) fn describe(graph: &Graph, value: ValueId) -> String {
    match describe_within(graph, value, MAXIMUM_DEPTH) {
        Some(text) if text.chars().count() <= MAXIMUM_LENGTH => text,
        _ => graph.value_name(value),
    }
}

fn describe_within(graph: &Graph, value: ValueId, depth: usize) -> Option<String> {
    let node = &graph[value];
    let operand = || describe_within(graph, *node.operands.first()?, depth.checked_sub(1)?);
    match &node.kind {
        NodeKind::Parameter { name, .. } => Some(name.clone()),
        NodeKind::Constant(array) => scalar_text(array),
        NodeKind::Iota { axis } => Some(format!("iota({}, axis={axis})", node.array_type)),
        NodeKind::Convert => Some(format!("{}({})", node.array_type.dtype, operand()?)),
        NodeKind::Bitcast => Some(format!("bitcast_{}({})", node.array_type.dtype, operand()?)),
        NodeKind::BroadcastInDim(_) => operand(),
        NodeKind::Reshape => Some(format!("reshape({})", operand()?)),
        NodeKind::Elementwise(op) => {
            let depth = depth.checked_sub(1)?;
            let operands: Option<Vec<String>> =
                node.operands.iter().map(|&value| describe_within(graph, value, depth)).collect();
            Some(format!("{op}({})", operands?.join(", ")))
        }
    }
}

/// The element of an array of one.
pub(super) fn scalar_text(array: &Array) -> Option<String> {
    macro_rules! element {
        ($($variant:ident $type:ident $class:ident;)*) => {
            None$(.or_else(|| match array.elements::<$type>() {
                Some([element]) => Some(element.to_string()),
                _ => None,
            }))*
        };
    }
    for_each_element!(element)
}
