//! Sequences of different lengths in one array.

use indim_builder::Value;
use indim_graph::{GraphError, TakeMode};
use indim_ops::DType;

/// Reverses the first elements along the second of the axes, as many as `lengths` states for each element
/// of the first axis.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::reverse_sequences;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::I32, [2, 3])?;
/// let lengths = b.parameter("lengths", DType::I64, [2])?;
/// let graph = b.finish(&[reverse_sequences(&x, &lengths, (0, 1))?])?;
/// let x = Array::new([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// let found = evaluate(&graph, &[x, Array::new([2], vec![2i64, 3])?])?;
/// assert_eq!(found[0].elements::<i32>(), Ok(&[2, 1, 3, 6, 5, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of the builder, such as a size mismatch of the lengths.
pub fn reverse_sequences(
    x: &Value,
    lengths: &Value,
    (batch, axis): (usize, usize),
) -> Result<Value, GraphError> {
    let (b, shape) = (x.builder(), x.array_type()?.shape);
    let positions = b.iota(DType::I64, &shape, axis as i64)?;
    let lengths = b.convert(lengths, DType::I64)?;
    let lengths = b.broadcast_in_dim(lengths, &[batch as i64], &shape)?;
    let reversed = &lengths - &positions - 1i64;
    let indices = positions.lt(&lengths).select(reversed, &positions);
    b.take_along_axis(x, indices, axis as i64, TakeMode::Error)
}
