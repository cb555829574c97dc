//! Shape rules of gathers, scatters, sorts, reductions, normalisations and losses.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_shape::TargetRule;

use crate::call::{
    RuleCall, RuleError, RuleResult, array_result, known_size, shape_error, single_result,
};
use crate::typed_value::TypedValue;

pub(crate) fn gather(call: &RuleCall<'_>) -> RuleResult {
    let (data, indices) = (call.sizes(0)?, call.sizes(1)?);
    let axis = call.axis(call.node.int("axis", 0)?, data.len())?;
    let sizes = [&data[..axis], indices, &data[axis + 1..]].concat();
    let elements = || {
        let (list, picked) = (call.symbols(0).filter(|_| data.len() == 1)?, call.numbers(1)?);
        let at = |index: i64| {
            let counted = if index < 0 { index + list.len() as i64 } else { index };
            list.get(usize::try_from(counted).ok()?).cloned()
        };
        picked.into_iter().map(at).collect::<Option<Vec<_>>>()
    };
    let value_type = ValueType::new(&call.element(0)?, sizes);
    Ok(vec![TypedValue::of(value_type).with_elements(elements())])
}

/// `GatherElements`: the shape of the indices.
pub(crate) fn gather_elements(call: &RuleCall<'_>) -> RuleResult {
    let data = call.sizes(0)?;
    let indices = call.sizes_of_rank(1, data.len())?;
    let gathered = call.axis(call.node.int("axis", 0)?, data.len())?;
    for (axis, (size, limit)) in indices.iter().zip(data).enumerate() {
        if axis != gathered && !call.may_be_at_most(size, limit) {
            return shape_error(format!(
                "axis {axis} has {limit} elements, the indices have {size}"
            ));
        }
    }
    array_result(&call.element(0)?, indices.to_vec())
}

pub(crate) fn gather_nd(call: &RuleCall<'_>) -> RuleResult {
    let (data, indices) = (call.sizes(0)?, call.sizes(1)?);
    let batch = usize::try_from(call.node.int("batch_dims", 0)?).unwrap_or(usize::MAX);
    let Some((last, before)) = indices.split_last() else {
        return shape_error("the indices are a scalar");
    };
    let depth = last.number().and_then(|n| usize::try_from(n).ok()).ok_or(RuleError::Unknown)?;
    let rest = batch.checked_add(depth).and_then(|start| data.get(start..));
    let Some(rest) = rest.filter(|_| batch <= before.len()) else {
        return shape_error(format!("indices of depth {depth} for rank {}", data.len()));
    };
    for (axis, pair) in data.iter().zip(before).enumerate().take(batch) {
        call.unify(pair, &format!("axis {axis} of data and indices"))?;
    }
    array_result(&call.element(0)?, [before, rest].concat())
}

/// The result of a scatter has the type of the data.
pub(crate) fn scatter(call: &RuleCall<'_>) -> RuleResult {
    single_result(call.operand(0)?.value_type.clone())
}

/// `ScatterElements`: indices and updates have the same shape.
pub(crate) fn scatter_elements(call: &RuleCall<'_>) -> RuleResult {
    let indices = call.sizes(1)?;
    let updates = call.sizes_of_rank(2, indices.len())?;
    for (axis, pair) in indices.iter().zip(updates).enumerate() {
        call.unify(pair, &format!("axis {axis} of indices and updates"))?;
    }
    scatter(call)
}

/// `ScatterND`: the updates have the shape of the indices without their last axis, then the axes of the
/// data that the index vectors do not name.
pub(crate) fn scatter_nd(call: &RuleCall<'_>) -> RuleResult {
    let (data, indices) = (call.sizes(0)?, call.sizes(1)?);
    if let Some((last, before)) = indices.split_last()
        && last.number().is_none()
        && let Ok(updates) = call.sizes(2)
    {
        // The rank of the updates depends on the size of the index vectors.
        for (axis, pair) in before.iter().zip(updates).enumerate() {
            call.unify(pair, &format!("axis {axis} of indices and updates"))?;
        }
    }
    if let Some((last, before)) = indices.split_last()
        && let Some(depth) = last.number().and_then(|n| usize::try_from(n).ok())
    {
        let Some(rest) = data.get(depth..) else {
            return shape_error(format!("indices of depth {depth} for rank {}", data.len()));
        };
        let expected = [before, rest].concat();
        let updates = call.sizes_of_rank(2, expected.len())?;
        for (axis, pair) in expected.iter().zip(updates).enumerate() {
            call.unify(pair, &format!("axis {axis} of indices with data, and of updates"))?;
        }
    }
    scatter(call)
}

