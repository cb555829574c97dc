//! The nodes of a flattened model: nodes with a lowering and their bodies, and opaque nodes.

use std::sync::Arc;

use indim_model::Location;

use super::node::{FlatNode, ValueNumber};
use crate::messages::TensorProto;

/// A node with a lowering. A loop or branch has its bodies in `regions`.
pub struct FlatStep<O: 'static> {
    /// The node.
    pub node: FlatNode,
    /// Its row in the table of operators.
    pub operator: &'static O,
    /// The bodies of a loop or branch.
    pub regions: Vec<FlatRegion<O>>,
}

/// The body of a loop or branch, flattened.
pub struct FlatRegion<O: 'static> {
    /// The inputs of the body.
    pub inputs: Vec<ValueNumber>,
    /// The arrays of the body, with their values.
    pub initializers: Vec<(Arc<TensorProto>, ValueNumber)>,
    /// The nodes of the body.
    pub nodes: Vec<FlatStep<O>>,
    /// The value of each output. `None`: the output is an input of the enclosing function, which its call
    /// omits.
    pub outputs: Vec<Option<ValueNumber>>,
}

/// A node without a lowering.
pub struct OpaqueNode {
    /// Name of the operator, not of the node.
    pub name: String,
    /// The reason; `None` for an operator of ONNX that indim does not support.
    pub reason: Option<String>,
    /// The place in the file.
    pub location: Location,
}

/// A node without a lowering, or a loop or branch with such nodes in its bodies.
pub struct OpaqueStep {
    /// The node itself, or the nodes without a lowering in its bodies.
    pub nodes: Vec<OpaqueNode>,
    /// The operands; `None` for a missing optional operand.
    pub operands: Vec<Option<ValueNumber>>,
    /// Each result; `None` for an unnamed result.
    pub results: Vec<Option<ValueNumber>>,
}

impl<O> FlatRegion<O> {
    /// The values that the body reads, its own and captured ones.
    pub fn read(&self) -> impl Iterator<Item = ValueNumber> {
        let operands = self.nodes.iter().flat_map(|step| &step.node.operands);
        operands.chain(&self.outputs).flatten().copied()
    }
}
