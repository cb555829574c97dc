//! Resizing of axes by interpolation, for ONNX's `Resize` and OpenVINO's `Interpolate`.
//!
//! Interpolation is separable: each axis is resized on its own, the lowest first. The sizes are known when
//! the program is built, so the positions and weights of an axis are constants, computed in `f64`.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, GraphError, Literal, TakeMode};
use indim_ops::DType;
use indim_shape::ReductionRuleName;

use crate::FormatErrorKind;

/// Maximum number of weights of one axis: a limit on the memory of the constants.
const MAX_WEIGHTS: usize = 1 << 22;

/// Maximum number of elements that are added one after another; more are added by a sum along an axis.
const MAX_TERMS: usize = 4;

/// The position in the operand of a position `x` of the result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinates {
    /// `(x + 0.5) / scale - 0.5`: centres of elements.
    HalfPixel,
    /// The same, with the centre of the result at the centre of the operand if the size is rounded.
    HalfPixelSymmetric,
    /// The same as `HalfPixel`, but 0 if the result has one element.
    PytorchHalfPixel,
    /// `(x + 0.5) / scale`, OpenVINO's `tf_half_pixel_for_nn`.
    TfHalfPixel,
    /// `x * (size - 1) / (scale * size - 1)`: the first and last elements stay in place.
    AlignCorners,
    /// `x / scale`.
    Asymmetric,
    /// A part of the operand, from `start` to `end` as fractions of its last position. Positions outside the
    /// operand have the extrapolation value.
    Crop {
        /// The fraction at which the part starts.
        start: f64,
        /// The fraction at which the part ends.
        end: f64,
    },
}

/// The rounding of a position to the nearest element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NearestMode {
    /// Half down.
    RoundPreferFloor,
    /// Half up.
    RoundPreferCeil,
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// OpenVINO's `simple`: up if the axis shrinks, else towards 0.
    Simple,
}

/// The interpolation between elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interpolation {
    /// The nearest element.
    Nearest(NearestMode),
    /// Two elements, weighted by their distances.
    Linear,
    /// Four elements, weighted by the cubic convolution with the coefficient `a`.
    Cubic {
        /// The slope of the outer parts, such as -0.75.
        a: f64,
    },
}

/// The resizing of one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisResize {
    /// The axis.
    pub axis: usize,
    /// The size of the operand, at least 1.
    pub from: usize,
    /// The size of the result.
    pub to: usize,
    /// Elements of the result for each of the operand: `to / from`, or the number that the file states.
    pub scale: f64,
    /// The position in the operand of a position of the result.
    pub coordinates: Coordinates,
}

/// The attributes that all resized axes share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResizeOptions {
    /// The interpolation between elements.
    pub interpolation: Interpolation,
    /// Whether an axis that shrinks is filtered: the weights are stretched by the inverse scale.
    pub antialias: bool,
    /// Whether elements outside the operand have the weight 0, and the others are scaled to a sum of 1. If
    /// unset, an element outside is the nearest one inside.
    pub exclude_outside: bool,
    /// The result at positions outside the operand under [`Coordinates::Crop`].
    pub extrapolation: f64,
}

impl AxisResize {
    /// An axis with a scale that the file states. A scale that equals `to / from` up to the rounding to `f32`
    /// stands for that fraction, so ties between two elements are exact.
    #[must_use]
    pub fn with_scale(axis: usize, (from, to): (usize, usize), scale: f64) -> AxisResize {
        let ratio = to as f64 / from as f64;
        let scale = if ratio as f32 == scale as f32 { ratio } else { scale };
        AxisResize { axis, from, to, scale, coordinates: Coordinates::HalfPixel }
    }

    fn is_identity(&self) -> bool {
        let is_whole = match self.coordinates {
            Coordinates::Crop { start, end } => start == 0.0 && end == 1.0,
            Coordinates::TfHalfPixel => false,
            _ => true,
        };
        is_whole && self.from == self.to && self.scale == 1.0
    }

    /// The quotient `x / scale`. Whole quotients and halves are exact if the scale is `to / from`.
    fn unscaled(&self, x: f64) -> f64 {
        match self.scale == self.to as f64 / self.from as f64 {
            true => x * self.from as f64 / self.to as f64,
            false => x / self.scale,
        }
    }

    /// The position in the operand of position `x` of the result.
    fn position(&self, x: usize) -> f64 {
        let (x, last) = (x as f64, self.from as f64 - 1.0);
        let length = match self.scale == self.to as f64 / self.from as f64 {
            true => self.to as f64,
            false => self.scale * self.from as f64,
        };
        let half_pixel = self.unscaled(x + 0.5) - 0.5;
        match self.coordinates {
            Coordinates::HalfPixel => half_pixel,
            Coordinates::HalfPixelSymmetric => {
                let from_centre = self.unscaled(x + 0.5 - self.to as f64 / 2.0);
                from_centre + (self.from as f64 - 1.0) / 2.0
            }
            Coordinates::PytorchHalfPixel if self.to == 1 => 0.0,
            Coordinates::PytorchHalfPixel => half_pixel,
            Coordinates::TfHalfPixel => half_pixel + 0.5,
            Coordinates::AlignCorners if length == 1.0 => 0.0,
            Coordinates::AlignCorners => x * last / (length - 1.0),
            Coordinates::Asymmetric => self.unscaled(x),
            Coordinates::Crop { start, end } if length == 1.0 => {
                (end - start) * last / 2.0 + start * last
            }
            Coordinates::Crop { start, end } => {
                x * (end - start) * last / (length - 1.0) + start * last
            }
        }
    }

