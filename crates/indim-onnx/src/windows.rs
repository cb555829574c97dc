//! Convolutions and pooling.

use indim_builder::{Convolution, PoolDivisor, Value};
use indim_graph::{Literal, PaddedWindow, TakeMode};
use indim_model::FormatErrorKind;
use indim_model::compositions::{
    ElementOrder, max_pool_positions, norm_pool, normalize_response, response_windows, without_nan,
};
use indim_model::shape_values::KnownValue;
use indim_model::spatial_windows::{
    MAX_NUMBER, Padding, WindowRounding, checked_numbers, halves, pad_windows, plain_windows,
    spatial_sizes, transpose_window, transposed_size,
};
use indim_ops::{DType, ReduceOp, ScatterOp};
use indim_shape::Shape;

use super::call::{Call, LoweringResult, single_result};
use super::quantization::{broadcast_along_axis, round_and_saturate};

/// The window of each spatial axis, and the number of padding elements that `ceil_mode` adds behind each
/// axis.
type PaddedWindows<W> = Result<(Vec<W>, Vec<usize>), FormatErrorKind>;

/// An attribute that lists `count` numbers, each at least `min`. Without the attribute, each is
/// `default`.
fn integer_list(
    call: &Call<'_>,
    name: &str,
    (count, min): (usize, i64),
    default: i64,
) -> Result<Vec<i64>, FormatErrorKind> {
    checked_numbers(name, call.ints(name)?.unwrap_or_else(|| vec![default; count]), (count, min))
}

/// The spatial sizes of operand 0.
fn spatial(call: &Call<'_>) -> Result<Vec<usize>, FormatErrorKind> {
    spatial_sizes(&call.shape(0)?)
}

/// Windows with the strides and dilations of the attributes, without padding; `kernel` has their sizes.
fn unpadded_windows(
    call: &Call<'_>,
    kernel: &[usize],
) -> Result<Vec<PaddedWindow>, FormatErrorKind> {
    let strides = integer_list(call, "strides", (kernel.len(), 1), 1)?;
    let dilations = integer_list(call, "dilations", (kernel.len(), 1), 1)?;
    plain_windows(kernel, &strides, &dilations)
}

/// The padding before and behind each axis that the attributes state; `None` if `auto_pad` asks for `SAME`
/// padding.
fn stated_pads(
    call: &Call<'_>,
    auto_pad: &str,
    rank: usize,
) -> Result<Option<Vec<(i64, i64)>>, FormatErrorKind> {
    match auto_pad {
        "SAME_UPPER" | "SAME_LOWER" => Ok(None),
        "VALID" => Ok(Some(vec![(0, 0); rank])),
        "NOTSET" => {
            let pads = integer_list(call, "pads", (2 * rank, 0), 0)?;
            Ok(Some((0..rank).map(|axis| (pads[axis], pads[axis + rank])).collect()))
        }
        _ => {
            let problem = "is none of NOTSET, SAME_UPPER, SAME_LOWER and VALID";
            Err(FormatErrorKind::attribute("auto_pad", problem))
        }
    }
}

/// The windows with the strides, dilations and padding of the attributes, for a kernel of these sizes.
/// `ceils` tells whether `ceil_mode` rounds the number of windows up.
fn padded_windows(call: &Call<'_>, kernel: &[usize], ceils: bool) -> PaddedWindows<PaddedWindow> {
    let mut windows = unpadded_windows(call, kernel)?;
    let auto_pad = call.text("auto_pad", "NOTSET")?;
    let stated = stated_pads(call, &auto_pad, kernel.len())?;
    let same = Padding::Same { is_upper: auto_pad == "SAME_UPPER" };
    let padding = stated.as_deref().map_or(same, Padding::Stated);
    let rounding = match ceils {
        true => WindowRounding::CeilWithinAxis { may_exceed: true },
        false => WindowRounding::Floor,
    };
    let rounding_padding =
        pad_windows(&mut windows, &spatial(call)?, padding, rounding, "kernel_shape")?;
    Ok((windows, rounding_padding))
}

