//! Data movement operators: reshape, transpose, slice, pad, concatenate, split, tile and gather.

use indim_builder::{PadMode, Value};
use indim_graph::{AxisSlice, Literal, TakeMode};
use indim_shape::Shape;

use super::call::{Call, LoweringResult, single_result};
use super::elementwise::sizes;
use indim_model::FormatErrorKind;
use indim_model::compositions::{extend, reverse_sequences};
use indim_model::shape_values::KnownValue;

/// A target size of 0 copies the size of the operand, unless `allowzero` is set. The target size -1 is
/// inferred.
pub(super) fn reshape(call: &Call<'_>) -> LoweringResult {
    let from = call.shape(0)?;
    let missing = || FormatErrorKind::attribute("shape", "is missing");
    let mut target = call.integer_list("shape", 1, 5)?.ok_or_else(missing)?;
    if call.int("allowzero", 0)? == 0 {
        for (axis, size) in target.iter_mut().enumerate().filter(|(_, size)| **size == 0) {
            let copied = from.get(axis).copied();
            let beyond =
                || FormatErrorKind::attribute("shape", "has a 0 where the operand has no axis");
            *size = copied.ok_or_else(beyond)? as i64;
        }
    }
    if let Some(open) = target.iter().position(|&size| size == -1) {
        target[open] = inferred_size(&from, &target, open)?;
    }
    single_result(call.builder.reshape(call.value(0)?, sizes(&target)?)?)
}

/// The size for -1 at axis `open`: the number of elements divided by the other target sizes.
fn inferred_size(from: &Shape, target: &[i64], open: usize) -> Result<i64, FormatErrorKind> {
    let others = target.iter().enumerate().filter(|(axis, _)| *axis != open);
    let product = others.map(|(_, &size)| size).try_fold(1i64, i64::checked_mul);
    let count = from.element_count().ok().and_then(|count| i64::try_from(count).ok());
    let wrong = |problem: &str| FormatErrorKind::attribute("shape", problem);
    match (count, product) {
        (Some(0), Some(0)) => Err(wrong("has -1 and 0, so the size for -1 is ambiguous")),
        (Some(count), Some(product)) if product > 0 && count % product == 0 => Ok(count / product),
        _ => Err(wrong("has no integer size for -1")),
    }
}

pub(super) fn flatten(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    // The axis can equal the rank.
    let axis = match call.int("axis", 1)? {
        axis if axis == shape.rank() as i64 => shape.rank(),
        axis => call.axis(axis, shape.rank())?,
    };
    single_result(call.builder.reshape(call.value(0)?, matrix_sizes(&shape, axis))?)
}

/// The sizes of a matrix whose columns are the axes from `axis` on. Overflowing sizes saturate; the builder
/// rejects them, unless the matrix has no elements.
pub(super) fn matrix_sizes(shape: &Shape, axis: usize) -> [usize; 2] {
    let product = |sizes: &[usize]| sizes.iter().fold(1usize, |count, &n| count.saturating_mul(n));
    [product(&shape[..axis]), product(&shape[axis..])]
}

pub(super) fn transpose(call: &Call<'_>) -> LoweringResult {
    let rank = call.shape(0)?.rank() as i64;
    let permutation = call.ints("perm")?.unwrap_or_else(|| (0..rank).rev().collect());
    single_result(call.builder.transpose(call.value(0)?, &permutation)?)
}

pub(super) fn squeeze(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let dropped = match call.integer_list("axes", 1, 13)? {
        Some(axes) => call.axes(&axes, shape.rank())?,
        None => (0..shape.rank()).filter(|&axis| shape[axis] == 1).collect(),
    };
    if dropped.iter().any(|&axis| shape[axis] != 1) {
        return Err(FormatErrorKind::attribute("axes", "names an axis whose size is not 1"));
    }
    let kept = (0..shape.rank()).filter(|axis| !dropped.contains(axis)).map(|axis| shape[axis]);
    single_result(call.builder.reshape(call.value(0)?, kept.collect::<Shape>())?)
}

/// The axes refer to the result.
pub(super) fn unsqueeze(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let missing = || FormatErrorKind::attribute("axes", "is missing");
    let given = call.integer_list("axes", 1, 13)?.ok_or_else(missing)?;
    let rank = shape.rank() + given.len();
    if rank > indim_shape::MAX_RANK {
        return Err(FormatErrorKind::Limit { what: "axes", limit: indim_shape::MAX_RANK });
    }
    let added = call.axes(&given, rank)?;
    let mut old = shape.iter().copied();
    let size = |axis: usize| match added.contains(&axis) {
        true => 1,
        false => old.next().unwrap_or(1),
    };
    single_result(call.builder.reshape(call.value(0)?, (0..rank).map(size).collect::<Shape>())?)
}

