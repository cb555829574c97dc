//! `GridSample`: samples of images at coordinates that are data; `AffineGrid`: such coordinates; `Col2Im`:
//! images from blocks; `RoiAlign`: regions of images.

use indim_builder::Value;
use indim_graph::{AxisSlice, Literal, TakeMode};
use indim_model::FormatErrorKind;
use indim_model::compositions::{self, RegionMode, RegionOptions};
use indim_model::spatial_windows::{MAX_NUMBER, checked_numbers, spatial_sizes};
use indim_ops::DType;
use indim_shape::Shape;

use super::call::{Call, LoweringResult, single_result};
use super::elementwise::sizes;

/// The coefficient of cubic interpolation in `GridSample`.
const CUBIC: f64 = -0.75;

/// Maximum number of elements around a position: each is a few nodes.
const MAX_TAPS: usize = 4096;

/// The treatment of positions outside the image.
#[derive(Clone, Copy, PartialEq)]
enum OutsideMode {
    Zeros,
    Border,
    Reflection,
}

/// An element near each position along one axis: its index as a float, and its weight.
struct Tap {
    index: Value,
    weight: Option<Value>,
}

/// `GridSample`: the elements of an image, interpolated at the positions of a grid. Terms are added in
/// row-major order of the elements around a position.
pub(super) fn grid_sample(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (b, shape, grid) = (call.builder, call.shape(0)?, call.shape(1)?);
    let spatial = spatial_sizes(&shape)?;
    let rank = spatial.len();
    if grid.rank() != rank + 2 || grid[rank + 1] != rank || grid[0] != shape[0] {
        let expected = format!("a grid of {rank} coordinates for each position");
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let outside = match &call.text("padding_mode", "zeros")?[..] {
        "zeros" => OutsideMode::Zeros,
        "border" => OutsideMode::Border,
        "reflection" => OutsideMode::Reflection,
        _ => return Err(FormatErrorKind::attribute("padding_mode", "names no mode")),
    };
    let mode = call.text("mode", if call.version() < 20 { "bilinear" } else { "linear" })?;
    let count = |sizes: &[usize], what: &'static str| {
        let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        product.ok_or(FormatErrorKind::Limit { what, limit: usize::MAX })
    };
    let positions = count(&grid[1..=rank], "positions of a grid")?;
    let elements = count(&spatial, "elements of an image")?;
    let flat = b.reshape(call.value(1)?, [shape[0], positions, rank])?;
    let mut axes = Vec::with_capacity(rank);
    for (axis, &size) in spatial.iter().enumerate() {
        // The last axis has the first coordinate.
        let mut slices = [shape[0], positions, rank].map(AxisSlice::whole);
        slices[2] = AxisSlice::new(rank - 1 - axis, 1, 1);
        let coordinate = b.reshape(b.slice(&flat, &slices)?, [shape[0], positions])?;
        let aligned = call.int("align_corners", 0)? != 0;
        axes.push(taps(&coordinate, size, (aligned, &mode, outside))?);
    }
    let channels = [shape[0], shape[1], elements];
    let image = b.reshape(call.value(0)?, channels)?;
    let onto = Shape::from([shape[0], shape[1], positions]);
    let spread = |x: Value| b.broadcast_in_dim(x, &[0, 2], onto.clone());
    let mut sum: Option<Value> = None;
    let lengths = axes.iter().map(Vec::len);
    let combinations = lengths.fold(1usize, usize::saturating_mul);
    if combinations > MAX_TAPS {
        let what = "elements around a position";
        return Err(FormatErrorKind::Limit { what, limit: MAX_TAPS });
    }
    for combination in 0..combinations {
        let mut rest = combination;
        let mut chosen: Vec<&Tap> = Vec::with_capacity(rank);
        for taps in axes.iter().rev() {
            chosen.insert(0, &taps[rest % taps.len()]);
            rest /= taps.len();
        }
        let mut index = b.broadcast_in_dim(b.scalar(0i64), &[], [shape[0], positions])?;
        let mut weight: Option<Value> = None;
        let mut inside: Option<Value> = None;
        for (tap, &size) in chosen.iter().zip(&spatial) {
            let last = size as f64 - 1.0;
            if outside == OutsideMode::Zeros {
                let within = tap.index.ge(0.0) & tap.index.le(last);
                inside = Some(inside.map_or(within.clone(), |all| all & within));
            }
            let clamped = b.convert(b.clamp(0.0, &tap.index, last)?, DType::I64)?;
            index = index * size as i64 + clamped;
            if let Some(own) = &tap.weight {
                weight = Some(weight.map_or(own.clone(), |product| product * own));
            }
        }
        let mut term = b.take_along_axis(&image, spread(index)?, 2, TakeMode::Clip)?;
        if let Some(inside) = inside {
            let zero = b.literal(Literal::Int(0), call.dtype(0)?)?;
            term = spread(inside)?.select(term, zero);
        }
        if let Some(weight) = weight {
            term = term * spread(b.convert(weight, call.dtype(0)?)?)?;
        }
        sum = Some(match sum {
            Some(sum) => sum + term,
            None => term,
        });
    }
    let expected = || FormatErrorKind::Unexpected { expected: "an image with axes".to_owned() };
    let sampled = sum.ok_or_else(expected)?;
    let result: Vec<usize> = shape[..2].iter().chain(&grid[1..=rank]).copied().collect();
    single_result(b.reshape(sampled, result)?)
}

