//! Constants, and arrays computed from sizes and numbers: ranges, shapes, triangles.

use indim_builder::{Index, Value};
use indim_graph::{Array, Literal};
use indim_ops::DType;
use indim_shape::Shape;

use super::call::{Call, LoweringResult, single_result};
use super::elementwise::sizes;
use indim_model::FormatErrorKind;
use indim_model::shape_values::KnownValue;
use indim_onnx_file::types::dtype_of;

pub(super) fn of_shape(call: &Call<'_>) -> LoweringResult {
    let shape = sizes(&call.integers(0)?)?;
    let element = match call.tensor("value")? {
        None => Array::from_scalar(0.0f32),
        Some(tensor) => {
            let one = call.tensors.attribute_array(tensor)?;
            let several = |_| FormatErrorKind::attribute("value", "has not one element");
            one.reshaped(Shape::scalar()).map_err(several)?
        }
    };
    single_result(call.builder.broadcast_in_dim(call.builder.constant(element), &[], shape)?)
}

/// The sizes of the axes from `start` to `end`.
pub(super) fn shape(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let rank = shape.rank() as i64;
    let clamped =
        |axis: i64| (if axis < 0 { axis.saturating_add(rank) } else { axis }).clamp(0, rank);
    let start = clamped(call.int("start", 0)?) as usize;
    let end = clamped(call.int("end", rank)?) as usize;
    let sizes = shape.get(start..end).unwrap_or(&[]).iter().map(|&size| size_element(size));
    let sizes: Vec<i64> = sizes.collect::<Result<_, _>>()?;
    let too_large = |_| FormatErrorKind::Unexpected { expected: "a list of sizes".to_owned() };
    let listed = Array::new([sizes.len()], sizes).map_err(too_large)?;
    Ok(vec![KnownValue::constant(call.builder, listed)])
}

pub(super) fn size(call: &Call<'_>) -> LoweringResult {
    let count = size_element(call.shape(0)?.element_count().unwrap_or(usize::MAX))?;
    Ok(vec![KnownValue::constant(call.builder, Array::from_scalar(count))])
}

/// A size as an element. An array without elements may have a size that `i64` does not represent.
fn size_element(size: usize) -> Result<i64, FormatErrorKind> {
    i64::try_from(size).map_err(|_| FormatErrorKind::Unexpected {
        expected: format!("a size of at most {}", i64::MAX),
    })
}

/// The numbers `start + i * delta` before `limit`.
pub(super) fn range(call: &Call<'_>) -> LoweringResult {
    let dtype = call.dtype(0)?;
    let count = match dtype.is_integer() {
        true => whole_count(&[0, 1, 2].map(|position| integer(call, position)))?,
        false => float_count(call)?,
    };
    // 16-bit floats are computed in `f32`, unless the attribute `stash_type` is not 1.
    let is_half = matches!(dtype, DType::F16 | DType::Bf16) && call.int("stash_type", 1)? == 1;
    let computed = if is_half { DType::F32 } else { dtype };
    let positions = call.builder.iota(computed, [count], 0)?;
    let (start, delta) = (call.scalar(0)?.convert(computed), call.scalar(2)?.convert(computed));
    single_result(call.builder.convert(positions * delta + start, dtype)?)
}

fn integer(call: &Call<'_>, position: usize) -> Result<i64, FormatErrorKind> {
    let not_one_number = || FormatErrorKind::Unexpected { expected: "one number".to_owned() };
    match call.integers(position)?[..] {
        [number] => Ok(number),
        _ => Err(not_one_number()),
    }
}

