//! Pools beyond the builder's: positions of largest elements, norms of windows, response normalisation.

use indim_builder::Value;
use indim_graph::{AxisSlice, GraphError, Literal, PaddedWindow};
use indim_ops::{DType, ReduceOp};

use crate::FormatErrorKind;

/// Maximum number of elements of a window whose largest one is located: each is a few nodes.
const MAX_WINDOW: usize = 4096;

/// The order in which elements of the windowed axes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementOrder {
    /// The last axis first.
    RowMajor,
    /// The first windowed axis first.
    ColumnMajor,
}

/// `x` with -inf in place of NaN; integers stay.
///
/// # Errors
/// Errors of the builder.
pub fn without_nan(x: &Value) -> Result<Value, GraphError> {
    let (b, dtype) = (x.builder(), x.array_type()?.dtype);
    match dtype.is_float() {
        true => {
            let least = b.literal(Literal::Float(f64::NEG_INFINITY), dtype)?;
            Ok(x.is_nan().select(least, x))
        }
        false => Ok(x.clone()),
    }
}

/// The largest element of each window, and its position in `x`, counted over all axes. Among equal elements
/// the first of the window counts. NaN is ignored; a window of NaN and -inf has its first element.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::PaddedWindow;
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::{ElementOrder, max_pool_positions};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4])?;
/// let window = PaddedWindow { size: 2, low: 1, ..PaddedWindow::default() };
/// let [largest, positions] = max_pool_positions(&x, &[(0, window)], ElementOrder::RowMajor).unwrap();
/// let graph = b.finish(&[largest, positions])?;
/// let results = evaluate(&graph, &[Array::new([4], vec![1.0f32, 3.0, 3.0, 2.0])?])?;
/// assert_eq!(results[0].elements::<f32>(), Ok(&[1.0, 3.0, 3.0, 3.0][..]));
/// assert_eq!(results[1].elements::<i64>(), Ok(&[0, 1, 1, 2][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `limit` for a window of more than 4096 elements; errors of the builder.
pub fn max_pool_positions(
    x: &Value,
    windows: &[(usize, PaddedWindow)],
    order: ElementOrder,
) -> Result<[Value; 2], FormatErrorKind> {
    let (b, array_type) = (x.builder(), x.array_type()?);
    let shape = array_type.shape;
    let sizes = windows.iter().map(|(_, window)| window.size);
    let count = sizes.clone().try_fold(1usize, usize::checked_mul);
    let Some(count) = count.filter(|&count| count <= MAX_WINDOW) else {
        return Err(FormatErrorKind::Limit { what: "elements of a window", limit: MAX_WINDOW });
    };
    let mut widths = vec![(0, 0, 0); shape.rank()];
    for &(axis, window) in windows {
        widths[axis] = (window.low, window.high, 0);
    }
    let smallest = match array_type.dtype {
        dtype if dtype.is_float() => b.literal(Literal::Float(f64::NEG_INFINITY), dtype)?,
        dtype => b.convert(b.literal(Literal::Float(f64::NEG_INFINITY), DType::F64)?, dtype)?,
    };
    let padded = b.pad(without_nan(x)?, smallest, &widths)?;
    let outside = b.scalar(-1i64);
    let positions = b.pad(element_positions(x, windows, order)?, outside, &widths)?;
    let mut best: Option<[Value; 2]> = None;
    for tap in 0..count {
        let slices = tap_slices(&padded, windows, tap)?;
        let [value, position] = [b.slice(&padded, &slices)?, b.slice(&positions, &slices)?];
        best = Some(match best {
            None => [value, position],
            Some([largest, at]) => {
                let is_better = position.ge(0i64) & (value.gt(&largest) | at.lt(0i64));
                [is_better.select(value, largest), is_better.select(position, at)]
            }
        });
    }
    let expected = || FormatErrorKind::Unexpected { expected: "windows with elements".to_owned() };
    best.ok_or_else(expected)
}

/// The position of each element of `x`.
fn element_positions(
    x: &Value,
    windows: &[(usize, PaddedWindow)],
    order: ElementOrder,
) -> Result<Value, GraphError> {
    let (b, shape) = (x.builder(), x.array_type()?.shape);
    let is_windowed = |axis: &usize| windows.iter().any(|(windowed, _)| windowed == axis);
    // The axes from the one that is counted first on.
    let mut axes: Vec<usize> = (0..shape.rank()).rev().collect();
    if order == ElementOrder::ColumnMajor {
        let (mut windowed, others): (Vec<usize>, Vec<usize>) =
            axes.into_iter().partition(is_windowed);
        windowed.reverse();
        axes = [windowed, others].concat();
    }
    let mut positions = b.broadcast_in_dim(b.scalar(0i64), &[], shape.clone())?;
    let mut stride = 1i64;
    for axis in axes {
        positions = positions + b.iota(DType::I64, shape.clone(), axis as i64)? * stride;
        stride = stride.saturating_mul(shape[axis] as i64);
    }
    positions.array_type()?;
    Ok(positions)
}

/// The slices that take element `tap` of each window.
fn tap_slices(
    padded: &Value,
    windows: &[(usize, PaddedWindow)],
    tap: usize,
) -> Result<Vec<AxisSlice>, GraphError> {
    let shape = padded.array_type()?.shape;
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    let mut rest = tap;
    for &(axis, window) in windows.iter().rev() {
        let element = rest % window.size;
        rest /= window.size;
        let start = element * window.dilation;
        let count = window.window().positions(shape[axis]);
        slices[axis] = AxisSlice::new(start, count, window.stride as isize);
    }
    Ok(slices)
}

/// The `p`-norm of each window: `sum(abs(x)^p)^(1/p)`, with zeros as padding.
///
/// # Errors
/// Errors of the builder.
pub fn norm_pool(
    x: &Value,
    windows: &[(usize, PaddedWindow)],
    p: f64,
) -> Result<Value, GraphError> {
    let b = x.builder();
    let powers = if p == 2.0 { x * x } else { x.abs().pow(p) };
    let sums = b.reduce_window(powers, ReduceOp::Add, None, windows)?;
    Ok(if p == 2.0 { sums.sqrt() } else { sums.pow(1.0 / p) })
}

/// The windows of a local response normalisation: along each axis `size` elements around each one. If `size`
/// is even, the longer half is after it.
pub fn response_windows(axes: &[usize], size: usize) -> Vec<(usize, PaddedWindow)> {
    let before = size.saturating_sub(1) / 2;
    let [low, high] = [before, size.saturating_sub(1) - before].map(|side| side as i64);
    let window = PaddedWindow { size, low, high, ..PaddedWindow::default() };
    axes.iter().map(|&axis| (axis, window)).collect()
}

/// A local response normalisation: `x / (bias + alpha * sum(x^2))^beta`, with the sum over each window, in
/// `f32` for 16-bit floats.
///
/// # Errors
/// Errors of the builder.
pub fn normalize_response(
    x: &Value,
    windows: &[(usize, PaddedWindow)],
    (alpha, beta, bias): (f64, f64, f64),
) -> Result<Value, GraphError> {
    let (b, dtype) = (x.builder(), x.array_type()?.dtype);
    let computed = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let x = b.convert(x, computed)?;
    let sums = b.reduce_window(&x * &x, ReduceOp::Add, None, windows)?;
    let divisor = (sums * alpha + bias).pow(beta);
    b.convert(x / divisor, dtype)
}
