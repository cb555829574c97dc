//! Sign-agnostic operations: signed integers share the kernels of unsigned integers if the result bits are
//! equal. Storage types, such as 8-bit floats, share the kernels of `u8`.

use indim_ops::{DType, DTypeClass, Op};

/// The element type whose kernel of `op` computes elements of type `dtype`; `dtype` itself if `op` does
/// not take the type.
pub(super) fn kernel_dtype(op: Op, dtype: DType) -> DType {
    match is_compiled(op, dtype) {
        true => dtype,
        false if !op.takes(dtype) => dtype,
        false if dtype.is_storage() => DType::U8,
        false => unsigned(dtype),
    }
}

/// The element types whose conversion kernel converts `from` to `to`.
pub(super) fn kernel_conversion(from: DType, to: DType) -> (DType, DType) {
    let to = if is_integral(from) { unsigned(to) } else { to };
    (if ignores_sign(from, to) { unsigned(from) } else { from }, to)
}

/// Whether `op` has its own kernel for elements of type `dtype`.
pub(super) const fn is_compiled(op: Op, dtype: DType) -> bool {
    use Op::{Add, And, Clz, Eq, Mul, Ne, Neg, Not, Or, Popcnt, Select, Sub, Xor};
    let depends_on_sign = !matches!(
        op,
        Add | And | Clz | Eq | Mul | Ne | Neg | Not | Or | Popcnt | Select | Sub | Xor
    );
    !dtype.is_storage() && (depends_on_sign || !is_signed(dtype))
}

/// Whether the conversion has its own kernel.
pub(super) const fn is_conversion_compiled(from: DType, to: DType) -> bool {
    !(is_integral(from) && is_signed(to) || is_signed(from) && ignores_sign(from, to))
}

/// Whether a conversion ignores the sign of an integer: it compares with zero or keeps the low bits. A
/// conversion to a wider integer extends the sign.
const fn ignores_sign(from: DType, to: DType) -> bool {
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
