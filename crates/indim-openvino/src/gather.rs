//! Gathers and one-hot arrays.

use indim_builder::{StartedSlices, Value};
use indim_graph::{Literal, TakeMode};
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape};

use crate::call::{Call, LoweringResult};

/// `Gather` before the eighth operation set: an index out of range gives 0, also a negative one.
pub(super) fn gather(call: &Call<'_>) -> LoweringResult {
    gather_along_axis(call, false)
}

/// `Gather` from the eighth operation set on: negative indices count from the end; other indices out of range
/// give 0.
pub(super) fn gather_from_end(call: &Call<'_>) -> LoweringResult {
    gather_along_axis(call, true)
}

fn gather_along_axis(call: &Call<'_>, is_from_end: bool) -> LoweringResult {
    let (b, shape, of_indices) = (call.builder, call.shape(0)?, call.shape(1)?);
    let axis = call.axis(call.integer(2)?, shape.rank())?;
    let batches = batch_dims(call, of_indices.rank().min(axis))?;
    let size = shape[axis];
    let first = if is_from_end { -(size as i64) } else { 0 };
    let known = call.operands[1].integers();
    let is_within =
        known.is_some_and(|all| all.iter().all(|&it| (first..size as i64).contains(&it)));
    let mut indices = call.value(1);
    if is_within {
        return gather_with_batch(call, indices, axis, batches, TakeMode::Error);
    }
    call.check_dtype_of(1, DType::is_integer, "indices")?;
    if is_from_end {
        indices = b.starts_from_end(&indices, size)?;
    }
    let dims: Vec<i64> = (0..of_indices.rank())
        .map(|dim| if dim < batches { dim } else { axis + dim - batches })
        .map(|dim| dim as i64)
        .collect();
    let zero = b.convert(b.scalar(false), call.dtype(0)?)?;
    if size == 0 {
        let sizes = shape[..axis].iter().chain(&of_indices[batches..]).chain(&shape[axis + 1..]);
        return Ok(b.broadcast_in_dim(zero, &[], sizes.copied().collect::<Vec<usize>>())?);
    }
    let is_within = in_range_mask(call, &indices, size)?;
    let gathered = gather_with_batch(call, indices, axis, batches, TakeMode::Clip)?;
    let shape = gathered.array_type()?.shape;
    let operands = [
        b.broadcast_in_dim(is_within, &dims, shape.clone())?,
        gathered,
        b.broadcast_in_dim(zero, &[], shape)?,
    ];
    Ok(b.elementwise(Op::Select, &operands, &RuleSet::None)?)
}

/// The number of batch axes, up to `max`.
fn batch_dims(call: &Call<'_>, max: usize) -> LoweringResult<usize> {
    let given = call.layer.integer("batch_dims", Some(0))?;
    let rank = call.shape(1)?.rank() as i64;
    let counted = if given < 0 { given.saturating_add(rank) } else { given };
    let wrong = || FormatErrorKind::attribute("batch_dims", format!("is {given}, not up to {max}"));
    usize::try_from(counted).ok().filter(|&count| count <= max).ok_or_else(wrong)
}

/// For each index, whether it is in range; negative indices are not.
fn in_range_mask(call: &Call<'_>, indices: &Value, size: usize) -> LoweringResult {
    let b = call.builder;
    let wide = match indices.array_type()?.dtype {
        DType::U64 => DType::U64,
        _ => DType::I64,
    };
    let indices = b.convert(indices, wide)?;
    let bound = |number: usize| b.literal(Literal::Int(number as i128), wide);
    let (from, below) = (b.ge(&indices, bound(0)?, &[])?, b.lt(&indices, bound(size)?, &[])?);
    Ok(b.and(from, below, &[])?)
}

