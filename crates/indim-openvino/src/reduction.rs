//! Reductions, scans, softmax and normalisations.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_model::{Epsilon, FormatErrorKind, centre, standardise};
use indim_ops::{DType, ReduceOp};
use indim_shape::{ReductionRuleName, TargetRule};

use crate::call::{Call, LoweringResult};

/// The axes in operand 1, and `keep_dims`.
fn reduce_options(call: &Call<'_>) -> LoweringResult<ReduceOptions> {
    let axes = call.integers(1)?;
    let keepdims = call.layer.flag("keep_dims", Some(false))?;
    Ok(ReduceOptions::axes(axes).keepdims(keepdims).rule(ReductionRuleName::OpenVino))
}

fn check_numbers(call: &Call<'_>) -> LoweringResult<DType> {
    let dtype = call.dtype(0)?;
    match dtype {
        DType::Bool => {
            Err(FormatErrorKind::Unexpected { expected: "numbers to reduce".to_owned() })
        }
        _ => Ok(dtype),
    }
}

/// A reduction that keeps the element type.
pub(super) fn reduce(call: &Call<'_>, function: Reduction) -> LoweringResult {
    check_numbers(call)?;
    Ok(call.builder.along(function, call.value(0), &reduce_options(call)?)?)
}

/// A reduction that computes integers in double precision and truncates the result.
pub(super) fn reduce_wide(call: &Call<'_>, function: Reduction) -> LoweringResult {
    let dtype = check_numbers(call)?;
    if dtype.is_float() {
        return reduce(call, function);
    }
    let wide = call.builder.convert(call.value(0), DType::F64)?;
    let result = call.builder.along(function, wide, &reduce_options(call)?)?;
    Ok(call.builder.convert(result, dtype)?)
}

pub(super) fn reduce_l1(call: &Call<'_>) -> LoweringResult {
    let dtype = check_numbers(call)?;
    let x = call.value(0);
    let magnitudes = if indim_ops::Op::Abs.takes(dtype) { call.builder.abs(x)? } else { x };
    Ok(call.builder.along(Reduction::Sum, magnitudes, &reduce_options(call)?)?)
}

