//! Convolutions and pooling.

use indim_builder::{Convolution, PoolDivisor, Value};
use indim_graph::PaddedWindow;
use indim_model::FormatErrorKind;
use indim_model::compositions::{
    ElementOrder, max_pool_positions, normalize_response, response_windows, without_nan,
};
use indim_model::spatial_windows::{
    MAX_NUMBER, Padding, WindowRounding, checked_numbers, halves, pad_windows, plain_windows,
    spatial_sizes, transpose_window, transposed_size,
};
use indim_ops::{DType, ReduceOp};

use crate::call::{Call, LoweringResult};

/// The window of each spatial axis, and the number of padding elements that rounding adds behind each
/// axis.
type PaddedWindows<W> = (Vec<W>, Vec<usize>);

fn is_number(dtype: DType) -> bool {
    dtype != DType::Bool
}

/// An attribute that lists `count` numbers, each at least `min`. Without the attribute, each is
/// `default`.
fn integer_list(
    call: &Call<'_>,
    name: &str,
    (count, min): (usize, i64),
    default: i64,
) -> LoweringResult<Vec<i64>> {
    let given = call.layer.integers(name)?;
    let list = if given.is_empty() { vec![default; count] } else { given };
    checked_numbers(name, list, (count, min))
}

/// The spatial sizes of operand 0.
fn spatial(call: &Call<'_>) -> LoweringResult<Vec<usize>> {
    spatial_sizes(&call.shape(0)?)
}

/// Windows with the strides and dilations of the attributes, without padding; `kernel` has their sizes.
fn unpadded_windows(call: &Call<'_>, kernel: &[usize]) -> LoweringResult<Vec<PaddedWindow>> {
    let strides = integer_list(call, "strides", (kernel.len(), 1), 1)?;
    let dilations = integer_list(call, "dilations", (kernel.len(), 1), 1)?;
    plain_windows(kernel, &strides, &dilations)
}

/// The padding before and behind each axis that the attributes state; `None` for `same_upper` and
/// `same_lower`.
fn stated_pads(call: &Call<'_>, rank: usize) -> LoweringResult<Option<Vec<(i64, i64)>>> {
    match &call.layer.word("auto_pad", "explicit")[..] {
        "same_upper" | "same_lower" => Ok(None),
        "valid" => Ok(Some(vec![(0, 0); rank])),
        "explicit" | "notset" => {
            let before = integer_list(call, "pads_begin", (rank, 0), 0)?;
            let pads_end = integer_list(call, "pads_end", (rank, 0), 0)?;
            Ok(Some(before.into_iter().zip(pads_end).collect()))
        }
        _ => {
            let problem = "is none of explicit, same_upper, same_lower and valid";
            Err(FormatErrorKind::attribute("auto_pad", problem))
        }
    }
}

/// The windows with the strides, dilations and padding of the attributes, for a kernel of these sizes.
fn padded_windows(
    call: &Call<'_>,
    kernel: &[usize],
    rounding: WindowRounding,
) -> LoweringResult<PaddedWindows<PaddedWindow>> {
    let mut windows = unpadded_windows(call, kernel)?;
    let stated = stated_pads(call, kernel.len())?;
    let is_upper = call.layer.word("auto_pad", "explicit") == "same_upper";
    let padding = stated.as_deref().map_or(Padding::Same { is_upper }, Padding::Stated);
    let rounding_padding = pad_windows(&mut windows, &spatial(call)?, padding, rounding, "kernel")?;
    Ok((windows, rounding_padding))
}

/// The sizes of the spatial axes of the weights (operand 1), which follow `leading` other axes.
fn kernel_sizes(call: &Call<'_>, leading: usize) -> LoweringResult<Vec<usize>> {
    let (rank, weights) = (spatial(call)?.len(), call.shape(1)?);
    if weights.rank() != rank + leading {
        let expected = format!("weights of rank {}, not {}", rank + leading, weights.rank());
        return Err(FormatErrorKind::Unexpected { expected });
    }
    Ok(weights[leading..].to_vec())
}

