//! Element types in headers of `.npy` files: byte order and code, `<f4`, `|b1`.

use indim_ops::{DType, DTypeClass};

/// The byte order character of this machine.
const NATIVE: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// NumPy's description of an element type.
pub(crate) fn to_descr(dtype: DType) -> String {
    // NumPy writes the types of ml_dtypes with a byte order.
    let order = if dtype.size() == 1 && !dtype.is_storage() { '|' } else { NATIVE };
    format!("{order}{}", dtype.npy_code())
}

/// The element type of a description, and whether its bytes are in the other order.
pub(crate) fn from_descr(descr: &str) -> Option<(DType, bool)> {
    let order = descr.chars().next().filter(|order| "<>|=".contains(*order))?;
    let dtype = *DType::ALL.iter().find(|dtype| dtype.npy_code() == &descr[1..])?;
    // One raw byte may be of many types.
    if dtype.npy_code() == "V1" {
        return None;
    }
    // `bf16` has the code of two raw bytes, which without a byte order are not a number.
    if dtype == DType::Bf16 && !matches!(order, '<' | '>') {
        return None;
    }
    let is_swapped = number_size(dtype) > 1 && matches!(order, '<' | '>') && order != NATIVE;
    Some((dtype, is_swapped))
}

/// Bytes of the unit that a change of byte order reverses: half of a complex element, otherwise the element.
pub(crate) fn number_size(dtype: DType) -> usize {
    match dtype.class() {
        DTypeClass::Complex => dtype.size() / 2,
        _ => dtype.size(),
    }
}
