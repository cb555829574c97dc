//! `Attention`, `RotaryEmbedding` and `TensorScatter`: the layers of transformers.

use indim_builder::Value;
use indim_graph::{AxisSlice, Literal, TakeMode};
use indim_model::FormatErrorKind;
use indim_model::compositions::{Attention, attend};
use indim_model::shape_values::KnownValue;
use indim_onnx_file::types::dtype_of;
use indim_ops::{DType, ScatterOp};
use indim_shape::Shape;

use super::call::{Call, LoweringResult, single_result};

type ValueResult = Result<Value, FormatErrorKind>;

/// The positions of the operands that only some calls have.
const MASK: usize = 3;
const PAST_KEY: usize = 4;
const PAST_VALUE: usize = 5;
const VALID_LENGTHS: usize = 6;

/// `Attention`: queries, keys and values of rank 3 or 4, with masks, a cache and grouped heads.
pub(super) fn attention(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (b, dtype, is_flat) = (call.builder, call.dtype(0)?, call.shape(0)?.rank() == 3);
    let query = with_heads(call, 0, "q_num_heads")?;
    let [mut key, mut value] =
        [with_heads(call, 1, "kv_num_heads")?, with_heads(call, 2, "kv_num_heads")?];
    let past = match (call.optional(PAST_KEY), call.optional(PAST_VALUE)) {
        (Some(past_key), Some(past_value)) => {
            key = b.concatenate(&[&past_key.value, &key], 2)?;
            value = b.concatenate(&[&past_value.value, &value], 2)?;
            call.shape(PAST_KEY)?.get(2).copied().unwrap_or(0)
        }
        (None, None) => 0,
        _ => {
            let expected = "past keys together with past values".to_owned();
            return Err(FormatErrorKind::Unexpected { expected });
        }
    };
    let shape = query.array_type()?.shape;
    let (heads, own) = (shape[1], key.array_type()?.shape[1]);
    if own == 0 || heads % own != 0 || value.array_type()?.shape[1] != own {
        let problem = format!("has {heads} heads of queries for {own} of keys");
        return Err(FormatErrorKind::attribute("q_num_heads", problem));
    }
    let scores = Shape::from([shape[0], heads, shape[2], key.array_type()?.shape[2]]);
    let precision = match call.optional_int("softmax_precision")? {
        Some(number) => dtype_of(number)?,
        None => dtype,
    };
    let attention = Attention {
        bias: bias(call, &scores, past)?,
        scale: call.optional_float("scale")?.unwrap_or(1.0 / (shape[3] as f64).sqrt()),
        softcap: call.float("softcap", 0.0)?,
        precision,
        query,
        key: key.clone(),
        value: value.clone(),
    };
    let values = attend(&attention)?;
    let result = match is_flat {
        true => {
            let of = values.result.array_type()?.shape;
            let order = b.transpose(values.result, &[0, 2, 1, 3])?;
            b.reshape(order, [of[0], of[2], of[1].saturating_mul(of[3])])?
        }
        false => values.result,
    };
    let shown = match call.int("qk_matmul_output_mode", 0)? {
        0 => values.products,
        1 => values.capped,
        2 => values.scores,
        3 => values.probabilities,
        _ => return Err(FormatErrorKind::attribute("qk_matmul_output_mode", "is not 0 to 3")),
    };
    Ok([result, key, value, shown].map(KnownValue::from).into())
}

