//! Convolutions and reductions of windows, with the attributes of `window`.

use indim_builder::{Convolution, ConvolutionAxes, GraphBuilder, Value};
use indim_graph::{Array, PaddedWindow};
use indim_model::FormatErrorKind;
use indim_model::spatial_windows::MAX_NUMBER;
use indim_ops::ArrayType;
use indim_shape::MAX_RANK;

use super::dot::wider;
use super::reducer::Reducer;
use super::reduction::{not_associative, reduction_from};
use super::scan::ScanWindow;
use super::value::ArrayValue;

/// The attributes of windows: lists with an entry for each axis, or empty lists for the default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowAttributes {
    /// Number of elements of a window.
    pub sizes: Vec<i64>,
    /// Distances from one window to the next.
    pub strides: Vec<i64>,
    /// Padding before and after each axis.
    pub padding: Vec<[i64; 2]>,
    /// Distances from one element of the operand to the next: `lhs_dilate`, `base_dilations`.
    pub base_dilations: Vec<i64>,
    /// Distances from one element of a window to the next: `rhs_dilate`, `window_dilations`.
    pub window_dilations: Vec<i64>,
    /// Whether the elements of a window are in reverse order.
    pub is_reversed: Vec<bool>,
}

impl WindowAttributes {
    /// The windows of `rank` axes.
    ///
    /// # Errors
    /// `attribute` for a list of another length, or a size, stride or dilation below 1 or above
    /// `MAX_NUMBER`.
    pub fn windows(&self, rank: usize) -> Result<Vec<PaddedWindow>, FormatErrorKind> {
        let sizes = numbers("size", &self.sizes, rank)?;
        let strides = numbers("stride", &self.strides, rank)?;
        let base_dilations = numbers("lhs_dilate", &self.base_dilations, rank)?;
        let dilations = numbers("rhs_dilate", &self.window_dilations, rank)?;
        let padding = list("pad", &self.padding, [0, 0], rank)?;
        let is_reversed = list("rhs_reversal", &self.is_reversed, false, rank)?;
        let window = |axis: usize| PaddedWindow {
            size: sizes[axis],
            stride: strides[axis],
            dilation: dilations[axis],
            base_dilation: base_dilations[axis],
            low: padding[axis][0],
            high: padding[axis][1],
            is_reversed: is_reversed[axis],
        };
        Ok((0..rank).map(window).collect())
    }
}

/// A list with an entry for each axis; the default if it is absent.
fn list<T: Clone>(
    name: &str,
    given: &[T],
    default: T,
    rank: usize,
) -> Result<Vec<T>, FormatErrorKind> {
    match given.len() {
        0 => Ok(vec![default; rank]),
        count if count == rank => Ok(given.to_vec()),
        count => {
            let problem = format!("has {count} entries for {rank} axes");
            Err(FormatErrorKind::attribute(name, problem))
        }
    }
}

/// A list with a positive number for each axis; ones if it is absent.
fn numbers(name: &str, given: &[i64], rank: usize) -> Result<Vec<usize>, FormatErrorKind> {
    let positive = |number: i64| match (1..=MAX_NUMBER).contains(&number) {
        true => Ok(number as usize),
        false => Err(FormatErrorKind::attribute(name, format!("has the number {number}"))),
    };
    list(name, given, 1, rank)?.into_iter().map(positive).collect()
}

/// The axes of operand, kernel and result in `b01f_01io->b01f`, the form of HLO, or in
/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, that of StableHLO.
///
/// ```
/// use indim_xla::windows::dimension_numbers;
///
/// let hlo = dimension_numbers("b01f_01io->b01f").unwrap();
/// assert_eq!(hlo, dimension_numbers("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]").unwrap());
/// assert_eq!((hlo[1].batch, hlo[1].feature), (3, 2)); // the features of the result, of the operand
/// assert_eq!(hlo[0].spatial, [1, 2]);
/// assert_eq!(dimension_numbers("b01f_01io"), None);
/// ```
pub fn dimension_numbers(text: &str) -> Option<[ConvolutionAxes; 3]> {
    let (operands, result) = text.split_once("->")?;
    let (operand, kernel) = operands.split_once(['x', '_'])?;
    Some([
        axes_of_labels(operand, ["b", "f"])?,
        axes_of_labels(kernel, ["o", "i"])?,
        axes_of_labels(result, ["b", "f"])?,
    ])
}

/// The axes of one array, from their labels.
fn axes_of_labels(text: &str, [batch, feature]: [&str; 2]) -> Option<ConvolutionAxes> {
    let text = text.trim();
    let labels: Vec<&str> = match text.strip_prefix('[') {
        Some(list) => list.strip_suffix(']')?.split(',').map(str::trim).collect(),
        None => text.split("").filter(|label| !label.is_empty()).collect(),
    };
    if labels.len() > MAX_RANK {
        return None;
    }
    let axis_of = |sought: &str| labels.iter().position(|label| *label == sought);
    let count = labels.len().checked_sub(2)?;
    let spatial = (0..count).map(|axis| axis_of(&axis.to_string())).collect::<Option<_>>()?;
    Some(ConvolutionAxes { batch: axis_of(batch)?, feature: axis_of(feature)?, spatial })
}

