//! Determinants of matrices.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{GraphError, TakeMode};
use indim_ops::DType;
use indim_shape::Shape;

/// The determinants of the square matrices in the last two axes of `x`. Gaussian elimination with partial
/// pivoting, as in LAPACK's `getrf`: step `k` swaps row `k` with the first row from `k` on whose element in
/// column `k` is largest in magnitude, and multiplies the result by this element. Floats are computed in
/// `f64` and rounded once. A matrix without elements has the determinant 1.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::compositions::determinant;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 2])?;
/// let graph = b.finish(&[determinant(&x)?])?;
/// let x = Array::new([2, 2], vec![0.0f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(evaluate(&graph, &[x])?[0].scalar::<f32>(), Ok(-6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of the builder.
///
/// # Panics
/// If `x` has fewer than two axes, or the last two differ in size.
pub fn determinant(x: &Value) -> Result<Value, GraphError> {
    let (b, of_x) = (x.builder(), x.array_type()?);
    let rank = of_x.shape.rank();
    let size = of_x.shape[rank - 1];
    assert_eq!(of_x.shape[rank - 2], size, "a square matrix");
    let batch: Shape = of_x.shape[..rank - 2].iter().copied().collect();
    // A product of sizes that overflows belongs to an array without elements, whose determinants are all 1.
    let (Ok(count), 1..) = (batch.element_count(), size) else {
        return b.broadcast_in_dim(b.convert(b.scalar(1.0f64), of_x.dtype)?, &[], batch);
    };
    let matrices = b.reshape(b.convert(x, DType::F64)?, [count, size, size])?;
    let ones = b.broadcast_in_dim(b.scalar(1.0f64), &[], [count])?;
    let steps = 0..i64::try_from(size).unwrap_or(i64::MAX);
    let results = b.fori_loop(steps, &[matrices, ones], |b, step, states| {
        eliminate(b, step, &states[0], &states[1])
    })?;
    // The sum is no negative zero.
    b.reshape(b.convert(&results[1] + 0.0, of_x.dtype)?, batch)
}

/// A step of the elimination: the matrices with zeros below the diagonal in one more column, and the
/// products of the pivots so far.
fn eliminate(
    b: &GraphBuilder,
    step: &Value,
    matrices: &Value,
    products: &Value,
) -> Result<Vec<Value>, GraphError> {
    let shape = matrices.array_type()?.shape;
    let (count, size) = (shape[0], shape[1]);
    let of_rows = [count, size];
    let spread = |x: &Value, dims: &[i64]| b.broadcast_in_dim(x, dims, shape.clone());
    let rows = b.iota(DType::I64, of_rows, 1)?;
    let column = b.take(matrices, step, 2, TakeMode::Clip)?;
    // Rows above the diagonal are no candidates.
    let magnitudes = rows.ge(step).select(column.abs(), -1.0);
    let pivots = b.along(Reduction::ArgMax, magnitudes, ReduceOptions::axes([1]))?;
    let places = b.reshape(&pivots, [count, 1, 1])?;
    let pivot_rows = b.take_along_axis(matrices, places, 1, TakeMode::Clip)?;
    let pivot_rows = b.reshape(pivot_rows, of_rows)?;
    let pivot = b.take(&pivot_rows, step, 1, TakeMode::Clip)?;
    let swapped = {
        let current = b.take(matrices, step, 1, TakeMode::Clip)?;
        let at_pivot = rows.eq(b.broadcast_in_dim(&pivots, &[0], of_rows)?);
        let moved = spread(&at_pivot, &[0, 1])?.select(spread(&current, &[0, 2])?, matrices);
        spread(&rows.eq(step), &[0, 1])?.select(spread(&pivot_rows, &[0, 2])?, moved)
    };
    let below = b.take(&swapped, step, 2, TakeMode::Clip)?;
    let divisor = b.broadcast_in_dim(&pivot, &[0], of_rows)?;
    let factors = (rows.gt(step) & divisor.ne(0.0)).select(below / &divisor, 0.0);
    let eliminated = swapped - spread(&factors, &[0, 1])? * spread(&pivot_rows, &[0, 2])?;
    let signed = pivots.eq(step).select(&pivot, -&pivot);
    Ok(vec![eliminated, products * signed])
}