/// The values and the indices of the `k` largest or smallest elements.
pub(crate) fn top_k(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let axis = call.axis(call.node.int("axis", -1)?, sizes.len())?;
    let k = match call.node.version < 10 {
        true => Some(known_size(call.node.required_int("k")?)),
        false => {
            let count = call.sizes(1).ok().and_then(SymbolicSize::product);
            if let Some(count) = count.filter(|count| !call.may_be_equal(count, &known_size(1))) {
                return shape_error(format!("k has {count} elements, not 1"));
            }
            call.first_symbol(1)
        }
    };
    if let Some(k) = &k
        && (k.number().is_some_and(|k| k < 0) || !call.may_be_at_most(k, &sizes[axis]))
    {
        return shape_error(format!("k is {k}, axis {axis} has {} elements", sizes[axis]));
    }
    sizes[axis] = call.or_new_symbol(k, axis);
    let values = TypedValue::of(ValueType::new(&call.element(0)?, sizes.clone()));
    Ok(vec![values, TypedValue::of(ValueType::new("i64", sizes))])
}

/// Indices of the largest or smallest element along an axis.
pub(crate) fn arg_reduce(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let axis = call.axis(call.node.int("axis", 0)?, sizes.len())?;
    match call.node.int("keepdims", 1)? != 0 {
        true => sizes[axis] = known_size(1),
        false => drop(sizes.remove(axis)),
    }
    array_result("i64", sizes)
}

/// The opset since which the axes of a reduction are an operand.
fn axes_since(operator: &str) -> i64 {
    if operator == "ReduceSum" { 13 } else { 18 }
}

pub(crate) fn reduce(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let element = call.element(0)?;
    let keeps = call.node.int("keepdims", 1)? != 0;
    let axes = match call.integer_list("axes", 1, axes_since(call.node.operator)) {
        Ok(axes) => axes,
        Err(_) if keeps => return array_result(&element, call.new_symbols(sizes.len())),
        Err(error) => return Err(error),
    };
    let axes: Vec<usize> = match axes {
        Some(axes) if !axes.is_empty() => {
            let axes: Result<Vec<usize>, _> =
                axes.into_iter().map(|axis| call.axis(axis, sizes.len())).collect();
            axes?
        }
        _ if call.node.int("noop_with_empty_axes", 0)? != 0 => Vec::new(),
        _ => (0..sizes.len()).collect(),
    };
    let kept = |(axis, size): (usize, &SymbolicSize)| match axes.contains(&axis) {
        false => Some(size.clone()),
        true => keeps.then(|| known_size(1)),
    };
    let product = || match (call.node.operator, call.symbols(0)) {
        ("ReduceProd", Some(elements)) if axes.len() == sizes.len() => {
            Some(vec![SymbolicSize::product(&elements)?])
        }
        _ => None,
    };
    let result = sizes.iter().enumerate().filter_map(kept).collect();
    Ok(vec![TypedValue::of(ValueType::new(&element, result)).with_elements(product())])
}

pub(crate) fn one_hot(call: &RuleCall<'_>) -> RuleResult {
    // ONNX's inference and ONNX Runtime refuse a scalar.
    let mut sizes = call.sizes_of_least_rank(1)?.to_vec();
    let axis = call.axis(call.node.int("axis", -1)?, sizes.len() + 1)?;
    let depth = call.first_symbol(1);
    call.expect(2, "the two values", &[Some(&known_size(2))])?;
    sizes.insert(axis, call.or_new_symbol(depth, axis));
    array_result(&call.element(2)?, sizes)
}

/// `NonZero`: a row for each axis, a column for each element other than 0. A scalar has no row.
pub(crate) fn non_zero(call: &RuleCall<'_>) -> RuleResult {
    let rank = call.sizes(0)?.len();
    array_result("i64", vec![known_size(rank as i64), call.new_symbol(1)])
}

