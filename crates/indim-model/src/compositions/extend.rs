//! Padding by the elements of the operand, for the `Pad` of ONNX and OpenVINO.

use indim_builder::{PadMode, Value};
use indim_graph::{GraphError, Literal};

/// Pads each axis with `(before, after, 0)` elements by `mode`. Negative widths crop before any end is
/// padded, so padding repeats only elements that stay.
///
/// ```
/// use indim_builder::{GraphBuilder, PadMode};
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::extend;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::I32, [4])?;
/// let graph = b.finish(&[extend(&x, &[(2, -1, 0)], PadMode::Reflect)?])?;
/// let x = Array::new([4], vec![1, 2, 3, 4])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].elements::<i32>(), Ok(&[3, 2, 1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`GraphBuilder::pad`](indim_builder::GraphBuilder::pad) and
/// [`GraphBuilder::extend`](indim_builder::GraphBuilder::extend).
pub fn extend(x: &Value, widths: &[(i64, i64, usize)], mode: PadMode) -> Result<Value, GraphError> {
    let b = x.builder();
    let mut result = x.clone();
    if widths.iter().any(|&(low, high, _)| low < 0 || high < 0) {
        let zero = b.literal(Literal::Int(0), x.array_type()?.dtype)?;
        let cropped: Vec<(i64, i64, usize)> =
            widths.iter().map(|&(low, high, _)| (low.min(0), high.min(0), 0)).collect();
        result = b.pad(result, zero, &cropped)?;
    }
    let added = |width: i64| width.max(0) as usize;
    let added: Vec<(usize, usize)> =
        widths.iter().map(|&(low, high, _)| (added(low), added(high))).collect();
    b.extend(result, &added, mode)
}
