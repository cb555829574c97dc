//! `Interpolate`: the sizes, scales and positions that its operands and attributes state.

use indim_builder::Value;
use indim_graph::Literal;
use indim_model::FormatErrorKind;
use indim_model::compositions::{
    AxisResize, Coordinates, Interpolation, NearestMode, ResizeOptions, resize,
};
use indim_ops::DType;

use crate::call::{Call, LoweringResult};

/// The number that OpenVINO adds to a scale before it rounds a size down.
const SCALE_EPSILON: f32 = 1e-6;

/// The first version: the attributes `axes` and `align_corners`, the sizes in operand 1.
pub(super) fn first_version(call: &Call<'_>) -> LoweringResult {
    let interpolation = match call.layer.word("mode", "").as_str() {
        "nearest" => Interpolation::Nearest(NearestMode::Simple),
        "linear" => Interpolation::Linear,
        "cubic" => Interpolation::Cubic { a: -0.75 },
        _ => return Err(FormatErrorKind::attribute("mode", "is no supported interpolation")),
    };
    let coordinates = match call.layer.flag("align_corners", Some(true))? {
        true => Coordinates::AlignCorners,
        false => Coordinates::Asymmetric,
    };
    let x = padded(call)?;
    let rank = x.array_type()?.shape.rank();
    let axes = call.layer.integers("axes")?;
    let axes: Vec<usize> =
        axes.into_iter().map(|axis| call.axis(axis, rank)).collect::<Result<_, _>>()?;
    let antialias = call.layer.flag("antialias", Some(false))?;
    interpolate(&x, by_sizes(call, &x, &axes)?, (interpolation, coordinates), antialias, false)
}

/// The fourth version: sizes in operand 1, scales in operand 2, axes in operand 3.
pub(super) fn fourth_version(call: &Call<'_>) -> LoweringResult {
    newer_version(call, 2, 3)
}

/// The eleventh version: sizes or scales in operand 1, axes in operand 2.
pub(super) fn eleventh_version(call: &Call<'_>) -> LoweringResult {
    newer_version(call, 1, 2)
}

fn newer_version(call: &Call<'_>, scales: usize, axes: usize) -> LoweringResult {
    let x = padded(call)?;
    let rank = x.array_type()?.shape.rank();
    let axes = match call.has(axes) {
        true => call.axes(axes, rank)?,
        false => (0..rank).collect(),
    };
    let coordinates = match call.layer.word("coordinate_transformation_mode", "half_pixel").as_str()
    {
        "half_pixel" => Coordinates::HalfPixel,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "tf_half_pixel_for_nn" => Coordinates::TfHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        _ => {
            let problem = "names no mapping of coordinates";
            return Err(FormatErrorKind::attribute("coordinate_transformation_mode", problem));
        }
    };
    let nearest = match call.layer.word("nearest_mode", "round_prefer_floor").as_str() {
        "round_prefer_floor" => NearestMode::RoundPreferFloor,
        "round_prefer_ceil" => NearestMode::RoundPreferCeil,
        "floor" => NearestMode::Floor,
        "ceil" => NearestMode::Ceil,
        "simple" => NearestMode::Simple,
        _ => return Err(FormatErrorKind::attribute("nearest_mode", "names no rounding")),
    };
    let antialias = call.layer.flag("antialias", Some(false))?;
    let a = match call.layer.attribute("cube_coeff") {
        Some(_) => call.layer.float("cube_coeff")?,
        None => -0.75,
    };
    // The modes of Pillow always filter axes that shrink; the others except `linear` never do.
    let (interpolation, antialias, coordinates) = match call.layer.word("mode", "").as_str() {
        "nearest" => (Interpolation::Nearest(nearest), false, coordinates),
        "linear" => (Interpolation::Linear, antialias, coordinates),
        "linear_onnx" => (Interpolation::Linear, false, coordinates),
        "cubic" => (Interpolation::Cubic { a }, false, coordinates),
        "bilinear_pillow" => (Interpolation::Linear, true, Coordinates::HalfPixel),
        "bicubic_pillow" => (Interpolation::Cubic { a }, true, Coordinates::HalfPixel),
        _ => return Err(FormatErrorKind::attribute("mode", "names no interpolation")),
    };
    let is_pillow = call.layer.word("mode", "").ends_with("_pillow");
    let resized = match call.layer.word("shape_calculation_mode", "").as_str() {
        "sizes" => by_sizes(call, &x, &axes)?,
        "scales" => by_scales(call, &x, &axes, scales)?,
        _ => {
            let problem = "is neither sizes nor scales";
            return Err(FormatErrorKind::attribute("shape_calculation_mode", problem));
        }
    };
    interpolate(&x, resized, (interpolation, coordinates), antialias, is_pillow)
}