/// `Convolution`: the weights are `[out, in, ..]`.
pub(super) fn convolution(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = padded_windows(call, &kernel_sizes(call, 2)?, WindowRounding::Floor)?;
    let convolution = Convolution::new(windows);
    Ok(call.builder.convolution(call.value(0), call.value(1), &convolution, None)?)
}

/// `GroupConvolution`: the weights are `[groups, out / groups, in / groups, ..]`.
pub(super) fn group_convolution(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = padded_windows(call, &kernel_sizes(call, 3)?, WindowRounding::Floor)?;
    let weights = call.shape(1)?;
    let out_channels = weights[0].saturating_mul(weights[1]);
    let merged_sizes: Vec<usize> = [out_channels].iter().chain(&weights[2..]).copied().collect();
    let weights_of_groups = call.builder.reshape(call.value(1), merged_sizes)?;
    let convolution = Convolution { feature_groups: weights[0], ..Convolution::new(windows) };
    Ok(call.builder.convolution(call.value(0), weights_of_groups, &convolution, None)?)
}

/// `ConvolutionBackpropData`: the weights are `[in, out, ..]`.
pub(super) fn backward(call: &Call<'_>) -> LoweringResult {
    call.check_dtype_of(0, is_number, "numbers")?;
    let kernel = kernel_sizes(call, 2)?;
    let order: Vec<i64> = [1, 0].into_iter().chain(2..kernel.len() as i64 + 2).collect();
    let weights = call.builder.transpose(call.value(1), &order)?;
    transposed_convolution(call, &kernel, weights, 1)
}

/// `GroupConvolutionBackpropData`: the weights are `[groups, in / groups, out / groups, ..]`.
pub(super) fn group_backward(call: &Call<'_>) -> LoweringResult {
    call.check_dtype_of(0, is_number, "numbers")?;
    let (kernel, weights) = (kernel_sizes(call, 3)?, call.shape(1)?);
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..kernel.len() as i64 + 3).collect();
    let transposed_weights = call.builder.transpose(call.value(1), &order)?;
    let sizes = [weights[0].saturating_mul(weights[2]), weights[1]];
    let merged_sizes: Vec<usize> = sizes.iter().chain(&kernel).copied().collect();
    transposed_convolution(
        call,
        &kernel,
        call.builder.reshape(transposed_weights, merged_sizes)?,
        weights[0],
    )
}

/// Inserts zeros between the elements of the operand and convolves it with the reversed weights,
/// `[out, in / groups, ..]`.
fn transposed_convolution(
    call: &Call<'_>,
    kernel: &[usize],
    weights: Value,
    groups: usize,
) -> LoweringResult {
    let (rank, sizes) = (kernel.len(), spatial(call)?);
    let extra = integer_list(call, "output_padding", (rank, 0), 0)?;
    let stated = if call.has(2) { Some(call.integers(2)?) } else { None };
    if let Some(stated) = stated.as_ref().filter(|stated| stated.len() != rank) {
        let expected = format!("{rank} sizes as operand 2, not {}", stated.len());
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let pads = stated_pads(call, rank)?;
    let is_upper = call.layer.word("auto_pad", "explicit") == "same_upper";
    let mut windows = unpadded_windows(call, kernel)?;
    for (axis, window) in windows.iter_mut().enumerate() {
        let whole = transposed_size(window, sizes[axis], extra[axis]);
        let padding = match (&stated, &pads) {
            // The size of the result determines the padding. The longer half is on the other side than in a
            // convolution (`apply_auto_pad` of OpenVINO's shape inference).
            (Some(stated), None) => {
                let total = whole - stated[axis].clamp(0, MAX_NUMBER);
                let (before, _) = halves(total.max(0), !is_upper);
                (before, total - before)
            }
            // The stated padding stays before the axis.
            (Some(stated), Some(pads)) => {
                let total = whole - stated[axis].clamp(0, MAX_NUMBER);
                (pads[axis].0, total - pads[axis].0)
            }
            (None, Some(pads)) => pads[axis],
            // OpenVINO does not pad if the file does not state the sizes of the result.
            (None, None) => (0, 0),
        };
        transpose_window(window, padding, extra[axis]);
    }
    let convolution = Convolution { feature_groups: groups, ..Convolution::new(windows) };
    Ok(call.builder.convolution(call.value(0), weights, &convolution, None)?)
}

/// The windows of a pool with their axes, and the padding elements that rounding adds.
fn pool_windows(call: &Call<'_>) -> LoweringResult<PaddedWindows<(usize, PaddedWindow)>> {
    let rank = spatial(call)?.len();
    call.layer.text("kernel")?;
    let kernel = integer_list(call, "kernel", (rank, 1), 1)?;
    let kernel: Vec<usize> = kernel.into_iter().map(|size| size as usize).collect();
    let rounding = match &call.layer.word("rounding_type", "floor")[..] {
        "floor" => WindowRounding::Floor,
        "ceil" => WindowRounding::Ceil,
        "ceil_torch" => WindowRounding::CeilWithinAxis { may_exceed: false },
        _ => return Err(FormatErrorKind::attribute("rounding_type", "names no rounding")),
    };
    let (windows, rounding_padding) = padded_windows(call, &kernel, rounding)?;
    Ok(((2..).zip(windows).collect(), rounding_padding))
}

/// `AvgPool`: the average of the elements of each window, with or without the padding.
pub(super) fn average_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let (windows, rounding_padding) = pool_windows(call)?;
    let divisor = match call.layer.flag("exclude-pad", None)? {
        true => PoolDivisor::Elements,
        false => PoolDivisor::Padded,
    };
    Ok(call.builder.average_pool(call.value(0), &windows, divisor, &rounding_padding)?)
}

