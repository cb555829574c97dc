//! Scatters. Negative indices count from the end; other indices out of range are errors.

use indim_builder::Value;
use indim_graph::{Array, TakeMode};
use indim_model::FormatErrorKind;
use indim_ops::{DType, DTypeClass, Op, ReduceOp, ScatterOp, scan_accumulator};
use indim_shape::RuleSet;

use crate::call::{Call, LoweringResult};

/// `ScatterUpdate`: replaces the slices at indices along an axis.
pub(super) fn scatter_update(call: &Call<'_>) -> LoweringResult {
    let axis = call.axis(call.integer(3)?, call.shape(0)?.rank())?;
    let [data, indices, updates] = [0, 1, 2].map(|operand| call.value(operand));
    let mode = TakeMode::Error;
    Ok(call.builder.scatter(ScatterOp::Set, data, indices, updates, axis as i64, mode)?)
}

/// `ScatterElementsUpdate`: an index for each update.
pub(super) fn scatter_elements(call: &Call<'_>) -> LoweringResult {
    let axis = call.axis(call.integer(3)?, call.shape(0)?.rank())? as i64;
    scatter_with_reduction(call, |op, data, updates| {
        let mode = TakeMode::Error;
        Ok(call.builder.scatter_elements(op, data, call.value(1), updates, axis, mode)?)
    })
}

/// `ScatterNDUpdate`: an index vector for each update.
pub(super) fn scatter_nd(call: &Call<'_>) -> LoweringResult {
    scatter_with_reduction(call, |op, data, updates| {
        Ok(call.builder.scatter_nd(op, data, call.value(1), updates, TakeMode::Error)?)
    })
}

/// The scatter with the attribute `reduction`, composed of calls of `scatter(op, data, updates)`.
fn scatter_with_reduction(
    call: &Call<'_>,
    scatter: impl Fn(ScatterOp, &Value, &Value) -> LoweringResult,
) -> LoweringResult {
    let (b, dtype) = (call.builder, call.dtype(0)?);
    let [data, updates] = [0, 2].map(|operand| call.value(operand));
    let reduction = call.layer.word("reduction", "none");
    let is_bool = dtype == DType::Bool;
    let (op, neutral) = match (&reduction[..], is_bool) {
        ("none", _) => return scatter(ScatterOp::Set, &data, &updates),
        ("sum", false) | ("mean", false) => (ScatterOp::Add, ReduceOp::Add),
        ("sub", false) => return scatter(ScatterOp::Add, &data, &negate(call, &updates)?),
        ("prod", false) => (ScatterOp::Mul, ReduceOp::Mul),
        ("min", _) | ("prod", true) => (ScatterOp::Min, ReduceOp::Min),
        ("max", _) | ("sum", true) => (ScatterOp::Max, ReduceOp::Max),
        _ => {
            let problem = format!("is `{reduction}`, for elements of type {dtype}");
            return Err(FormatErrorKind::attribute("reduction", problem));
        }
    };
    let is_mean = reduction == "mean";
    // The sum of a mean of floats is rounded only after the division.
    let sum_type = if is_mean && dtype.is_float() { DType::F64 } else { dtype };
    let (data, updates) = (b.convert(data, sum_type)?, b.convert(updates, sum_type)?);
    let has_initial = call.layer.flag("use_init_val", Some(true))?;
    let full = |value: Value, like: &Value| -> LoweringResult {
        Ok(b.broadcast_in_dim(value, &[], like.array_type()?.shape)?)
    };
    let start = match scan_accumulator(neutral, sum_type).filter(|_| !has_initial) {
        Some(wide) => {
            let neutral = Array::identity(neutral, wide).ok_or_else(|| {
                let what = format!("a scatter of {dtype} by `{reduction}` alone is");
                FormatErrorKind::Unsupported { what }
            })?;
            let neutral = b.convert(b.constant(neutral), sum_type)?;
            scatter(ScatterOp::Set, &data, &full(neutral, &updates)?)?
        }
        None => data.clone(),
    };
    let result = scatter(op, &start, &updates)?;
    if !is_mean {
        return Ok(result);
    }
    // Sums of integers wrap in their own type, which may be too narrow for the number of updates.
    let wide = match dtype.class() {
        DTypeClass::Unsigned => DType::U64,
        DTypeClass::Signed => DType::I64,
        _ => sum_type,
    };
    let number = |number: bool, like: &Value| full(b.convert(b.scalar(number), wide)?, like);
    let terms = scatter(ScatterOp::Add, &number(has_initial, &data)?, &number(true, &updates)?)?;
    // An element without updates keeps its value, even if `use_init_val` is false: its number of terms is
    // then 0, so it is divided by 1.
    let terms = b.elementwise(Op::Max, &[terms, number(true, &data)?], &RuleSet::None)?;
    let mean = b.elementwise(Op::Div, &[b.convert(result, wide)?, terms], &RuleSet::None)?;
    Ok(b.convert(mean, dtype)?)
}

/// `0 - x`; integers wrap.
fn negate(call: &Call<'_>, x: &Value) -> LoweringResult {
    let array_type = x.array_type()?;
    if array_type.dtype.is_float() {
        return Ok(call.builder.neg(x)?);
    }
    let zero = call.builder.convert(call.builder.scalar(0i32), array_type.dtype)?;
    let zeros = call.builder.broadcast_in_dim(zero, &[], array_type.shape)?;
    Ok(call.builder.elementwise(Op::Sub, &[&zeros, x], &RuleSet::None)?)
}
