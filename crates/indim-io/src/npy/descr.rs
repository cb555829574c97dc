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

/// The element type of a description, and whether the elements are in non-native byte order.
pub fn from_descr(descr: &str) -> Option<(DType, bool)> {
    let order = descr.chars().next().filter(|order| "<>|=".contains(*order))?;
    let dtype = *DType::ALL.iter().find(|dtype| dtype.npy_code() == &descr[1..])?;
    // `V1`, one raw byte, is the code of several element types, so it identifies none.
    if dtype.npy_code() == "V1" {
        return None;
    }
    // The code of `bf16` is `V2`, two raw bytes. Without a byte order these are not a number.
    if dtype == DType::Bf16 && !matches!(order, '<' | '>') {
        return None;
    }
    let is_swapped = number_size(dtype) > 1 && matches!(order, '<' | '>') && order != NATIVE;
    Some((dtype, is_swapped))
}

/// Bytes of the unit that a change of byte order reverses: half of a complex element, otherwise the element.
pub fn number_size(dtype: DType) -> usize {
    match dtype.class() {
        DTypeClass::Complex => dtype.size() / 2,
        _ => dtype.size(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_ml_dtypes_are_written_as_numpy_writes_them() {
        assert_eq!(to_descr(DType::F8E5m2), format!("{NATIVE}f1"));
        assert_eq!(from_descr(&to_descr(DType::F8E5m2)), Some((DType::F8E5m2, false)));
        for dtype in [DType::F8E4m3fn, DType::F8E5m2fnuz, DType::I4, DType::U4] {
            assert_eq!(to_descr(dtype), format!("{NATIVE}V1"));
            assert_eq!(from_descr(&to_descr(dtype)), None, "one raw byte may be of many types");
        }
    }
}