/// `LRN`: the local response normalisation over the axes in operand 1.
pub(super) fn normalize_responses(call: &Call<'_>) -> LoweringResult {
    call.check_dtype_of(0, DType::is_float, "floats")?;
    let axes = call.axes(1, call.shape(0)?.rank())?;
    let size = call.layer.integer("size", None)?;
    let Some(count) = usize::try_from(size).ok().filter(|_| (1..=MAX_NUMBER).contains(&size))
    else {
        return Err(FormatErrorKind::attribute("size", format!("is {size}")));
    };
    let alpha = call.layer.float("alpha")? / (size as f64).powi(axes.len() as i32);
    let numbers = (alpha, call.layer.float("beta")?, call.layer.float("bias")?);
    Ok(normalize_response(&call.value(0), &response_windows(&axes, count), numbers)?)
}

/// `MaxPool`: the largest element of each window. A NaN is ignored, as in OpenVINO's CPU back end.
pub(super) fn max_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = pool_windows(call)?;
    Ok(call.builder.reduce_window(without_nan(&call.value(0))?, ReduceOp::Max, None, &windows)?)
}

/// `MaxPool` since opset 8: also the position of each largest element, if a layer reads it. Positions count
/// over the axes from the attribute `axis` on.
pub(super) fn max_pool_with_positions(call: &Call<'_>) -> LoweringResult<Vec<Value>> {
    if !call.reads_second {
        return Ok(vec![max_pool(call)?]);
    }
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = pool_windows(call)?;
    let shape = call.shape(0)?;
    let axis = call.axis(call.layer.integer("axis", Some(0))?, shape.rank())?;
    let dtype = match &call.layer.word("index_element_type", "i64")[..] {
        "i32" => DType::I32,
        "i64" => DType::I64,
        _ => {
            return Err(FormatErrorKind::attribute("index_element_type", "is neither i32 nor i64"));
        }
    };
    let x = call.value(0);
    let [largest, positions] = max_pool_positions(&x, &windows, ElementOrder::RowMajor)?;
    // A window of padding alone has the position 0, as in OpenVINO.
    let positions = positions.maximum(0i64);
    let counted = shape[axis..].iter().try_fold(1i64, |n, &size| n.checked_mul(size as i64));
    let positions = match counted {
        Some(counted) if axis > 0 => positions % counted.max(1),
        _ => positions,
    };
    Ok(vec![largest, call.builder.convert(positions, dtype)?])
}
