//! Legalisation of gathers, scatters and searches in sorted tables: rewrites them in forms that XLA has.

use indim_builder::Value;
use indim_graph::{GraphError, Literal, ScatterMode, TakeMode};
use indim_model::{Location, Notes, search_rows};
use indim_ops::{DType, DTypeClass, Op, ReduceOp, ScatterOp, SearchSide, scan_accumulator};
use indim_shape::RuleSet;

/// A gather by indices that XLA clamps.
///
/// # Errors
/// Errors of the builder.
pub(super) fn take(
    notes: &mut Notes,
    location: Location,
    [x, indices]: [&Value; 2],
    axis: usize,
    mode: TakeMode,
) -> Result<Value, GraphError> {
    let b = x.builder();
    let shape = x.array_type()?.shape;
    if shape[axis] == 0 {
        // An axis without elements has no indices: the result is empty too.
        let result = b.take(x, indices, axis as i64, mode)?.array_type()?;
        let zero = b.convert(b.scalar(false), result.dtype)?;
        return b.broadcast_in_dim(zero, &[], result.shape);
    }
    if mode == TakeMode::Error {
        notes.warning("XLA clamps the indices of a gather that name no element");
    }
    let indices = resolve_indices(notes, ("take", location), indices, shape[axis], mode)?;
    b.take(x, indices, axis as i64, TakeMode::Clip)
}

/// A scatter in XLA's form, which drops updates at indices out of range. Sums and products are computed
/// in the type that `scan_accumulator` gives, such as `f64` for floats.
///
/// # Errors
/// Errors of the builder.
pub(super) fn scatter(
    notes: &mut Notes,
    (name, location): (&str, Location),
    op: ScatterOp,
    [x, indices, updates]: [&Value; 3],
    (axis, mode): (usize, ScatterMode),
) -> Result<Value, GraphError> {
    let b = x.builder();
    let array_type = x.array_type()?;
    let (size, dtype) = (array_type.shape[axis], array_type.dtype);
    if size == 0 {
        return Ok(x.clone());
    }
    let indices = match mode {
        ScatterMode::Drop => b.convert(indices, index_type(indices, size)?)?,
        ScatterMode::Take(mode) => {
            if mode == TakeMode::Error {
                notes.warning("XLA drops the updates of a scatter that name no element");
            }
            let found = resolve_indices(notes, (name, location), indices, size, mode)?;
            if mode == TakeMode::Clip { b.clamp(0, found, size as i64 - 1)? } else { found }
        }
    };
    let wide = match op {
        ScatterOp::Add => scan_accumulator(ReduceOp::Add, dtype),
        ScatterOp::Mul => scan_accumulator(ReduceOp::Mul, dtype),
        ScatterOp::Set | ScatterOp::Min | ScatterOp::Max => None,
    };
    if op == ScatterOp::Set || wide.is_some() && !dtype.is_integer() {
        notes.warning("XLA does not define the order of updates of a scatter");
    }
    let wide = wide.unwrap_or(dtype);
    let [x, updates] = [b.convert(x, wide)?, b.convert(updates, wide)?];
    b.convert(b.scatter(op, x, indices, updates, axis as i64, ScatterMode::Drop)?, dtype)
}

/// The type in which indices are written: one that holds them and the size of the axis.
fn index_type(indices: &Value, size: usize) -> Result<DType, GraphError> {
    Ok(match indices.array_type()?.dtype {
        DType::U64 => DType::U64,
        DType::I64 | DType::U32 => DType::I64,
        _ if i32::try_from(size).is_ok() => DType::I32,
        _ => DType::I64,
    })
}

/// The indices under a mode: negative ones are counted from the front, under `wrap` all are brought into
/// range, and under `clip` all stay unchanged.
fn resolve_indices(
    notes: &mut Notes,
    (operation, location): (&str, Location),
    indices: &Value,
    size: usize,
    mode: TakeMode,
) -> Result<Value, GraphError> {
    let b = indices.builder();
    let is_signed = indices.array_type()?.dtype.class() == DTypeClass::Signed;
    let dtype = index_type(indices, size)?;
    let indices = b.convert(indices, dtype)?;
    let size = b.literal(Literal::Int(size as i128), dtype)?;
    let by = |op: Op, x: &Value| b.elementwise(op, &[x, &size], &RuleSet::Numpy);
    let within = match mode {
        TakeMode::Clip => return Ok(indices),
        TakeMode::Error if !is_signed => return Ok(indices),
        TakeMode::Error => {
            let name = format!("{operation} mode=error");
            notes.composed(&name, "select(indices < 0, indices + size, indices)", location);
            indices
        }
        TakeMode::Wrap => {
            notes.composed(&format!("{operation} mode=wrap"), "indices modulo size", location);
            by(Op::Rem, &indices)?
        }
    };
    if !is_signed {
        return Ok(within);
    }
    let is_negative = b.lt(&within, b.literal(Literal::Int(0), dtype)?, &[])?;
    b.elementwise(Op::Select, &[&is_negative, &by(Op::Add, &within)?, &within], &RuleSet::None)
}

/// The number of elements of a sorted table that are before each value; NaN is the greatest number.
///
/// # Errors
/// Errors of the builder.
pub(super) fn search_sorted(
    table: &Value,
    values: &Value,
    side: SearchSide,
) -> Result<Value, GraphError> {
    let b = table.builder();
    let of_values = values.array_type()?;
    let rank = of_values.shape.rank();
    let mut sizes = of_values.shape.to_vec();
    sizes.push(table.array_type()?.shape[0]);
    let table = b.broadcast_in_dim(table, &[rank as i64], sizes.clone())?;
    let axes: Vec<i64> = (0..rank as i64).collect();
    let values = b.broadcast_in_dim(values, &axes, sizes)?;
    search_rows(&table, &values, side)
}
