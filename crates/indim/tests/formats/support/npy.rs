//! Arrays from `.npy` files.

use std::path::Path;

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::{ArrayData, DType};

/// The array in a file. A file stores bfloat16 as 16-bit integers, so the caller names the type.
///
/// # Panics
/// On a file that is not one of the tests' arrays.
pub(crate) fn read(path: &Path, dtype: DType) -> Array {
    parse(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())), dtype)
}

/// The array in the bytes of a file.
///
/// # Panics
/// On bytes that are not one of the tests' arrays.
pub(crate) fn parse(bytes: &[u8], dtype: DType) -> Array {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let (start, length) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    let header = std::str::from_utf8(&bytes[start..start + length]).expect("the header is text");
    assert!(!header.contains("'>"), "{header}");
    let is_fortran = header.contains("'fortran_order': True");
    let (_, sizes) = header.split_once("'shape': (").expect("there is a shape");
    let (sizes, _) = sizes.split_once(')').expect("the shape ends");
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    let mut sizes: Vec<usize> = sizes.map(|size| size.parse().expect("a size")).collect();
    if is_fortran {
        sizes.reverse();
    }
    let data = ArrayData::from_le_bytes(dtype, &bytes[start + length..]);
    let array = Array::from_data(sizes, data).expect("the elements fill the shape");
    if is_fortran { reversed(&array) } else { array }
}

/// The array with its axes in reverse order.
fn reversed(array: &Array) -> Array {
    let b = GraphBuilder::new();
    let axes: Vec<i64> = (0..array.shape().rank() as i64).rev().collect();
    let x = b.parameter("x", array.dtype(), array.shape().clone()).expect("a parameter");
    let graph = b.finish(&[b.transpose(x, &axes).expect("a permutation")]).expect("a graph");
    evaluate(&graph, std::slice::from_ref(array)).expect("it has an argument").remove(0)
}
