//! Quantisation of floats to small integers and 8-bit floats and back, by a scale and a zero point.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_graph::Literal;
use indim_model::FormatErrorKind;
use indim_model::shape_values::KnownValue;
use indim_ops::DType;
use indim_ops::elements::*;
use indim_shape::{ReductionRuleName, Shape};

use super::call::{Call, LoweringResult, single_result};
use indim_onnx_file::types::dtype_of;

/// The opset since which a scale can have one element per index of an axis.
const AXES_SINCE: i64 = 13;

/// Broadcasts a scale or zero point to the shape of the operand: one number, or one for each index of the
/// axis in the attribute `axis`.
fn broadcast_to_operand(call: &Call<'_>, value: &Value) -> Result<Value, FormatErrorKind> {
    let shape = call.shape(0)?;
    let own = value.array_type()?.shape;
    let is_along_axis = call.version() >= AXES_SINCE && own.rank() == 1;
    let is_one = own.element_count().is_ok_and(|count| count == 1);
    let axis = match is_along_axis && !is_one {
        true => Some(call.axis(call.int("axis", 1)?, shape.rank())?),
        false => None,
    };
    broadcast_along_axis(call, value, &shape, axis)
}

/// Broadcasts one number, or one for each index of an axis, to a shape.
pub(super) fn broadcast_along_axis(
    call: &Call<'_>,
    value: &Value,
    shape: &Shape,
    axis: Option<usize>,
) -> Result<Value, FormatErrorKind> {
    let own = value.array_type()?.shape;
    if own.element_count().is_ok_and(|count| count == 1) {
        let scalar = call.builder.reshape(value, Shape::scalar())?;
        return Ok(call.builder.broadcast_in_dim(scalar, &[], shape)?);
    }
    match axis {
        Some(axis) if own.rank() == 1 => {
            Ok(call.builder.broadcast_in_dim(value, &[axis as i64], shape)?)
        }
        _ => {
            let problem = format!("is not a place for scales of shape {own}");
            Err(FormatErrorKind::attribute("axis", problem))
        }
    }
}

/// The element type in the attribute `output_dtype`, if the node has it.
fn output_dtype(call: &Call<'_>) -> Result<Option<DType>, FormatErrorKind> {
    match call.int("output_dtype", 0)? {
        0 => Ok(None),
        number => dtype_of(number).map(Some),
    }
}

/// Whether this is a type of quantised elements.
fn is_quantized(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::U8 | DType::I16 | DType::U16) || dtype.is_storage()
}

/// `saturate(round_even(x / scale) + zero_point)`, computed in `f32`, which represents all quantised
/// integers exactly. For an 8-bit float type: `x / scale + zero_point`, converted to this type.
pub(super) fn quantize(call: &Call<'_>) -> LoweringResult {
    let stated = output_dtype(call)?;
    let zero = call.optional(2).map(|zero| &zero.value);
    let dtype = match zero {
        Some(zero) => zero.array_type()?.dtype,
        None => stated.unwrap_or(DType::U8),
    };
    if zero.is_some() {
        call.check_dtype(2, is_quantized)?;
    }
    if !is_quantized(dtype) {
        let problem = format!("is {dtype}, which is no type of quantised elements");
        return Err(FormatErrorKind::attribute("output_dtype", problem));
    }
    if stated.is_some_and(|stated| stated != dtype) {
        let problem = format!("is not {dtype}, the type of the zero point");
        return Err(FormatErrorKind::attribute("output_dtype", problem));
    }
    let scale = broadcast_to_operand(call, &call.value(1)?.convert(DType::F32))?;
    let zero =
        zero.map(|zero| broadcast_to_operand(call, &zero.convert(DType::F32))).transpose()?;
    let scaled = call.value(0)?.convert(DType::F32) / scale;
    if !dtype.is_float8() {
        return single_result(round_and_saturate(call, scaled, zero, dtype)?);
    }
    let shifted = match zero {
        Some(zero) => scaled + zero,
        None => scaled,
    };
    single_result(convert_element_type(call, &shifted, dtype)?)
}

