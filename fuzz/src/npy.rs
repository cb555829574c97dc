//! `.npy` files.

use indim::files::{ArrayFile, FileError, write_npy_to};

/// Reads the bytes as a file.
pub fn run(bytes: &[u8]) {
    match ArrayFile::from_bytes(bytes.to_vec()) {
        Ok(array) => check(&array),
        Err(kind) => {
            let error = FileError { path: "x.npy".into(), kind };
            assert!(!error.code().is_empty() && !error.to_string().is_empty());
        }
    }
}

/// A read array has the length of its type, can be viewed, and survives writing.
pub(crate) fn check(array: &ArrayFile) {
    let array_type = array.array_type();
    let expected = array_type.shape.byte_count(array_type.dtype.size()).unwrap();
    assert_eq!(array.bytes().len(), expected);
    assert_eq!(array.view().array_type(), array_type);
    let mut written = Vec::new();
    // The elements are written in memory order as if that were row-major; only bytes are compared.
    write_npy_to(&mut written, array_type, array.bytes()).unwrap();
    let read_back = ArrayFile::from_bytes(written).unwrap();
    assert_eq!(read_back.array_type(), array_type);
    assert_eq!(read_back.bytes(), array.bytes());
}
