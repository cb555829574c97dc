//! Types of a node's results from its lowering, for operands of known types.

use indim_builder::GraphBuilder;
use indim_graph::Array;
use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, RuleNote};
use indim_ops::ArrayType;

use crate::build::lower_and_fold;
use crate::call::Call;
use crate::operators::{Lowering, Operator};
use indim_onnx_file::attribute_table;
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::tensor::Tensors;
use indim_onnx_file::unsupported::refusal;
use indim_onnx_rules::TypedValue;

/// A result of a lowered node.
pub(super) struct LoweredResult {
    pub(super) array_type: ArrayType,
    pub(super) elements: Option<Array>,
}

/// Lowers the node in a graph of its own and returns the types of the results. `Ok(None)`: an operand has
/// no known type, or indim does not support the node.
///
/// # Errors
/// The error of the node.
pub(super) fn results(
    operator: &Operator,
    node: &FlatNode,
    operands: &[Option<TypedValue>],
    tensors: &Tensors,
) -> Result<Option<Vec<LoweredResult>>, FormatErrorKind> {
    attribute_table::check(node.operator, node.version, &node.attributes)?;
    // The lowering of a constant reads all its elements, its shape rule only a few at most.
    if refusal(node).is_some() || matches!(operator.lowering, Lowering::Constant) {
        return Ok(None);
    }
    let builder = GraphBuilder::new();
    let mut known: Vec<Option<KnownValue>> = Vec::with_capacity(operands.len());
    for (position, operand) in operands.iter().enumerate() {
        let number = node.operands[position];
        let before = node.operands[..position].iter().position(|&other| other == number);
        known.push(match (operand, before) {
            (None, _) => None,
            // Operands that are the same value share one parameter.
            (Some(_), Some(before)) => known[before].clone(),
            (Some(typed), None) => match value(&builder, typed, position) {
                Some(value) => Some(value),
                None => return Ok(None),
            },
        });
    }
    let rule = RuleNote::default();
    let call = Call { builder: &builder, node, operands: &known, tensors, rule: &rule };
    let results = lower_and_fold(&operator.lowering, &call);
    match results {
        Ok(results) => results.into_iter().map(result).collect(),
        Err(kind) if leaves_types_open(&kind) => Ok(None),
        Err(kind) => Err(kind),
    }
}

/// Whether an error leaves the types open because it is no error of the node: indim does not support the
/// operation, a limit is exceeded, or an external file cannot be read.
fn leaves_types_open(kind: &FormatErrorKind) -> bool {
    kind.clone().without_location().is_out_of_scope()
        || matches!(kind, FormatErrorKind::Limit { .. } | FormatErrorKind::ExternalFile { .. })
}

fn value(builder: &GraphBuilder, typed: &TypedValue, position: usize) -> Option<KnownValue> {
    if let Some(array) = &typed.array {
        return Some(KnownValue::constant(builder, array.clone()));
    }
    let ArrayType { dtype, shape } = typed.value_type.array_type()?;
    // Values of different regions can have the same name, but a graph takes each parameter name once.
    let value = builder.parameter(&typed.name, dtype, shape.clone());
    let value = value.or_else(|_| builder.parameter(&format!("operand {position}"), dtype, shape));
    value.ok().map(KnownValue::from)
}

fn result(known: KnownValue) -> Result<Option<LoweredResult>, FormatErrorKind> {
    let array_type = known.value.array_type().map_err(FormatErrorKind::from)?;
    Ok(Some(LoweredResult { array_type, elements: known.elements }))
}
