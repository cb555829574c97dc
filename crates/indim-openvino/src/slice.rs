//! The operations `Slice` and `StridedSlice`.

use indim_builder::Index;
use indim_graph::AxisSlice;
use indim_model::FormatErrorKind;

use crate::call::{Call, LoweringResult};

/// `Slice`: a start, a stop and a step for each axis that operand 4 lists, or, without operand 4, for
/// the first axes.
pub(super) fn slice(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let [starts, stops, steps] = [1, 2, 3].map(|operand| call.integers(operand));
    let (starts, stops, steps) = (starts?, stops?, steps?);
    let axes = match call.has(4) {
        true => call.axes(4, shape.rank())?,
        false => (0..starts.len()).collect(),
    };
    let lengths = [stops.len(), steps.len(), axes.len()];
    if lengths.iter().any(|&length| length != starts.len()) || axes.len() > shape.rank() {
        let expected = "a start, a stop and a step for each axis that is sliced".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    for (position, &axis) in axes.iter().enumerate() {
        let (start, stop, step) = (starts[position], stops[position], steps[position]);
        let zero_step =
            |_| FormatErrorKind::Unexpected { expected: "a step other than 0".to_owned() };
        slices[axis] = AxisSlice::python(Some(start), Some(stop), Some(step), shape[axis])
            .map_err(zero_step)?;
    }
    Ok(call.builder.slice(call.value(0), &slices)?)
}

/// `StridedSlice`: NumPy's indexing. Masks mark bounds to ignore, and entries that are an ellipsis, a new
/// axis or a single index.
pub(super) fn strided_slice(call: &Call<'_>) -> LoweringResult {
    let (begins, ends) = (call.integers(1)?, call.integers(2)?);
    let steps = if call.has(3) { call.integers(3)? } else { vec![1; begins.len()] };
    if begins.len() != ends.len() || begins.len() != steps.len() {
        let expected = "as many ends and strides as begins".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    call.check_rank(begins.len())?;
    let mask = |name: &str| call.layer.integers(name);
    let (ignored_begins, ignored_ends) = (mask("begin_mask")?, mask("end_mask")?);
    let new_axes = mask("new_axis_mask")?;
    let (single, ellipses) = (mask("shrink_axis_mask")?, mask("ellipsis_mask")?);
    let is_set = |mask: &[i64], position: usize| mask.get(position).is_some_and(|&bit| bit != 0);
    let mut indices: Vec<Index> = Vec::with_capacity(begins.len());
    for position in 0..begins.len() {
        let (begin, end) = (begins[position], ends[position]);
        indices.push(if is_set(&ellipses, position) {
            Index::Ellipsis
        } else if is_set(&new_axes, position) {
            Index::NewAxis
        } else if is_set(&single, position) {
            // The mask of begins does not apply to an index.
            Index::At(begin)
        } else {
            let start = (!is_set(&ignored_begins, position)).then_some(begin);
            let stop = (!is_set(&ignored_ends, position)).then_some(end);
            Index::Slice { start, stop, step: Some(steps[position]) }
        });
    }
    Ok(call.builder.index(call.value(0), &indices)?)
}
