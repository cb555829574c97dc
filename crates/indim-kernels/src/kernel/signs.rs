//! Sign-agnostic kernels: signed integers share the kernels of unsigned ones where the result bits are
//! equal.

use indim_ops::{DType, DTypeClass, Op};

/// The element type whose kernel of `op` is compiled for elements of type `dtype`.
pub(super) fn compiled(op: Op, dtype: DType) -> DType {
    if is_compiled(op, dtype) { dtype } else { unsigned(dtype) }
}

/// Like [`compiled`], for conversions.
pub(super) fn compiled_conversion(from: DType, to: DType) -> (DType, DType) {
    let to = if is_integral(from) { unsigned(to) } else { to };
    (if is_cut(from, to) { unsigned(from) } else { from }, to)
}

/// Whether there is a kernel of `op` for elements of type `dtype`.
pub(super) const fn is_compiled(op: Op, dtype: DType) -> bool {
    use Op::{Add, And, Clz, Eq, Mul, Ne, Neg, Not, Or, Popcnt, Select, Sub, Xor};
    let asks_for_signs = !matches!(
        op,
        Add | And | Clz | Eq | Mul | Ne | Neg | Not | Or | Popcnt | Select | Sub | Xor
    );
    asks_for_signs || !is_signed(dtype)
}

/// Like [`is_compiled`], for conversions.
pub(super) const fn is_conversion_compiled(from: DType, to: DType) -> bool {
    !(is_integral(from) && is_signed(to) || is_signed(from) && is_cut(from, to))
}

/// Whether the conversion keeps the low bits: a larger type extends the sign, others truncate.
const fn is_cut(from: DType, to: DType) -> bool {
    matches!(to, DType::Bool) || (to.is_integer() && from.size() >= to.size())
}

const fn is_integral(dtype: DType) -> bool {
    dtype.is_integer() || matches!(dtype, DType::Bool)
}

const fn is_signed(dtype: DType) -> bool {
    matches!(dtype.class(), DTypeClass::Signed)
}

/// The unsigned type of the same size.
fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        _ => dtype,
    }
}