/// Before opset 4 the default axis is 1.
pub(super) fn concat(call: &Call<'_>) -> LoweringResult {
    let axis = match call.version() < 4 {
        true => call.int("axis", 1)?,
        false => call.required_int("axis")?,
    };
    let values: Vec<&Value> =
        (0..call.operands.len()).map(|position| call.value(position)).collect::<Result<_, _>>()?;
    single_result(call.builder.concatenate(&values, axis)?)
}

/// Negative indices count from the end; other indices out of range are run-time errors.
pub(super) fn gather(call: &Call<'_>) -> LoweringResult {
    let axis = call.int("axis", 0)?;
    single_result(call.builder.take(call.value(0)?, call.value(1)?, axis, TakeMode::Error)?)
}

/// The axes to which a list of `values` numbers refers: `axes`, or else the first `values` axes.
fn listed_axes(
    call: &Call<'_>,
    axes: Option<Vec<i64>>,
    values: usize,
    rank: usize,
) -> Result<Vec<usize>, FormatErrorKind> {
    let axes = match axes {
        Some(axes) => call.axes(&axes, rank)?,
        None => (0..values).collect(),
    };
    if axes.len() != values || values > rank {
        let problem = format!("has {values} elements for {} axes", axes.len());
        return Err(FormatErrorKind::attribute("axes", problem));
    }
    Ok(axes)
}

/// Ends beyond the operand are clamped.
pub(super) fn slice(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let missing = || FormatErrorKind::attribute("starts", "is missing");
    let starts = call.integer_list("starts", 1, 10)?.ok_or_else(missing)?;
    let ends = call.integer_list("ends", 2, 10)?.ok_or_else(missing)?;
    let axes = listed_axes(call, call.integer_list("axes", 3, 10)?, starts.len(), shape.rank())?;
    let steps = match call.version() < 10 {
        true => None,
        false => call.optional_integers(4)?,
    };
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || steps.len() != starts.len() {
        return Err(FormatErrorKind::attribute("starts", "is not as long as the ends and steps"));
    }
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    for (position, &axis) in axes.iter().enumerate() {
        let [start, end, step] = [&starts, &ends, &steps].map(|list| list[position]);
        let start = slice_start(start, step, shape[axis]);
        let slice = AxisSlice::python(Some(start), Some(end), Some(step), shape[axis]);
        slices[axis] = slice.map_err(|kind| call.graph_error(kind))?;
    }
    single_result(call.builder.slice(call.value(0)?, &slices)?)
}

/// The start of a slice for Python's rule. With a negative step, ONNX moves a start before the axis to
/// its first element; Python's slice is empty.
pub(super) fn slice_start(start: i64, step: i64, size: usize) -> i64 {
    match i64::try_from(size) {
        Ok(size) if step < 0 => start.max(-size),
        _ => start,
    }
}

/// Operand 1 lists the padding before each axis, then the padding behind each axis; before opset 11 an
/// attribute lists it. Negative padding crops.
pub(super) fn pad(call: &Call<'_>) -> LoweringResult {
    let (rank, dtype) = (call.shape(0)?.rank(), call.dtype(0)?);
    let name = if call.version() < 2 { "paddings" } else { "pads" };
    let missing = || FormatErrorKind::attribute(name, "is missing");
    let pads = call.integer_list(name, 1, 11)?.ok_or_else(missing)?;
    let axes = if call.version() < 18 { None } else { call.optional_integers(3)? };
    let axes = match pads.len() % 2 {
        0 => listed_axes(call, axes, pads.len() / 2, rank)?,
        _ => return Err(FormatErrorKind::attribute(name, "has an odd number of elements")),
    };
    if axes.len() != rank && (call.version() < 18 || call.optional(3).is_none()) {
        return Err(FormatErrorKind::attribute(name, "has not two elements for each axis"));
    }
    let mut widths: Vec<(i64, i64, usize)> = vec![(0, 0, 0); rank];
    for (position, &axis) in axes.iter().enumerate() {
        widths[axis] = (pads[position], pads[axes.len() + position], 0);
    }
    let mode = match &call.text("mode", "constant")?[..] {
        "constant" => None,
        "wrap" if call.version() < 19 => {
            return Err(FormatErrorKind::attribute("mode", "is wrap: it came with opset 19"));
        }
        "symmetric" => return Err(FormatErrorKind::attribute("mode", "is symmetric")),
        name => match name.parse::<PadMode>() {
            Ok(mode) => Some(mode),
            Err(()) => return Err(FormatErrorKind::attribute("mode", "names no mode of padding")),
        },
    };
    if let Some(mode) = mode {
        return single_result(extend(call.value(0)?, &widths, mode)?);
    }
    let value = match call.version() < 11 {
        true => call.builder.literal(Literal::Float(call.float("value", 0.0)?), dtype)?,
        false if call.optional(2).is_some() => call.scalar(2)?,
        false => call.builder.literal(Literal::Int(0), dtype)?,
    };
    single_result(call.builder.pad(call.value(0)?, value, &widths)?)
}

