//! Lowering of XLA's reductions: several axes at once, from an initial value.

use indim_builder::{GraphBuilder, Reduction, Value};
use indim_graph::Array;
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op, ReduceOp};
use indim_shape::RuleSet;

use super::reducer::{Reducer, reduction_of};
use super::value::{ArrayFact, ArrayValue};

/// Builds a `reduce`; `operands` are the inputs, then an initial value for each input.
///
/// # Errors
/// `wrong-count`, `attribute`, `type-mismatch`, `unsupported`, and errors of the builder.
pub fn reduce(
    builder: &GraphBuilder,
    reducer: &Reducer,
    operands: &[ArrayValue],
    axes: &[i64],
) -> Result<Vec<Value>, FormatErrorKind> {
    let (values, starts) = operands.split_at(operands.len() / 2);
    let count = match reducer {
        Reducer::Folds(ops) => ops.len(),
        Reducer::LogSumExp => 1,
        Reducer::ArgReduction(_) => 2,
    };
    if operands.len() != 2 * count {
        let expected = format!("{count} values and as many starts");
        let given = operands.len();
        return Err(FormatErrorKind::Count { what: "operands", expected, given });
    }
    let axes = descending(axes)?;
    match reducer {
        Reducer::Folds(ops) => {
            let each = ops.iter().zip(values).zip(starts);
            each.map(|((&op, value), start)| fold(builder, op, value, start, &axes)).collect()
        }
        Reducer::ArgReduction(op) => arg_reduce(builder, *op, values, starts, &axes),
        Reducer::LogSumExp => Ok(vec![log_sum_exp(builder, &values[0], &starts[0], axes)?]),
    }
}

/// The logarithm of the sum of exponentials along axes, from -inf.
fn log_sum_exp(
    b: &GraphBuilder,
    operand: &ArrayValue,
    start: &ArrayValue,
    axes: Vec<i64>,
) -> Result<Value, FormatErrorKind> {
    let dtype = operand.value.array_type()?.dtype;
    if start.constant() != Array::identity(ReduceOp::Max, dtype).as_ref() {
        let what = "a reduction by logaddexp from another value than -inf is".to_owned();
        return Err(FormatErrorKind::Unsupported { what });
    }
    Ok(b.along(Reduction::LogSumExp, &operand.value, axes)?)
}

/// Axes in descending order, so that the removal of one does not renumber the others.
fn descending(axes: &[i64]) -> Result<Vec<i64>, FormatErrorKind> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    match sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(FormatErrorKind::attribute("dimensions", "names an axis twice")),
        false => Ok(sorted),
    }
}

/// The reduction of elements of type `dtype` by an operation, from a start of the same type.
pub(super) fn reduction_from(
    op: Op,
    dtype: DType,
    start: &ArrayValue,
) -> Result<ReduceOp, FormatErrorKind> {
    let of_start = start.value.array_type()?;
    if of_start.dtype != dtype || !of_start.shape.is_scalar() {
        let (stated, inferred) = (of_start.to_string(), format!("{dtype}[] as the start"));
        return Err(FormatErrorKind::TypeMismatch { stated, inferred });
    }
    let not_reduced = || FormatErrorKind::Unsupported {
        what: format!("a reduction of {dtype} by {} is", op.name()),
    };
    reduction_of(op, dtype).ok_or_else(not_reduced)
}

fn fold(
    b: &GraphBuilder,
    op: Op,
    operand: &ArrayValue,
    start: &ArrayValue,
    axes: &[i64],
) -> Result<Value, FormatErrorKind> {
    let dtype = operand.value.array_type()?.dtype;
    let reduction = reduction_from(op, dtype, start)?;
    let wide = match (reduction, dtype) {
        (ReduceOp::Add | ReduceOp::Mul, DType::F16 | DType::Bf16 | DType::F32) => DType::F64,
        (ReduceOp::Add | ReduceOp::Mul, DType::C64) => DType::C128,
        _ => dtype,
    };
    let mut value = b.convert(&operand.value, wide)?;
    for &axis in axes {
        value = b.reduce(reduction, &value, axis)?;
    }
    // A neutral initial value needs no operation.
    if start.constant() != Array::identity(reduction, dtype).as_ref() {
        let shape = value.array_type()?.shape;
        let start = b.broadcast_in_dim(b.convert(&start.value, wide)?, &[], shape)?;
        value = b.elementwise(op, &[start, value], &RuleSet::StableHlo)?;
    }
    Ok(b.convert(value, dtype)?)
}

/// The extreme along an axis and its position; the second operand must be an iota along the axis.
fn arg_reduce(
    b: &GraphBuilder,
    op: ReduceOp,
    values: &[ArrayValue],
    starts: &[ArrayValue],
    axes: &[i64],
) -> Result<Vec<Value>, FormatErrorKind> {
    let (fold, indices) = match op {
        ReduceOp::ArgMax => (ReduceOp::Max, values[1].value.array_type()?.dtype),
        _ => (ReduceOp::Min, values[1].value.array_type()?.dtype),
    };
    let dtype = values[0].value.array_type()?.dtype;
    let counts =
        matches!((&values[1].fact, axes), (ArrayFact::Iota(axis), [along]) if axis == along);
    let zero = b.convert(b.scalar(0i64), indices)?;
    let begins_with_nothing = starts[0].constant() == Array::identity(fold, dtype).as_ref()
        && starts[1].constant().is_some_and(is_zero)
        && starts[1].value.array_type()? == zero.array_type()?;
    if !counts || !begins_with_nothing {
        let what = "a search for extremes whose second operand does not count along its one axis, \
                    or whose starts are others than the type's extreme and 0, is";
        return Err(FormatErrorKind::Unsupported { what: what.to_owned() });
    }
    let extreme = b.reduce(fold, &values[0].value, axes[0])?;
    let position = b.reduce(op, &values[0].value, axes[0])?;
    Ok(vec![extreme, b.convert(position, indices)?])
}

fn is_zero(array: &Array) -> bool {
    array.to_le_bytes().iter().all(|&byte| byte == 0)
}
