//! Reductions, scans, softmax, log-softmax, arg-reductions and hardmax.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op, ReduceOp};
use indim_shape::{OnnxAxes, OnnxReduction, ReductionRule, ReductionRuleName, RuleSet};

use super::call::{Call, LoweringResult, single_result};
use super::views::matrix_sizes;

/// A reduction operator of ONNX.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReduceOperator {
    L1,
    L2,
    LogSum,
    LogSumExp,
    Max,
    Mean,
    Min,
    Prod,
    Sum,
    SumSquare,
}

impl ReduceOperator {
    /// The element-wise operation before the reduction, such as the square; it also applies if no axes
    /// are reduced.
    fn map_elements(self, x: &Value, dtype: DType) -> Result<Value, FormatErrorKind> {
        Ok(match self {
            // Unsigned integers have no operation `abs`, and need none.
            ReduceOperator::L1 if Op::Abs.takes(dtype) => x.builder().abs(x)?,
            ReduceOperator::SumSquare => x.builder().mul(x, x, &[])?,
            _ => x.clone(),
        })
    }

    /// The element-wise operation in place of a reduction over no axes, on the result of `map_elements`.
    fn map_unreduced(self, x: &Value, dtype: DType) -> Result<Value, FormatErrorKind> {
        Ok(match self {
            ReduceOperator::L2 if Op::Abs.takes(dtype) => x.builder().abs(x)?,
            ReduceOperator::LogSum => x.builder().log(x)?,
            _ => x.clone(),
        })
    }

    fn function(self) -> Reduction {
        match self {
            ReduceOperator::L2 => Reduction::Norm,
            ReduceOperator::LogSumExp => Reduction::LogSumExp,
            ReduceOperator::Max => Reduction::Max,
            ReduceOperator::Min => Reduction::Min,
            ReduceOperator::Mean => Reduction::Mean,
            ReduceOperator::Prod => Reduction::Prod,
            ReduceOperator::L1
            | ReduceOperator::LogSum
            | ReduceOperator::Sum
            | ReduceOperator::SumSquare => Reduction::Sum,
        }
    }
}

/// Options for axes that are already checked. Under XLA's rule, the maximum and minimum of an empty axis
/// have a value too.
pub(super) fn reduce_options(axes: &[usize], keepdims: bool) -> ReduceOptions {
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    ReduceOptions::axes(axes).keepdims(keepdims).rule(ReductionRuleName::Xla)
}

pub(super) fn reduce(call: &Call<'_>, reduction: ReduceOperator) -> LoweringResult {
    let dtype = call.dtype(0)?;
    let form = reduction_rule(call, reduction)?.elaborate(&call.shape(0)?);
    let form =
        form.map_err(|error| call.graph_error(indim_graph::GraphErrorKind::Reduction(error)))?;
    let x = reduction.map_elements(call.value(0)?, dtype)?;
    if form.axes().is_empty() {
        return single_result(reduction.map_unreduced(&x, dtype)?);
    }
    let options = reduce_options(form.axes(), form.keeps_axes());
    let is_whole_mean = reduction == ReduceOperator::Mean && dtype.is_integer();
    let reduced = match is_whole_mean {
        true => {
            // The mean of integers is an integer, rounded towards 0. The count saturates only if another axis
            // has size 0.
            let sizes = form.axes().iter().map(|&axis| form.operand()[axis]);
            let count = sizes.fold(1, usize::saturating_mul);
            let sum = call.builder.along(Reduction::Sum, &x, &options)?;
            let count = indim_graph::Literal::Int(count as i128);
            call.builder.div(sum, call.builder.literal(count, dtype)?, &[])?
        }
        false => call.builder.along(reduction.function(), &x, &options)?,
    };
    let reduced =
        if reduction == ReduceOperator::LogSum { call.builder.log(reduced)? } else { reduced };
    single_result(call.builder.convert(reduced, dtype)?)
}

/// The rule of the opset. It states whether the axes are an attribute or an operand, and their legal
/// values.
fn reduction_rule(
    call: &Call<'_>,
    reduction: ReduceOperator,
) -> Result<ReductionRule, FormatErrorKind> {
    let opset = u32::try_from(call.version()).unwrap_or(u32::MAX);
    let onnx = OnnxReduction::new(opset, reduction == ReduceOperator::Sum);
    let axes = match (call.ints("axes")?, call.optional_integers(1)?) {
        (_, Some(axes)) => OnnxAxes::Input(axes),
        (Some(axes), None) => OnnxAxes::Attribute(axes),
        (None, None) => OnnxAxes::Absent,
    };
    Ok(ReductionRule::Onnx(OnnxReduction {
        axes,
        keepdims: call.int("keepdims", 1)? != 0,
        noop_with_empty_axes: call.int("noop_with_empty_axes", 0)? != 0,
        ..onnx
    }))
}

