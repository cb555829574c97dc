//! Arrays from a pipe, read by regions.

use indim_ops::{ArrayType, DType};
use indim_stores::{ArrayRegion, ArrayStream, Source, StoreErrorKind, write_npy_to};

/// A `.npy` file of 6 rows of 2 numbers.
fn file() -> Vec<u8> {
    let mut file = Vec::new();
    let elements: Vec<u8> = (0..12).collect();
    write_npy_to(&mut file, &ArrayType::new(DType::U8, [6, 2]), &elements).expect("written");
    file
}

#[test]
fn regions_are_read_once_in_their_order() {
    let file = file();
    let pipe = ArrayStream::open(&file[..]).expect("a header").with_name("the pipe");
    assert!(pipe.is_sequential() && pipe.is_read_once());
    let rows = |start, count| pipe.read(&ArrayRegion::new([start, 0], [count, 2]));
    assert_eq!(rows(0, 2).expect("the first").bytes(), [0, 1, 2, 3]);
    // Elements between two regions are skipped, and rows are read in part.
    let column = pipe.read(&ArrayRegion::new([3, 1], [2, 1])).expect("a column");
    assert_eq!(column.bytes(), [7, 9]);
    let error = rows(4, 1).expect_err("row 4 has passed");
    assert_eq!(error.code(), "read-once");
    assert!(
        matches!(error.kind, StoreErrorKind::ReadOnce { position: 10, requested: 8 }),
        "{error:?}"
    );
    assert!(error.to_string().starts_with("the pipe: a pipe is read once, in order: "), "{error}");
    assert_eq!(rows(5, 1).expect("the last").bytes(), [10, 11]);
    assert_eq!(rows(5, 2).expect_err("beyond the array").code(), "outside-of-array");
}

#[test]
fn a_pipe_that_ends_early_is_an_error() {
    let file = file();
    let pipe = ArrayStream::open(&file[..file.len() - 3]).expect("a header");
    assert!(pipe.read(&ArrayRegion::new([0, 0], [4, 2])).is_ok());
    let skipping = pipe.read(&ArrayRegion::new([5, 0], [1, 2])).expect_err("9 of 12 bytes");
    assert_eq!(skipping.code(), "wrong-length");
    let pipe = ArrayStream::open(&file[..file.len() - 3]).expect("a header");
    let whole = pipe.read(&ArrayRegion::new([0, 0], [6, 2])).expect_err("9 of 12 bytes");
    assert!(whole.to_string().contains('9'), "{whole}");
}