/// The spatial sizes of the kernel, from the weights, operand `position`. The attribute `kernel_shape` must
/// agree with them.
fn kernel_sizes(call: &Call<'_>, position: usize) -> Result<Vec<usize>, FormatErrorKind> {
    let (rank, weights) = (spatial(call)?.len(), call.shape(position)?);
    if weights.rank() != rank + 2 {
        let expected = format!("weights of rank {}, not {}", rank + 2, weights.rank());
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let kernel = weights[2..].to_vec();
    match call.ints("kernel_shape")? {
        Some(stated) if stated.iter().copied().ne(kernel.iter().map(|&size| size as i64)) => {
            let problem = format!("is {stated:?}, but the weights have {kernel:?}");
            Err(FormatErrorKind::attribute("kernel_shape", problem))
        }
        _ => Ok(kernel),
    }
}

fn groups(call: &Call<'_>) -> Result<usize, FormatErrorKind> {
    let groups = call.int("group", 1)?;
    usize::try_from(groups)
        .ok()
        .filter(|&groups| groups > 0)
        .ok_or_else(|| FormatErrorKind::attribute("group", format!("is {groups}")))
}

/// The convolution of two values with the attributes of the node; `weights` is the position of the
/// weights, `dtype` the element type of the result, or `None` for that of the values.
fn convolve(
    call: &Call<'_>,
    (x, w): (&Value, &Value),
    weights: usize,
    dtype: Option<DType>,
) -> Result<Value, FormatErrorKind> {
    let (windows, _) = padded_windows(call, &kernel_sizes(call, weights)?, false)?;
    let feature_groups = groups(call)?;
    let convolution = Convolution { feature_groups, ..Convolution::new(windows) };
    Ok(call.builder.convolution(x, w, &convolution, dtype)?)
}

/// The result plus the bias of each channel, operand `position`.
fn add_bias(call: &Call<'_>, result: Value, position: usize) -> LoweringResult {
    let Some(bias) = call.optional(position) else { return single_result(result) };
    let bias = call.builder.broadcast_in_dim(&bias.value, &[1], result.array_type()?.shape)?;
    single_result(result + bias)
}

pub(super) fn convolution(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let result = convolve(call, (call.value(0)?, call.value(1)?), 1, None)?;
    add_bias(call, result, 2)
}

/// Elements minus their zero point, in 16 bits, which contain every difference. The zero point is one number,
/// or one for each index of axis 0.
fn subtract_zero_point(
    call: &Call<'_>,
    position: usize,
    zero: usize,
) -> Result<Value, FormatErrorKind> {
    call.check_dtype(position, |dtype| matches!(dtype, DType::I8 | DType::U8))?;
    let value = call.value(position)?;
    let value = value.convert(DType::I16);
    let Some(zero) = call.optional(zero) else { return Ok(value) };
    let shape = value.array_type()?.shape;
    Ok(&value - broadcast_along_axis(call, &zero.value.convert(DType::I16), &shape, Some(0))?)
}

/// `ConvInteger`: sums in 32 bits. Padding has the value of the zero point, so it is 0 after the
/// subtraction.
pub(super) fn convolution_integer(call: &Call<'_>) -> LoweringResult {
    let (x, w) = (subtract_zero_point(call, 0, 2)?, subtract_zero_point(call, 1, 3)?);
    single_result(convolve(call, (&x, &w), 1, Some(DType::I32))?)
}

/// `QLinearConv`: a convolution with its bias in 32 bits, times `x_scale * w_scale / y_scale`, rounded,
/// plus the zero point of the result.
pub(super) fn convolution_quantized(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(7, |dtype| matches!(dtype, DType::I8 | DType::U8))?;
    let (x, w) = (subtract_zero_point(call, 0, 2)?, subtract_zero_point(call, 3, 5)?);
    let sum = add_bias(call, convolve(call, (&x, &w), 3, Some(DType::I32))?, 8)?.remove(0).value;
    let shape = sum.array_type()?.shape;
    let parameter = |position: usize| {
        let value = call.value(position)?.convert(DType::F32);
        broadcast_along_axis(call, &value, &shape, Some(1))
    };
    let scale = parameter(1)? * parameter(4)? / parameter(6)?;
    let product = sum.convert(DType::F32) * scale;
    single_result(round_and_saturate(call, product, Some(parameter(7)?), call.dtype(7)?)?)
}

/// `ConvTranspose`: inserts zeros between the elements of the operand and convolves it with the reversed
/// weights.
pub(super) fn transposed_convolution(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (sizes, kernel, groups) = (spatial(call)?, kernel_sizes(call, 1)?, groups(call)?);
    let rank = kernel.len();
    let extra = integer_list(call, "output_padding", (rank, 0), 0)?;
    let stated = match call.ints("output_shape")? {
        None => None,
        Some(shape) if shape.len() == rank => Some(shape),
        // Some files also state the sizes of the batch and channel axes.
        Some(shape) if shape.len() == rank + 2 => Some(shape[2..].to_vec()),
        Some(_) => {
            return Err(FormatErrorKind::attribute("output_shape", "has not a size for each axis"));
        }
    };
    let auto_pad = call.text("auto_pad", "NOTSET")?;
    let pads = stated_pads(call, &auto_pad, rank)?;
    let mut windows = unpadded_windows(call, &kernel)?;
    for (axis, window) in windows.iter_mut().enumerate() {
        let whole = transposed_size(window, sizes[axis], extra[axis]);
        let sought = match (&stated, &pads) {
            (Some(stated), _) => Some(stated[axis]),
            (None, None) => Some((sizes[axis] as i64).saturating_mul(window.stride as i64)),
            (None, Some(_)) => None,
        };
        let padding = match (sought, &pads) {
            (Some(sought), _) if (0..=MAX_NUMBER).contains(&sought) => {
                let total = whole - sought;
                let (before, _) = halves(total.max(0), auto_pad == "SAME_UPPER");
                (before, total - before)
            }
            (None, Some(pads)) => pads[axis],
            (sought, _) => {
                let problem =
                    format!("asks for {} elements of axis {}", sought.unwrap_or(0), axis + 2);
                return Err(FormatErrorKind::attribute("output_shape", problem));
            }
        };
        transpose_window(window, padding, extra[axis]);
    }
    let weights = swap_channels(call, call.value(1)?, groups)?;
    let convolution = Convolution { feature_groups: groups, ..Convolution::new(windows) };
    let result = call.builder.convolution(call.value(0)?, weights, &convolution, None)?;
    add_bias(call, result, 2)
}

/// Weights `[in, out / groups, ..]` as `[out, in / groups, ..]`.
fn swap_channels(
    call: &Call<'_>,
    weights: &Value,
    groups: usize,
) -> Result<Value, FormatErrorKind> {
    let sizes = weights.array_type()?.shape.to_vec();
    if sizes[0] % groups != 0 {
        let problem = format!("does not divide {} channels", sizes[0]);
        return Err(FormatErrorKind::attribute("group", problem));
    }
    let in_channels = sizes[0] / groups;
    let split: Vec<usize> = [groups, in_channels].iter().chain(&sizes[1..]).copied().collect();
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..split.len() as i64).collect();
    let transposed_weights =
        call.builder.transpose(call.builder.reshape(weights, split)?, &order)?;
    let leading_sizes = [groups * sizes[1], in_channels];
    let merged_sizes: Vec<usize> = leading_sizes.iter().chain(&sizes[2..]).copied().collect();
    Ok(call.builder.reshape(transposed_weights, merged_sizes)?)
}

