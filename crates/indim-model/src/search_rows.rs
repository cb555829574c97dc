//! Searches in sorted rows, which formats without such an operation express by counting.

use indim_builder::Value;
use indim_graph::GraphError;
use indim_ops::{DType, Op, ReduceOp, SearchSide};
use indim_shape::RuleSet;

/// For each value, the number of elements that precede it in its table, a sorted row along the last
/// axis. Table and values have the same shape: each value is repeated along the last axis. A NaN is
/// greater than all numbers, as in
/// [`GraphBuilder::search_sorted`](indim_builder::GraphBuilder::search_sorted).
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_model::search_rows;
/// use indim_ops::{DType, SearchSide};
///
/// let b = GraphBuilder::new();
/// let [table, values] = ["table", "values"].map(|name| b.parameter(name, DType::F32, [2, 3]).unwrap());
/// let graph = b.finish(&[search_rows(&table, &values, SearchSide::Right)?])?;
/// let table = Array::new([2, 3], vec![1.0f32, 2.0, 2.0, 5.0, 6.0, f32::NAN])?;
/// let values = Array::new([2, 3], vec![2.0f32, 2.0, 2.0, f32::NAN, f32::NAN, f32::NAN])?;
/// assert_eq!(evaluate(&graph, &[table, values])?[0].elements::<i64>(), Ok(&[3, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of the builder.
///
/// # Panics
/// If the table is a scalar.
pub fn search_rows(table: &Value, values: &Value, side: SearchSide) -> Result<Value, GraphError> {
    let (b, array_type) = (table.builder(), table.array_type()?);
    let op = if side == SearchSide::Left { Op::Lt } else { Op::Le };
    let mut is_before = b.elementwise(op, &[table, values], &RuleSet::None)?;
    if array_type.dtype.is_float() {
        let [table, values] = [table.ne(table), values.ne(values)];
        let is_nan = match side {
            SearchSide::Left => values & !table,
            SearchSide::Right => values,
        };
        is_before = is_before | is_nan;
    }
    let last = array_type.shape.rank() - 1;
    b.reduce(ReduceOp::Add, b.convert(is_before, DType::I64)?, last as i64)
}
