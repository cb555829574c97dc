//! Operations of data movement.

use indim_builder::{PadMode, Value};
use indim_graph::{Array, AxisSlice, Literal};
use indim_model::FormatErrorKind;
use indim_model::compositions::{extend, reverse_sequences};
use indim_ops::DType;
use indim_shape::{Shape, TargetRule};

use crate::attributes::PDPD_AXIS_OF_BROADCAST;
use crate::call::{Call, LoweringResult};

fn unexpected(expected: impl Into<String>) -> FormatErrorKind {
    FormatErrorKind::Unexpected { expected: expected.into() }
}

/// With `special_zero` a 0 copies the size of the operand; -1 is inferred.
pub(super) fn reshape(call: &Call<'_>) -> LoweringResult {
    let (from, pattern) = (call.shape(0)?, call.integers(1)?);
    call.check_rank(pattern.len())?;
    // Without a 0 the attribute is optional.
    let copies = pattern.contains(&0) && call.layer.flag("special_zero", None)?;
    let mut sizes = Vec::with_capacity(pattern.len());
    let mut open = None;
    for (axis, &size) in pattern.iter().enumerate() {
        sizes.push(match size {
            0 if copies => {
                *from.get(axis).ok_or_else(|| unexpected(format!("an axis {axis} to copy")))?
            }
            -1 if open.replace(axis).is_none() => 1,
            _ => usize::try_from(size).map_err(|_| unexpected("sizes, and -1 at most once"))?,
        });
    }
    if let Some(axis) = open {
        sizes[axis] = inferred_size(&from, &sizes)?;
    }
    Ok(call.builder.reshape(call.value(0), sizes)?)
}

/// The inferred size: the elements of `from` divided by those of `sizes`.
fn inferred_size(from: &Shape, sizes: &[usize]) -> LoweringResult<usize> {
    let product =
        |sizes: &[usize]| sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    match (product(from), product(sizes)) {
        (Some(all), Some(part)) if part > 0 && all % part == 0 => Ok(all / part),
        _ => Err(unexpected(format!("sizes that leave one for -1, of {from}"))),
    }
}

/// An empty order reverses the axes.
pub(super) fn transpose(call: &Call<'_>) -> LoweringResult {
    let order = match call.integers(1)? {
        order if order.is_empty() => (0..call.shape(0)?.rank() as i64).rev().collect(),
        order => order,
    };
    Ok(call.builder.transpose(call.value(0), &order)?)
}

/// Without axes all axes of size 1 are removed.
pub(super) fn squeeze(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let named = if call.has(1) { call.axes(1, shape.rank())? } else { Vec::new() };
    let skips = call.layer.flag("allow_axis_skip", Some(false))?;
    if let Some(axis) = named.iter().find(|&&axis| shape[axis] != 1 && !skips) {
        return Err(unexpected(format!("an axis of size 1, which axis {axis} of {shape} is not")));
    }
    let goes = |axis: usize| shape[axis] == 1 && (named.is_empty() || named.contains(&axis));
    let left: Shape =
        (0..shape.rank()).filter(|&axis| !goes(axis)).map(|axis| shape[axis]).collect();
    Ok(call.builder.reshape(call.value(0), left)?)
}

/// The axes refer to the result.
pub(super) fn unsqueeze(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let rank = shape.rank() + call.integers(1)?.len();
    call.check_rank(rank)?;
    let new = call.axes(1, rank)?;
    let mut old = shape.iter();
    let size = |axis: usize| match new.contains(&axis) {
        true => 1,
        false => old.next().copied().unwrap_or(1),
    };
    let sizes: Vec<usize> = (0..rank).map(size).collect();
    Ok(call.builder.reshape(call.value(0), sizes)?)
}

pub(super) fn concat(call: &Call<'_>) -> LoweringResult {
    let axis = call.axis(call.layer.integer("axis", None)?, call.shape(0)?.rank())?;
    let operands: Vec<Value> = call.operands.iter().map(|known| known.value.clone()).collect();
    Ok(call.builder.concatenate(&operands, axis as i64)?)
}