/// The gather along an axis, where operand and indices begin with `batches` common axes.
fn gather_with_batch(
    call: &Call<'_>,
    indices: Value,
    axis: usize,
    batches: usize,
    mode: TakeMode,
) -> LoweringResult {
    let b = call.builder;
    if batches == 0 {
        return Ok(b.take(call.value(0), indices, axis as i64, mode)?);
    }
    let (shape, of_indices) = (call.shape(0)?, indices.array_type()?.shape);
    let indices = match mode {
        TakeMode::Error => b.starts_from_end(&indices, shape[axis])?,
        _ => indices,
    };
    let mut sizes = shape.to_vec();
    (0..batches).chain([axis]).for_each(|one| sizes[one] = 1);
    let slices = StartedSlices {
        shape: of_indices.clone(),
        starts: vec![(axis, indices)],
        batches: (0..batches).map(|batch| (batch, batch)).collect(),
        sizes,
    };
    let gathered = b.gather_slices(call.value(0), &slices)?;
    let others = shape[batches..axis].iter().chain(&shape[axis + 1..]);
    let sizes: Vec<usize> = of_indices.iter().chain(others).copied().collect();
    // In the result, axes between the batches and the gathered axis come before the axes of the indices.
    let (rank, between) = (of_indices.rank(), of_indices.rank() + axis - batches);
    let order = (0..batches).chain(rank..between).chain(batches..rank).chain(between..sizes.len());
    let order: Vec<i64> = order.map(|dim| dim as i64).collect();
    Ok(b.transpose(b.reshape(gathered, sizes)?, &order)?)
}

/// `GatherElements`: an index for each element. Negative indices count from the end; other indices out of
/// range are errors.
pub(super) fn gather_elements(call: &Call<'_>) -> LoweringResult {
    let axis = call.axis(call.layer.integer("axis", None)?, call.shape(0)?.rank())?;
    let [data, indices] = [0, 1].map(|operand| call.value(operand));
    Ok(call.builder.gather_elements(data, indices, axis as i64, TakeMode::Error)?)
}

/// `GatherND`: index vectors. Negative indices count from the end. Other indices out of range are errors
/// here; OpenVINO does not check them.
pub(super) fn gather_nd(call: &Call<'_>) -> LoweringResult {
    let batches = batch_dims(call, call.shape(1)?.rank().saturating_sub(1))?;
    let [data, indices] = [0, 1].map(|operand| call.value(operand));
    Ok(call.builder.gather_nd(data, indices, batches, TakeMode::Error)?)
}

/// `GatherND` of the fifth operation set, which merges the batch axes of the result into one.
pub(super) fn gather_nd_of_one_batch(call: &Call<'_>) -> LoweringResult {
    let gathered = gather_nd(call)?;
    let batches = batch_dims(call, call.shape(1)?.rank())?;
    if batches < 2 {
        return Ok(gathered);
    }
    let shape = gathered.array_type()?.shape;
    let count = Shape::from(&shape[..batches]).element_count().map_err(|_| {
        let expected = format!("fewer elements along {batches} batch axes of {shape}");
        FormatErrorKind::Unexpected { expected }
    })?;
    let sizes: Vec<usize> = [count].into_iter().chain(shape[batches..].iter().copied()).collect();
    Ok(call.builder.reshape(gathered, sizes)?)
}

/// `OneHot`: along a new axis, operand 2 at the index and operand 3 elsewhere.
pub(super) fn one_hot(call: &Call<'_>) -> LoweringResult {
    let (b, shape) = (call.builder, call.shape(0)?);
    let depth = call.integer(1)?;
    let negative = |_| FormatErrorKind::Unexpected { expected: "a depth from 0 on".to_owned() };
    let depth = usize::try_from(depth).map_err(negative)?;
    call.check_dtype_of(0, DType::is_integer, "indices")?;
    let axis = call.axis(call.layer.integer("axis", Some(-1))?, shape.rank() + 1)?;
    let indices = match &call.layer.word("negative_indices_mode", "ignore_negative")[..] {
        "normalize" => b.starts_from_end(&call.value(0), depth)?,
        "ignore_negative" => call.value(0),
        _ => {
            let problem = "is neither ignore_negative nor normalize";
            return Err(FormatErrorKind::attribute("negative_indices_mode", problem));
        }
    };
    let mut sizes = shape.to_vec();
    sizes.insert(axis, depth);
    let dims: Vec<i64> = (0..sizes.len() as i64).filter(|&dim| dim != axis as i64).collect();
    let indices = b.broadcast_in_dim(b.convert(indices, DType::I64)?, &dims, sizes.clone())?;
    let is_hot = b.eq(indices, b.iota(DType::I64, sizes.clone(), axis as i64)?, &[])?;
    let value = |operand: usize| -> LoweringResult {
        let scalar = b.reshape(call.value(operand), [])?;
        Ok(b.broadcast_in_dim(scalar, &[], sizes.clone())?)
    };
    Ok(b.elementwise(Op::Select, &[is_hot, value(2)?, value(3)?], &RuleSet::None)?)
}
