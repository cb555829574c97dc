//! Types of a node's results from its lowering, for operands of known types; errors of the lowering that do
//! not depend on sizes.

use indim_builder::GraphBuilder;
use indim_graph::{Array, GraphErrorKind};
use indim_model::outline::{SymbolicSize, ValueType};
use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, RuleNote};
use indim_ops::{ArrayType, DType};

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
    match lower(operator, node, operands, tensors) {
        Ok(Some(results)) => results.into_iter().map(result).collect(),
        Ok(None) => Ok(None),
        Err(kind) => Err(with_names(kind, (operator, node), operands, tensors)),
    }
}

/// Numbers in place of the names of sizes. Among them are 1, odd ones and multiples of small numbers, so that
/// an error which all of them give does not depend on sizes.
const TRIED_SIZES: [i64; 4] = [60, 1, 64, 35];

/// The error of the node if its operands have sizes with names, and the lowering gives the same error for all
/// sizes: wrong element types, axes or attributes.
pub(super) fn error_for_all_sizes(
    operator: &Operator,
    node: &FlatNode,
    operands: &[Option<TypedValue>],
    tensors: &Tensors,
) -> Option<FormatErrorKind> {
    if refusal(node).is_some() || matches!(operator.lowering, Lowering::Constant) {
        return None;
    }
    let sized = |number: i64| -> Option<Vec<Option<TypedValue>>> {
        let operand = |typed: &Option<TypedValue>| match typed {
            Some(typed) => with_sizes(typed, number).map(Some),
            None => Some(None),
        };
        operands.iter().map(operand).collect()
    };
    let error = |number: i64| lower(operator, node, &sized(number)?, tensors).err();
    let first = error(TRIED_SIZES[0])?;
    let is_same = |&number: &i64| error(number).is_some_and(|it| is_same_error(&first, &it));
    if !TRIED_SIZES.iter().all(is_same) {
        return None;
    }
    Some(with_names(first, (operator, node), &sized(TRIED_SIZES[0])?, tensors))
}

/// The same error about operands with their names: an error about a constant does not have its name.
fn with_names(
    kind: FormatErrorKind,
    (operator, node): (&Operator, &FlatNode),
    operands: &[Option<TypedValue>],
    tensors: &Tensors,
) -> FormatErrorKind {
    let parameter = |typed: &TypedValue| TypedValue { array: None, ..typed.clone() };
    let operands: Vec<_> = operands.iter().map(|it| it.as_ref().map(parameter)).collect();
    match lower(operator, node, &operands, tensors) {
        Err(named) if is_same_error(&kind, &named) => named,
        _ => kind,
    }
}

/// The value, with a number in place of each name of a size.
fn with_sizes(typed: &TypedValue, number: i64) -> Option<TypedValue> {
    let all = |sizes: &[SymbolicSize]| -> Option<Vec<SymbolicSize>> {
        sizes.iter().map(|size| Some(SymbolicSize::known(size.with_names_as(number)?))).collect()
    };
    let sizes = all(typed.value_type.sizes.as_ref()?)?;
    let elements = typed.elements.as_deref().map(all);
    let array = match (&typed.array, elements) {
        (None, Some(elements)) => Some(array_of(&elements?, &typed.value_type)?),
        (array, _) => array.clone(),
    };
    let value_type = ValueType { element: typed.value_type.element.clone(), sizes: Some(sizes) };
    Some(TypedValue { value_type, array, elements: None, ..typed.clone() })
}

/// The array of a short list of integers that builds shapes.
fn array_of(elements: &[SymbolicSize], value_type: &ValueType) -> Option<Array> {
    let numbers: Vec<i64> = elements.iter().map(SymbolicSize::number).collect::<Option<_>>()?;
    let shape = value_type.array_type()?.shape;
    match value_type.dtype()? {
        DType::I64 => Array::new(shape, numbers).ok(),
        DType::I32 => {
            let numbers = numbers.into_iter().map(|number| i32::try_from(number).ok());
            Array::new(shape, numbers.collect::<Option<Vec<i32>>>()?).ok()
        }
        _ => None,
    }
}

/// Whether two errors are the same, and do not depend on sizes: these kinds have types, axes, or the size of
/// the axis in question.
fn is_same_error(first: &FormatErrorKind, second: &FormatErrorKind) -> bool {
    match (first, second) {
        (FormatErrorKind::Graph(first), FormatErrorKind::Graph(second)) => {
            if let (GraphErrorKind::Reduction(one), GraphErrorKind::Reduction(other)) =
                (&first.kind, &second.kind)
            {
                return one.violation() == other.violation();
            }
            first.kind == second.kind
                && matches!(
                    first.kind,
                    GraphErrorKind::ElementTypeNotAllowed { .. }
                        | GraphErrorKind::ElementTypeMismatch { .. }
                        | GraphErrorKind::WrongOperandCount { .. }
                        | GraphErrorKind::NotAPermutation { .. }
                        | GraphErrorKind::AxisOutOfRange { .. }
                        | GraphErrorKind::AxesNotUnique { .. }
                        | GraphErrorKind::IndexRank { .. }
                        | GraphErrorKind::EmptyReduction { .. }
                        | GraphErrorKind::TakeFromEmpty { .. }
                        | GraphErrorKind::SliceOutOfRange { .. }
                        | GraphErrorKind::IndexOutOfRange { .. }
                        | GraphErrorKind::PadWidth { .. }
                        | GraphErrorKind::BadWindow { .. }
                        | GraphErrorKind::WindowTooLarge { .. }
                )
        }
        (FormatErrorKind::Count { .. }, _) => first == second,
        // The problem has the size of the axis.
        (FormatErrorKind::Attribute { name, .. }, _) => name == "kernel_shape" && first == second,
        _ => false,
    }
}

/// Lowers the node in a graph of its own. `Ok(None)` as for [`results`].
///
/// # Errors
/// The error of the node.
fn lower(
    operator: &Operator,
    node: &FlatNode,
    operands: &[Option<TypedValue>],
    tensors: &Tensors,
) -> Result<Option<Vec<KnownValue>>, FormatErrorKind> {
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
    match lower_and_fold(&operator.lowering, &call) {
        Ok(results) => Ok(Some(results)),
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