/// `Split`: parts of equal size.
pub(super) fn split(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    let shape = call.shape(0)?;
    let axis = call.axis(call.integer(1)?, shape.rank())?;
    let count = call.layer.integer("num_splits", None)?;
    match usize::try_from(count) {
        Ok(count) if count == call.layer.outputs.len() && shape[axis] % count.max(1) == 0 => {
            slice_parts(call, axis, &vec![shape[axis] / count.max(1); count])
        }
        _ => Err(FormatErrorKind::attribute(
            "num_splits",
            format!(
                "is {count}, for {} ports and {} elements",
                call.layer.outputs.len(),
                shape[axis]
            ),
        )),
    }
}

/// `VariadicSplit`: parts of the sizes in operand 2; the size -1 is inferred.
pub(super) fn variadic_split(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    let shape = call.shape(0)?;
    let axis = call.axis(call.integer(1)?, shape.rank())?;
    let lengths = call.integers(2)?;
    let wrong = || unexpected(format!("lengths that make up {}, and -1 at most once", shape[axis]));
    if lengths.len() != call.layer.outputs.len() {
        return Err(unexpected("a length for each port"));
    }
    let mut stated = lengths.iter().filter(|&&length| length != -1);
    let total = stated
        .try_fold(0usize, |sum, &length| sum.checked_add(usize::try_from(length).ok()?))
        .ok_or_else(wrong)?;
    let open = lengths.iter().filter(|&&length| length == -1).count();
    let left = shape[axis].checked_sub(total).ok_or_else(wrong)?;
    if open > 1 || (open == 0 && left > 0) {
        return Err(wrong());
    }
    let sizes: Vec<usize> =
        lengths.iter().map(|&length| usize::try_from(length).unwrap_or(left)).collect();
    slice_parts(call, axis, &sizes)
}

/// Splits the first operand along an axis into consecutive parts.
fn slice_parts(call: &Call<'_>, axis: usize, sizes: &[usize]) -> LoweringResult<Vec<Value>> {
    let (x, shape) = (call.value(0), call.shape(0)?);
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        slices[axis] = AxisSlice::new(start, size, 1);
        parts.push(call.builder.slice(&x, &slices)?);
        start += size;
    }
    Ok(parts)
}

/// Pads the operand with one value, or with its own elements; negative padding crops.
pub(super) fn pad(call: &Call<'_>) -> LoweringResult {
    let (begins, ends) = (call.integers(1)?, call.integers(2)?);
    if begins.len() != ends.len() {
        return Err(unexpected("as many numbers in front as behind"));
    }
    let widths: Vec<(i64, i64, usize)> =
        begins.into_iter().zip(ends).map(|(low, high)| (low, high, 0)).collect();
    let mode = call.layer.word("pad_mode", "constant");
    if mode != "constant" {
        let wrong = |()| FormatErrorKind::attribute("pad_mode", "names no mode");
        let mode = mode.parse::<PadMode>().map_err(wrong)?;
        return Ok(extend(&call.value(0), &widths, mode)?);
    }
    let value = match call.has(3) {
        true => call.builder.reshape(call.value(3), [])?,
        false => call.builder.literal(Literal::Int(0), call.dtype(0)?)?,
    };
    Ok(call.builder.pad(call.value(0), value, &widths)?)
}

/// `ReverseSequence`: reverses the first elements along an axis, as many as operand 1 states for each element
/// of the batch.
pub(super) fn reverse_sequence(call: &Call<'_>) -> LoweringResult {
    let rank = call.shape(0)?.rank();
    let batch = call.axis(call.layer.integer("batch_axis", Some(0))?, rank)?;
    let axis = call.axis(call.layer.integer("seq_axis", Some(1))?, rank)?;
    Ok(reverse_sequences(&call.value(0), &call.value(1), (batch, axis))?)
}