/// The windows of a pool with their axes, and the padding elements that `ceil_mode` adds.
fn pool_windows(call: &Call<'_>) -> PaddedWindows<(usize, PaddedWindow)> {
    let rank = spatial(call)?.len();
    if call.ints("kernel_shape")?.is_none() {
        return Err(FormatErrorKind::attribute("kernel_shape", "is missing"));
    }
    let kernel = integer_list(call, "kernel_shape", (rank, 1), 1)?;
    let kernel: Vec<usize> = kernel.into_iter().map(|size| size as usize).collect();
    let (windows, rounding_padding) =
        padded_windows(call, &kernel, call.int("ceil_mode", 0)? != 0)?;
    Ok(((2..).zip(windows).collect(), rounding_padding))
}

pub(super) fn average_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (windows, rounding_padding) = pool_windows(call)?;
    let divisor = match call.int("count_include_pad", 0)? {
        0 => PoolDivisor::Elements,
        _ => PoolDivisor::Padded,
    };
    single_result(call.builder.average_pool(
        call.value(0)?,
        &windows,
        divisor,
        &rounding_padding,
    )?)
}

/// `MaxPool`: the largest element of each window, and its position. A NaN is ignored, as in most kernels of
/// ONNX Runtime.
pub(super) fn max_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, |dtype| dtype.is_float() || matches!(dtype, DType::I8 | DType::U8))?;
    let (windows, _) = pool_windows(call)?;
    if call.results.iter().skip(1).any(Option::is_some) {
        let order = match call.int("storage_order", 0)? {
            0 => ElementOrder::RowMajor,
            1 => ElementOrder::ColumnMajor,
            _ => return Err(FormatErrorKind::attribute("storage_order", "is neither 0 nor 1")),
        };
        let results = max_pool_positions(call.value(0)?, &windows, order)?;
        return Ok(results.into_iter().map(KnownValue::from).collect());
    }
    let numbers = without_nan(call.value(0)?)?;
    single_result(call.builder.reduce_window(numbers, ReduceOp::Max, None, &windows)?)
}