/// The elements around each position along an axis of `size` elements. A coordinate goes from -1 to 1, from
/// the first to the last element if the corners are aligned, else from border to border.
fn taps(
    coordinate: &Value,
    size: usize,
    (aligned, mode, outside): (bool, &str, OutsideMode),
) -> Result<Vec<Tap>, FormatErrorKind> {
    let b = coordinate.builder();
    let last = size as f64 - 1.0;
    let (position, borders) = match aligned {
        true => ((coordinate + 1.0) / 2.0 * last, (0.0, last)),
        false => (((coordinate + 1.0) * size as f64 - 1.0) / 2.0, (-0.5, last + 0.5)),
    };
    let is_cubic = matches!(mode, "cubic" | "bicubic");
    let position = if mode == "nearest" { position.round_even() } else { position };
    let position = match outside {
        OutsideMode::Zeros => position,
        // Cubic weights are those of the position; only its elements are those of the border.
        OutsideMode::Border if is_cubic => position,
        OutsideMode::Border => b.clamp(0.0, position, last)?,
        OutsideMode::Reflection => reflected(&position, borders),
    };
    // Indices around a position are reflected too: cubic ones reach beyond the border.
    let tap = |index: Value, weight: Option<Value>| match outside {
        OutsideMode::Reflection => Tap { index: reflected(&index, borders).trunc(), weight },
        _ => Tap { index, weight },
    };
    let first = position.floor();
    let ratio = &position - &first;
    Ok(match mode {
        "nearest" => vec![tap(position, None)],
        "linear" | "bilinear" => {
            vec![tap(first.clone(), Some(-&ratio + 1.0)), tap(first + 1.0, Some(ratio))]
        }
        "cubic" | "bicubic" => {
            let inner = |x: &Value| (x * (CUBIC + 2.0) - (CUBIC + 3.0)) * x * x + 1.0;
            let outer = |x: &Value| ((x - 5.0) * x + 8.0) * x * CUBIC - 4.0 * CUBIC;
            let rest = -&ratio + 1.0;
            vec![
                tap(&first - 1.0, Some(outer(&(&ratio + 1.0)))),
                tap(first.clone(), Some(inner(&ratio))),
                tap(&first + 1.0, Some(inner(&rest))),
                tap(first + 2.0, Some(outer(&(rest + 1.0)))),
            ]
        }
        _ => return Err(FormatErrorKind::attribute("mode", "names no interpolation")),
    })
}

