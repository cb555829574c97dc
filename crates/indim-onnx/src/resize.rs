//! `Resize` and `Upsample`: the sizes, scales and positions that their operands and attributes state.

use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_model::compositions::{
    AxisResize, Coordinates, Interpolation, NearestMode, ResizeOptions, resize as resize_axes,
};
use indim_ops::DType;

use super::call::{Call, LoweringResult, single_result};
use super::elementwise::sizes;

/// `Resize`, and `Upsample`, which is its first version.
pub(super) fn resize(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let is_first = call.operator == "Upsample" || call.version() < 11;
    let axes = match call.ints("axes")? {
        Some(axes) => call.axes(&axes, shape.rank())?,
        None => (0..shape.rank()).collect(),
    };
    let options = options(call, is_first)?;
    if !matches!(options.interpolation, Interpolation::Nearest(_)) {
        call.check_dtype(0, |dtype| dtype.is_float() || dtype.is_integer())?;
    }
    let mut resized = axis_resizes(call, &axes, is_first)?;
    for (position, axis) in resized.iter_mut().enumerate() {
        axis.coordinates = match is_first {
            true => Coordinates::Asymmetric,
            false => coordinates(call, (position, axes.len()))?,
        };
    }
    single_result(resize_axes(call.value(0)?, &resized, &options)?)
}

/// The interpolation and the attributes that all axes share.
fn options(call: &Call<'_>, is_first: bool) -> Result<ResizeOptions, FormatErrorKind> {
    let wrong = |name: &str, problem: &str| Err(FormatErrorKind::attribute(name, problem));
    let nearest = match &call.text("nearest_mode", "round_prefer_floor")?[..] {
        _ if is_first => NearestMode::Floor,
        "round_prefer_floor" => NearestMode::RoundPreferFloor,
        "round_prefer_ceil" => NearestMode::RoundPreferCeil,
        "floor" => NearestMode::Floor,
        "ceil" => NearestMode::Ceil,
        _ => return wrong("nearest_mode", "names no rounding"),
    };
    let interpolation = match &call.text("mode", "nearest")?[..] {
        "nearest" => Interpolation::Nearest(nearest),
        "linear" | "bilinear" => Interpolation::Linear,
        "cubic" if !is_first => Interpolation::Cubic { a: call.float("cubic_coeff_a", -0.75)? },
        _ => return wrong("mode", "names no interpolation"),
    };
    let antialias = call.int("antialias", 0)? != 0;
    if antialias && matches!(interpolation, Interpolation::Nearest(_)) {
        return wrong("antialias", "is set in the mode nearest");
    }
    Ok(ResizeOptions {
        interpolation,
        antialias,
        exclude_outside: call.int("exclude_outside", 0)? != 0,
        extrapolation: call.float("extrapolation_value", 0.0)?,
    })
}

/// The mapping of positions along the axis at `position` of `count` resized axes.
fn coordinates(
    call: &Call<'_>,
    (position, count): (usize, usize),
) -> Result<Coordinates, FormatErrorKind> {
    Ok(match &call.text("coordinate_transformation_mode", "half_pixel")?[..] {
        "half_pixel" => Coordinates::HalfPixel,
        "half_pixel_symmetric" => Coordinates::HalfPixelSymmetric,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        "tf_half_pixel_for_nn" if call.version() < 13 => Coordinates::TfHalfPixel,
        "tf_crop_and_resize" => {
            let region = floats(call, 1)?;
            if region.len() != 2 * count {
                let problem = format!("has {} numbers for {count} axes", region.len());
                return Err(FormatErrorKind::attribute("roi", problem));
            }
            Coordinates::Crop { start: region[position], end: region[count + position] }
        }
        _ => {
            let problem = "names no mapping of coordinates";
            return Err(FormatErrorKind::attribute("coordinate_transformation_mode", problem));
        }
    })
}