pub(super) fn reduce_logical(call: &Call<'_>, function: Reduction) -> LoweringResult {
    if call.dtype(0)? != DType::Bool {
        let expected = "truth values to reduce".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    Ok(call.builder.along(function, call.value(0), &reduce_options(call)?)?)
}

/// `CumSum`: cumulative sums along an axis, by default the first.
pub(super) fn cumsum(call: &Call<'_>) -> LoweringResult {
    check_numbers(call)?;
    let axes = if call.operands.len() > 1 { call.integers(1)? } else { vec![0] };
    let &[axis] = &axes[..] else {
        return Err(FormatErrorKind::Unexpected { expected: "one axis".to_owned() });
    };
    let axis = call.axis(axis, call.shape(0)?.rank())?;
    let reverse = call.layer.flag("reverse", Some(false))?;
    let exclusive = call.layer.flag("exclusive", Some(false))?;
    Ok(call.builder.scan(ReduceOp::Add, call.value(0), axis as i64, reverse, exclusive)?)
}

/// A function along one axis, such as softmax, whose result has the shape of the operand.
pub(super) fn softmax(call: &Call<'_>, function: Reduction) -> LoweringResult {
    let axis = call.layer.integer("axis", Some(1))?;
    let axis = call.axis(axis, call.shape(0)?.rank())?;
    Ok(call.builder.along(function, call.value(0), [axis as i64])?)
}

/// An operand in the type of the computation: `f64` if operand 0 has this type, else `f32`.
fn in_computation_dtype(call: &Call<'_>, operand: usize) -> LoweringResult {
    call.check_dtype_of(operand, DType::is_float, "floats")?;
    let dtype = if call.dtype(0)? == DType::F64 { DType::F64 } else { DType::F32 };
    Ok(call.builder.convert(call.value(operand), dtype)?)
}

/// `MVN` since opset 6: operand 1 has the axes.
pub(super) fn mvn(call: &Call<'_>) -> LoweringResult {
    let eps = call.layer.float("eps")?;
    let epsilon = match call.layer.word("eps_mode", "").as_str() {
        "inside_sqrt" => Epsilon::InsideRoot(eps),
        "outside_sqrt" => Epsilon::OutsideRoot(eps),
        _ => {
            return Err(FormatErrorKind::attribute(
                "eps_mode",
                "is neither inside_sqrt nor outside_sqrt",
            ));
        }
    };
    let axes = call.axes(1, call.shape(0)?.rank())?;
    normalize(call, &axes, epsilon)
}

/// `MVN` of opset 1: normalises the axes behind the channels, and also the channels unless
/// `across_channels` is false.
pub(super) fn mvn_of_channels(call: &Call<'_>) -> LoweringResult {
    let epsilon = Epsilon::InsideRoot(call.layer.float("eps")?);
    let rank = call.shape(0)?.rank();
    let across = call.layer.flag("across_channels", Some(true))?;
    let axes: Vec<usize> = (if across { 1 } else { 2 }..rank).collect();
    normalize(call, &axes, epsilon)
}

/// Normalises to mean 0 and, if the layer requests it, variance 1 along these axes.
fn normalize(call: &Call<'_>, axes: &[usize], epsilon: Epsilon) -> LoweringResult {
    let normalizes_variance = call.layer.flag("normalize_variance", Some(true))?;
    let x = in_computation_dtype(call, 0)?;
    let result = match normalizes_variance {
        true => standardise(&x, axes, epsilon)?,
        false => centre(&x, axes, epsilon)?.0,
    };
    Ok(call.builder.convert(result, call.dtype(0)?)?)
}

pub(super) fn normalize_l2(call: &Call<'_>) -> LoweringResult {
    let eps = call.layer.float("eps")?;
    let (b, x) = (call.builder, in_computation_dtype(call, 0)?);
    let axes: Vec<i64> =
        call.axes(1, call.shape(0)?.rank())?.into_iter().map(|axis| axis as i64).collect();
    let options = ReduceOptions::axes(&axes).keepdims(true);
    // Without axes each element is normalised alone.
    let squares = x.square();
    let total = match axes.is_empty() {
        true => squares,
        false => b.along(Reduction::Sum, squares, &options)?,
    };
    let length = match call.layer.word("eps_mode", "").as_str() {
        "add" => (total + eps).sqrt(),
        "max" => total.maximum(eps).sqrt(),
        _ => return Err(FormatErrorKind::attribute("eps_mode", "is neither add nor max")),
    };
    Ok(b.convert(b.numpy().div(x, length)?, call.dtype(0)?)?)
}

/// Batch normalisation; `positions` has the positions of `[data, gamma, beta, mean, variance]` among the
/// operands.
pub(super) fn batch_norm(call: &Call<'_>, positions: [usize; 5]) -> LoweringResult {
    let epsilon = call.layer.float("epsilon")?;
    let [data, gamma, beta, mean, variance] = positions;
    let (b, shape, dtype) = (call.builder, call.shape(data)?, call.dtype(data)?);
    let of_channels = |operand: usize| -> LoweringResult<Value> {
        let value = in_computation_dtype(call, operand)?;
        Ok(b.broadcast_to_target(value, &TargetRule::Explicit { axes: vec![1] }, &shape)?)
    };
    let deviation = (of_channels(variance)? + epsilon).sqrt();
    let none = b.none();
    let distances = none.sub(in_computation_dtype(call, data)?, of_channels(mean)?)?;
    let scaled = none.mul(none.div(distances, deviation)?, of_channels(gamma)?)?;
    Ok(b.convert(none.add(scaled, of_channels(beta)?)?, dtype)?)
}
