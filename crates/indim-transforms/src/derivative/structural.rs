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

/// Pads the cotangent with zeros, so that its elements are where the slice read them.
pub(super) fn slice(slices: &[AxisSlice], operand: &Value, cotangent: &Value) -> BuildResult {
    let (b, ArrayType { dtype, shape }) = (cotangent.builder(), operand.array_type()?);
    let forwards = slices.iter().map(|slice| match slice.step() < 0 {
        true => AxisSlice::reversed(slice.count()),
        false => AxisSlice::whole(slice.count()),
    });
    let widths = slices.iter().zip(shape.iter()).map(|(slice, &size)| {
        let Some(last) = slice.count().checked_sub(1) else { return (0, size as i64, 0) };
        let (start, end) = (slice.start(), slice.index(last));
        let behind = size - start.max(end) - 1;
        (start.min(end) as i64, behind as i64, slice.step().unsigned_abs() - 1)
    });
    let widths: Vec<(i64, i64, usize)> = widths.collect();
    let forwards = b.slice(cotangent, &forwards.collect::<Vec<AxisSlice>>())?;
    b.pad(forwards, b.literal(Literal::Int(0), dtype)?, &widths)
}

/// The slice of the cotangent for each operand.
pub(super) fn concatenate(
    axis: usize,
    operands: &[Value],
    cotangent: &Value,
) -> Result<Vec<Value>, GraphError> {
    let mut start = 0;
    let mut parts = Vec::with_capacity(operands.len());
    for operand in operands {
        let shape = operand.array_type()?.shape;
        let slice = |(other, &size): (usize, &usize)| match other == axis {
            true => AxisSlice::new(start, size, 1),
            false => AxisSlice::whole(size),
        };
        let slices: Vec<AxisSlice> = shape.iter().enumerate().map(slice).collect();
        parts.push(cotangent.builder().slice(cotangent, &slices)?);
        start += shape[axis];
    }
    Ok(parts)
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
