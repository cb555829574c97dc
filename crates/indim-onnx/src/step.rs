//! The nodes of a flattened model: those of operators with their bodies, and those without a lowering.

use std::sync::Arc;

use indim_model::Location;

use super::flat_node::{FlatNode, ValueNumber};
use super::messages::TensorProto;
use super::operators::Operator;

/// A node of an operator, with the bodies of a loop or branch.
pub(super) struct Step {
    pub(super) node: FlatNode,
    pub(super) operator: &'static Operator,
    pub(super) regions: Vec<RegionSteps>,
}

/// A body as a list of nodes.
pub(super) struct RegionSteps {
    pub(super) inputs: Vec<ValueNumber>,
    pub(super) initializers: Vec<(Arc<TensorProto>, ValueNumber)>,
    pub(super) nodes: Vec<Step>,
    /// `None` for an input that the call of a function omits.
    pub(super) outputs: Vec<Option<ValueNumber>>,
}

/// A node without a lowering.
pub(super) struct OpaqueNode {
    pub(super) name: String,
    pub(super) reason: Option<String>,
    pub(super) place: Location,
}

/// A node without a lowering, or a loop or branch with such nodes in its bodies.
pub(super) struct OpaqueStep {
    pub(super) nodes: Vec<OpaqueNode>,
    pub(super) operands: Vec<Option<ValueNumber>>,
    pub(super) results: Vec<Option<ValueNumber>>,
}

impl RegionSteps {
    /// The values that the body reads, also those outside it.
    pub(super) fn read(&self) -> impl Iterator<Item = ValueNumber> {
        let operands = self.nodes.iter().flat_map(|step| &step.node.operands);
        operands.chain(&self.outputs).flatten().copied()
    }
}
