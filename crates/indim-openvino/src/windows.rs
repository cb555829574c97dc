//! Convolutions and pooling.

use indim_builder::{Convolution, PaddedWindow, PoolDivisor, Value};
use indim_model::FormatErrorKind;
use indim_ops::{DType, ReduceOp};

use crate::call::{Call, LoweringResult};

/// Numbers of attributes: far beyond every real window, so that sums cannot overflow.
const MAX_NUMBER: i64 = 1 << 40;

/// Windows, and for each the elements of padding that rounding adds.
type PaddedWindows<W> = (Vec<W>, Vec<usize>);

fn is_number(dtype: DType) -> bool {
    dtype != DType::Bool
}

/// A list with a number for each axis, from `min` on; `default` if the attribute is absent.
fn list(
    call: &Call<'_>,
    name: &str,
    (count, min): (usize, i64),
    default: i64,
) -> LoweringResult<Vec<i64>> {
    let given = call.layer.integers(name)?;
    let list = if given.is_empty() { vec![default; count] } else { given };
    if list.len() != count {
        let problem = format!("has {} numbers, not {count}", list.len());
        return Err(FormatErrorKind::attribute(name, problem));
    }
    match list.iter().find(|number| !(min..=MAX_NUMBER).contains(number)) {
        Some(number) => Err(FormatErrorKind::attribute(name, format!("has the number {number}"))),
        None => Ok(list),
    }
}

/// The spatial sizes of operand 0: the axes from the second on.
fn spatial(call: &Call<'_>) -> LoweringResult<Vec<usize>> {
    let shape = call.shape(0)?;
    match shape.rank() {
        3.. => Ok(shape[2..].to_vec()),
        rank => {
            let expected = format!("an operand of rank 3 or more, not {rank}");
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}

/// The two parts of a padding whose odd element is at the end, or at the beginning.
fn halves(total: i64, is_upper: bool) -> (i64, i64) {
    let (less, more) = (total / 2, total - total / 2);
    if is_upper { (less, more) } else { (more, less) }
}

/// The windows of the attributes without padding, for kernels of these sizes.
fn unpadded(call: &Call<'_>, kernel: &[usize]) -> LoweringResult<Vec<PaddedWindow>> {
    let strides = list(call, "strides", (kernel.len(), 1), 1)?;
    let dilations = list(call, "dilations", (kernel.len(), 1), 1)?;
    let window = |(axis, &size): (usize, &usize)| PaddedWindow {
        size,
        stride: strides[axis] as usize,
        dilation: dilations[axis] as usize,
        ..PaddedWindow::default()
    };
    Ok(kernel.iter().enumerate().map(window).collect())
}

/// Padding before and behind each axis; `None` under `same_upper` and `same_lower`.
fn stated_pads(call: &Call<'_>, rank: usize) -> LoweringResult<Option<Vec<(i64, i64)>>> {
    match &call.layer.word("auto_pad", "explicit")[..] {
        "same_upper" | "same_lower" => Ok(None),
        "valid" => Ok(Some(vec![(0, 0); rank])),
        "explicit" | "notset" => {
            let before = list(call, "pads_begin", (rank, 0), 0)?;
            let behind = list(call, "pads_end", (rank, 0), 0)?;
            Ok(Some(before.into_iter().zip(behind).collect()))
        }
        _ => {
            let problem = "is none of explicit, same_upper, same_lower and valid";
            Err(FormatErrorKind::attribute("auto_pad", problem))
        }
    }
}

/// How the number of windows is rounded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Floor,
    Ceil,
    /// Up, but a window that begins in the padding behind the axis is left out.
    CeilTorch,
}

/// The padded windows of the attributes, and for each the elements of padding that rounding adds.
fn padded(
    call: &Call<'_>,
    kernel: &[usize],
    rounding: Rounding,
) -> LoweringResult<PaddedWindows<PaddedWindow>> {
    let sizes = spatial(call)?;
    let mut windows = unpadded(call, kernel)?;
    let pads = stated_pads(call, kernel.len())?;
    let is_upper = call.layer.word("auto_pad", "explicit") == "same_upper";
    let mut beyond = vec![0; kernel.len()];
    for (axis, (window, &size)) in windows.iter_mut().zip(&sizes).enumerate() {
        (window.low, window.high) = match &pads {
            Some(pads) => pads[axis],
            None => {
                let last = size.div_ceil(window.stride).saturating_sub(1) * window.stride;
                halves((last + window.window().span()).saturating_sub(size) as i64, is_upper)
            }
        };
        let (padded, span) = (window.padded(size), window.window().span());
        if window.size > 0 && span > padded {
            let problem = format!(
                "has a window of {span} elements for axis {}, which has {padded} with its pads",
                axis + 2
            );
            return Err(FormatErrorKind::attribute("kernel", problem));
        }
        if rounding != Rounding::Floor {
            let mut last = (padded - span).div_ceil(window.stride) * window.stride;
            if rounding == Rounding::CeilTorch && last as i64 >= size as i64 + window.low {
                last -= window.stride.min(last);
            }
            let more = (last + span) as i64 - padded as i64;
            window.high += more;
            beyond[axis] = more.max(0) as usize;
        }
    }
    Ok((windows, beyond))
}

/// The sizes of the spatial axes of the weights, operand 1, which has `leading` axes before them.
fn kernel_of(call: &Call<'_>, leading: usize) -> LoweringResult<Vec<usize>> {
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
    let (windows, _) = padded(call, &kernel_of(call, 2)?, Rounding::Floor)?;
    let convolution = Convolution::new(windows);
    Ok(call.builder.convolution(call.value(0), call.value(1), &convolution, None)?)
}

/// `GroupConvolution`: the weights are `[groups, out / groups, in / groups, ..]`.
pub(super) fn group_convolution(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = padded(call, &kernel_of(call, 3)?, Rounding::Floor)?;
    let weights = call.shape(1)?;
    let made = weights[0].saturating_mul(weights[1]);
    let joined: Vec<usize> = [made].iter().chain(&weights[2..]).copied().collect();
    let weights_of_groups = call.builder.reshape(call.value(1), joined)?;
    let convolution = Convolution { feature_groups: weights[0], ..Convolution::new(windows) };
    Ok(call.builder.convolution(call.value(0), weights_of_groups, &convolution, None)?)
}

/// `ConvolutionBackpropData`: the weights are `[in, out, ..]`.
pub(super) fn backward(call: &Call<'_>) -> LoweringResult {
    call.check_dtype_of(0, is_number, "numbers")?;
    let kernel = kernel_of(call, 2)?;
    let order: Vec<i64> = [1, 0].into_iter().chain(2..kernel.len() as i64 + 2).collect();
    let weights = call.builder.transpose(call.value(1), &order)?;
    transposed(call, &kernel, weights, 1)
}

/// `GroupConvolutionBackpropData`: the weights are `[groups, in / groups, out / groups, ..]`.
pub(super) fn group_backward(call: &Call<'_>) -> LoweringResult {
    call.check_dtype_of(0, is_number, "numbers")?;
    let (kernel, weights) = (kernel_of(call, 3)?, call.shape(1)?);
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..kernel.len() as i64 + 3).collect();
    let turned = call.builder.transpose(call.value(1), &order)?;
    let sizes = [weights[0].saturating_mul(weights[2]), weights[1]];
    let joined: Vec<usize> = sizes.iter().chain(&kernel).copied().collect();
    transposed(call, &kernel, call.builder.reshape(turned, joined)?, weights[0])
}

