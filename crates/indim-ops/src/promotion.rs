//! NumPy 2's promotion of element types (NEP 50), for the rules numpy and named.

use alloc::vec::Vec;
use core::cmp::max;

use crate::{DType, DTypeClass};

/// The common type of two array types; `None` for `bf16` or a storage type with another type.
///
/// ```
/// use indim_ops::{DType, promote};
/// assert_eq!(promote(DType::U8, DType::I8), Some(DType::I16));
/// assert_eq!(promote(DType::I32, DType::F32), Some(DType::F64));
/// ```
pub fn promote(x: DType, y: DType) -> Option<DType> {
    use DTypeClass::{Bool, Complex, Float, Signed, Storage, Unsigned};
    if x == y {
        return Some(x);
    }
    let is_alone = |dtype: DType| dtype == DType::Bf16 || dtype.is_storage();
    if is_alone(x) || is_alone(y) {
        return None;
    }
    match (x.class(), y.class()) {
        (Storage, _) | (_, Storage) => None,
        (Bool, _) => Some(y),
        (_, Bool) => Some(x),
        (Signed, Signed) | (Unsigned, Unsigned) | (Float, Float) | (Complex, Complex) => {
            Some(if x.size() > y.size() { x } else { y })
        }
        (Signed, Unsigned) => Some(signed_for(x, y)),
        (Unsigned, Signed) => Some(signed_for(y, x)),
        (Complex, _) => Some(complex_for(x, float_for(y))),
        (_, Complex) => Some(complex_for(y, float_for(x))),
        (Float, _) => Some(max_float(x, float_for(y))),
        (_, Float) => Some(max_float(y, float_for(x))),
    }
}

/// The common type of these array types, in any order; `None` for an empty list.
///
/// # Errors
/// Two types without a common type.
pub fn promote_all(mut dtypes: Vec<DType>) -> Result<Option<DType>, (DType, DType)> {
    // Floats first, as NumPy does: i16, u16 and f32 make f32, although i16 and u16 make i32.
    dtypes.sort_unstable_by(|x, y| y.cmp(x));
    let Some((&first, others)) = dtypes.split_first() else { return Ok(None) };
    let join = |left, &right| promote(left, right).ok_or((left, right));
    others.iter().try_fold(first, join).map(Some)
}

/// The float type in which NumPy computes functions such as `sqrt`.
pub const fn float_for(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I8 | DType::U8 => DType::F16,
        DType::I16 | DType::U16 => DType::F32,
        DType::I32 | DType::I64 | DType::U32 | DType::U64 => DType::F64,
        _ => dtype,
    }
}

/// The smallest signed type that represents both, or f64 with u64.
fn signed_for(signed: DType, unsigned: DType) -> DType {
    match max(signed.size(), 2 * unsigned.size()) {
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => DType::F64,
    }
}

fn max_float(x: DType, y: DType) -> DType {
    if x.size() > y.size() { x } else { y }
}

fn complex_for(complex: DType, float: DType) -> DType {
    if complex == DType::C128 || float == DType::F64 { DType::C128 } else { DType::C64 }
}