/// An operand `[batch, length, heads * width]` or `[batch, heads, length, width]` as the latter.
fn with_heads(call: &Call<'_>, position: usize, attribute: &str) -> ValueResult {
    let (value, shape) = (call.value(position)?, call.shape(position)?);
    match *shape.sizes() {
        [_, _, _, _] => Ok(value.clone()),
        [batch, length, width] => {
            let heads = usize::try_from(call.required_int(attribute)?).unwrap_or(0);
            if heads == 0 || width % heads != 0 {
                let problem = format!("does not divide {width} elements");
                return Err(FormatErrorKind::attribute(attribute, problem));
            }
            let split = call.builder.reshape(value, [batch, length, heads, width / heads])?;
            Ok(call.builder.transpose(split, &[0, 2, 1, 3])?)
        }
        _ => {
            let expected = format!("operand {position} of rank 3 or 4, not {}", shape.rank());
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}

/// The number that each score gets: the mask of the call, and -inf for keys that a query does not see.
fn bias(call: &Call<'_>, scores: &Shape, past: usize) -> Result<Option<Value>, FormatErrorKind> {
    let (b, dtype) = (call.builder, call.dtype(0)?);
    let zero = b.literal(Literal::Int(0), dtype)?;
    let least = b.literal(Literal::Float(f64::NEG_INFINITY), dtype)?;
    let masked = |allowed: &Value| allowed.select(&zero, &least);
    let mut terms: Vec<Value> = Vec::new();
    if call.optional(MASK).is_some() {
        let mask = padded_mask(call, scores[3], &least)?;
        let mask = call.broadcast_onto(&mask, scores)?;
        terms.push(if mask.array_type()?.dtype == DType::Bool { masked(&mask) } else { mask });
    }
    let positions = |axis: i64| b.iota(DType::I64, scores, axis);
    let lengths = match call.optional(VALID_LENGTHS) {
        Some(lengths) => {
            let lengths = b.convert(&lengths.value, DType::I64)?;
            Some(b.broadcast_in_dim(lengths, &[0], scores)?)
        }
        None => None,
    };
    // The position of each query among the keys.
    let query = match &lengths {
        Some(lengths) => positions(2)? + lengths - scores[2] as i64,
        None => positions(2)? + past as i64,
    };
    let distance = query - positions(3)?;
    if call.int("is_causal", 0)? != 0 {
        terms.push(masked(&distance.ge(0i64)));
    }
    for (name, distance) in
        [("left_window_size", distance.clone()), ("right_window_size", -&distance)]
    {
        match call.int(name, -1)? {
            -1 => {}
            size @ 0.. => terms.push(masked(&distance.le(size))),
            _ => return Err(FormatErrorKind::attribute(name, "is less than -1")),
        }
    }
    if let Some(lengths) = lengths {
        terms.push(masked(&positions(3)?.lt(lengths)));
    }
    Ok(terms.into_iter().reduce(|sum, term| sum + term))
}

/// The mask with one element for each key; keys behind a shorter mask are not seen.
fn padded_mask(call: &Call<'_>, keys: usize, least: &Value) -> ValueResult {
    let (mask, shape) = (call.value(MASK)?, call.shape(MASK)?);
    let Some(&size) = shape.last().filter(|&&size| size < keys) else { return Ok(mask.clone()) };
    let b = call.builder;
    let fill = match call.dtype(MASK)? {
        DType::Bool => b.scalar(false),
        dtype => b.convert(least, dtype)?,
    };
    let mut widths = vec![(0, 0, 0); shape.rank()];
    widths[shape.rank() - 1].1 = (keys - size) as i64;
    Ok(b.pad(mask, fill, &widths)?)
}

/// `RotaryEmbedding`: rotates pairs of elements by angles of their positions, given by cosine and sine.
pub(super) fn rotary_embedding(call: &Call<'_>) -> LoweringResult {
    let (b, shape) = (call.builder, call.shape(0)?);
    // The axes of the batch, of positions and of elements of a pair.
    let (x, axes) = match *shape.sizes() {
        [batch, length, width] => {
            let heads = usize::try_from(call.required_int("num_heads")?).unwrap_or(0);
            if heads == 0 || width % heads != 0 {
                let problem = format!("does not divide {width} elements");
                return Err(FormatErrorKind::attribute("num_heads", problem));
            }
            (b.reshape(call.value(0)?, [batch, length, heads, width / heads])?, [0, 1, 3])
        }
        [_, _, _, _] => (call.value(0)?.clone(), [0, 2, 3]),
        _ => {
            let expected = format!("an operand of rank 3 or 4, not {}", shape.rank());
            return Err(FormatErrorKind::Unexpected { expected });
        }
    };
    let sizes = x.array_type()?.shape;
    let rotated = match call.int("rotary_embedding_dim", 0)? {
        0 => sizes[3],
        count => usize::try_from(count).unwrap_or(usize::MAX),
    };
    if rotated > sizes[3] || rotated % 2 != 0 {
        let problem = format!("is {rotated}, for {} elements", sizes[3]);
        return Err(FormatErrorKind::attribute("rotary_embedding_dim", problem));
    }
    let part = |start: usize, count: usize, step: isize| {
        let mut slices: Vec<AxisSlice> = sizes.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[3] = AxisSlice::new(start, count, step);
        b.slice(&x, &slices)
    };
    let half = rotated / 2;
    let is_interleaved = call.int("interleaved", 0)? != 0;
    let [first, second] = match is_interleaved {
        true => [part(0, half, 2)?, part(1.min(rotated), half, 2)?],
        false => [part(0, half, 1)?, part(half, half, 1)?],
    };
    let of_pairs = first.array_type()?.shape;
    let cache = |position: usize| -> ValueResult {
        let table = call.value(position)?;
        let angles = match call.optional(3) {
            Some(ids) => b.take(table, &ids.value, 0, TakeMode::Error)?,
            None => table.clone(),
        };
        Ok(b.broadcast_in_dim(angles, &axes, &of_pairs)?)
    };
    let [cosine, sine] = [cache(1)?, cache(2)?];
    let real = &cosine * &first - &sine * &second;
    let imaginary = sine * first + cosine * second;
    let pairs = match is_interleaved {
        true => {
            let mut merged = of_pairs.to_vec();
            merged[3] = rotated;
            b.reshape(b.stack(&[real, imaginary], -1)?, merged)?
        }
        false => b.concatenate(&[real, imaginary], 3)?,
    };
    let rest = part(rotated, sizes[3] - rotated, 1)?;
    single_result(b.reshape(b.concatenate(&[pairs, rest], 3)?, shape)?)
}

/// `TensorScatter`: writes the update into the cache, from an index for each element of the batch on.
pub(super) fn tensor_scatter(call: &Call<'_>) -> LoweringResult {
    let (b, cache, shape) = (call.builder, call.shape(0)?, call.shape(1)?);
    let axis = call.axis(call.int("axis", -2)?, cache.rank())?;
    if shape.rank() != cache.rank() || axis == 0 {
        let expected = "a cache and an update with a batch axis before the written one".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let mut positions = b.iota(DType::I64, &shape, axis as i64)?;
    if let Some(first) = call.optional(2) {
        let first = b.convert(&first.value, DType::I64)?;
        positions = positions + b.broadcast_in_dim(first, &[0], &shape)?;
    }
    let mode = match &call.text("mode", "linear")?[..] {
        "linear" => TakeMode::Error,
        "circular" => TakeMode::Wrap,
        _ => return Err(FormatErrorKind::attribute("mode", "is neither linear nor circular")),
    };
    let (cache, update) = (call.value(0)?, call.value(1)?);
    let axis = axis as i64;
    single_result(b.scatter_elements(ScatterOp::Set, cache, positions, update, axis, mode)?)
}
