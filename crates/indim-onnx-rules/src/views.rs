//! Shape rules of operators that rearrange elements: reshapes, slices, concatenations, transpositions.
//!
//! A value may have known elements, each a symbolic size. So sizes that go through `Shape`, `Slice`, `Concat`
//! and `Reshape` stay known.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_shape::TargetRule;

use crate::call::{
    RuleCall, RuleError, RuleResult, array_result, known_size, shape_error, single_result,
};
use crate::creation::shape_of_elements;
use crate::typed_value::TypedValue;

pub(crate) fn shape(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let rank = sizes.len() as i64;
    let bound = |name: &str, default: i64| {
        let bound = call.node.int(name, default)?;
        let counted = if bound < 0 { bound.saturating_add(rank) } else { bound };
        Ok::<i64, RuleError>(counted.clamp(0, rank))
    };
    let (start, end) = (bound("start", 0)?, bound("end", rank)?);
    let listed = sizes.get(start as usize..end.max(start) as usize).unwrap_or(&[]).to_vec();
    let value_type = ValueType::new("i64", vec![known_size(listed.len() as i64)]);
    Ok(vec![TypedValue::of(value_type).with_elements(Some(listed))])
}

pub(crate) fn size(call: &RuleCall<'_>) -> RuleResult {
    let count = SymbolicSize::product(call.sizes(0)?);
    let typed = TypedValue::of(ValueType::new("i64", Vec::new()));
    Ok(vec![typed.with_elements(count.map(|count| vec![count]))])
}

pub(crate) fn reshape(call: &RuleCall<'_>) -> RuleResult {
    // The type of the operand may be unknown: a target without open sizes gives the shape by itself.
    let of_sizes = |sizes| ValueType { sizes: Some(sizes), ..call.element_type(0) };
    let target = match call.node.version < 5 {
        true => call.node.ints("shape")?.map(|list| list.into_iter().map(known_size).collect()),
        false => call.symbols(1),
    };
    let Some(target) = target else {
        return single_result(of_sizes(shape_of_elements(call, 1)?));
    };
    let allows_zero = call.node.int("allowzero", 0)? != 0;
    let operand = call.sizes(0).ok();
    let mut sizes = Vec::with_capacity(target.len());
    for (axis, size) in target.iter().enumerate() {
        sizes.push(match size.number() {
            Some(0) if !allows_zero => match operand {
                Some(operand) => match operand.get(axis) {
                    Some(size) => size.clone(),
                    None => {
                        return shape_error(format!(
                            "axis {axis} copies a size that operand 0 lacks"
                        ));
                    }
                },
                None => call.new_symbol(axis),
            },
            _ => size.clone(),
        });
    }
    let open: Vec<usize> = (0..sizes.len()).filter(|&axis| sizes[axis].is(-1)).collect();
    match open[..] {
        [] => check_counts(call, operand, &sizes)?,
        [axis] => {
            let others = sizes.iter().enumerate().filter(|(other, _)| *other != axis);
            let others = SymbolicSize::product(others.map(|(_, size)| size));
            let all = operand.and_then(SymbolicSize::product);
            let rest = all.as_ref().zip(others.as_ref());
            if let Some((all, others)) = rest
                && all.never_divides_by(others)
            {
                return shape_error(format!("{all} elements do not divide by {others}"));
            }
            let rest = rest.and_then(|(all, others)| {
                let exact = all.divided_exactly(others);
                exact.or_else(|| all.floor_divided(others.number()?))
            });
            sizes[axis] = call.or_new_symbol(rest, axis);
        }
        _ => return shape_error("more than one size is -1"),
    }
    let elements = call.symbols(0).filter(|_| sizes.len() <= 1);
    Ok(vec![TypedValue::of(of_sizes(sizes)).with_elements(elements)])
}