pub(super) fn split(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let axis = call.axis(call.int("axis", 0)?, shape.rank())?;
    // In the first version the sizes are an attribute or an operand.
    let given = match call.version() {
        1 if call.optional(1).is_some() => call.optional_integers(1)?,
        _ => call.integer_list("split", 1, 13)?,
    };
    let parts = match given {
        Some(parts) => sizes(&parts)?.to_vec(),
        None => equal_parts(call, shape[axis])?,
    };
    if parts.iter().try_fold(0usize, |sum, &part| sum.checked_add(part)) != Some(shape[axis]) {
        return Err(FormatErrorKind::attribute("split", "does not add up to the size of the axis"));
    }
    let mut start = 0;
    let mut results = Vec::with_capacity(parts.len());
    for part in parts {
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = AxisSlice::new(start, part, 1);
        start += part;
        results.push(KnownValue::from(call.builder.slice(call.value(0)?, &slices)?));
    }
    Ok(results)
}

/// The sizes of the results without `split`. Since opset 18 the last results can be smaller.
fn equal_parts(call: &Call<'_>, size: usize) -> Result<Vec<usize>, FormatErrorKind> {
    let outputs = call.node.results.len();
    let count = match call.optional_int("num_outputs")? {
        Some(count) => usize::try_from(count).ok().filter(|&count| count == outputs),
        None => Some(outputs),
    };
    let wrong = |problem: &str| FormatErrorKind::attribute("num_outputs", problem);
    let count = count.filter(|&count| count > 0);
    let count = count.ok_or_else(|| wrong("is not the number of results"))?;
    let part = size.div_ceil(count);
    if call.version() < 18 && part * count != size {
        return Err(wrong("does not divide the size of the axis"));
    }
    let first = |position: usize| position.saturating_mul(part).min(size);
    Ok((0..count).map(|position| first(position + 1) - first(position)).collect())
}

/// `CenterCropPad`: crops or pads axes to the sizes in operand 1, both ends alike; the end after an axis gets
/// the odd element.
pub(super) fn center_crop_or_pad(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let new_sizes = sizes(&call.integers(1)?)?;
    let axes = listed_axes(call, call.ints("axes")?, new_sizes.rank(), shape.rank())?;
    let mut widths: Vec<(i64, i64, usize)> = vec![(0, 0, 0); shape.rank()];
    for (&axis, &size) in axes.iter().zip(new_sizes.iter()) {
        let added = (size as i64).saturating_sub(shape[axis] as i64);
        widths[axis] = (added / 2, added - added / 2, 0);
    }
    let zero = call.builder.literal(Literal::Int(0), dtype)?;
    single_result(call.builder.pad(call.value(0)?, zero, &widths)?)
}

/// `ReverseSequence`: reverses the first elements along the time axis, as many as operand 1 states for each
/// element of the batch.
pub(super) fn reverse_sequence(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let [batch, time] = [call.int("batch_axis", 1)?, call.int("time_axis", 0)?];
    let [batch, time] = [call.axis(batch, shape.rank())?, call.axis(time, shape.rank())?];
    if batch == time {
        return Err(FormatErrorKind::attribute("time_axis", "is the batch axis"));
    }
    single_result(reverse_sequences(call.value(0)?, call.value(1)?, (batch, time))?)
}

