//! Shape rules of recurrent layers, signal transforms, `Det`, `Col2Im`, `AffineGrid` and `CenterCropPad`.

use indim_model::outline::{SymbolicSize, ValueType};

use crate::call::{RuleCall, RuleError, RuleResult, array_result, known_size, shape_error};
use crate::creation::shape_of_elements;
use crate::typed_value::TypedValue;
use crate::windows::Windows;

/// `LSTM`, `GRU`, `RNN`: the hidden states of all steps, the last one, and for `LSTM` the last cell
/// state.
pub(crate) fn recurrent(call: &RuleCall<'_>) -> RuleResult {
    let (x, weights) = (call.sizes_of_rank(0, 3)?, call.sizes_of_rank(1, 3)?);
    let directions = match &call.node.text("direction", "forward")?[..] {
        "bidirectional" => known_size(2),
        _ => known_size(1),
    };
    let gates = match call.node.operator {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let recurrent = call.optional(2).and_then(|it| it.value_type.sizes.as_ref()?.get(2).cloned());
    let hidden = match call.node.optional_int("hidden_size")? {
        Some(hidden) => known_size(hidden),
        None => recurrent.unwrap_or_else(|| {
            call.or_new_symbol(weights[1].divided_exactly(&known_size(gates)), 3)
        }),
    };
    let is_batch_first = call.node.int("layout", 0)? != 0;
    let (length, batch) = if is_batch_first { (&x[1], &x[0]) } else { (&x[0], &x[1]) };
    let times = |count: i64| hidden.times(&known_size(count));
    let (rows, biases, peepholes) = (times(gates), times(2 * gates), times(3));
    let directed = Some(&directions);
    call.expect(1, "the weights", &[directed, rows.as_ref(), Some(&x[2])])?;
    call.expect(2, "the recurrent weights", &[directed, rows.as_ref(), Some(&hidden)])?;
    call.expect(3, "the biases", &[directed, biases.as_ref()])?;
    call.expect(4, "the lengths of the sequences", &[Some(batch)])?;
    let [all, last] = match is_batch_first {
        false => [
            vec![length.clone(), directions.clone(), batch.clone(), hidden.clone()],
            vec![directions.clone(), batch.clone(), hidden.clone()],
        ],
        true => [
            vec![batch.clone(), length.clone(), directions.clone(), hidden.clone()],
            vec![batch.clone(), directions.clone(), hidden.clone()],
        ],
    };
    call.expect_sizes(5, "the first hidden state", &last)?;
    if gates == 4 {
        call.expect_sizes(6, "the first cell state", &last)?;
        call.expect(7, "the weights of peepholes", &[directed, peepholes.as_ref()])?;
    }
    let element = call.element(0)?;
    let typed = |sizes: &[SymbolicSize]| TypedValue::of(ValueType::new(&element, sizes.to_vec()));
    Ok(vec![typed(&all), typed(&last), typed(&last)])
}

/// `DFT`: the size along one axis changes. The last axis has the real and the imaginary part; the
/// inverse of a one-sided transform has only the real part, of a length that is even unless it is stated.
pub(crate) fn dft(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let rank = sizes.len();
    if rank < 2 {
        return shape_error(format!("rank {rank} has no axis before the complex one"));
    }
    let axis = match call.node.version < 20 {
        true => Some(call.node.int("axis", 1)?),
        false if call.optional(2).is_none() => Some(-2),
        false => call.numbers(2).and_then(|axis| axis.first().copied()),
    };
    let Some(axis) = axis else {
        return array_result(&call.element(0)?, call.new_symbols(rank));
    };
    let axis = call.axis(axis, rank)?;
    let is_one_sided = call.node.int("onesided", 0)? != 0;
    let is_inverse = call.node.int("inverse", 0)? != 0;
    let parts = sizes[rank - 1].number();
    if axis == rank - 1 {
        return shape_error(format!("axis {axis} has the real and the imaginary part"));
    }
    let [one, both] = [1, 2].map(known_size);
    let are_parts = match is_one_sided && !is_inverse {
        true => parts.is_some() || call.may_be_equal(&sizes[rank - 1], &one),
        false => call.may_be_equal_or_one(&sizes[rank - 1], &both),
    };
    if !are_parts || parts.is_some_and(|parts| !(1..=2).contains(&parts)) {
        return shape_error(format!("the last axis has {} elements, not 1 or 2", sizes[rank - 1]));
    }
    if is_one_sided && !is_inverse && parts == Some(2) {
        return shape_error("the operand of a one-sided transform is real: its last axis is 1");
    }
    if call.optional(1).is_some() {
        let length = positive(call, 1, "the length of the transform")?;
        sizes[axis] = call.or_new_symbol(length, axis);
    } else if is_one_sided && is_inverse {
        // The operand is the first half of a spectrum.
        let whole = sizes[axis].plus(&known_size(-1)).and_then(|n| n.times(&known_size(2)));
        sizes[axis] = call.or_new_symbol(whole, axis);
    }
    if is_one_sided && !is_inverse {
        let half = sizes[axis].floor_divided(2).and_then(|half| half.plus(&known_size(1)));
        sizes[axis] = call.or_new_symbol(half, axis);
    }
    sizes[rank - 1] = known_size(if is_one_sided && is_inverse { 1 } else { 2 });
    array_result(&call.element(0)?, sizes)
}

/// The first element of an operand, which is a number of elements.
fn positive(
    call: &RuleCall<'_>,
    position: usize,
    what: &str,
) -> Result<Option<SymbolicSize>, RuleError> {
    let size = call.first_symbol(position);
    match size.as_ref().and_then(SymbolicSize::number) {
        Some(number @ ..=0) => shape_error(format!("{what} is {number}")),
        _ => Ok(size),
    }
}

/// `STFT`: frames of a signal, each with its spectrum.
pub(crate) fn stft(call: &RuleCall<'_>) -> RuleResult {
    let signal = call.sizes(0)?;
    let (batch, length) = match signal {
        [batch, length] => (batch, length),
        [batch, length, parts] if parts.number().is_none_or(|n| n == 1 || n == 2) => {
            (batch, length)
        }
        _ => return shape_error("a signal has a batch, a length and an axis of size 1 or 2"),
    };
    let step = positive(call, 1, "the step of the frames")?.and_then(|step| step.number());
    let window = call.optional(2).and_then(|it| it.value_type.sizes.as_ref()?.first().cloned());
    let frame = match call.optional(3) {
        Some(_) => positive(call, 3, "the length of a frame")?,
        None => window,
    };
    call.expect(2, "the window of a frame", &[frame.as_ref()])?;
    let frames = || length.minus(frame.as_ref()?)?.floor_divided(step?)?.plus(&known_size(1));
    let frames = frames();
    if frames.as_ref().and_then(SymbolicSize::number).is_some_and(|count| count <= 0) {
        return shape_error(format!("the signal has {length} elements, fewer than a frame"));
    }
    let bins = || match call.node.int("onesided", 1) {
        Ok(0) => frame.clone(),
        _ => frame.as_ref()?.floor_divided(2)?.plus(&known_size(1)),
    };
    let (frames, bins) = (call.or_new_symbol(frames, 1), call.or_new_symbol(bins(), 2));
    array_result(&call.element(0)?, vec![batch.clone(), frames, bins, known_size(2)])
}

/// `MelWeightMatrix`: spectrum bins by mel bins.
pub(crate) fn mel(call: &RuleCall<'_>) -> RuleResult {
    let length = positive(call, 1, "the length of the transform")?;
    let bins = call.first_symbol(0);
    if let Some(number @ ..0) = bins.as_ref().and_then(SymbolicSize::number) {
        return shape_error(format!("the number of mel bins is {number}"));
    }
    let rows = length.and_then(|length| length.floor_divided(2)?.plus(&known_size(1)));
    let element = indim_onnx_file::types::element_name(call.node.int("output_datatype", 1)?);
    array_result(&element, vec![call.or_new_symbol(rows, 0), call.or_new_symbol(bins, 1)])
}

/// `Det`: the determinant of the last two axes.
pub(crate) fn determinant(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    let [batch @ .., rows, columns] = sizes else {
        return shape_error("a determinant takes rank 2 or more");
    };
    call.unify((rows, columns), "the rows and columns")?;
    array_result(&call.element(0)?, batch.to_vec())
}

/// `Col2Im`: an image of the given sizes from its blocks.
pub(crate) fn blocks(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes_of_rank(0, 3)?;
    let (image, block) = (call.symbols(1), call.symbols(2));
    let (Some(image), Some(block)) = (image, block) else {
        let mut sizes = vec![x[0].clone(), call.new_symbol(1)];
        let axes = shape_of_elements(call, 1)?.len();
        sizes.extend((0..axes).map(|axis| call.new_symbol(axis + 2)));
        return array_result(&call.element(0)?, sizes);
    };
    if image.len() != block.len() {
        let (image, block) = (image.len(), block.len());
        return shape_error(format!("a block has {block} axes, the image has {image}"));
    }
    for (size, what) in block.iter().map(|size| (size, "a block")).chain([(&x[1], "operand 0")]) {
        if size.number().is_some_and(|size| size <= 0) {
            return shape_error(format!("{what} has {size} elements along an axis"));
        }
    }
    let count = SymbolicSize::product(&block).and_then(|count| count.number());
    let channels = count.and_then(|count| x[1].floor_divided(count));
    let windows = Windows::new(call, block)?;
    let counts = windows.window_counts(call, &image, false)?;
    if let Some(windows) = SymbolicSize::product(&counts) {
        call.unify((&x[2], &windows), "axis 2 of the operand and the blocks of the image")?;
    }
    if let (Some(count), Some(size)) = (count, x[1].number())
        && size % count != 0
    {
        return shape_error(format!("axis 1 has {size} elements, no multiple of {count}"));
    }
    let mut sizes = vec![x[0].clone(), call.or_new_symbol(channels, 1)];
    sizes.extend(image);
    array_result(&call.element(0)?, sizes)
}

/// `AffineGrid`: a vector of coordinates for each position of the image.
pub(crate) fn affine_grid(call: &RuleCall<'_>) -> RuleResult {
    let Some(size) = call.symbols(1) else {
        let rank = shape_of_elements(call, 1)?.len();
        if !(4..=5).contains(&rank) {
            return shape_error(format!("the image has {rank} axes, not 4 or 5"));
        }
        let mut sizes = vec![call.sizes_of_rank(0, 3)?[0].clone()];
        sizes.extend((1..rank - 1).map(|axis| call.new_symbol(axis)));
        sizes.push(known_size(rank as i64 - 2));
        return array_result(&call.element(0)?, sizes);
    };
    if !(4..=5).contains(&size.len()) {
        return shape_error(format!("the image has {} axes, not 4 or 5", size.len()));
    }
    if let Some(size) = size.iter().find(|size| size.number().is_some_and(|size| size <= 0)) {
        return shape_error(format!("the image has {size} elements along an axis"));
    }
    let rank = known_size(size.len() as i64 - 2);
    let columns = rank.plus(&known_size(1));
    call.expect(0, "the affine maps", &[Some(&size[0]), Some(&rank), columns.as_ref()])?;
    let mut sizes = vec![size[0].clone()];
    sizes.extend(size[2..].iter().cloned());
    sizes.push(known_size(size.len() as i64 - 2));
    array_result(&call.element(0)?, sizes)
}

/// `CenterCropPad`: the sizes in operand 1 on the axes in `axes`.
pub(crate) fn crop_or_pad(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let axes = call.node.ints("axes")?.unwrap_or_else(|| (0..sizes.len() as i64).collect());
    let axes = call.distinct_axes(&axes, sizes.len())?;
    call.expect(1, "the sizes", &[Some(&known_size(axes.len() as i64))])?;
    let wanted = call.symbols(1);
    for (position, axis) in axes.into_iter().enumerate() {
        let size = wanted.as_ref().and_then(|wanted| wanted.get(position).cloned());
        sizes[axis] = call.or_new_symbol(size, axis);
    }
    array_result(&call.element(0)?, sizes)
}
