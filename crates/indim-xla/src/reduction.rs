//! Lowering of XLA's reductions from initial values, by recognised reducers or by any body.

use indim_builder::{GraphBuilder, Reduction, RegionBody, Value};
use indim_graph::Array;
use indim_model::{FormatErrorKind, ModelBuilder};
use indim_ops::{DType, Op, ReduceOp};
use indim_shape::RuleSet;
use indim_transforms::VariadicReduction;

use super::reducer::{Reducer, reduction_of};
use super::value::{ArrayFact, ArrayValue};
use super::windows::{WindowAttributes, reduce_window};

/// The elements that a reduction combines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReducedElements {
    /// Those along these axes: `reduce`.
    Axes(Vec<i64>),
    /// Those of each window: `reduce_window`.
    Windows(WindowAttributes),
}

/// Builds a `reduce` or `reduce_window` by a recognised reducer; `operands` are the inputs, then an initial
/// value for each input. `None` if the reducer does not fit the operands, so that the body must run.
///
/// # Errors
/// `wrong-count`, `attribute`, `type-mismatch`, `unsupported` if the reducer is not associative, and errors
/// of the builder.
pub fn reduce(
    builder: &GraphBuilder,
    reducer: &Reducer,
    operands: &[ArrayValue],
    elements: &ReducedElements,
) -> Result<Option<Vec<Value>>, FormatErrorKind> {
    let (values, starts) = operands.split_at(operands.len() / 2);
    let count = match reducer {
        Reducer::Folds(ops) => ops.len(),
        Reducer::LogSumExp | Reducer::NotAssociative(_) => 1,
        Reducer::ArgReduction(_) => 2,
    };
    if operands.len() != 2 * count {
        let expected = format!("{count} values and as many starts");
        let given = operands.len();
        return Err(FormatErrorKind::Count { what: "operands", expected, given });
    }
    let axes = match elements {
        ReducedElements::Axes(axes) => descending(axes)?,
        ReducedElements::Windows(window) => {
            return reduce_window(builder, reducer, [values, starts], window);
        }
    };
    match reducer {
        Reducer::Folds(ops) => {
            let each = ops.iter().zip(values).zip(starts);
            each.map(|((&op, value), start)| fold(builder, op, value, start, &axes)).collect()
        }
        Reducer::ArgReduction(op) => arg_reduce(builder, *op, values, starts, &axes),
        Reducer::NotAssociative(op) => Err(not_associative(*op)),
        Reducer::LogSumExp => {
            let dtype = values[0].value.array_type()?.dtype;
            let is_empty = starts[0].constant() == Array::identity(ReduceOp::Max, dtype).as_ref();
            let sum = || builder.along(Reduction::LogSumExp, &values[0].value, axes);
            Ok(is_empty.then(sum).transpose()?.map(|sum| vec![sum]))
        }
    }
}

/// The error of a reduction by an operation that is not associative.
pub(super) fn not_associative(op: Op) -> FormatErrorKind {
    let what = format!("a reduction by {op}, which is not associative, is");
    FormatErrorKind::Unsupported { what }
}

/// Builds a `reduce` or `reduce_window` by any body; `operands` are the inputs, then an initial value for
/// each. The nodes count as operations of the program.
///
/// # Errors
/// `attribute`, `limit`, and errors of the builder.
pub fn reduce_by_body(
    model_builder: &mut ModelBuilder,
    body: &RegionBody,
    operands: &[ArrayValue],
    elements: &ReducedElements,
) -> Result<Vec<Value>, FormatErrorKind> {
    let builder = model_builder.builder.clone();
    let operands: Vec<Value> = operands.iter().map(|operand| operand.value.clone()).collect();
    let (values, starts) = operands.split_at(operands.len() / 2);
    let reduction = VariadicReduction::new(&builder, body, values, starts)?;
    let shape = values[0].array_type()?.shape;
    match elements {
        ReducedElements::Axes(axes) => {
            model_builder.count(reduction.max_node_count(shape.iter().copied()))?;
            Ok(reduction.reduce(&descending(axes)?)?)
        }
        ReducedElements::Windows(window) => {
            let windows = window.windows(shape.rank())?;
            let sizes = windows.iter().map(|window| window.size);
            model_builder.count(reduction.max_node_count(sizes))?;
            let windows: Vec<_> = windows.into_iter().enumerate().collect();
            Ok(reduction.reduce_windows(&windows)?)
        }
    }
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

/// The reduction of elements of type `dtype` by an operation, from a start of the same type; `None` if
/// indim has no such reduction.
pub(super) fn reduction_from(
    op: Op,
    dtype: DType,
    start: &ArrayValue,
) -> Result<Option<ReduceOp>, FormatErrorKind> {
    let of_start = start.value.array_type()?;
    if of_start.dtype != dtype || !of_start.shape.is_scalar() {
        let (stated, inferred) = (of_start.to_string(), format!("{dtype}[] as the start"));
        return Err(FormatErrorKind::TypeMismatch { stated, inferred });
    }
    Ok(reduction_of(op, dtype).filter(|&reduction| Array::identity(reduction, dtype).is_some()))
}

fn fold(
    b: &GraphBuilder,
    op: Op,
    operand: &ArrayValue,
    start: &ArrayValue,
    axes: &[i64],
) -> Result<Option<Value>, FormatErrorKind> {
    let dtype = operand.value.array_type()?.dtype;
    let Some(reduction) = reduction_from(op, dtype, start)? else { return Ok(None) };
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
    Ok(Some(b.convert(value, dtype)?))
}

/// The extreme along an axis and its position; `None` unless the second operand is an iota along the axis,
/// and the starts are the type's extreme and 0.
fn arg_reduce(
    b: &GraphBuilder,
    op: ReduceOp,
    values: &[ArrayValue],
    starts: &[ArrayValue],
    axes: &[i64],
) -> Result<Option<Vec<Value>>, FormatErrorKind> {
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
        return Ok(None);
    }
    let extreme = b.reduce(fold, &values[0].value, axes[0])?;
    let position = b.reduce(op, &values[0].value, axes[0])?;
    Ok(Some(vec![extreme, b.convert(position, indices)?]))
}

fn is_zero(array: &Array) -> bool {
    array.to_le_bytes().iter().all(|&byte| byte == 0)
}
