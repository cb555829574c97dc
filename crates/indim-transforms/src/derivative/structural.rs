//! Rules of nodes that move or convert elements.

use indim_graph::{AxisSlice, GraphError, Literal};
use indim_ops::{ArrayType, DType, DTypeClass, ReduceOp};
use indim_shape::AxisMap;

use crate::BuildResult;
use indim_builder::{NodeAccess, Value};

/// Converts the cotangent back: to the real part if a float became complex, or to a complex number without an
/// imaginary part if a complex number became real.
pub(super) fn convert(operand: &Value, cotangent: &Value) -> BuildResult {
    cotangent.builder().convert(cotangent, operand.array_type()?.dtype)
}

/// Reshapes the cotangent back.
pub(super) fn reshape(operand: &Value, cotangent: &Value) -> BuildResult {
    cotangent.builder().reshape_like(cotangent, operand)
}

/// Pads the cotangent with zeros, so that its elements are where the slice read them. `values` has the
/// operand and the slice.
pub(super) fn slice(slices: &[AxisSlice], values: [&Value; 2], cotangent: &Value) -> BuildResult {
    let (b, ArrayType { dtype, shape }) = (cotangent.builder(), values[0].array_type()?);
    let zero = b.literal(Literal::Int(0), dtype)?;
    let mut padded = cotangent.clone();
    for (axis, (slice, &size)) in slices.iter().zip(shape.iter()).enumerate() {
        if slice.is_whole(size) {
            continue;
        }
        let widths = match slice.count().checked_sub(1) {
            None => [0, size],
            Some(last) => {
                let (start, end) = (slice.start(), slice.index(last));
                [start.min(end), size - start.max(end) - 1]
            }
        };
        if slice.step() < 0 {
            padded = b.reverse(padded, &[axis as i64])?;
        }
        padded = b.insert_interior(&padded, &zero, axis, slice.step().unsigned_abs() - 1)?;
        padded = b.pad_slice(values, axis, &padded, &zero, widths)?;
    }
    Ok(padded)
}

/// The slice of the cotangent for each operand.
pub(super) fn concatenate(
    axis: usize,
    operands: &[Value],
    cotangent: &Value,
) -> Result<Vec<Value>, GraphError> {
    let part = |(index, operand): (usize, &Value)| {
        cotangent.builder().part_of_axis(cotangent, axis, &operands[..index], operand)
    };
    operands.iter().enumerate().map(part).collect()
}

/// Sums the cotangent over the axes that the broadcast added or expanded, and puts the remaining axes in
/// the operand's order.
pub(super) fn broadcast_in_dim(map: &AxisMap, operand: &Value, cotangent: &Value) -> BuildResult {
    let shape = operand.array_type()?.shape;
    let result = cotangent.array_type()?.shape;
    let is_kept = |axis: usize| {
        let from = map.iter().position(|&to| to == axis);
        from.is_some_and(|from| shape[from] == result[axis])
    };
    let (kept, summed_axes): (Vec<usize>, Vec<usize>) =
        (0..result.rank()).partition(|&axis| is_kept(axis));
    let sum = sum_axes(cotangent, &summed_axes)?;
    let operand_axis = |axis: &usize| map.iter().position(|to| to == axis);
    let map = kept.iter().filter_map(operand_axis).collect::<Vec<usize>>();
    broadcast_by_map(&sum, map, operand)
}

/// The sums along `axes`, which are ascending and removed, in double precision and rounded once.
pub(super) fn sum_axes(x: &Value, axes: &[usize]) -> BuildResult {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    let (b, dtype) = (x.builder(), x.array_type()?.dtype);
    let mut sum = b.convert(x, sum_dtype(dtype))?;
    for &axis in axes.iter().rev() {
        sum = b.reduce(ReduceOp::Add, sum, axis as i64)?;
    }
    b.convert(sum, dtype)
}

/// The type in which elements are summed.
pub(super) fn sum_dtype(dtype: DType) -> DType {
    match dtype.class() {
        DTypeClass::Float => DType::F64,
        DTypeClass::Complex => DType::C128,
        _ => DType::I64,
    }
}

/// Broadcasts `x` to the shape of `like`: axis `i` maps to axis `map[i]`, which has the same size.
pub(super) fn broadcast_by_map(x: &Value, map: Vec<usize>, like: &Value) -> BuildResult {
    let dims: Vec<i64> = map.into_iter().map(|axis| axis as i64).collect();
    x.builder().broadcast_like(x, &dims, like)
}