    /// Whether a position of the result is outside the operand, and has the extrapolation value.
    fn is_outside(&self, x: usize) -> bool {
        let position = self.position(x);
        matches!(self.coordinates, Coordinates::Crop { .. })
            && !(0.0..=self.from as f64 - 1.0).contains(&position)
    }

    fn clamped(&self, index: f64) -> i64 {
        index.clamp(0.0, self.from as f64 - 1.0) as i64
    }

    /// The element of the operand that is nearest to position `x` of the result.
    fn nearest(&self, x: usize, mode: NearestMode) -> i64 {
        let position = self.position(x);
        self.clamped(match mode {
            NearestMode::RoundPreferFloor => (position - 0.5).ceil(),
            NearestMode::RoundPreferCeil => (position + 0.5).floor(),
            NearestMode::Floor => position.floor(),
            NearestMode::Ceil => position.ceil(),
            NearestMode::Simple if self.scale < 1.0 => position.ceil(),
            NearestMode::Simple => position.trunc(),
        })
    }
}

/// For each position of the result, the same number of elements of the operand with their weights.
struct AxisWeights {
    count: usize,
    indices: Vec<i64>,
    weights: Vec<f64>,
}

impl AxisWeights {
    fn new(axis: &AxisResize, options: &ResizeOptions) -> Result<AxisWeights, FormatErrorKind> {
        let (reach, kernel): (f64, &dyn Fn(f64) -> f64) = match options.interpolation {
            Interpolation::Cubic { a } => (2.0, &move |x| cubic(x, a)),
            _ => (1.0, &|x| (1.0 - x.abs()).max(0.0)),
        };
        let is_filtered = options.antialias && axis.to > 0;
        let stretch = if is_filtered { axis.scale.min(1.0) } else { 1.0 };
        // The elements whose distance, times the stretch, is less than the reach.
        let before = (-reach / stretch).floor() + 1.0;
        let count = 2.0 - 2.0 * before;
        if count * axis.to as f64 > MAX_WEIGHTS as f64 {
            return Err(FormatErrorKind::Limit { what: "weights of an axis", limit: MAX_WEIGHTS });
        }
        let count = count as usize;
        let mut taps = AxisWeights { count, indices: Vec::new(), weights: Vec::new() };
        for x in 0..axis.to {
            let position = axis.position(x);
            let first = position.floor() + before;
            let mut weights: Vec<f64> =
                (0..count).map(|tap| kernel((first + tap as f64 - position) * stretch)).collect();
            if options.exclude_outside {
                let inside = 0.0..=axis.from as f64 - 1.0;
                for (tap, weight) in weights.iter_mut().enumerate() {
                    *weight = if inside.contains(&(first + tap as f64)) { *weight } else { 0.0 };
                }
            }
            if options.exclude_outside || stretch != 1.0 {
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().filter(|_| sum != 0.0).for_each(|weight| *weight /= sum);
            }
            taps.weights.extend(weights);
            taps.indices.extend((0..count).map(|tap| axis.clamped(first + tap as f64)));
        }
        Ok(taps)
    }

    /// The weighted sum of the elements of `x` along an axis.
    fn apply(&self, x: &Value, axis: usize) -> Result<Value, FormatErrorKind> {
        let (b, array_type) = (x.builder(), x.array_type()?);
        let (count, to) = (self.count, self.weights.len() / self.count);
        let mut sizes = array_type.shape.to_vec();
        sizes[axis] = to;
        let weights = |weights: Vec<f64>, shape: &[usize]| -> Result<Value, FormatErrorKind> {
            let array = Array::new(shape, weights).map_err(too_large)?;
            Ok(b.convert(b.constant(array), array_type.dtype)?)
        };
        if count > MAX_TERMS {
            let indices = Array::new([to, count], self.indices.clone()).map_err(too_large)?;
            let gathered = b.take(x, b.constant(indices), axis as i64, TakeMode::Clip)?;
            sizes.insert(axis + 1, count);
            let weights = weights(self.weights.clone(), &[to, count])?;
            let dims = [axis as i64, axis as i64 + 1];
            let terms = gathered * b.broadcast_in_dim(weights, &dims, sizes)?;
            let options = ReduceOptions::axes(vec![axis as i64 + 1]).rule(ReductionRuleName::Xla);
            return Ok(b.along(Reduction::Sum, terms, &options)?);
        }
        let column = |tap: usize| (tap..self.indices.len()).step_by(count);
        let mut sum: Option<Value> = None;
        for tap in 0..count {
            let indices = column(tap).map(|at| self.indices[at]).collect();
            let taken = taken(x, axis, indices)?;
            let weights = weights(column(tap).map(|at| self.weights[at]).collect(), &[to])?;
            let term = taken * b.broadcast_in_dim(weights, &[axis as i64], sizes.clone())?;
            sum = Some(match sum {
                Some(sum) => sum + term,
                None => term,
            });
        }
        sum.ok_or(FormatErrorKind::Unexpected { expected: "weights of an axis".to_owned() })
    }
}

