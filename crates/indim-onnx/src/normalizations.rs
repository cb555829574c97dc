//! Normalisations: `(x - mean) / deviation`, then scale and bias.

use indim_builder::{Reduction, Value};
use indim_graph::GraphError;
use indim_model::{Epsilon, FormatErrorKind, centre, standardise};
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape};

use super::call::{Call, LoweringResult, single_result};
use super::reductions::reduce_options;

/// An operand and its normalised axes.
struct NormalizationOperand<'c> {
    call: &'c Call<'c>,
    x: Value,
    axes: Vec<usize>,
}

impl NormalizationOperand<'_> {
    /// A reduction over the normalised axes; they stay with size 1.
    fn of_axes(&self, function: Reduction) -> Result<Value, GraphError> {
        self.call.builder.along(function, &self.x, reduce_options(&self.axes, true))
    }

    fn numpy(&self, op: Op, x: &Value, y: &Value) -> Result<Value, GraphError> {
        self.call.builder.elementwise(op, &[x, y], &RuleSet::Numpy)
    }

    /// `(x - mean) / sqrt(variance + epsilon)`
    fn standard(&self, epsilon: f64) -> Result<Value, GraphError> {
        standardise(&self.x, &self.axes, Epsilon::InsideRoot(epsilon))
    }
}

/// The element type in which mean and deviation are computed: the attribute `stash_type`, where 0 stands
/// for the type of operand 0.
fn stash_dtype(call: &Call<'_>) -> Result<DType, FormatErrorKind> {
    match call.int("stash_type", 1)? {
        0 => call.dtype(0),
        number => indim_onnx_file::types::dtype_of(number),
    }
}

/// Broadcasts one value per channel; `axis` of `shape` is the channel axis.
fn along_channel(
    call: &Call<'_>,
    value: &Value,
    axis: i64,
    shape: &Shape,
) -> Result<Value, FormatErrorKind> {
    Ok(call.builder.broadcast_in_dim(value, &[axis], shape)?)
}

/// The axes from the attribute `axis` to the last.
fn last_axes(call: &Call<'_>) -> Result<Vec<usize>, FormatErrorKind> {
    let rank = call.shape(0)?.rank();
    Ok((call.axis(call.int("axis", -1)?, rank)?..rank).collect())
}

pub(super) fn layer(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let x = call.value(0)?.convert(stash_dtype(call)?);
    let normalized = NormalizationOperand { call, x, axes: last_axes(call)? };
    let epsilon = call.float("epsilon", 1e-5)?;
    let standard = normalized.standard(epsilon)?;
    let mut scaled = standard.convert(dtype) * call.broadcast_onto(call.value(1)?, &shape)?;
    if let Some(bias) = call.optional(2) {
        scaled = scaled + call.broadcast_onto(&bias.value, &shape)?;
    }
    let (_, deviation) = centre(&normalized.x, &normalized.axes, Epsilon::InsideRoot(epsilon))?;
    let mean = normalized.of_axes(Reduction::Mean)?;
    Ok(vec![scaled.into(), mean.into(), deviation.reciprocal().into()])
}

pub(super) fn root_mean_square(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let x = call.value(0)?.convert(stash_dtype(call)?);
    let squares = NormalizationOperand { call, x: x.square(), axes: last_axes(call)? };
    let root = (squares.of_axes(Reduction::Mean)? + call.float("epsilon", 1e-5)?).sqrt();
    let standard = squares.numpy(Op::Div, &x, &root)?.convert(dtype);
    single_result(standard * call.broadcast_onto(call.value(1)?, &shape)?)
}

/// Normalises over the image of each channel.
pub(super) fn instance(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let axes = (2..shape.rank()).collect();
    let normalized = NormalizationOperand { call, x: call.value(0)?.clone(), axes };
    let standard = normalized.standard(call.float("epsilon", 1e-5)?)?;
    let scale = along_channel(call, call.value(1)?, 1, &shape)?;
    single_result(standard * scale + along_channel(call, call.value(2)?, 1, &shape)?)
}

