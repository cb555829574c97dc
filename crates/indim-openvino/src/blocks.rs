//! `DepthToSpace`, `SpaceToDepth` and `ShuffleChannels`: divided axes in another order.

use indim_model::FormatErrorKind;

use crate::call::{Call, LoweringResult, axis_from_front};

/// The operand reshaped to `sizes`, with its axes in this order, reshaped to `merged`.
fn reordered(
    call: &Call<'_>,
    sizes: Vec<usize>,
    order: &[usize],
    merged: Vec<usize>,
) -> LoweringResult {
    call.check_rank(sizes.len())?;
    let order: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
    let divided = call.builder.reshape(call.value(0), sizes)?;
    Ok(call.builder.reshape(call.builder.transpose(divided, &order)?, merged)?)
}

/// `block_size`, and its power that is the number of elements of a block of `axes` axes.
fn block(call: &Call<'_>, axes: usize) -> LoweringResult<(usize, usize)> {
    let block = usize::try_from(call.layer.integer("block_size", Some(1))?).unwrap_or(0);
    let elements = u32::try_from(axes).ok().and_then(|axes| block.checked_pow(axes));
    match elements {
        Some(elements @ 1..) => Ok((block, elements)),
        _ => Err(FormatErrorKind::attribute("block_size", "is no size of a block")),
    }
}

/// Whether the elements of a block vary slower than the channels: the mode `blocks_first`.
fn is_blocks_first(call: &Call<'_>) -> LoweringResult<bool> {
    match &call.layer.word("mode", "")[..] {
        "blocks_first" => Ok(true),
        "depth_first" => Ok(false),
        _ => Err(FormatErrorKind::attribute("mode", "is neither blocks_first nor depth_first")),
    }
}

/// The sizes of batch, channels and at least one spatial axis.
fn image(call: &Call<'_>) -> LoweringResult<(usize, usize, Vec<usize>)> {
    match call.shape(0)?.sizes() {
        [batch, channels, spatial @ ..] if !spatial.is_empty() => {
            Ok((*batch, *channels, spatial.to_vec()))
        }
        _ => {
            let expected = "an operand of rank 3 or more".to_owned();
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}

/// Blocks of channels become blocks of the spatial axes.
pub(super) fn depth_to_space(call: &Call<'_>) -> LoweringResult {
    let (batch, channels, spatial) = image(call)?;
    let count = spatial.len();
    let (block, elements) = block(call, count)?;
    if channels % elements != 0 {
        return Err(FormatErrorKind::attribute("block_size", "does not divide the channels"));
    }
    let depth = channels / elements;
    let blocks = vec![block; count];
    // The first axis of a block, and the axis of the channels, in the divided operand.
    let (sizes, first, channel) = match is_blocks_first(call)? {
        true => ([&[batch], &blocks[..], &[depth], &spatial].concat(), 1, count + 1),
        false => ([&[batch, depth], &blocks[..], &spatial].concat(), 2, 1),
    };
    let mut order = vec![0, channel];
    order.extend((0..count).flat_map(|axis| [count + 2 + axis, first + axis]));
    let mut merged = vec![batch, depth];
    merged.extend(spatial.iter().map(|size| size.saturating_mul(block)));
    reordered(call, sizes, &order, merged)
}

/// Blocks of the spatial axes become blocks of channels.
pub(super) fn space_to_depth(call: &Call<'_>) -> LoweringResult {
    let (batch, channels, spatial) = image(call)?;
    let count = spatial.len();
    let (block, elements) = block(call, count)?;
    if spatial.iter().any(|size| size % block != 0) {
        return Err(FormatErrorKind::attribute("block_size", "does not divide the spatial axes"));
    }
    let mut sizes = vec![batch, channels];
    sizes.extend(spatial.iter().flat_map(|size| [size / block, block]));
    let within = (0..count).map(|axis| 3 + 2 * axis);
    let mut order = vec![0];
    match is_blocks_first(call)? {
        true => order.extend(within.chain([1])),
        false => order.extend([1].into_iter().chain(within)),
    }
    order.extend((0..count).map(|axis| 2 + 2 * axis));
    let mut merged = vec![batch, channels.saturating_mul(elements)];
    merged.extend(spatial.iter().map(|size| size / block));
    reordered(call, sizes, &order, merged)
}

/// The channels of each group take turns.
pub(super) fn shuffle_channels(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let axis = axis_from_front(call.layer.integer("axis", Some(1))?, shape.rank());
    let axis = axis.ok_or_else(|| FormatErrorKind::attribute("axis", "names no axis"))?;
    let groups = usize::try_from(call.layer.integer("group", Some(1))?).unwrap_or(0);
    if groups == 0 || shape[axis] % groups != 0 {
        return Err(FormatErrorKind::attribute("group", "does not divide the channels"));
    }
    let mut sizes = shape.to_vec();
    sizes[axis] /= groups;
    sizes.insert(axis, groups);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.swap(axis, axis + 1);
    reordered(call, sizes, &order, shape.to_vec())
}
