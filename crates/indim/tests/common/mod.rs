//! Helpers of the tests of files and of printing.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::PathBuf;

use indim::{Array, ArrayView, CompileOptions, GraphBuilder, compile};

/// A fixture.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The elements of a view in row-major order, computed as the result of a graph without operations.
pub(crate) fn dense(view: &ArrayView<'_>) -> Array {
    let b = GraphBuilder::new();
    let array_type = view.array_type().clone();
    let x = b.parameter("x", array_type.dtype, array_type.shape).unwrap();
    let executable = compile(&b.finish(&[x]).unwrap(), &CompileOptions::default()).unwrap();
    executable.run(std::slice::from_ref(view)).unwrap().remove(0)
}

/// Bytes from hexadecimal digits; `-` means no bytes.
pub(crate) fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.trim_matches('-').as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// A shape from `2,3`, or from `-` for rank 0. `None` if a size exceeds the machine word.
pub(crate) fn shape(sizes: &str) -> Option<Vec<usize>> {
    let sizes = sizes.split(',').filter(|size| *size != "-");
    sizes.map(|size| usize::try_from(size.parse::<u64>().unwrap()).ok()).collect()
}