/// The opset since which each channel has a scale, instead of each group.
const SCALES_OF_CHANNELS_SINCE: i64 = 21;

/// Normalises over the channels of each group and their images.
pub(super) fn group(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let groups = usize::try_from(call.required_int("num_groups")?).unwrap_or(0);
    let Some(&channels) = shape.get(1) else {
        let expected = "an operand with a channel axis".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    };
    if groups == 0 || channels % groups != 0 {
        let problem = format!("is {groups}, which does not divide the {channels} channels");
        return Err(FormatErrorKind::attribute("num_groups", problem));
    }
    let mut grouped_shape = shape.to_vec();
    grouped_shape.splice(1..2, [groups, channels / groups]);
    let grouped_shape = Shape::from(grouped_shape);
    let is_per_channel = call.version() >= SCALES_OF_CHANNELS_SINCE;
    let computed = if is_per_channel { stash_dtype(call)? } else { dtype };
    let x = call.builder.reshape(call.value(0)?.convert(computed), &grouped_shape)?;
    let normalized = NormalizationOperand { call, x, axes: (2..grouped_shape.rank()).collect() };
    let standard = normalized.standard(call.float("epsilon", 1e-5)?)?;
    let (onto, axis) = if is_per_channel { (&shape, 1) } else { (&grouped_shape, 1) };
    let standard = call.builder.reshape(standard.convert(dtype), onto)?;
    let scale = along_channel(call, call.value(1)?, axis, onto)?;
    let scaled = standard * scale + along_channel(call, call.value(2)?, axis, onto)?;
    single_result(call.builder.reshape(scaled, &shape)?)
}

/// Normalises by given statistics: mean and variance of each channel.
pub(super) fn batch(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    // An operand without a second axis has one channel. Before version 9 each element of an image could have
    // its own scale.
    let is_spatial = call.version() >= 9 || call.int("spatial", 1)? != 0;
    let dims: Vec<i64> = match (shape.rank(), is_spatial) {
        (0 | 1, _) => vec![0],
        (_, true) => vec![1],
        (rank, false) => (1..rank as i64).collect(),
    };
    let statistic = |position: usize| -> Result<Value, FormatErrorKind> {
        let value = call.value(position)?.convert(dtype);
        Ok(call.builder.broadcast_in_dim(value, &dims, &shape)?)
    };
    let deviation = (statistic(4)? + call.float("epsilon", 1e-5)?).sqrt();
    let standard = (call.value(0)? - statistic(3)?) / deviation;
    single_result(standard * statistic(1)? + statistic(2)?)
}

/// The epsilon in ONNX's definition of `MeanVarianceNormalization`.
const MEAN_VARIANCE_EPSILON: f64 = 1e-9;

pub(super) fn mean_variance(call: &Call<'_>) -> LoweringResult {
    let rank = call.shape(0)?.rank();
    let axes = call.axes(&call.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]), rank)?;
    single_result(standardise(call.value(0)?, &axes, Epsilon::OutsideRoot(MEAN_VARIANCE_EPSILON))?)
}

/// Divides by the sum of magnitudes, or by the root of the sum of squares; a norm of 0 leaves 0.
pub(super) fn lp(call: &Call<'_>) -> LoweringResult {
    let rank = call.shape(0)?.rank();
    let x = call.value(0)?;
    let axes = vec![call.axis(call.int("axis", -1)?, rank)?];
    let (function, measured) = match call.int("p", 2)? {
        1 => (Reduction::Sum, x.abs()),
        2 => (Reduction::Norm, x.clone()),
        _ => return Err(FormatErrorKind::attribute("p", "is neither 1 nor 2")),
    };
    let norm = NormalizationOperand { call, x: measured, axes }.of_axes(function)?;
    let divisor = norm.eq(0).select(1, &norm);
    single_result(call.builder.elementwise(Op::Div, &[x, &divisor], &RuleSet::Numpy)?)
}