/// Repeats the operand along each axis: broadcasts a new axis in front of it and merges the two.
pub(super) fn tile(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let repeats = match call.version() < 6 {
        true => single_repeat(call, shape.rank())?,
        false => call.integers(1)?,
    };
    if repeats.len() != shape.rank() {
        return Err(FormatErrorKind::attribute("repeats", "has not one element for each axis"));
    }
    let (mut split_sizes, mut permutation, mut merged_sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (&size, &repeat) in shape.iter().zip(sizes(&repeats)?.iter()) {
        if repeat != 1 {
            split_sizes.push(repeat);
        }
        permutation.push(split_sizes.len() as i64);
        split_sizes.push(size);
        merged_sizes.push(size.saturating_mul(repeat));
    }
    if split_sizes.len() > indim_shape::MAX_RANK {
        return Err(FormatErrorKind::Limit { what: "axes", limit: indim_shape::MAX_RANK });
    }
    let repeated = call.builder.broadcast_in_dim(call.value(0)?, &permutation, split_sizes)?;
    single_result(call.builder.reshape(repeated, merged_sizes)?)
}

/// The first version repeats along one axis.
fn single_repeat(call: &Call<'_>, rank: usize) -> Result<Vec<i64>, FormatErrorKind> {
    let (tiles, axis) = (call.integers(1)?, call.integers(2)?);
    let mut repeats = vec![1; rank];
    match (&tiles[..], &axis[..]) {
        (&[tiles], &[axis]) => repeats[call.axis(axis, rank)?] = tiles,
        _ => return Err(FormatErrorKind::Unexpected { expected: "one number".to_owned() }),
    }
    Ok(repeats)
}

/// The sizes `[batch, channels, height, width]` of the operand, and the block size.
fn image_sizes_and_block(call: &Call<'_>) -> Result<([usize; 4], usize), FormatErrorKind> {
    let block = usize::try_from(call.required_int("blocksize")?).ok().filter(|&block| block > 0);
    let block = block.filter(|block| block.checked_mul(*block).is_some());
    let block = block.ok_or_else(|| FormatErrorKind::attribute("blocksize", "is not a size"))?;
    let expected = "an operand with four axes".to_owned();
    let shape = <[usize; 4]>::try_from(call.shape(0)?.sizes());
    Ok((shape.map_err(|_| FormatErrorKind::Unexpected { expected })?, block))
}

/// Reshapes to `split_sizes`, permutes the axes by `order`, and reshapes to `merged_sizes`.
fn reshape_and_permute(
    call: &Call<'_>,
    split_sizes: &[usize],
    order: &[i64],
    merged_sizes: [usize; 4],
) -> LoweringResult {
    let split_sizes = call.builder.reshape(call.value(0)?, split_sizes)?;
    single_result(call.builder.reshape(call.builder.transpose(split_sizes, order)?, merged_sizes)?)
}

pub(super) fn depth_to_space(call: &Call<'_>) -> LoweringResult {
    let ([n, c, h, w], b) = image_sizes_and_block(call)?;
    if c % (b * b) != 0 {
        let problem = format!("is {b}, whose square does not divide the {c} channels");
        return Err(FormatErrorKind::attribute("blocksize", problem));
    }
    let depth = c / (b * b);
    let merged_sizes = [n, depth, h.saturating_mul(b), w.saturating_mul(b)];
    match &call.text("mode", "DCR")?[..] {
        "DCR" => {
            reshape_and_permute(call, &[n, b, b, depth, h, w], &[0, 3, 4, 1, 5, 2], merged_sizes)
        }
        "CRD" => {
            reshape_and_permute(call, &[n, depth, b, b, h, w], &[0, 1, 4, 2, 5, 3], merged_sizes)
        }
        _ => Err(FormatErrorKind::attribute("mode", "is neither DCR nor CRD")),
    }
}

pub(super) fn space_to_depth(call: &Call<'_>) -> LoweringResult {
    let ([n, c, h, w], b) = image_sizes_and_block(call)?;
    if h % b != 0 || w % b != 0 {
        let problem = format!("is {b}, which does not divide the image of {h} by {w}");
        return Err(FormatErrorKind::attribute("blocksize", problem));
    }
    let split_sizes = [n, c, h / b, b, w / b, b];
    let merged_sizes = [n, c.saturating_mul(b * b), h / b, w / b];
    match &call.text("mode", "DCR")?[..] {
        "DCR" => reshape_and_permute(call, &split_sizes, &[0, 3, 5, 1, 2, 4], merged_sizes),
        "CRD" => reshape_and_permute(call, &split_sizes, &[0, 1, 3, 5, 2, 4], merged_sizes),
        _ => Err(FormatErrorKind::attribute("mode", "is neither DCR nor CRD")),
    }
}
