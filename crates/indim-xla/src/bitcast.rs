//! Bitcasts, also to elements of another width.

use core::cmp::Ordering;

use indim_builder::{GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType, Op, ReduceOp};
use indim_shape::RuleSet;

/// A `bitcast_convert` to the stated type. To narrower elements it adds a last axis, to wider ones it removes
/// the last axis.
///
/// # Errors
/// `unsupported`, and errors of the builder.
pub(super) fn bitcast(
    b: &GraphBuilder,
    operand: &Value,
    stated: &ArrayType,
) -> Result<Value, FormatErrorKind> {
    let from = operand.array_type()?;
    // A bitcast to the same type is allowed for every type.
    if from.dtype == stated.dtype {
        return Ok(operand.clone());
    }
    let has_axis = |narrow: &ArrayType, wide: &ArrayType| {
        let count = wide.dtype.size() / narrow.dtype.size();
        narrow.shape.split_last() == Some((&count, &wide.shape[..]))
    };
    match from.dtype.size().cmp(&stated.dtype.size()) {
        Ordering::Equal => Ok(b.bitcast(operand, stated.dtype)?),
        Ordering::Greater if has_axis(stated, &from) => divide_bits(b, operand, stated),
        Ordering::Less if has_axis(&from, stated) => join_bits(b, operand, stated),
        _ => {
            let what =
                format!("a bitcast of {from} to {stated}, which lacks an axis for the parts, is");
            Err(FormatErrorKind::Unsupported { what })
        }
    }
}

/// The unsigned integer type of as many bytes as `dtype`; only it can be divided and joined.
fn unsigned(dtype: DType) -> Result<DType, FormatErrorKind> {
    Ok(match dtype.size() {
        1 if dtype.is_integer() || dtype.is_float() => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        8 if dtype != DType::C64 => DType::U64,
        _ => {
            let what = format!("a bitcast between {dtype} and elements of another width is");
            return Err(FormatErrorKind::Unsupported { what });
        }
    })
}

/// A bitcast to narrower elements, the lowest bits first, along a new last axis.
fn divide_bits(
    b: &GraphBuilder,
    operand: &Value,
    stated: &ArrayType,
) -> Result<Value, FormatErrorKind> {
    let (wide, narrow) = (unsigned(operand.array_type()?.dtype)?, unsigned(stated.dtype)?);
    let dims: Vec<i64> = (0..stated.shape.rank() as i64 - 1).collect();
    let bits = b.broadcast_in_dim(b.bitcast(operand, wide)?, &dims, stated.shape.clone())?;
    let parts =
        b.elementwise(Op::ShrLogical, &[bits, shifts(b, stated, wide)?], &RuleSet::StableHlo)?;
    Ok(b.bitcast(b.convert(parts, narrow)?, stated.dtype)?)
}

/// A bitcast of the elements along the last axis, the lowest bits first, to one wider element.
fn join_bits(
    b: &GraphBuilder,
    operand: &Value,
    stated: &ArrayType,
) -> Result<Value, FormatErrorKind> {
    let from = operand.array_type()?;
    let (narrow, wide) = (unsigned(from.dtype)?, unsigned(stated.dtype)?);
    let bits = b.convert(b.bitcast(operand, narrow)?, wide)?;
    let parts = b.elementwise(Op::Shl, &[bits, shifts(b, &from, wide)?], &RuleSet::StableHlo)?;
    let joined = b.reduce(ReduceOp::Or, parts, stated.shape.rank() as i64)?;
    Ok(b.bitcast(joined, stated.dtype)?)
}

/// The position of the lowest bit of each narrow element in its wide element, as elements of type `wide`.
fn shifts(b: &GraphBuilder, narrow: &ArrayType, wide: DType) -> Result<Value, FormatErrorKind> {
    let last = narrow.shape.rank() as i64 - 1;
    Ok(b.iota(wide, narrow.shape.clone(), last)? * (8 * narrow.dtype.size() as i64))
}
