//! The rule of what is taken by indices: it is summed where they say.
//!
//! Each index is compared with each place. Nothing is scattered, so the order of the sum is that of every
//! sum; the comparisons are made in the loop that sums and never lie in memory.

use indim_graph::TakeMode;
use indim_ops::{ArrayType, DType, ReduceOp};
use indim_shape::Shape;

use super::structural::{placed, wide};
use crate::builder::{BuildResult, Value};

/// For each element of the operand the sum over the indices that name it.
pub(super) fn take(
    axis: usize,
    mode: TakeMode,
    operand: &Value,
    indices: &Value,
    cotangent: &Value,
) -> BuildResult {
    let (b, ArrayType { dtype, shape }) = (cotangent.builder(), operand.array_type()?);
    let places = places(indices, mode, shape[axis]);
    let count: usize = places.array_type()?.shape.iter().product();
    // The axes of the indices become one, which goes behind that of the places and is summed along.
    let mut taken = shape.to_vec();
    taken[axis] = count;
    let taken = b.reshape(cotangent, taken)?;
    let mut both = shape.to_vec();
    both.insert(axis + 1, count);
    let both = Shape::from(both);
    let beside = (0..shape.rank()).map(|other| if other < axis { other } else { other + 1 });
    let taken = placed(&taken, beside.collect(), &both)?;
    let places = placed(&b.reshape(places, [count])?, vec![axis + 1], &both)?;
    let is_named = places.eq(b.iota(DType::I64, &both, axis as i64)?);
    let terms = b.convert(is_named.select(taken, 0), wide(dtype))?;
    b.convert(b.reduce(ReduceOp::Add, terms, axis as i64 + 1)?, dtype)
}

/// The places that indices name, counted from the front.
fn places(indices: &Value, mode: TakeMode, size: usize) -> Value {
    // Those of `u64` may be beyond `i64`.
    let is_widest = indices.dtype() == Some(DType::U64);
    let indices = if is_widest { indices.clone() } else { indices.convert(DType::I64) };
    let size = size as i64;
    let places = match mode {
        TakeMode::Error => indices.lt(0).select(&indices + size, &indices),
        TakeMode::Clip => indices.clamp(0, (size - 1).max(0)),
        TakeMode::Wrap => indices.py_mod(size),
    };
    places.convert(DType::I64)
}