/// A convolution with its attributes.
///
/// `precision_config` has no effect, as in [`DotOperation`](super::dot::DotOperation).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvolutionOperation {
    /// The axes of operand, kernel and result.
    pub axes: [ConvolutionAxes; 3],
    /// The windows.
    pub window: WindowAttributes,
    /// `feature_group_count`.
    pub feature_groups: i64,
    /// `batch_group_count`.
    pub batch_groups: i64,
}

impl ConvolutionOperation {
    /// Builds the convolution; `stated` is the result type in the file. The operands are multiplied in the
    /// widest of their types and the element type of the result.
    ///
    /// # Errors
    /// `attribute`; errors of the builder.
    pub fn build(
        &self,
        b: &GraphBuilder,
        lhs: &Value,
        rhs: &Value,
        stated: &ArrayType,
    ) -> Result<Value, FormatErrorKind> {
        let [lhs_type, rhs_type] = [lhs.array_type()?, rhs.array_type()?];
        let [operand, kernel, result] = self.axes.clone();
        let windows = self.window.windows(kernel.spatial.len())?;
        for (window, &axis) in windows.iter().zip(&kernel.spatial) {
            let size = rhs_type.shape.get(axis).copied().unwrap_or(window.size);
            if !self.window.sizes.is_empty() && size != window.size {
                let problem = format!("has {} for an axis of the kernel of {size}", window.size);
                return Err(FormatErrorKind::attribute("size", problem));
            }
        }
        let groups = |name: &str, count: i64| {
            let problem = || FormatErrorKind::attribute(name, format!("is {count}"));
            usize::try_from(count).map_err(|_| problem())
        };
        let convolution = Convolution {
            operand,
            kernel,
            result,
            windows,
            feature_groups: groups("feature_group_count", self.feature_groups)?,
            batch_groups: groups("batch_group_count", self.batch_groups)?,
        };
        let [lhs, rhs] = match lhs_type.dtype == rhs_type.dtype {
            true => [lhs.clone(), rhs.clone()],
            false => {
                let dtype = wider(wider(lhs_type.dtype, rhs_type.dtype), stated.dtype);
                [lhs.convert(dtype), rhs.convert(dtype)]
            }
        };
        Ok(b.convolution(lhs, rhs, &convolution, Some(stated.dtype))?)
    }
}

/// The results of `reduce_window` of arrays, from an initial value for each; `None` if the reducer does not
/// fit them.
///
/// # Errors
/// `attribute`, `type-mismatch`, `unsupported` if the reducer is not associative, and errors of the builder.
pub(super) fn reduce_window(
    builder: &GraphBuilder,
    reducer: &Reducer,
    [values, starts]: [&[ArrayValue]; 2],
    window: &WindowAttributes,
) -> Result<Option<Vec<Value>>, FormatErrorKind> {
    let ops = match reducer {
        Reducer::Folds(ops) => ops,
        Reducer::LogSumExp => {
            // The scan is the only reduction of windows by `logaddexp` with a node of its own.
            let scan = ScanWindow::of(window, &values[0].value.array_type()?.shape);
            let scan = scan.map(|scan| scan.log_sum_exp(builder, &values[0].value, &starts[0]));
            return Ok(scan.transpose()?.flatten().map(|scan| vec![scan]));
        }
        Reducer::ArgReduction(_) => return Ok(None),
        Reducer::NotAssociative(op) => return Err(not_associative(*op)),
    };
    let mut results = Vec::with_capacity(ops.len());
    for ((&op, value), start) in ops.iter().zip(values).zip(starts) {
        let of_value = value.value.array_type()?;
        let dtype = of_value.dtype;
        let Some(reduction) = reduction_from(op, dtype, start)? else { return Ok(None) };
        if window.sizes.is_empty() && of_value.shape.rank() > 0 {
            return Err(FormatErrorKind::attribute("window", "has no sizes"));
        }
        if let Some(scan) = ScanWindow::of(window, &of_value.shape)
            && let Some(scan) = scan.build(builder, reduction, &value.value, start)?
        {
            results.push(scan);
            continue;
        }
        let windows: Vec<_> =
            window.windows(of_value.shape.rank())?.into_iter().enumerate().collect();
        let is_neutral = start.constant() == Array::identity(reduction, dtype).as_ref();
        let init = (!is_neutral).then_some(&start.value);
        results.push(builder.reduce_window(&value.value, reduction, init, &windows)?);
    }
    Ok(Some(results))
}