/// `x` converted to `dtype`. In a conversion to an 8-bit float type with `saturate`, the default,
/// numbers beyond the largest float of this type become that float. Infinities do so too, except in
/// types without -0, where they become NaN.
pub(super) fn convert_element_type(
    call: &Call<'_>,
    x: &Value,
    dtype: DType,
) -> Result<Value, FormatErrorKind> {
    let from = x.array_type()?.dtype;
    if !dtype.is_float8() || call.int("saturate", 1)? == 0 {
        return Ok(call.builder.convert(x, dtype)?);
    }
    let x = if from.is_float() { x.clone() } else { x.convert(DType::F32) };
    let (largest, has_negative_zero) = match dtype {
        DType::F8E4m3fn => (f8e4m3fn::MAX.to_f64(), true),
        DType::F8E5m2 => (f8e5m2::MAX.to_f64(), true),
        DType::F8E4m3fnuz => (f8e4m3fnuz::MAX.to_f64(), false),
        _ => (f8e5m2fnuz::MAX.to_f64(), false),
    };
    let limited = x.clamp(-largest, largest);
    let limited = match has_negative_zero {
        true => limited,
        false => x.is_inf().select(&x, limited),
    };
    Ok(limited.convert(dtype))
}

/// `saturate(round_even(x) + zero)`, converted to the integer type `dtype`; `x` and `zero` are of type
/// `f32`.
pub(super) fn round_and_saturate(
    call: &Call<'_>,
    x: Value,
    zero: Option<Value>,
    dtype: DType,
) -> Result<Value, FormatErrorKind> {
    let rounded = x.round_even();
    let result = match zero {
        Some(zero) => rounded + zero,
        None => rounded,
    };
    let (low, high) = integer_range(dtype);
    let limit = |number: f64| call.builder.literal(Literal::Float(number), DType::F32);
    Ok(result.clamp(limit(low)?, limit(high)?).convert(dtype))
}

/// `DynamicQuantizeLinear`: 8-bit integers, with scale and zero point from the smallest and the largest of
/// the elements and 0.
pub(super) fn quantize_by_data(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, |dtype| dtype == DType::F32)?;
    let (b, x, shape) = (call.builder, call.value(0)?, call.shape(0)?);
    let options = ReduceOptions::new().rule(ReductionRuleName::Xla);
    let smallest = b.along(Reduction::Min, x, &options)?.minimum(0.0f32);
    let largest = b.along(Reduction::Max, x, &options)?.maximum(0.0f32);
    let range = &largest - &smallest;
    let scale = range.eq(0.0).select(1.0f32, range) / 255.0;
    let zero = b.clamp(0.0, -smallest / &scale, 255.0)?.round_even();
    let quotient = x / b.broadcast_in_dim(&scale, &[], &shape)?;
    let onto = b.broadcast_in_dim(&zero, &[], &shape)?;
    let quantized = round_and_saturate(call, quotient, Some(onto), DType::U8)?;
    let zero = b.convert(zero, DType::U8)?;
    Ok([quantized, scale, zero].map(KnownValue::from).into())
}

/// The smallest and the largest integer of a quantised type.
fn integer_range(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::U16 => (0.0, f64::from(u16::MAX)),
        DType::I4 => (-8.0, 7.0),
        DType::U4 => (0.0, 15.0),
        _ => (0.0, f64::from(u8::MAX)),
    }
}

/// `(x - zero_point) * scale`, rounded to the type that `output_dtype` states, else to that of the
/// scale. Differences of integers are computed in `i32`, all else in `f32`.
pub(super) fn dequantize(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, |dtype| is_quantized(dtype) || dtype == DType::I32)?;
    let result = output_dtype(call)?.unwrap_or(call.dtype(1)?);
    let scale = broadcast_to_operand(call, &call.value(1)?.convert(DType::F32))?;
    let exact = if call.dtype(0)?.is_float8() { DType::F32 } else { DType::I32 };
    let mut distance = call.value(0)?.convert(exact);
    if let Some(zero) = call.optional(2) {
        distance = distance - broadcast_to_operand(call, &zero.value.convert(exact))?;
    }
    single_result((distance.convert(DType::F32) * scale).convert(result))
}