/// Checks that operand and result have the same number of elements, for some positive sizes. Records the
/// condition if this is not certain.
fn check_counts(
    call: &RuleCall<'_>,
    operand: Option<&[SymbolicSize]>,
    sizes: &[SymbolicSize],
) -> Result<(), RuleError> {
    match (operand.and_then(SymbolicSize::product), SymbolicSize::product(sizes)) {
        (Some(given), Some(wanted))
            if !given.may_be_equal(&wanted, 1) || !call.may_be_equal(&given, &wanted) =>
        {
            shape_error(format!("{given} elements do not fill a shape of {wanted}"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn flatten(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let axis = call.node.int("axis", 1)?;
    let rank = sizes.len() as i64;
    let axis = if axis < 0 { axis.saturating_add(rank) } else { axis };
    let Some((rows, columns)) =
        usize::try_from(axis).ok().and_then(|at| sizes.split_at_checked(at))
    else {
        return shape_error(format!("axis {axis} is out of range for rank {rank}"));
    };
    let sizes = [rows, columns].map(SymbolicSize::product);
    let sizes = sizes.into_iter().enumerate().map(|(axis, size)| call.or_new_symbol(size, axis));
    array_result(&call.element(0)?, sizes.collect())
}

pub(crate) fn squeeze(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let axes = match call.integer_list("axes", 1, 13)? {
        Some(axes) => {
            let axes: Result<Vec<usize>, _> =
                axes.into_iter().map(|axis| call.axis(axis, sizes.len())).collect();
            axes?
        }
        None if sizes.iter().all(|size| size.number().is_some()) => {
            (0..sizes.len()).filter(|&axis| sizes[axis].is(1)).collect()
        }
        None => return Err(RuleError::Unknown),
    };
    for axis in &axes {
        let size = &sizes[*axis];
        // A size that the file leaves open is 1, as the node asks for.
        if !size.is_open() && !call.may_be_equal(size, &known_size(1)) {
            return shape_error(format!("axis {axis} has {size} elements, not 1"));
        }
    }
    let kept = sizes.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    let value_type =
        ValueType::new(&call.element(0)?, kept.map(|(_, size)| size.clone()).collect());
    Ok(vec![TypedValue::of(value_type).with_elements(call.symbols(0))])
}

pub(crate) fn unsqueeze(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let axes = call.integer_list("axes", 1, 13)?.ok_or(RuleError::Unknown)?;
    let rank = sizes.len() + axes.len();
    if rank > indim_shape::MAX_RANK {
        return shape_error(format!("rank {rank} is too large"));
    }
    let axes: Result<Vec<usize>, _> = axes.into_iter().map(|axis| call.axis(axis, rank)).collect();
    let axes = axes?;
    let mut rest = sizes.iter();
    let size = |axis| match axes.contains(&axis) {
        true => known_size(1),
        false => rest.next().cloned().unwrap_or_else(|| known_size(1)),
    };
    let value_type = ValueType::new(&call.element(0)?, (0..rank).map(size).collect());
    Ok(vec![TypedValue::of(value_type).with_elements(call.symbols(0))])
}

pub(crate) fn transpose(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let order = match call.node.ints("perm")? {
        Some(order) => order,
        None => (0..sizes.len() as i64).rev().collect(),
    };
    if order.len() != sizes.len() {
        return shape_error(format!("perm has {} axes for rank {}", order.len(), sizes.len()));
    }
    let size = |axis| Ok(sizes[call.axis(axis, sizes.len())?].clone());
    let sizes: Result<Vec<SymbolicSize>, RuleError> = order.into_iter().map(size).collect();
    array_result(&call.element(0)?, sizes?)
}

pub(crate) fn concat(call: &RuleCall<'_>) -> RuleResult {
    let positions = 0..call.operands.len();
    let mut result = call.sizes(0)?.to_vec();
    let axis = call.axis(call.node.int("axis", 1)?, result.len())?;
    let mut total = Some(known_size(0));
    for position in positions.clone() {
        let sizes = call.sizes_of_rank(position, result.len())?;
        for (other, size) in sizes.iter().enumerate().filter(|(other, _)| *other != axis) {
            let what = format!("axis {other} of operands 0 and {position}");
            result[other] = call.unify((&result[other], size), &what)?;
        }
        total = total.and_then(|total| total.plus(&sizes[axis]));
    }
    result[axis] = call.or_new_symbol(total, axis);
    let elements = match result.len() {
        1 => positions.map(|at| call.symbols(at)).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let value_type = ValueType::new(&call.element(0)?, result);
    Ok(vec![TypedValue::of(value_type).with_elements(elements.map(|lists| lists.concat()))])
}

pub(crate) fn split(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let axis = call.axis(call.node.int("axis", 0)?, sizes.len())?;
    let count = call.node.results.len() as i64;
    if count == 0 {
        return Ok(Vec::new());
    }
    let parts = match call.integer_list("split", 1, 13) {
        Ok(Some(parts)) => parts.into_iter().map(known_size).map(Some).collect(),
        Ok(None) => equal_parts(&sizes[axis], count, call.node.version < 18),
        Err(_) => vec![None; count as usize],
    };
    let sum = parts.iter().try_fold(0i64, |sum, part| part.as_ref()?.number()?.checked_add(sum));
    let whole = &sizes[axis];
    if let Some(sum) = sum.filter(|_| !whole.is_open())
        && !call.may_be_equal(whole, &known_size(sum))
    {
        return shape_error(format!("the parts have {sum} elements, axis {axis} has {whole}"));
    }
    let element = call.element(0)?;
    let elements = call.symbols(0).filter(|_| sizes.len() == 1);
    let mut start = Some(0usize);
    let mut results = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let length = part.as_ref().and_then(|part| usize::try_from(part.number()?).ok());
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        let list = elements.as_ref().and_then(|list| Some(list.get(start?..end?)?.to_vec()));
        start = end;
        let mut own = sizes.to_vec();
        let name = || SymbolicSize::atom(&format!("{}.{index}[{axis}]", call.result));
        own[axis] = part.unwrap_or_else(name);
        results.push(TypedValue::of(ValueType::new(&element, own)).with_elements(list));
    }
    Ok(results)
}

/// The sizes of `count` parts; a remainder makes the last parts smaller, unless `is_exact`. `None` for a
/// size that is no polynomial.
fn equal_parts(size: &SymbolicSize, count: i64, is_exact: bool) -> Vec<Option<SymbolicSize>> {
    let Some(number) = size.number() else {
        let exact = size.divided_exactly(&known_size(count));
        if is_exact || exact.is_some() {
            return vec![size.floor_divided(count); count as usize];
        }
        let part = size.plus(&known_size(count - 1)).and_then(|sum| sum.floor_divided(count));
        let mut parts = vec![part; count as usize];
        parts[count as usize - 1] = None;
        return parts;
    };
    let part = number / count + i64::from(number % count != 0);
    (0..count)
        .map(|index| {
            Some(known_size(number.saturating_sub(index.saturating_mul(part)).clamp(0, part)))
        })
        .collect()
}

pub(crate) fn expand(call: &RuleCall<'_>) -> RuleResult {
    let element = call.element(0)?;
    let target = shape_of_elements(call, 1)?;
    let sizes = call.broadcast(TargetRule::Bidirectional, call.named(&[0])?, Some(&target))?;
    let count = sizes.first().and_then(SymbolicSize::number);
    let elements = match (call.symbols(0).as_deref(), &sizes[..], count) {
        (Some([one]), [_], Some(count)) if (0..=64).contains(&count) => {
            Some(vec![one.clone(); count as usize])
        }
        _ => None,
    };
    Ok(vec![TypedValue::of(ValueType::new(&element, sizes)).with_elements(elements)])
}

pub(crate) fn tile(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let Some(repeats) = call.symbols(1) else {
        return array_result(&call.element(0)?, call.new_symbols(sizes.len()));
    };
    if repeats.len() != sizes.len() {
        return shape_error(format!("{} repeats for rank {}", repeats.len(), sizes.len()));
    }
    let tiled = sizes.iter().zip(&repeats).enumerate();
    let tiled = tiled.map(|(axis, (size, times))| call.or_new_symbol(size.times(times), axis));
    array_result(&call.element(0)?, tiled.collect())
}

pub(crate) fn pad(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let element = call.element(0)?;
    let name = if call.node.version < 2 { "paddings" } else { "pads" };
    let pads = match call.node.version < 11 {
        true => call.node.ints(name)?.map(|list| list.into_iter().map(known_size).collect()),
        false => call.symbols(1),
    };
    let axes = match call.optional(3) {
        None => (0..sizes.len() as i64).collect(),
        Some(_) => call.numbers(3).ok_or(RuleError::Unknown)?,
    };
    let Some(pads) = pads else {
        return array_result(&element, call.new_symbols(sizes.len()));
    };
    if pads.len() != 2 * axes.len() {
        return shape_error(format!("{} pads for {} axes", pads.len(), axes.len()));
    }
    for (position, axis) in axes.iter().enumerate() {
        let axis = call.axis(*axis, sizes.len())?;
        let both = pads[position].plus(&pads[position + axes.len()]);
        sizes[axis] = call.or_new_symbol(both.and_then(|both| sizes[axis].plus(&both)), axis);
    }
    array_result(&element, sizes)
}

pub(crate) fn slice(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let element = call.element(0)?;
    let is_attribute = call.node.version < 10;
    let list = |name: &str, position: usize| match is_attribute {
        true => Ok::<_, RuleError>(
            call.node.ints(name)?.map(|list| list.into_iter().map(known_size).collect::<Vec<_>>()),
        ),
        false => Ok(call.symbols(position)),
    };
    let (starts, ends) = (list("starts", 1)?, list("ends", 2)?);
    let has_axes = if is_attribute { true } else { call.optional(3).is_some() };
    let axes = match list("axes", 3)? {
        Some(axes) => axes.iter().map(SymbolicSize::number).collect::<Option<Vec<i64>>>(),
        None if has_axes && !is_attribute => None,
        None => Some((0..starts.as_ref().map_or(sizes.len(), Vec::len) as i64).collect()),
    };
    let Some(axes) = axes else { return array_result(&element, call.new_symbols(sizes.len())) };
    let steps = match call.optional(4) {
        Some(_) if !is_attribute => call.numbers(4),
        _ => Some(vec![1; axes.len()]),
    };
    let lengths = [("starts", starts.as_ref()), ("ends", ends.as_ref())];
    let lengths = lengths.map(|(name, list)| (name, list.map(Vec::len)));
    for (name, length) in lengths.into_iter().chain([("steps", steps.as_ref().map(Vec::len))]) {
        if let Some(length) = length.filter(|&length| length != axes.len()) {
            return shape_error(format!("{length} {name} for {} axes", axes.len()));
        }
    }
    let mut listed = call.symbols(0).filter(|_| sizes.len() == 1);
    for (position, axis) in axes.into_iter().enumerate() {
        let axis = call.axis(axis, sizes.len())?;
        let at = |list: &Option<Vec<SymbolicSize>>| list.as_ref()?.get(position).cloned();
        let step = steps.as_ref().and_then(|steps| steps.get(position).copied());
        let range = at(&starts).zip(at(&ends)).zip(step);
        let range = range.map(|((start, end), step)| (start, end, step));
        listed = listed.and_then(|list| {
            let (start, end, step) = range.as_ref()?;
            slice_list(&list, (start.number()?, end.number()?, *step))
        });
        let size =
            range.and_then(|(start, end, step)| slice_size(&sizes[axis], (start, end, step)));
        sizes[axis] = call.or_new_symbol(size, axis);
    }
    Ok(vec![TypedValue::of(ValueType::new(&element, sizes)).with_elements(listed)])
}

/// The elements of a slice of a list.
fn slice_list(
    list: &[SymbolicSize],
    (start, end, step): (i64, i64, i64),
) -> Option<Vec<SymbolicSize>> {
    let length = list.len() as i64;
    let bound = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    let mut picked = Vec::new();
    match step {
        1.. => {
            let (mut at, end) = (bound(start).clamp(0, length), bound(end).clamp(0, length));
            while at < end {
                picked.push(list[at as usize].clone());
                at = at.saturating_add(step);
            }
        }
        0 => return None,
        _ if list.is_empty() => {}
        _ => {
            let end = if end < -length { -1 } else { bound(end).clamp(-1, length - 1) };
            let mut at = bound(start).clamp(0, length - 1);
            while at > end {
                picked.push(list[at as usize].clone());
                at = at.saturating_add(step);
            }
        }
    }
    Some(picked)
}

/// Bounds from this number on mean the end of the axis.
const END_OF_AXIS: i64 = i32::MAX as i64;

/// Bounds up to this number mean the start of the axis.
const START_OF_AXIS: i64 = -END_OF_AXIS;

/// Maximum `blocksize`, so that its square does not overflow.
const MAX_BLOCK_SIZE: i64 = i32::MAX as i64;

/// The size of a slice of an axis. A negative bound counts from the end; a symbolic size is assumed to
/// be at least as large as such a bound.
fn slice_size(
    size: &SymbolicSize,
    (start, end, step): (SymbolicSize, SymbolicSize, i64),
) -> Option<SymbolicSize> {
    if let (Some(length), Some(start), Some(end)) = (size.number(), start.number(), end.number()) {
        let count = sliced_count(length, (start, end, step))?;
        return Some(known_size(count));
    }
    let bound = |at: &SymbolicSize| match at.number() {
        Some(END_OF_AXIS..) => Some(size.clone()),
        Some(..=START_OF_AXIS) => Some(known_size(0)),
        Some(..0) => size.plus(at),
        Some(0) => Some(known_size(0)),
        _ => size.minimum(at),
    };
    if step == -1 && start.is(-1) && end.number().is_some_and(|end| end <= START_OF_AXIS) {
        return Some(size.clone());
    }
    if step <= 0 {
        return None;
    }
    let (first, last) = (bound(&start)?, bound(&end)?);
    let is_from_end =
        |at: &SymbolicSize| at.number().is_some_and(|at| at < 0 && at > START_OF_AXIS);
    if first == *size || last.is(0) {
        return Some(known_size(0));
    }
    if let (Some(start), Some(end)) = (start.number(), end.number())
        && start >= end
        && (start < 0) == (end < 0)
    {
        return Some(known_size(0));
    }
    // The size determines which bound comes first.
    if is_from_end(&start) && end.number().is_none_or(|end| (0..END_OF_AXIS).contains(&end)) {
        return None;
    }
    let distance = last.minus(&first)?;
    match step {
        1 => Some(distance),
        _ => distance.plus(&known_size(step - 1))?.floor_divided(step),
    }
}

/// The number of elements in a slice of `length` elements; `None` if the step is 0.
fn sliced_count(length: i64, (start, end, step): (i64, i64, i64)) -> Option<i64> {
    let bound = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    let (start, end) = match step {
        1.. => (bound(start).clamp(0, length), bound(end).clamp(0, length)),
        0 => return None,
        _ if length == 0 => return Some(0),
        _ => (bound(start).clamp(0, length - 1), bound(end).clamp(-1, length - 1)),
    };
    let distance = if step > 0 { end - start } else { start - end };
    let step = step.unsigned_abs().min(i64::MAX as u64) as i64;
    Some(if distance <= 0 { 0 } else { (distance - 1) / step + 1 })
}

/// `DepthToSpace`; `SpaceToDepth` is the inverse.
pub(crate) fn depth_to_space(call: &RuleCall<'_>) -> RuleResult {
    move_blocks(call, true)
}

pub(crate) fn space_to_depth(call: &RuleCall<'_>) -> RuleResult {
    move_blocks(call, false)
}

/// The type of the result: channels become image elements if `to_space`, else the reverse.
fn move_blocks(call: &RuleCall<'_>, to_space: bool) -> RuleResult {
    let sizes = call.sizes_of_rank(0, 4)?;
    let block = call.node.required_int("blocksize")?;
    if !(1..=MAX_BLOCK_SIZE).contains(&block) {
        return shape_error(format!("blocksize is {block}"));
    }
    let scale = |size: &SymbolicSize, by: i64, grows: bool| match grows {
        true => size.times(&known_size(by)),
        false => size.divided_exactly(&known_size(by)).or_else(|| size.floor_divided(by)),
    };
    let channels = scale(&sizes[1], block.saturating_mul(block), !to_space);
    let mut result = vec![sizes[0].clone(), call.or_new_symbol(channels, 1)];
    for (axis, size) in sizes.iter().enumerate().skip(2) {
        result.push(call.or_new_symbol(scale(size, block, to_space), axis));
    }
    array_result(&call.element(0)?, result)
}