/// Repeats the operand. The shorter of shape and repeats is extended by leading 1s.
pub(super) fn tile(call: &Call<'_>) -> LoweringResult {
    let (repeats, shape) = (call.target(1)?, call.shape(0)?);
    let rank = repeats.rank().max(shape.rank());
    let filled = |sizes: &Shape| -> Vec<usize> {
        core::iter::repeat_n(1, rank - sizes.rank()).chain(sizes.iter().copied()).collect()
    };
    let (repeats, sizes) = (filled(&repeats), filled(&shape));
    let x = call.builder.reshape(call.value(0), sizes.clone())?;
    let (mut broadcast_to, mut dims, mut result) = (Vec::new(), Vec::new(), Vec::new());
    for (&count, &size) in repeats.iter().zip(&sizes) {
        if count != 1 {
            broadcast_to.push(count);
        }
        dims.push(broadcast_to.len() as i64);
        broadcast_to.push(size);
        result.push(count.saturating_mul(size));
    }
    Ok(call.builder.reshape(call.builder.broadcast_in_dim(x, &dims, broadcast_to)?, result)?)
}

/// Numbers from the first operand up to the second, exclusive, with the third as step.
pub(super) fn range(call: &Call<'_>) -> LoweringResult {
    let dtype = match call.layer.attribute("output_type") {
        Some(_) => call.layer.element_type("output_type")?,
        None => call.dtype(0)?,
    };
    let count = range_count(call)?;
    let single = |operand: usize| -> LoweringResult {
        let scalar = call.builder.reshape(call.value(operand), [])?;
        Ok(call.builder.convert(scalar, dtype)?)
    };
    let counted = call.builder.iota(dtype, [count], 0)?;
    let step = call.builder.mul(counted, single(2)?, &[])?;
    Ok(call.builder.add(step, single(0)?, &[])?)
}

/// The number of elements of a `Range`. A number beyond `usize::MAX` saturates.
fn range_count(call: &Call<'_>) -> LoweringResult<usize> {
    let number = |operand: usize| -> LoweringResult<f64> {
        let known = call.operands[operand].elements.as_ref();
        let scalar = known.and_then(|array| array.reshaped(Shape::scalar()).ok());
        let text = scalar.and_then(|scalar| scalar.scalar_text());
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| unexpected(format!("a number as operand {operand}")))
    };
    let (start, stop, step) = (number(0)?, number(1)?, number(2)?);
    let count = ((stop - start) / step).ceil();
    match count.is_finite() {
        true => Ok(count.max(0.0) as usize),
        false => Err(unexpected("a range that ends")),
    }
}

/// Broadcasts the first operand to the shape in the second.
pub(super) fn broadcast(call: &Call<'_>) -> LoweringResult {
    let is_first_version = call.layer.version == "opset1";
    let rule = match call.layer.word("mode", "numpy").as_str() {
        "explicit" | "none" if call.has(2) => TargetRule::Explicit { axes: call.integers(2)? },
        // The first version is unidirectional if the axes are not given.
        "explicit" | "none" if is_first_version => TargetRule::Unidirectional,
        "explicit" | "none" => return Err(unexpected("axes as operand 2 in the explicit mode")),
        "numpy" => TargetRule::Unidirectional,
        "bidirectional" if !is_first_version => TargetRule::Bidirectional,
        "pdpd" => TargetRule::Pdpd { axis: call.layer.pdpd_axis(PDPD_AXIS_OF_BROADCAST)? },
        _ => return Err(FormatErrorKind::attribute("mode", "names no rule")),
    };
    Ok(call.builder.broadcast_to_target(call.value(0), &call.rule.of(rule), call.target(1)?)?)
}

/// The sizes of the operand as an array.
pub(super) fn shape_of(call: &Call<'_>) -> LoweringResult<Array> {
    let sizes = call.shape(0)?;
    let dtype = match call.layer.attribute("output_type") {
        Some(_) => call.layer.element_type("output_type")?,
        None => DType::I64,
    };
    let too_large = |_| unexpected(format!("sizes that fit {dtype}"));
    let array = match dtype {
        DType::I32 => {
            let sizes = sizes.iter().map(|&size| i32::try_from(size).map_err(too_large));
            Array::new([sizes.len()], sizes.collect::<Result<Vec<i32>, _>>()?)
        }
        DType::I64 => {
            let sizes = sizes.iter().map(|&size| i64::try_from(size).map_err(too_large));
            Array::new([sizes.len()], sizes.collect::<Result<Vec<i64>, _>>()?)
        }
        _ => return Err(FormatErrorKind::attribute("output_type", "is neither i32 nor i64")),
    };
    array.map_err(|error| unexpected(error.to_string()))
}