fn interpolate(
    x: &Value,
    mut axes: Vec<AxisResize>,
    (interpolation, coordinates): (Interpolation, Coordinates),
    antialias: bool,
    is_pillow: bool,
) -> LoweringResult {
    let dtype = x.array_type()?.dtype;
    let is_nearest = matches!(interpolation, Interpolation::Nearest(_));
    if !(is_nearest || dtype.is_float() || dtype.is_integer()) {
        let expected = format!("numbers; operand 0 is of type {dtype}");
        return Err(FormatErrorKind::Unexpected { expected });
    }
    // An axis that keeps its size stays, in all modes.
    axes.retain(|axis| axis.from != axis.to);
    for axis in &mut axes {
        axis.coordinates = coordinates;
        // Only the sizes count for these, also if a scale gives the size.
        if coordinates == Coordinates::AlignCorners || is_pillow {
            axis.scale = axis.to as f64 / axis.from as f64;
        }
    }
    let exclude_outside = antialias;
    let options = ResizeOptions { interpolation, antialias, exclude_outside, extrapolation: 0.0 };
    resize(x, &axes, &options)
}

/// The operand with the padding of the attributes `pads_begin` and `pads_end`, zeros.
fn padded(call: &Call<'_>) -> LoweringResult {
    let (x, array_type) = (call.value(0), call.operands[0].value.array_type()?);
    let rank = array_type.shape.rank();
    let [begin, end] = ["pads_begin", "pads_end"].map(|name| {
        let mut pads = call.layer.integers(name)?;
        if pads.len() > rank || pads.iter().any(|&pad| pad < 0) {
            return Err(FormatErrorKind::attribute(name, "is no padding of the operand's axes"));
        }
        pads.resize(rank, 0);
        Ok(pads)
    });
    let widths: Vec<(i64, i64, usize)> =
        begin?.into_iter().zip(end?).map(|(low, high)| (low, high, 0)).collect();
    match widths.iter().all(|&width| width == (0, 0, 0)) {
        true => Ok(x),
        false => {
            let zero = call.builder.literal(Literal::Int(0), array_type.dtype)?;
            Ok(call.builder.pad(x, zero, &widths)?)
        }
    }
}

/// The axes with the sizes in operand 1.
fn by_sizes(call: &Call<'_>, x: &Value, axes: &[usize]) -> LoweringResult<Vec<AxisResize>> {
    let (shape, sizes) = (x.array_type()?.shape, call.target(1)?);
    check_count(axes, sizes.rank())?;
    let resized = |(&axis, &to): (&usize, &usize)| {
        let scale = to as f64 / shape[axis] as f64;
        AxisResize { axis, from: shape[axis], to, scale, coordinates: Coordinates::HalfPixel }
    };
    Ok(axes.iter().zip(sizes.iter()).map(resized).collect())
}

/// The axes with the scales in an operand.
fn by_scales(
    call: &Call<'_>,
    x: &Value,
    axes: &[usize],
    operand: usize,
) -> LoweringResult<Vec<AxisResize>> {
    let shape = x.array_type()?.shape;
    let Some(array) = &call.operands[operand].elements else {
        return Err(FormatErrorKind::DependsOnData { chain: vec![call.layer.described()] });
    };
    let expected =
        || FormatErrorKind::Unexpected { expected: format!("scales as operand {operand}") };
    let scales: Vec<f64> = match array.dtype() {
        DType::F32 => {
            let scales = array.elements::<f32>().map_err(|_| expected())?;
            scales.iter().map(|&scale| scale.into()).collect()
        }
        DType::F64 => array.elements::<f64>().map_err(|_| expected())?.to_vec(),
        _ => return Err(expected()),
    };
    check_count(axes, scales.len())?;
    let resized = |(&axis, scale): (&usize, f64)| {
        let size = (shape[axis] as f32 * (scale as f32 + SCALE_EPSILON)).floor();
        match scale > 0.0 && size < i64::MAX as f32 {
            true => Ok(AxisResize::with_scale(axis, (shape[axis], size as usize), scale)),
            false => Err(expected()),
        }
    };
    axes.iter().zip(scales).map(resized).collect()
}

fn check_count(axes: &[usize], given: usize) -> LoweringResult<()> {
    match axes.len() == given {
        true => Ok(()),
        false => {
            let expected = format!("{} sizes or scales, not {given}", axes.len());
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}
