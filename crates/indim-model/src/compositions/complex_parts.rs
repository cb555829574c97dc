//! Complex numbers whose real and imaginary part lie along the last axis, as in the Fourier transforms of
//! ONNX and OpenVINO.

use indim_builder::Value;
use indim_graph::{AxisSlice, GraphError};
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape};

/// One element of the last axis, which the result lacks.
///
/// # Errors
/// `slice-out-of-range`.
pub fn last_axis_element(x: &Value, position: usize) -> Result<Value, GraphError> {
    let (b, shape) = (x.builder(), x.array_type()?.shape);
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    if let Some(last) = slices.last_mut() {
        *last = AxisSlice::new(position, 1, 1);
    }
    let kept: Shape = shape.iter().copied().take(shape.rank().saturating_sub(1)).collect();
    b.reshape(b.slice(x, &slices)?, kept)
}

/// The complex numbers whose parts are the two elements of the last axis. Parts of 16 bits become `f32`.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::{from_parts, to_parts};
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 2])?;
/// let numbers = from_parts(&x)?;
/// let graph = b.finish(&[to_parts(&(&numbers * &numbers), DType::F32)?])?;
/// let x = Array::new([2, 2], vec![0.0f32, 1.0, 1.0, 2.0])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].elements::<f32>(), Ok(&[-1.0, 0.0, -3.0, 4.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `slice-out-of-range` if the last axis is shorter; TY1 for elements that are no floats.
pub fn from_parts(x: &Value) -> Result<Value, GraphError> {
    let (b, dtype) = (x.builder(), x.array_type()?.dtype);
    let dtype = if dtype.size() > 2 { dtype } else { DType::F32 };
    let parts =
        [b.convert(last_axis_element(x, 0)?, dtype)?, b.convert(last_axis_element(x, 1)?, dtype)?];
    b.elementwise(Op::Complex, &parts, &RuleSet::None)
}

/// The parts of complex numbers along a new last axis, as elements of type `dtype`.
///
/// # Errors
/// TY1 for elements that are not complex.
pub fn to_parts(numbers: &Value, dtype: DType) -> Result<Value, GraphError> {
    let b = numbers.builder();
    let parts = [b.convert(numbers.real(), dtype)?, b.convert(numbers.imag(), dtype)?];
    b.stack(&parts, -1)
}