/// The elements of an operand that must be known, as floats.
fn floats(call: &Call<'_>, position: usize) -> Result<Vec<f64>, FormatErrorKind> {
    let array = call.elements(position)?;
    let expected = || FormatErrorKind::Unexpected { expected: "numbers of type f32".to_owned() };
    let numbers = |array: &Array| match array.dtype() {
        DType::F32 => Some(array.elements::<f32>().ok()?.iter().map(|&n| f64::from(n)).collect()),
        DType::F64 => Some(array.elements::<f64>().ok()?.to_vec()),
        _ => None,
    };
    numbers(array).ok_or_else(expected)
}

/// The old and new size of each axis, and its scale.
fn axis_resizes(
    call: &Call<'_>,
    axes: &[usize],
    is_first: bool,
) -> Result<Vec<AxisResize>, FormatErrorKind> {
    let shape = call.shape(0)?;
    let wrong = |name: &str, given: usize| {
        FormatErrorKind::attribute(name, format!("has {given} numbers for {} axes", axes.len()))
    };
    // An operand without elements is absent.
    if call.optional(3).is_some() && call.shape(3)?.element_count().ok() != Some(0) {
        let given = call.integers(3)?;
        if given.len() != axes.len() {
            return Err(wrong("sizes", given.len()));
        }
        let new_sizes = sizes(&given)?;
        return by_sizes(call, axes, &new_sizes);
    }
    let scales = match (is_first, call.version()) {
        (true, 1) => vec![
            1.0,
            1.0,
            call.optional_float("height_scale")?.unwrap_or(1.0),
            call.optional_float("width_scale")?.unwrap_or(1.0),
        ],
        (true, ..9) if call.operator == "Upsample" => {
            let missing = || FormatErrorKind::attribute("scales", "is missing");
            call.floats("scales")?.ok_or_else(missing)?.iter().map(|&s| f64::from(s)).collect()
        }
        _ => floats(call, if is_first { 1 } else { 2 })?,
    };
    if scales.len() != axes.len() {
        return Err(wrong("scales", scales.len()));
    }
    let resized = |(&axis, scale): (&usize, f64)| {
        // The product is an `f32`, as in other systems.
        let size = (shape[axis] as f32 * scale as f32).floor();
        match size >= 0.0 && scale > 0.0 && size < i64::MAX as f32 {
            true => Ok(AxisResize::with_scale(axis, (shape[axis], size as usize), scale)),
            false => Err(FormatErrorKind::attribute("scales", format!("has the number {scale}"))),
        }
    };
    axes.iter().zip(scales).map(resized).collect()
}

/// The axes with these new sizes, or sizes of the same ratio that `keep_aspect_ratio_policy` asks for.
fn by_sizes(
    call: &Call<'_>,
    axes: &[usize],
    new_sizes: &[usize],
) -> Result<Vec<AxisResize>, FormatErrorKind> {
    let shape = call.shape(0)?;
    let resized = |axis: usize, to: usize, scale: f64| AxisResize {
        axis,
        from: shape[axis],
        to,
        scale,
        coordinates: Coordinates::HalfPixel,
    };
    let ratios = axes.iter().zip(new_sizes).map(|(&axis, &to)| to as f64 / shape[axis] as f64);
    let common = match &call.text("keep_aspect_ratio_policy", "stretch")?[..] {
        "stretch" => {
            let pairs = axes.iter().zip(new_sizes).zip(ratios);
            return Ok(pairs.map(|((&axis, &to), ratio)| resized(axis, to, ratio)).collect());
        }
        "not_larger" => ratios.reduce(f64::min),
        "not_smaller" => ratios.reduce(f64::max),
        _ => {
            let problem = "is none of stretch, not_larger and not_smaller";
            return Err(FormatErrorKind::attribute("keep_aspect_ratio_policy", problem));
        }
    };
    let Some(scale) = common.filter(|scale| scale.is_finite()) else { return Ok(Vec::new()) };
    let size = |axis: usize| (shape[axis] as f64 * scale + 0.5).floor() as usize;
    Ok(axes.iter().map(|&axis| resized(axis, size(axis), scale)).collect())
}