/// The number of elements of a range of integers: start, limit and delta.
fn whole_count(numbers: &[Result<i64, FormatErrorKind>; 3]) -> Result<usize, FormatErrorKind> {
    let [start, limit, delta] = numbers.clone().map(|number| number.map(i128::from));
    let (start, limit, delta) = (start?, limit?, delta?);
    let span = limit - start;
    // Rounded up; a step away from the limit gives an empty range.
    let count = match delta {
        0 => return Err(FormatErrorKind::attribute("delta", "is 0")),
        _ if (span > 0) != (delta > 0) => 0,
        _ => (span.abs() + delta.abs() - 1) / delta.abs(),
    };
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The number of elements of a range of floats.
fn float_count(call: &Call<'_>) -> Result<usize, FormatErrorKind> {
    let [start, limit, delta] = [0, 1, 2].map(|position| -> Result<f64, FormatErrorKind> {
        let builder = indim_builder::GraphBuilder::new();
        let element = builder.constant(call.elements(position)?.clone());
        let element = builder.reshape(element, Shape::scalar())?.convert(DType::F64);
        let numbers = indim_graph::evaluate(&builder.finish(&[element])?, &[]).unwrap_or_default();
        let first =
            numbers.first().and_then(|array| array.elements::<f64>().ok()?.first().copied());
        first.ok_or_else(|| FormatErrorKind::Unexpected { expected: "a number".to_owned() })
    });
    let count = ((limit? - start?) / delta?).ceil();
    match count.is_finite() {
        // A count beyond `usize::MAX` saturates; the builder rejects it.
        true => Ok(count.max(0.0) as usize),
        false => Err(FormatErrorKind::attribute("delta", "gives no number of steps")),
    }
}

/// The opset since which negative indices of `OneHot` count from the end.
const NEGATIVE_SINCE: i64 = 11;

/// Operand 2 has two values. The result is the second where the index along the new axis equals the
/// element of operand 0, else the first.
pub(super) fn one_hot(call: &Call<'_>) -> LoweringResult {
    let depth = depth(call)?;
    let mut sizes = call.shape(0)?.to_vec();
    let axis = call.axis(call.int("axis", -1)?, sizes.len() + 1)?;
    sizes.insert(axis, depth);
    let own = (0..sizes.len()).filter(|&at| at != axis).map(|at| at as i64).collect::<Vec<_>>();
    // Indices from 2^63 on would be negative in `i64`, and count from the end.
    let dtype = if call.dtype(0)? == DType::U64 { DType::U64 } else { DType::I64 };
    let mut indices = call.value(0)?.convert(dtype);
    if call.version() >= NEGATIVE_SINCE && dtype == DType::I64 {
        indices = indices.lt(0).select(&indices + size_element(depth)?, &indices);
    }
    let indices = call.builder.broadcast_in_dim(indices, &own, &sizes[..])?;
    let is_on = call.builder.iota(dtype, &sizes[..], axis as i64)?.eq(indices);
    let values = call.value(2)?;
    let [off, on] = [0, 1].map(|at| call.builder.index(values, &[Index::At(at)]));
    single_result(is_on.select(on?, off?))
}

/// Operand 1 of `OneHot`: the number of classes. ONNX also allows a float type.
fn depth(call: &Call<'_>) -> Result<usize, FormatErrorKind> {
    let elements = call.elements(1)?;
    let dtype = if elements.dtype() == DType::U64 { DType::U64 } else { DType::I64 };
    let builder = indim_builder::GraphBuilder::new();
    let element = builder.constant(elements.clone());
    let element = builder.reshape(element, Shape::scalar())?.convert(dtype);
    let numbers = indim_graph::evaluate(&builder.finish(&[element])?, &[]).unwrap_or_default();
    let number = numbers.first().and_then(|array| match dtype {
        DType::U64 => array.elements::<u64>().ok()?.first().map(|&number| i128::from(number)),
        _ => array.elements::<i64>().ok()?.first().map(|&number| i128::from(number)),
    });
    match number {
        None => Err(FormatErrorKind::Unexpected { expected: "a number".to_owned() }),
        Some(..0) => Err(FormatErrorKind::attribute("depth", "is negative")),
        // A size beyond `usize::MAX` saturates; the builder rejects it, unless there are no indices.
        Some(number) => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
    }
}

/// For each element of a batch of matrices: its column minus its row.
fn column_minus_row(call: &Call<'_>, shape: &Shape) -> Result<Value, FormatErrorKind> {
    let Some(row_axis) = shape.rank().checked_sub(2) else {
        let expected = "an array with at least two axes".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    };
    let rows = call.builder.iota(DType::I64, shape, row_axis as i64)?;
    let columns = call.builder.iota(DType::I64, shape, row_axis as i64 + 1)?;
    Ok(columns - rows)
}

pub(super) fn eye_like(call: &Call<'_>) -> LoweringResult {
    let dtype = match call.optional_int("dtype")? {
        Some(number) => dtype_of(number)?,
        None => call.dtype(0)?,
    };
    let is_on = column_minus_row(call, &call.shape(0)?)?.eq(call.int("k", 0)?);
    single_result(call.builder.convert(is_on, dtype)?)
}

pub(super) fn triangle(call: &Call<'_>) -> LoweringResult {
    let diagonal = match call.optional_integers(1)?.as_deref() {
        None => 0,
        Some(&[diagonal]) => diagonal,
        Some(_) => {
            return Err(FormatErrorKind::Unexpected { expected: "one diagonal".to_owned() });
        }
    };
    let positions = column_minus_row(call, &call.shape(0)?)?;
    let is_kept = match call.int("upper", 1)? != 0 {
        true => positions.ge(diagonal),
        false => positions.le(diagonal),
    };
    let zero = call.builder.literal(Literal::Int(0), call.dtype(0)?)?;
    single_result(is_kept.select(call.value(0)?, zero))
}
