//! The inference of one node by its shape rule.

use std::cell::RefCell;

use indim_graph::terminal::printable;
use indim_model::outline::{NamedCondition, OutlineBroadcast, operator_label, shape_problem};
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::tensor::Tensors;
use indim_shape::Diagnostic;

use crate::call::{RuleCall, RuleError};
use crate::rules::RuleRow;
use crate::typed_value::TypedValue;

/// The inference of one node: its results, as far as they are known, its broadcasts, conditions and errors.
#[derive(Debug, Default)]
pub struct NodeInference {
    /// The results; `None` if the rule gives no types.
    pub results: Option<Vec<TypedValue>>,
    /// The broadcasts of the operands.
    pub broadcasts: Vec<OutlineBroadcast>,
    /// The other conditions on sizes.
    pub conditions: Vec<NamedCondition>,
    /// Operands and attributes that do not fit the operator.
    pub problems: Vec<Diagnostic>,
}

impl RuleRow {
    /// Applies the rule to a node with these operands.
    pub fn infer(
        &self,
        node: &FlatNode,
        operands: &[Option<TypedValue>],
        tensors: &Tensors,
    ) -> NodeInference {
        let call = RuleCall {
            node,
            tensors,
            operands,
            result: node.node.proto.output.first().map_or("", String::as_str),
            label: label(node),
            broadcasts: RefCell::default(),
            conditions: RefCell::default(),
        };
        let results = (self.rule)(&call);
        let named = |typed: &TypedValue| (printable(&typed.name), typed.value_type.clone());
        let problem = match &results {
            Err(RuleError::Shapes(problem)) => {
                let operands: Vec<_> = operands.iter().flatten().map(named).collect();
                Some(shape_problem(&call.label, problem, &operands))
            }
            Err(RuleError::Attribute(kind)) => Some(kind.clone().diagnostic()),
            Err(RuleError::Unknown | RuleError::Broadcast) | Ok(_) => None,
        };
        NodeInference {
            results: results.ok(),
            broadcasts: call.broadcasts.take(),
            conditions: call.conditions.take(),
            problems: problem.into_iter().collect(),
        }
    }
}

/// The operator and name of a node, for messages.
pub fn label(node: &FlatNode) -> String {
    operator_label(&node.node.operator_name(), &node.node.proto.name)
}