/// A convolution of the operand with zeros between its elements by the reversed weights
/// `[out, in / groups, ..]`.
fn transposed(call: &Call<'_>, kernel: &[usize], weights: Value, groups: usize) -> LoweringResult {
    let (rank, sizes) = (kernel.len(), spatial(call)?);
    let extra = list(call, "output_padding", (rank, 0), 0)?;
    let stated = if call.has(2) { Some(call.integers(2)?) } else { None };
    if let Some(stated) = stated.as_ref().filter(|stated| stated.len() != rank) {
        let expected = format!("{rank} sizes as operand 2, not {}", stated.len());
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let pads = stated_pads(call, rank)?;
    let is_upper = call.layer.word("auto_pad", "explicit") == "same_upper";
    let mut windows = unpadded(call, kernel)?;
    for (axis, window) in windows.iter_mut().enumerate() {
        let (stride, reach) = (window.stride as i64, window.window().span() as i64 - 1);
        let whole = stride * (sizes[axis] as i64 - 1) + extra[axis] + reach + 1;
        let (before, behind) = match (&stated, &pads) {
            // The padding follows from the size of the result. An odd element is on the side opposite to
            // that of a convolution (`apply_auto_pad` of OpenVINO's shape inference).
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
            // OpenVINO pads by nothing if it does not know the sizes of the result.
            (None, None) => (0, 0),
        };
        (window.spread, window.stride, window.is_reversed) = (window.stride, 1, true);
        (window.low, window.high) = (reach - before, reach - behind + extra[axis]);
    }
    let convolution = Convolution { feature_groups: groups, ..Convolution::new(windows) };
    Ok(call.builder.convolution(call.value(0), weights, &convolution, None)?)
}

/// The windows of a pool with their axes, and the elements of padding that rounding adds.
fn pooled(call: &Call<'_>) -> LoweringResult<PaddedWindows<(usize, PaddedWindow)>> {
    let rank = spatial(call)?.len();
    call.layer.text("kernel")?;
    let kernel = list(call, "kernel", (rank, 1), 1)?;
    let kernel: Vec<usize> = kernel.into_iter().map(|size| size as usize).collect();
    let rounding = match &call.layer.word("rounding_type", "floor")[..] {
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        "ceil_torch" => Rounding::CeilTorch,
        _ => return Err(FormatErrorKind::attribute("rounding_type", "names no rounding")),
    };
    let (windows, beyond) = padded(call, &kernel, rounding)?;
    Ok(((2..).zip(windows).collect(), beyond))
}

/// `AvgPool`: the average of the elements of each window, with or without the padding.
pub(super) fn average_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let (windows, beyond) = pooled(call)?;
    let divisor = match call.layer.flag("exclude-pad", None)? {
        true => PoolDivisor::Elements,
        false => PoolDivisor::Padded,
    };
    Ok(call.builder.average_pool(call.value(0), &windows, divisor, &beyond)?)
}

/// `MaxPool`: the largest element of each window; a NaN is none, as in OpenVINO's CPU back end.
pub(super) fn max_pool(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (windows, _) = pooled(call)?;
    let x = call.value(0);
    let numbers = match call.dtype(0)?.is_float() {
        true => x.is_nan().select(f64::NEG_INFINITY, x),
        false => x,
    };
    Ok(call.builder.reduce_window(numbers, ReduceOp::Max, None, &windows)?)
}