/// The cubic convolution kernel.
fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    match x {
        x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((x - 5.0) * x + 8.0) * a * x - 4.0 * a,
        _ => 0.0,
    }
}

fn too_large(error: impl core::fmt::Display) -> FormatErrorKind {
    FormatErrorKind::Unexpected { expected: error.to_string() }
}

fn taken(x: &Value, axis: usize, indices: Vec<i64>) -> Result<Value, FormatErrorKind> {
    let indices = Array::new([indices.len()], indices).map_err(too_large)?;
    Ok(x.builder().take(x, x.builder().constant(indices), axis as i64, TakeMode::Clip)?)
}

/// Resizes axes of `x`. The nearest element is a gather. Otherwise each element of the result is a weighted
/// sum, in `f64` for 64-bit types and `f32` for others, of its elements along one axis after another, the
/// lowest axis first. Up to four terms are added from the lowest index on, more by the sum along an axis.
/// Integers are rounded half to even and saturated.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::{AxisResize, Interpolation, ResizeOptions, resize};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2])?;
/// let options = ResizeOptions {
///     interpolation: Interpolation::Linear,
///     antialias: false,
///     exclude_outside: false,
///     extrapolation: 0.0,
/// };
/// let resized = resize(&x, &[AxisResize::with_scale(0, (2, 4), 2.0)], &options).unwrap();
/// let graph = b.finish(&[resized])?;
/// let x = Array::new([2], vec![0.0f32, 4.0])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>(), Ok(&[0.0, 1.0, 3.0, 4.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `limit` if an axis needs too many weights; `unexpected` for an axis without elements, unless the result
/// has none; errors of the builder.
pub fn resize(
    x: &Value,
    axes: &[AxisResize],
    options: &ResizeOptions,
) -> Result<Value, FormatErrorKind> {
    let b = x.builder();
    let dtype = x.array_type()?.dtype;
    let is_nearest = matches!(options.interpolation, Interpolation::Nearest(_));
    let computed = match dtype {
        dtype if is_nearest => dtype,
        DType::F64 | DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    };
    let mut result = if computed == dtype { x.clone() } else { b.convert(x, computed)? };
    for axis in axes.iter().filter(|axis| !axis.is_identity()) {
        if axis.from == 0 && axis.to > 0 {
            let expected = format!("an axis {} with elements to resize", axis.axis);
            return Err(FormatErrorKind::Unexpected { expected });
        }
        if axis.to > MAX_WEIGHTS {
            return Err(FormatErrorKind::Limit { what: "elements of an axis", limit: MAX_WEIGHTS });
        }
        result = match options.interpolation {
            Interpolation::Nearest(mode) => {
                let indices = (0..axis.to).map(|x| axis.nearest(x, mode)).collect();
                taken(&result, axis.axis, indices)?
            }
            _ => AxisWeights::new(axis, options)?.apply(&result, axis.axis)?,
        };
    }
    if computed != dtype {
        let is_rounded = !dtype.is_float();
        let rounded = if is_rounded { b.round_even(&result)? } else { result };
        result = b.convert(rounded, dtype)?;
    }
    extrapolate(b, result, axes, options.extrapolation)
}

/// Replaces the elements at positions outside the operand.
fn extrapolate(
    b: &GraphBuilder,
    mut x: Value,
    axes: &[AxisResize],
    value: f64,
) -> Result<Value, FormatErrorKind> {
    // An axis that stays may be far larger than the tables of resized axes.
    for axis in axes.iter().filter(|axis| !axis.is_identity()) {
        let outside: Vec<bool> = (0..axis.to).map(|x| axis.is_outside(x)).collect();
        if !outside.contains(&true) {
            continue;
        }
        let array_type = x.array_type()?;
        let mask = b.constant(Array::new([outside.len()], outside).map_err(too_large)?);
        let mask = b.broadcast_in_dim(mask, &[axis.axis as i64], array_type.shape.clone())?;
        let value = extrapolation_value(b, value, array_type.dtype)?;
        x = mask.select(value, &x);
    }
    x.array_type()?;
    Ok(x)
}

fn extrapolation_value(b: &GraphBuilder, value: f64, dtype: DType) -> Result<Value, GraphError> {
    let number = b.literal(Literal::Float(value), DType::F64)?;
    b.convert(number, dtype)
}
