//! A node of the flattened model: its operator, attributes, operands and results.

use std::sync::Arc;

use indim_model::Location;

use crate::body::{BodyNode, NodeAttributes};

/// Index of a value in the flattened model.
pub type ValueNumber = usize;

/// A node of the flattened model. Names are resolved to indices of values, and references to attributes
/// to their values.
pub struct FlatNode {
    /// The node of the file.
    pub node: Arc<BodyNode>,
    /// Name of the operator.
    pub operator: &'static str,
    /// Version of the operator: the opset that introduced it or changed it last.
    pub version: i64,
    /// The opset of the operator's domain that the model imports, or the function that contains the node.
    pub opset: i64,
    /// The attributes.
    pub attributes: NodeAttributes,
    /// The operands; `None` for a missing optional operand.
    pub operands: Vec<Option<ValueNumber>>,
    /// Index of each result; `None` for an unnamed result.
    pub results: Vec<Option<ValueNumber>>,
    /// Position of the node in its graph, function or body, for messages.
    pub index: usize,
    /// The function or body that contains the node, for messages: `the function my.Scaled`.
    pub within: Option<Arc<str>>,
}

impl FlatNode {
    /// ``node 4 `relu` (Relu, opset 13), in the function my.Scaled``.
    pub fn location(&self) -> Location {
        node_location(&self.node, self.index, Some(self.opset), self.within.as_deref())
    }
}

/// Location of a node, also of one whose operator is unknown.
pub fn node_location(
    node: &BodyNode,
    index: usize,
    opset: Option<i64>,
    within: Option<&str>,
) -> Location {
    let quoted = match node.proto.name.as_str() {
        "" => String::new(),
        name => format!(" `{name}`"),
    };
    let opset = opset.map_or(String::new(), |opset| format!(", opset {opset}"));
    let within = within.map_or(String::new(), |within| format!(", in {within}"));
    let text = format!("node {index}{quoted} ({}{opset}){within}", node.operator_name());
    Location::described(indim_graph::terminal::printable(&text))
}
