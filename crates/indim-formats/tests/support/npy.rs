//! Arrays from `.npy` files.

use std::path::Path;

use indim_graph::Array;
use indim_ops::{ArrayData, DType};
use indim_shape::Shape;

/// The array in a file; bfloat16 lies in it as 16 bits of an integer, so that its type has to be said.
///
/// # Panics
/// When it is none that tests use.
pub(crate) fn read(path: &Path, dtype: DType) -> Array {
    parse(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())), dtype)
}

/// The array in the bytes of such a file.
///
/// # Panics
/// When it is none that tests use.
pub(crate) fn parse(bytes: &[u8], dtype: DType) -> Array {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let (start, length) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    let header = std::str::from_utf8(&bytes[start..start + length]).expect("the header is text");
    assert!(!header.contains("'>") && header.contains("'fortran_order': False"), "{header}");
    let (_, sizes) = header.split_once("'shape': (").expect("there is a shape");
    let (sizes, _) = sizes.split_once(')').expect("the shape ends");
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape: Shape = sizes.map(|size| size.parse::<usize>().expect("a size")).collect();
    let data = ArrayData::from_le_bytes(dtype, &bytes[start + length..]);
    Array::from_data(shape, data).expect("the elements fill the shape")
}
