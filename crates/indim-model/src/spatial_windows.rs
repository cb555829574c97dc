//! Windows of convolutions and pools over spatial axes, from attributes of ONNX and OpenVINO.

use indim_graph::PaddedWindow;
use indim_shape::Shape;

use crate::FormatErrorKind;

/// Maximum of a number in an attribute of windows, of the size of a spatial axis, and of the span of a
/// window: larger than arrays in memory, and small enough that sums of such numbers do not overflow.
pub const MAX_NUMBER: i64 = 1 << 40;

/// The rounding of the number of windows of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowRounding {
    /// Down: each window is whole.
    Floor,
    /// Up: padding makes the last window whole.
    Ceil,
    /// Up, but without a window that begins in the padding after the axis.
    CeilWithinAxis {
        /// Whether rounding may also make the first window whole, as in ONNX: by less than a stride.
        may_exceed: bool,
    },
}

/// The padding of axes.
#[derive(Debug, Clone, Copy)]
pub enum Padding<'a> {
    /// Elements before and after each axis.
    Stated(&'a [(i64, i64)]),
    /// The padding that gives each axis `size / stride` windows, rounded up. If its length is odd, the
    /// longer half is after the axis if `is_upper` is set, else before it.
    Same {
        /// Whether the longer half is after the axis.
        is_upper: bool,
    },
}

/// Checks that an attribute lists a number for each of `count` axes, from `min` to [`MAX_NUMBER`].
///
/// # Errors
/// `attribute`.
///
/// ```
/// use indim_model::spatial_windows::checked_numbers;
///
/// assert_eq!(checked_numbers("strides", vec![2, 1], (2, 1)).unwrap(), [2, 1]);
/// assert!(checked_numbers("strides", vec![2, 0], (2, 1)).is_err());
/// ```
pub fn checked_numbers(
    name: &str,
    list: Vec<i64>,
    (count, min): (usize, i64),
) -> Result<Vec<i64>, FormatErrorKind> {
    if list.len() != count {
        let problem = format!("has {} numbers, not {count}", list.len());
        return Err(FormatErrorKind::attribute(name, problem));
    }
    match list.iter().find(|number| !(min..=MAX_NUMBER).contains(number)) {
        Some(number) => Err(FormatErrorKind::attribute(name, format!("has the number {number}"))),
        None => Ok(list),
    }
}

/// The sizes of the spatial axes: those after batch and features, of a shape of rank 3 or more.
///
/// # Errors
/// `unexpected` for a lower rank, and for an axis of more than [`MAX_NUMBER`] elements.
pub fn spatial_sizes(shape: &Shape) -> Result<Vec<usize>, FormatErrorKind> {
    let expected = match (shape.rank(), shape.iter().skip(2).find(|&&size| is_too_large(size))) {
        (3.., None) => return Ok(shape[2..].to_vec()),
        (_, Some(size)) => format!("spatial axes of up to {MAX_NUMBER} elements, not {size}"),
        (rank, None) => format!("an operand of rank 3 or more, not {rank}"),
    };
    Err(FormatErrorKind::Unexpected { expected })
}

fn is_too_large(size: usize) -> bool {
    i64::try_from(size).map_or(true, |size| size > MAX_NUMBER)
}

/// The windows without padding for a kernel of these sizes. The caller has checked strides and dilations.
///
/// # Errors
/// `attribute` for a window that spans more than [`MAX_NUMBER`] elements.
pub fn plain_windows(
    kernel: &[usize],
    strides: &[i64],
    dilations: &[i64],
) -> Result<Vec<PaddedWindow>, FormatErrorKind> {
    let window = |(axis, &size): (usize, &usize)| {
        let (stride, dilation) = (strides[axis] as usize, dilations[axis] as usize);
        let window = PaddedWindow { size, stride, dilation, ..PaddedWindow::default() };
        if is_too_large(window.window().span()) {
            let problem = format!("has the number {dilation} for {size} elements of a kernel");
            return Err(FormatErrorKind::attribute("dilations", problem));
        }
        Ok(window)
    };
    kernel.iter().enumerate().map(window).collect()
}

/// The two halves of a padding. If its length is odd, the second half is the longer one if `is_upper` is set,
/// else the first.
///
/// ```
/// use indim_model::spatial_windows::halves;
///
/// assert_eq!((halves(3, true), halves(3, false)), ((1, 2), (2, 1)));
/// ```
pub fn halves(total: i64, is_upper: bool) -> (i64, i64) {
    let (less, more) = (total / 2, total - total / 2);
    if is_upper { (less, more) } else { (more, less) }
}