pub(super) fn cumsum(call: &Call<'_>) -> LoweringResult {
    scan(call, ReduceOp::Add)
}

pub(super) fn cumprod(call: &Call<'_>) -> LoweringResult {
    scan(call, ReduceOp::Mul)
}

/// A scan along the axis that operand 1 names. Integers keep their type.
fn scan(call: &Call<'_>, op: ReduceOp) -> LoweringResult {
    let axes = call.integers(1)?;
    let &[axis] = &axes[..] else {
        return Err(FormatErrorKind::Unexpected { expected: "one axis".to_owned() });
    };
    let axis = call.axis(axis, call.shape(0)?.rank())?;
    let [reverse, exclusive] = [call.int("reverse", 0)? != 0, call.int("exclusive", 0)? != 0];
    single_result(call.builder.scan(op, call.value(0)?, axis as i64, reverse, exclusive)?)
}

/// Reduces all axes except the first two: the images of each channel.
pub(super) fn pool(call: &Call<'_>, function: Reduction) -> LoweringResult {
    let axes: Vec<usize> = (2..call.shape(0)?.rank()).collect();
    single_result(call.builder.along(function, call.value(0)?, reduce_options(&axes, true))?)
}

/// The opset since which softmax normalises one axis, instead of all axes from it on together.
const ONE_AXIS_SINCE: i64 = 13;

fn softmax_axes(call: &Call<'_>) -> Result<Vec<usize>, FormatErrorKind> {
    let rank = call.shape(0)?.rank();
    match call.version() < ONE_AXIS_SINCE {
        true => match call.int("axis", 1)? {
            axis if axis == rank as i64 => Ok(Vec::new()),
            axis => Ok((call.axis(axis, rank)?..rank).collect()),
        },
        false => Ok(vec![call.axis(call.int("axis", -1)?, rank)?]),
    }
}

pub(super) fn softmax(call: &Call<'_>) -> LoweringResult {
    let options = reduce_options(&softmax_axes(call)?, false);
    single_result(call.builder.along(Reduction::Softmax, call.value(0)?, &options)?)
}

pub(super) fn log_softmax(call: &Call<'_>) -> LoweringResult {
    let options = reduce_options(&softmax_axes(call)?, false);
    single_result(call.builder.along(Reduction::LogSoftmax, call.value(0)?, &options)?)
}

pub(super) fn arg_max(call: &Call<'_>) -> LoweringResult {
    arg_reduce(call, Reduction::ArgMax)
}

pub(super) fn arg_min(call: &Call<'_>) -> LoweringResult {
    arg_reduce(call, Reduction::ArgMin)
}

/// An arg-reduction along one axis: the index of the first or last extreme element.
fn arg_reduce(call: &Call<'_>, function: Reduction) -> LoweringResult {
    let axis = call.axis(call.int("axis", 0)?, call.shape(0)?.rank())?;
    let takes_last = call.int("select_last_index", 0)? != 0;
    let options = reduce_options(&[axis], call.int("keepdims", 1)? != 0).last(takes_last);
    single_result(call.builder.along(function, call.value(0)?, options)?)
}

/// 1 at the first of the largest elements, else 0.
pub(super) fn hardmax(call: &Call<'_>) -> LoweringResult {
    let (shape, dtype) = (call.shape(0)?, call.dtype(0)?);
    let axes = softmax_axes(call)?;
    if shape.contains(&0) {
        return single_result(call.value(0)?.clone());
    }
    let is_flattened = call.version() < ONE_AXIS_SINCE;
    let (x, axis) = match is_flattened {
        true => {
            let columns = shape.rank() - axes.len();
            (call.builder.reshape(call.value(0)?, matrix_sizes(&shape, columns))?, 1)
        }
        false => (call.value(0)?.clone(), axes[0]),
    };
    let positions = call.builder.iota(DType::I64, x.array_type()?.shape, axis as i64)?;
    let found = call.builder.along(Reduction::ArgMax, &x, reduce_options(&[axis], true))?;
    let equals_found = call.builder.elementwise(Op::Eq, &[positions, found], &RuleSet::Numpy)?;
    single_result(call.builder.reshape(call.builder.convert(equals_found, dtype)?, shape)?)
}