pub(crate) fn compress(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let element = call.element(0)?;
    match call.node.optional_int("axis")? {
        None => array_result(&element, vec![call.new_symbol(0)]),
        Some(axis) => {
            let axis = call.axis(axis, sizes.len())?;
            sizes[axis] = call.new_symbol(axis);
            array_result(&element, sizes)
        }
    }
}

/// `Unique`: the unique elements, the index of their first occurrence, the position of each element among
/// them, and the counts.
pub(crate) fn unique(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let element = call.element(0)?;
    let (count, all) = match call.node.optional_int("axis")? {
        None => (call.new_symbol(0), call.or_new_symbol(SymbolicSize::product(&sizes), 1)),
        Some(axis) => {
            let axis = call.axis(axis, sizes.len())?;
            (call.new_symbol(axis), core::mem::replace(&mut sizes[axis], call.new_symbol(axis)))
        }
    };
    if call.node.optional_int("axis")?.is_none() {
        sizes = vec![count.clone()];
    }
    let list = |size: &SymbolicSize| TypedValue::of(ValueType::new("i64", vec![size.clone()]));
    let values = TypedValue::of(ValueType::new(&element, sizes));
    Ok(vec![values, list(&count), list(&all), list(&count)])
}

/// `NonMaxSuppression`: rows of batch, class and box.
pub(crate) fn non_max_suppression(call: &RuleCall<'_>) -> RuleResult {
    call.expect(0, "the boxes", &[None, None, Some(&known_size(4))])?;
    if let Ok([batch, boxes, _]) = call.sizes(0) {
        call.expect(1, "the scores", &[Some(batch), None, Some(boxes)])?;
    }
    let threshold = call.optional(3).and_then(|it| it.floats()?.first().copied());
    if let Some(threshold) = threshold.filter(|it| !(0.0..=1.0).contains(it)) {
        return shape_error(format!("iou_threshold is {threshold}, not between 0 and 1"));
    }
    array_result("i64", vec![call.new_symbol(0), known_size(3)])
}

/// `LayerNormalization`: the type of operand 0, then those of the mean and of the reciprocal deviation,
/// in which the normalised axes have size 1. `RMSNormalization` has only the first result.
pub(crate) fn layer_normalization(call: &RuleCall<'_>) -> RuleResult {
    let operand = call.operand(0)?.value_type.clone();
    let Some(sizes) = &operand.sizes else { return Err(RuleError::Unknown) };
    for position in [1, 2] {
        let parameter = call.optional(position).filter(|it| it.value_type.sizes.is_some());
        if parameter.is_some() {
            let rule = TargetRule::Unidirectional;
            call.broadcast(rule, call.named(&[position])?, Some(sizes))?;
        }
    }
    let axis = call.axis(call.node.int("axis", -1)?, sizes.len().max(1)).unwrap_or(0);
    let kept =
        |(at, size): (usize, &SymbolicSize)| if at < axis { size.clone() } else { known_size(1) };
    let statistics = ValueType::new("f32", sizes.iter().enumerate().map(kept).collect());
    Ok(vec![
        TypedValue::of(operand.clone()),
        TypedValue::of(statistics.clone()),
        TypedValue::of(statistics),
    ])
}

/// `BatchNormalization`: the operand, and statistics of each channel while training.
pub(crate) fn batch_normalization(call: &RuleCall<'_>) -> RuleResult {
    let operand = call.operand(0)?.value_type.clone();
    // Operand 0 of rank 1 has one channel.
    let one = known_size(1);
    if let Some(sizes @ [_, ..]) = operand.sizes.as_deref() {
        let channels = sizes.get(1).unwrap_or(&one);
        for (position, what) in
            [(1, "the scale"), (2, "the bias"), (3, "the mean"), (4, "the variance")]
        {
            call.expect(position, what, &[Some(channels)])?;
        }
    }
    let statistics = call.optional(3).map(|mean| mean.value_type.clone()).unwrap_or_default();
    let mut results = vec![TypedValue::of(operand)];
    results.resize_with(5, || TypedValue::of(statistics.clone()));
    Ok(results)
}

