//! Element types as the header of a `.npy` file names them: a byte order and a code, `<f4`, `|b1`.

use indim_ops::{DType, DTypeClass};

/// The byte order that a header gives to elements of this machine.
const NATIVE: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// NumPy's code of an element type.
fn code(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "b1",
        DType::I8 => "i1",
        DType::I16 => "i2",
        DType::I32 => "i4",
        DType::I64 => "i8",
        DType::U8 => "u1",
        DType::U16 => "u2",
        DType::U32 => "u4",
        DType::U64 => "u8",
        DType::F16 => "f2",
        // NumPy has none: so it writes, and cannot read, the bfloat16 of ml_dtypes.
        DType::Bf16 => "V2",
        DType::F32 => "f4",
        DType::F64 => "f8",
        DType::C64 => "c8",
        DType::C128 => "c16",
    }
}

/// How NumPy names an element type.
pub(super) fn to_descr(dtype: DType) -> String {
    let order = if dtype.size() == 1 { '|' } else { NATIVE };
    format!("{order}{}", code(dtype))
}

/// The element type of that name, and whether its bytes are in the other order.
pub(super) fn from_descr(descr: &str) -> Option<(DType, bool)> {
    let order = descr.chars().next().filter(|order| "<>|=".contains(*order))?;
    let dtype = *DType::ALL.iter().find(|dtype| code(**dtype) == &descr[1..])?;
    // Without a byte order two bytes of NumPy's are no number at all.
    if dtype == DType::Bf16 && !matches!(order, '<' | '>') {
        return None;
    }
    let is_swapped = number_size(dtype) > 1 && matches!(order, '<' | '>') && order != NATIVE;
    Some((dtype, is_swapped))
}

/// The bytes that change places when the byte order does: a complex element is two numbers.
pub(super) fn number_size(dtype: DType) -> usize {
    match dtype.class() {
        DTypeClass::Complex => dtype.size() / 2,
        _ => dtype.size(),
    }
}