/// Positions mirrored at the borders until they are between them.
fn reflected(position: &Value, (low, high): (f64, f64)) -> Value {
    let span = high - low;
    if span <= 0.0 {
        // The axis has one element.
        return position * 0.0 + low;
    }
    let distance = (position - low).abs();
    let turns = (&distance / span).floor();
    let rest = distance - &turns * span;
    let is_even = (&turns - (&turns / 2.0).floor() * 2.0).eq(0.0);
    is_even.select(&rest + low, -rest + high)
}

/// `AffineGrid`: the coordinates of each position of an image after an affine map, which multiplies the
/// matrix by the coordinates and 1.
pub(super) fn affine_grid(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (b, theta, size) = (call.builder, call.shape(0)?, sizes(&call.integers(1)?)?);
    let rank = size.rank().saturating_sub(2);
    if !(2..=3).contains(&rank) || theta.sizes() != [size[0], rank, rank + 1] {
        let expected = "the sizes of an image, and a matrix for each of the batch".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let aligned = call.int("align_corners", 0)? != 0;
    let spatial = &size[2..];
    let count = spatial.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let Some(count) = count else {
        let limit = usize::MAX;
        return Err(FormatErrorKind::Limit { what: "positions of an image", limit });
    };
    let mut rows = Vec::with_capacity(rank + 1);
    for axis in (0..rank).rev() {
        let (size, b) = (spatial[axis] as f64, call.builder);
        let (first, step) = match aligned {
            true if size > 1.0 => (-1.0, 2.0 / (size - 1.0)),
            true => (-1.0, 0.0),
            false => (1.0 / size - 1.0, 2.0 / size),
        };
        let along = b.iota(DType::F64, spatial, axis as i64)? * step + first;
        rows.push(b.reshape(along, [1, count])?);
    }
    rows.push(b.broadcast_in_dim(b.scalar(1.0f64), &[], [1, count])?);
    let homogeneous = b.convert(b.concatenate(&rows, 0)?, call.dtype(0)?)?;
    let moved = b.transpose(b.matmul(call.value(0)?, homogeneous)?, &[0, 2, 1])?;
    let result: Vec<usize> = [size[0]].into_iter().chain(spatial.to_vec()).chain([rank]).collect();
    single_result(b.reshape(moved, result)?)
}

/// Maximum number of samples of a cell of `RoiAlign` along one axis.
const MAX_SAMPLES: i64 = 256;

/// `RoiAlign`: a grid of averages or largest elements for each region (operand 1) of an image, whose position
/// is in operand 2.
pub(super) fn align_regions(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    call.check_dtype(2, DType::is_integer)?;
    let size = |name: &str, default: i64, min: i64, max: i64| match call.int(name, default)? {
        size if (min..=max).contains(&size) => Ok(size as usize),
        size => Err(FormatErrorKind::attribute(name, format!("is {size}"))),
    };
    let grid = [size("output_height", 1, 1, MAX_NUMBER)?, size("output_width", 1, 1, MAX_NUMBER)?];
    let samples = Some(size("sampling_ratio", 0, 0, MAX_SAMPLES)?).filter(|&samples| samples > 0);
    let mode = match &call.text("mode", "avg")?[..] {
        "avg" => RegionMode::Average,
        "max" => RegionMode::Max,
        _ => return Err(FormatErrorKind::attribute("mode", "is neither avg nor max")),
    };
    let name = "coordinate_transformation_mode";
    let default = if call.version() < 16 { "output_half_pixel" } else { "half_pixel" };
    let is_half_pixel = match &call.text(name, default)?[..] {
        "half_pixel" => true,
        "output_half_pixel" => false,
        _ => return Err(FormatErrorKind::attribute(name, "names no mode")),
    };
    let options = RegionOptions {
        grid,
        samples,
        scale: call.float("spatial_scale", 1.0)?,
        offsets: [0.0, if is_half_pixel { -0.5 } else { 0.0 }],
        has_least_size: !is_half_pixel,
        mode,
    };
    let (x, regions, images) = (call.value(0)?, call.value(1)?, call.value(2)?);
    single_result(compositions::align_regions(x, regions, images, &options)?)
}

/// `Col2Im`: adds the blocks of an image at their places, in row-major order of the elements of a block.
pub(super) fn image_of_blocks(call: &Call<'_>) -> LoweringResult {
    let (b, shape) = (call.builder, call.shape(0)?);
    let (image, block) = (sizes(&call.integers(1)?)?, sizes(&call.integers(2)?)?);
    let rank = image.rank();
    let list = |name: &str, count: usize, default: i64| {
        let list = call.ints(name)?.unwrap_or_else(|| vec![default; count]);
        checked_numbers(name, list, (count, default))
    };
    let (strides, dilations) = (list("strides", rank, 1)?, list("dilations", rank, 1)?);
    let pads = list("pads", 2 * rank, 0)?;
    let wrong = |expected: String| FormatErrorKind::Unexpected { expected };
    let elements = block.element_count().unwrap_or(0);
    if shape.rank() != 3 || block.rank() != rank || elements == 0 || shape[1] % elements != 0 {
        return Err(wrong("blocks of the image, along the second of three axes".to_owned()));
    }
    let mut counts = Vec::with_capacity(rank);
    for axis in 0..rank {
        let [size, reach] = [image[axis], block[axis]].map(|n| (n as i64).min(MAX_NUMBER));
        let span = (reach - 1).saturating_mul(dilations[axis]).saturating_add(1);
        let rest = size.saturating_add(pads[axis] + pads[axis + rank]).saturating_sub(span);
        let count = if rest < 0 { 0 } else { rest / strides[axis] + 1 };
        counts.push(count as usize);
    }
    if Shape::from(counts.clone()).element_count().ok() != Some(shape[2]) {
        return Err(wrong(format!("blocks in {counts:?} positions, not {}", shape[2])));
    }
    let channels = shape[1] / elements;
    let split = [&[shape[0], channels, elements], &counts[..]].concat();
    let blocks = b.reshape(call.value(0)?, &split[..])?;
    let zero = b.literal(Literal::Int(0), call.dtype(0)?)?;
    let mut sum: Option<Value> = None;
    for element in 0..elements {
        let mut slices: Vec<AxisSlice> = split.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[2] = AxisSlice::new(element, 1, 1);
        let part = [&split[..2], &counts[..]].concat();
        let part = b.reshape(b.slice(&blocks, &slices)?, part)?;
        let (mut widths, mut rest) = (vec![(0, 0, 0); rank + 2], element);
        for axis in (0..rank).rev() {
            let low = (rest % block[axis]) as i64 * dilations[axis] - pads[axis];
            rest /= block[axis];
            let covered = (counts[axis] as i64 - 1).saturating_mul(strides[axis]) + 1;
            let high = (image[axis] as i64).saturating_sub(covered).saturating_sub(low);
            widths[axis + 2] = (low, high, strides[axis] as usize - 1);
        }
        let placed = b.pad(part, &zero, &widths)?;
        sum = Some(match sum {
            Some(sum) => sum + placed,
            None => placed,
        });
    }
    single_result(sum.ok_or_else(|| wrong("blocks with elements".to_owned()))?)
}

#[cfg(test)]
mod tests {
    use indim_graph::Array;

    use super::*;

    #[test]
    fn positions_are_mirrored_until_they_are_inside() {
        let b = indim_builder::GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [6]).unwrap();
        let graph = b.finish(&[reflected(&x, (0.0, 3.0))]).unwrap();
        let x = Array::new([6], vec![-1.0, 0.5, 3.5, 6.5, -3.5, 9.5]).unwrap();
        let found = indim_graph::evaluate(&graph, &[x]).unwrap();
        assert_eq!(found[0].elements::<f64>().unwrap(), [1.0, 0.5, 2.5, 0.5, 2.5, 2.5]);
    }
}
