//! The nodes of a flattened model: nodes with a lowering and their bodies, and opaque nodes.

use std::sync::Arc;

use indim_model::Location;

use super::flat_node::{FlatNode, ValueNumber};
use super::operators::Operator;
use indim_onnx_file::messages::TensorProto;

/// A node with a lowering. A loop or branch has its bodies in `regions`.
pub(super) struct Step {
    pub(super) node: FlatNode,
    pub(super) operator: &'static Operator,
    pub(super) regions: Vec<RegionSteps>,
}

/// The body of a loop or branch, flattened.
pub(super) struct RegionSteps {
    pub(super) inputs: Vec<ValueNumber>,
    pub(super) initializers: Vec<(Arc<TensorProto>, ValueNumber)>,
    pub(super) nodes: Vec<Step>,
    /// The value of each output. `None`: the output is an input of the enclosing function, which its call
    /// omits.
    pub(super) outputs: Vec<Option<ValueNumber>>,
}

/// A node without a lowering.
pub(super) struct OpaqueNode {
    /// Name of the operator, not of the node.
    pub(super) name: String,
    /// The reason; `None` for an operator of ONNX that indim does not support.
    pub(super) reason: Option<String>,
    pub(super) location: Location,
}

/// A node without a lowering, or a loop or branch with such nodes in its bodies.
pub(super) struct OpaqueStep {
    /// The node itself, or the nodes without a lowering in its bodies.
    pub(super) nodes: Vec<OpaqueNode>,
    pub(super) operands: Vec<Option<ValueNumber>>,
    pub(super) results: Vec<Option<ValueNumber>>,
}

impl RegionSteps {
    /// The values that the body reads, its own and captured ones.
    pub(super) fn read(&self) -> impl Iterator<Item = ValueNumber> {
        let operands = self.nodes.iter().flat_map(|step| &step.node.operands);
        operands.chain(&self.outputs).flatten().copied()
    }
}
