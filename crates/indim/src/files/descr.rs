//! Element types as the header of a `.npy` file names them: a byte order and a code, `<f4`, `|b1`.

use indim_ops::{DType, DTypeClass};

/// The byte order that a header gives to elements of this machine.
const NATIVE: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// How NumPy names an element type.
pub(super) fn to_descr(dtype: DType) -> String {
    let order = if dtype.size() == 1 { '|' } else { NATIVE };
    format!("{order}{}", dtype.npy_code())
}

/// The element type of that name, and whether its bytes are in the other order.
pub(super) fn from_descr(descr: &str) -> Option<(DType, bool)> {
    let order = descr.chars().next().filter(|order| "<>|=".contains(*order))?;
    let dtype = *DType::ALL.iter().find(|dtype| dtype.npy_code() == &descr[1..])?;
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
