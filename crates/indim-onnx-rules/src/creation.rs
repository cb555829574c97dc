//! Shape rules of operators that make arrays from numbers.

use indim_graph::Array;
use indim_model::outline::{SymbolicSize, ValueType};

use crate::call::{RuleCall, RuleError, RuleResult, array_result, known_size, shape_error};
use crate::typed_value::{MAX_ELEMENTS, TypedValue};
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::messages::TensorProto;
use indim_onnx_file::tensor::Tensors;
use indim_onnx_file::types::element_name;

/// The type in the header of an array.
pub fn header(tensor: &TensorProto) -> ValueType {
    let sizes = tensor.dims.iter().map(|&size| known_size(size)).collect();
    ValueType::new(&element_name(tensor.data_type.into()), sizes)
}

/// The array, if it is small enough to determine shapes. Larger arrays, such as weights, are not read.
pub fn small_array(tensors: &Tensors, tensor: &TensorProto) -> Option<Array> {
    let size = |count: usize, &size: &i64| count.checked_mul(usize::try_from(size).ok()?);
    let count = tensor.dims.iter().try_fold(1, size)?;
    if count > MAX_ELEMENTS {
        return None;
    }
    tensors.array(tensor).ok()
}

pub(crate) fn constant(call: &RuleCall<'_>) -> RuleResult {
    let value_type = constant_type(call.node)?;
    let array = match call.node.tensor("value")? {
        Some(tensor) => small_array(call.tensors, tensor),
        None => call.node.constant(call.tensors).ok(),
    };
    Ok(vec![TypedValue { array, ..TypedValue::of(value_type) }])
}

fn constant_type(node: &FlatNode) -> Result<ValueType, RuleError> {
    let list =
        |element: &str, count: usize| ValueType::new(element, vec![known_size(count as i64)]);
    if let Some(tensor) = node.tensor("value")? {
        return Ok(header(tensor));
    }
    if let Some(numbers) = node.ints("value_ints")? {
        return Ok(list("i64", numbers.len()));
    }
    if let Some(numbers) = node.floats("value_floats")? {
        return Ok(list("f32", numbers.len()));
    }
    let scalars = [("value_int", "i64"), ("value_float", "f32"), ("value_string", "string")];
    let scalar = scalars.iter().find(|(name, _)| node.attributes.get(name).is_some());
    let (_, element) = scalar.ok_or(RuleError::Unknown)?;
    Ok(ValueType::new(element, Vec::new()))
}

/// The sizes that a shape operand lists. New symbols if only the number of sizes is known.
pub(crate) fn shape_of_elements(
    call: &RuleCall<'_>,
    position: usize,
) -> Result<Vec<SymbolicSize>, RuleError> {
    if let Some(sizes) = call.symbols(position) {
        return Ok(sizes);
    }
    let rank = call.sizes_of_rank(position, 1)?[0].number().ok_or(RuleError::Unknown)?;
    match usize::try_from(rank) {
        Ok(rank) if rank <= indim_shape::MAX_RANK => Ok(call.new_symbols(rank)),
        _ => Err(RuleError::Unknown),
    }
}

pub(crate) fn constant_of_shape(call: &RuleCall<'_>) -> RuleResult {
    let sizes = shape_of_elements(call, 0)?;
    let value = call.node.tensor("value")?;
    let element = value.map_or("f32".to_owned(), |value| element_name(value.data_type.into()));
    let number = match value {
        Some(tensor) if element.starts_with(['i', 'u']) => {
            let array = call.tensors.attribute_array(tensor).ok();
            array.and_then(|array| indim_model::integers(&array)?.first().copied())
        }
        _ => None,
    };
    let count = SymbolicSize::product(&sizes).and_then(|count| count.number());
    let count = count.and_then(|count| usize::try_from(count).ok());
    let elements = match (number, count) {
        (Some(number), Some(count)) if count <= MAX_ELEMENTS => {
            Some(vec![known_size(number); count])
        }
        _ => None,
    };
    Ok(vec![TypedValue::of(ValueType::new(&element, sizes)).with_elements(elements)])
}

pub(crate) fn range(call: &RuleCall<'_>) -> RuleResult {
    let element = call.element(0)?;
    let first_element = |position| Some(call.symbols(position)?.first()?.clone());
    let count = || {
        let (start, limit, step) =
            (first_element(0)?, first_element(1)?, first_element(2)?.number()?);
        let distance = limit.minus(&start)?;
        match (distance.number(), step) {
            (_, 0) => None,
            (Some(number), step) => {
                let steps = number.checked_div_euclid(step)?;
                Some(known_size(
                    (steps + i64::from(number.rem_euclid(step) != 0 && step > 0)).max(0),
                ))
            }
            (None, 1) => Some(distance),
            (None, _) => None,
        }
    };
    array_result(&element, vec![call.or_new_symbol(count(), 0)])
}

/// The type in the attribute `dtype`, else that of operand 0, in the shape of operand 0.
pub(crate) fn like(call: &RuleCall<'_>) -> RuleResult {
    let element = match call.node.optional_int("dtype")? {
        Some(number) => element_name(number),
        None => call.element(0)?,
    };
    array_result(&element, call.sizes(0)?.to_vec())
}

/// `EyeLike`: a matrix.
pub(crate) fn eye_like(call: &RuleCall<'_>) -> RuleResult {
    call.sizes_of_rank(0, 2)?;
    like(call)
}

/// Random numbers in the shape that the attribute `shape` states.
pub(crate) fn random(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.node.ints("shape")?.ok_or(RuleError::Unknown)?;
    let element = element_name(call.node.int("dtype", 1)?);
    array_result(&element, sizes.into_iter().map(known_size).collect())
}

pub(crate) fn multinomial(call: &RuleCall<'_>) -> RuleResult {
    let rows = call.sizes_of_rank(0, 2)?[0].clone();
    let element = element_name(call.node.int("dtype", 6)?);
    array_result(&element, vec![rows, known_size(call.node.int("sample_size", 1)?)])
}

/// A window function of signal processing: as many numbers as operand 0 says.
pub(crate) fn window(call: &RuleCall<'_>) -> RuleResult {
    let count = call.first_symbol(0);
    if let Some(number @ ..=0) = count.as_ref().and_then(SymbolicSize::number) {
        return shape_error(format!("the window has {number} elements"));
    }
    let element = element_name(call.node.int("output_datatype", 1)?);
    array_result(&element, vec![call.or_new_symbol(count, 0)])
}