/// Sets the padding of windows over axes of these sizes. Returns the number of padding elements that the
/// rounding adds after each axis. `attribute` names the attribute of kernel sizes in errors.
///
/// ```
/// use indim_graph::PaddedWindow;
/// use indim_model::spatial_windows::{Padding, WindowRounding, pad_windows};
///
/// let mut windows = [PaddedWindow { size: 3, stride: 2, ..PaddedWindow::default() }];
/// let padding = Padding::Stated(&[(0, 1)]);
/// let added = pad_windows(&mut windows, &[5], padding, WindowRounding::Ceil, "kernel").unwrap();
/// assert_eq!((added, windows[0].high, windows[0].positions(5)), (vec![1], 2, 3));
/// ```
///
/// # Errors
/// `attribute` for a window that is larger than its padded axis, unless the rounding allows it.
pub fn pad_windows(
    windows: &mut [PaddedWindow],
    sizes: &[usize],
    padding: Padding<'_>,
    rounding: WindowRounding,
    attribute: &str,
) -> Result<Vec<usize>, FormatErrorKind> {
    let mut added = vec![0; windows.len()];
    for (axis, (window, &size)) in windows.iter_mut().zip(sizes).enumerate() {
        (window.low, window.high) = match padding {
            Padding::Stated(pads) => pads[axis],
            Padding::Same { is_upper } => same_padding(window, size, is_upper),
        };
        let (padded, span) = (window.padded(size), window.window().span());
        let exceeds = match rounding {
            WindowRounding::CeilWithinAxis { may_exceed: true } => {
                span.saturating_sub(padded) >= window.stride
            }
            _ => span > padded,
        };
        if window.size > 0 && exceeds {
            let problem = format!(
                "has a window of {span} elements for axis {}, which has {padded} with its pads",
                axis + 2
            );
            return Err(FormatErrorKind::attribute(attribute, problem));
        }
        let more = rounded_padding(window, size, rounding);
        window.high += more;
        added[axis] = more.max(0) as usize;
    }
    Ok(added)
}

/// The padding that gives an axis `size / stride` windows, rounded up.
fn same_padding(window: &PaddedWindow, size: usize, is_upper: bool) -> (i64, i64) {
    let last = size.div_ceil(window.stride).saturating_sub(1) * window.stride;
    halves((last + window.window().span()).saturating_sub(size) as i64, is_upper)
}

/// The elements that a rounding adds to the padding after an axis, so that the last window is whole;
/// negative if the windows end before the padding does.
fn rounded_padding(window: &PaddedWindow, size: usize, rounding: WindowRounding) -> i64 {
    if rounding == WindowRounding::Floor {
        return 0;
    }
    let (padded, span) = (window.padded(size), window.window().span());
    let mut last = padded.saturating_sub(span).div_ceil(window.stride) * window.stride;
    let is_behind = last as i64 >= size as i64 + window.low;
    if matches!(rounding, WindowRounding::CeilWithinAxis { .. }) && is_behind {
        last -= window.stride.min(last);
    }
    (last + span) as i64 - padded as i64
}

/// The size of the result of a transposed convolution without padding; `extra` elements are added at the end.
/// A size that an `i64` does not hold is `i64::MAX`.
///
/// ```
/// use indim_graph::PaddedWindow;
/// use indim_model::spatial_windows::{MAX_NUMBER, transposed_size};
///
/// let window = PaddedWindow { size: 3, stride: 2, ..PaddedWindow::default() };
/// assert_eq!(transposed_size(&window, 4, 1), 10);
/// let window = PaddedWindow { stride: MAX_NUMBER as usize, ..window };
/// assert_eq!(transposed_size(&window, MAX_NUMBER as usize, 1), i64::MAX);
/// ```
pub fn transposed_size(window: &PaddedWindow, size: usize, extra: i64) -> i64 {
    let spread = (size as i64 - 1).saturating_mul(window.stride as i64);
    spread.saturating_add(extra).saturating_add(window.window().span() as i64)
}

/// Replaces the window of a convolution by that of its transposition, which spreads the elements of the
/// axis and reverses the kernel. `padding` is removed from the result, and `extra` elements are added
/// after it.
pub fn transpose_window(window: &mut PaddedWindow, padding: (i64, i64), extra: i64) {
    let reach = window.window().span() as i64 - 1;
    (window.base_dilation, window.stride, window.is_reversed) = (window.stride, 1, true);
    (window.low, window.high) = (reach - padding.0, reach - padding.1 + extra);
}