/// `MaxUnpool`: the inverse of `MaxPool`: each element at its position (operand 1), zeros elsewhere.
pub(super) fn max_unpool(call: &Call<'_>) -> LoweringResult {
    let (shape, sizes) = (call.shape(0)?, spatial(call)?);
    let kernel = integer_list(call, "kernel_shape", (sizes.len(), 1), 1)?;
    let strides = integer_list(call, "strides", (sizes.len(), 1), 1)?;
    let pads = stated_pads(call, "NOTSET", sizes.len())?.unwrap_or_default();
    let mut inferred = shape[..2].to_vec();
    for (axis, &size) in sizes.iter().enumerate() {
        let reach = (size as i64 - 1).saturating_mul(strides[axis]);
        let size = reach.saturating_add(kernel[axis] - pads[axis].0 - pads[axis].1);
        inferred.push(usize::try_from(size).unwrap_or(0));
    }
    let result = match call.optional_integers(2)? {
        Some(stated) => super::elementwise::sizes(&stated)?,
        None => Shape::from(inferred.clone()),
    };
    if result.rank() != shape.rank() || result[..2] != shape[..2] {
        return Err(FormatErrorKind::attribute("output_shape", "has other axes than the operand"));
    }
    let count = |shape: &Shape| -> Result<usize, FormatErrorKind> {
        let expected = "a result that fits into memory".to_owned();
        shape.element_count().map_err(|_| FormatErrorKind::Unexpected { expected })
    };
    // Positions count in the inferred shape; a larger stated shape has zeros after it.
    let inferred = Shape::from(inferred);
    let b = call.builder;
    let flat = |position: usize| -> Result<Value, FormatErrorKind> {
        Ok(b.reshape(call.value(position)?, [count(&call.shape(position)?)?])?)
    };
    let zero = b.literal(Literal::Int(0), call.dtype(0)?)?;
    let zeros = b.broadcast_in_dim(&zero, &[], [count(&inferred)?])?;
    let filled = b.scatter(ScatterOp::Set, zeros, flat(1)?, flat(0)?, 0, TakeMode::Error)?;
    let filled = b.reshape(filled, inferred.clone())?;
    let widths: Vec<(i64, i64, usize)> =
        result.iter().zip(inferred.iter()).map(|(&a, &b)| (0, a as i64 - b as i64, 0)).collect();
    single_result(b.pad(filled, zero, &widths)?)
}

/// `LpPool`: the norm of each window.
pub(super) fn lp_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let (windows, _) = pool_windows(call)?;
    single_result(norm_pool(call.value(0)?, &windows, norm_order(call)?)?)
}

/// `GlobalLpPool`: the norm over all axes except the first two.
pub(super) fn global_lp_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let whole = |(axis, size)| (axis + 2, PaddedWindow { size, ..PaddedWindow::default() });
    let windows: Vec<_> = spatial(call)?.into_iter().enumerate().map(whole).collect();
    single_result(norm_pool(call.value(0)?, &windows, norm_order(call)?)?)
}

/// The attribute `p`, which the first version states as a float.
fn norm_order(call: &Call<'_>) -> Result<f64, FormatErrorKind> {
    let p = match call.version() {
        1 => call.float("p", 2.0)?,
        _ => call.int("p", 2)? as f64,
    };
    let wrong = || FormatErrorKind::attribute("p", "is not positive");
    Some(p).filter(|&p| p > 0.0).ok_or_else(wrong)
}

/// `LRN`: the local response normalisation over channels.
pub(super) fn normalize_responses(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let size = call.required_int("size")?;
    let Some(count) = usize::try_from(size).ok().filter(|_| (1..=MAX_NUMBER).contains(&size))
    else {
        return Err(FormatErrorKind::attribute("size", format!("is {size}")));
    };
    if call.shape(0)?.rank() < 2 {
        let expected = "an operand with a channel axis".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let alpha = call.float("alpha", 1e-4)? / size as f64;
    let numbers = (alpha, call.float("beta", 0.75)?, call.float("bias", 1.0)?);
    let windows = response_windows(&[1], count);
    single_result(normalize_response(call.value(0)?, &windows, numbers)?)
}