/// A loss: one number, or one for each target; and the logarithms of probabilities.
pub(crate) fn loss(call: &RuleCall<'_>) -> RuleResult {
    let scores = call.sizes_of_least_rank(2)?;
    let target = [&scores[..1], &scores[2..]].concat();
    call.expect_sizes(1, "the classes", &target)?;
    call.expect(2, "the weights of the classes", &[Some(&scores[1])])?;
    let reduction = call.node.text("reduction", "mean")?;
    let sizes = if reduction == "none" { target } else { Vec::new() };
    let log = TypedValue::of(call.operand(0)?.value_type.clone());
    Ok(vec![TypedValue::of(ValueType::new(&call.element(0)?, sizes)), log])
}

/// `InstanceNormalization`, `GroupNormalization`: a scale and a bias of each channel; before version 21 of
/// `GroupNormalization` of each group.
pub(crate) fn channel_normalization(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes_of_least_rank(3)?;
    let groups = call.node.optional_int("num_groups")?.map(known_size);
    let of_groups = groups.filter(|_| call.node.version < 21);
    let count = of_groups.as_ref().unwrap_or(&sizes[1]);
    call.expect(1, "the scale", &[Some(count)])?;
    call.expect(2, "the bias", &[Some(count)])?;
    scatter(call)
}

/// `ReverseSequence`: a length for each element of the batch.
pub(crate) fn reverse_sequence(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes_of_least_rank(2)?;
    let [batch, time] = ["batch_axis", "time_axis"].map(|name| {
        let axis = call.node.int(name, i64::from(name == "batch_axis"))?;
        match usize::try_from(axis) {
            Ok(axis @ 0..=1) => Ok(axis),
            _ => shape_error(format!("{name} is {axis}, not 0 or 1")),
        }
    });
    let (batch, time) = (batch?, time?);
    if batch == time {
        return shape_error(format!("batch_axis and time_axis are both {batch}"));
    }
    call.expect(1, "the lengths of the sequences", &[Some(&sizes[batch])])?;
    scatter(call)
}

/// `TensorScatter`: the update differs from the cache only along the axis of the sequence.
pub(crate) fn tensor_scatter(call: &RuleCall<'_>) -> RuleResult {
    let cache = call.sizes_of_least_rank(2)?;
    let axis = call.axis(call.node.int("axis", -2)?, cache.len())?;
    if axis == 0 {
        return shape_error("axis 0 is the batch");
    }
    let all: Vec<Option<&SymbolicSize>> =
        cache.iter().enumerate().map(|(at, size)| (at != axis).then_some(size)).collect();
    call.expect(1, "the update", &all)?;
    call.expect(2, "the indices of the batch", &[Some(&cache[0])])?;
    if let Ok(update) = call.sizes(1)
        && let (Some(count), Some(size)) = (update[axis].number(), cache[axis].number())
        && count > size
    {
        return shape_error(format!("axis {axis} of the update is {count}, of the cache {size}"));
    }
    scatter(call)
}

/// `RotaryEmbedding`: caches for half of the rotated elements, one row for each position.
pub(crate) fn rotary(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes(0)?;
    let (batch, length, width) = match x {
        [batch, _, length, width] => (batch, length, Some(width.clone())),
        [batch, length, all] => {
            let heads = call.node.int("num_heads", 0)?;
            if heads <= 0 {
                return shape_error("operand 0 of rank 3 needs the attribute num_heads");
            }
            if all.number().is_some_and(|all| all % heads != 0) {
                return shape_error(format!("{all} elements do not divide by {heads} heads"));
            }
            (batch, length, all.divided_exactly(&known_size(heads)))
        }
        _ => return shape_error(format!("operand 0 has rank {}, not 3 or 4", x.len())),
    };
    let rotated = match call.node.int("rotary_embedding_dim", 0)? {
        0 => width,
        rotated => Some(known_size(rotated)),
    };
    let half = rotated.and_then(|rotated| rotated.floor_divided(2));
    let by_position = call.optional(3).is_some();
    call.expect(3, "the positions", &[Some(batch), Some(length)])?;
    for (position, what) in [(1, "the cosines"), (2, "the sines")] {
        match by_position {
            true => call.expect(position, what, &[None, half.as_ref()])?,
            false => call.expect(position, what, &[Some(batch), Some(length), half.as_ref()])?,
        }
    }
    if let (Ok(cosines), true) = (call.sizes(1), by_position) {
        call.expect_sizes(2, "the sines", cosines)?;
    }
    scatter(call)
}
