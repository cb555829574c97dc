//! Shape rules of recurrent layers, signal transforms, `Det`, `Col2Im`, `AffineGrid` and `CenterCropPad`.

use indim_model::outline::{SymbolicSize, ValueType};

use super::call::{
    RuleCall, RuleError, RuleResult, TypedValue, array_result, known_size, shape_error,
};

/// `LSTM`, `GRU`, `RNN`: the hidden states of all steps, the last one, and for `LSTM` the last cell
/// state.
pub(super) fn recurrent(call: &RuleCall<'_>) -> RuleResult {
    let (x, weights) = (call.sizes_of_rank(0, 3)?, call.sizes_of_rank(1, 3)?);
    call.unify((&x[2], &weights[2]), "the width of the operand and the weights")?;
    let directions = match &call.call.text("direction", "forward")?[..] {
        "bidirectional" => 2,
        _ => 1,
    };
    let gates = match call.call.node.operator {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let hidden = match call.call.optional_int("hidden_size")? {
        Some(hidden) => known_size(hidden),
        None => call.or_new_symbol(weights[1].divided_exactly(&known_size(gates)), 3),
    };
    call.unify((&known_size(directions), &weights[0]), "the directions and the weights")?;
    let is_batch_first = call.call.int("layout", 0)? != 0;
    let (length, batch) = if is_batch_first { (&x[1], &x[0]) } else { (&x[0], &x[1]) };
    let [all, last] = match is_batch_first {
        false => [
            vec![length.clone(), known_size(directions), batch.clone(), hidden.clone()],
            vec![known_size(directions), batch.clone(), hidden],
        ],
        true => [
            vec![batch.clone(), length.clone(), known_size(directions), hidden.clone()],
            vec![batch.clone(), known_size(directions), hidden],
        ],
    };
    let element = call.element(0)?;
    let typed = |sizes: &[SymbolicSize]| TypedValue::of(ValueType::new(&element, sizes.to_vec()));
    Ok(vec![typed(&all), typed(&last), typed(&last)])
}

/// `DFT`: the size along one axis changes. The last axis has the real and the imaginary part; the
/// inverse of a one-sided transform has only the real part.
pub(super) fn dft(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let rank = sizes.len();
    if rank < 2 {
        return shape_error(format!("rank {rank} has no axis before the complex one"));
    }
    let axis = match call.call.version() < 20 {
        true => Some(call.call.int("axis", 1)?),
        false if call.optional(2).is_none() => Some(-2),
        false => call.numbers(2).and_then(|axis| axis.first().copied()),
    };
    let axis = call.axis(axis.ok_or(RuleError::Unknown)?, rank)?;
    if call.optional(1).is_some() {
        let length = call.symbols(1).and_then(|length| length.first().cloned());
        sizes[axis] = call.or_new_symbol(length, axis);
    }
    let is_one_sided = call.call.int("onesided", 0)? != 0;
    let is_inverse = call.call.int("inverse", 0)? != 0;
    if is_one_sided && !is_inverse {
        let half = sizes[axis].floor_divided(2).and_then(|half| half.plus(&known_size(1)));
        sizes[axis] = call.or_new_symbol(half, axis);
    }
    sizes[rank - 1] = known_size(if is_one_sided && is_inverse { 1 } else { 2 });
    array_result(&call.element(0)?, sizes)
}

/// `STFT`: frames of a signal, each with its spectrum.
pub(super) fn stft(call: &RuleCall<'_>) -> RuleResult {
    let signal = call.sizes(0)?;
    let (batch, length) = match signal {
        [batch, length, ..] => (batch.clone(), length.clone()),
        _ => return shape_error("a signal has a batch and a length"),
    };
    let step = call.numbers(1).and_then(|step| step.first().copied());
    let frame = match call.optional(3) {
        Some(_) => call.symbols(3).and_then(|frame| frame.first().cloned()),
        None => {
            call.optional(2).and_then(|window| window.value_type.sizes.as_ref()?.first().cloned())
        }
    };
    let frames = || length.minus(frame.as_ref()?)?.floor_divided(step?)?.plus(&known_size(1));
    let bins = || match call.call.int("onesided", 1) {
        Ok(0) => frame.clone(),
        _ => frame.as_ref()?.floor_divided(2)?.plus(&known_size(1)),
    };
    let sizes =
        vec![batch, call.or_new_symbol(frames(), 1), call.or_new_symbol(bins(), 2), known_size(2)];
    array_result(&call.element(0)?, sizes)
}

/// `MelWeightMatrix`: spectrum bins by mel bins.
pub(super) fn mel(call: &RuleCall<'_>) -> RuleResult {
    let first = |position| call.symbols(position).and_then(|list| list.first().cloned());
    let rows = first(1).and_then(|length| length.floor_divided(2)?.plus(&known_size(1)));
    let element = indim_onnx_file::types::element_name(call.call.int("output_datatype", 1)?);
    array_result(&element, vec![call.or_new_symbol(rows, 0), call.or_new_symbol(first(0), 1)])
}

/// `Det`: the determinant of the last two axes.
pub(super) fn determinant(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?;
    match sizes.split_at_checked(sizes.len().wrapping_sub(2)) {
        Some((batch, _)) => array_result(&call.element(0)?, batch.to_vec()),
        None => shape_error("a determinant takes rank 2 or more"),
    }
}

/// `Col2Im`: an image of the given sizes from its blocks.
pub(super) fn blocks(call: &RuleCall<'_>) -> RuleResult {
    let x = call.sizes_of_rank(0, 3)?;
    let (image, block) = (call.symbols(1), call.symbols(2));
    let (Some(image), Some(block)) = (image, block) else { return Err(RuleError::Unknown) };
    let count = SymbolicSize::product(&block);
    let channels = count.and_then(|count| x[1].divided_exactly(&count));
    let mut sizes = vec![x[0].clone(), call.or_new_symbol(channels, 1)];
    sizes.extend(image);
    array_result(&call.element(0)?, sizes)
}

/// `AffineGrid`: a vector of coordinates for each position of the image.
pub(super) fn affine_grid(call: &RuleCall<'_>) -> RuleResult {
    let size = call.symbols(1).filter(|size| (4..=5).contains(&size.len()));
    let size = size.ok_or(RuleError::Unknown)?;
    let mut sizes = vec![size[0].clone()];
    sizes.extend(size[2..].iter().cloned());
    sizes.push(known_size(size.len() as i64 - 2));
    array_result(&call.element(0)?, sizes)
}

/// `CenterCropPad`: the sizes in operand 1 on the axes in `axes`.
pub(super) fn crop_or_pad(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let axes = call.call.ints("axes")?.unwrap_or_else(|| (0..sizes.len() as i64).collect());
    let wanted = call.symbols(1);
    for (position, axis) in axes.into_iter().enumerate() {
        let axis = call.axis(axis, sizes.len())?;
        let size = wanted.as_ref().and_then(|wanted| wanted.get(position).cloned());
        sizes[axis] = call.or_new_symbol(size, axis);
    }
    array_result(&call.element(0)?, sizes)
}
