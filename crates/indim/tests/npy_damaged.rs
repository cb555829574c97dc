//! Damaged and hostile `.npy` files: an error, or an array as the header describes it.

mod common;

use std::fs;

use common::dense;
use indim::files::{ArrayFile, FileError, FileErrorKind};

/// A file of version 1.0 with this header, followed by `elements` bytes.
fn file(header: &str, elements: usize) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(vec![7; elements]);
    file
}

/// A header with this type and this shape.
fn with(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
}

/// The error's code and message.
fn refusal(file: &[u8]) -> (&'static str, String) {
    let kind = ArrayFile::from_bytes(file.to_vec()).expect_err("the file is damaged");
    let error = FileError { path: "x.npy".into(), kind };
    (error.code(), error.to_string())
}

#[track_caller]
fn check(header: &str, elements: usize, code: &str, message: &str) {
    let found = refusal(&file(header, elements));
    assert_eq!(found.0, code, "{header}: {}", found.1);
    assert!(found.1.contains(message), "{header}: {}", found.1);
}

/// Whether the file is read; if so, it has the bytes of its type and can be viewed.
fn check_consistent(file: &[u8]) -> bool {
    let Ok(array) = ArrayFile::from_bytes(file.to_vec()) else { return false };
    let array_type = array.array_type();
    let expected = array_type.shape.byte_count(array_type.dtype.size()).unwrap();
    assert_eq!(array.bytes().len(), expected);
    assert_eq!(array.view().array_type(), array_type);
    true
}

fn samples() -> Vec<Vec<u8>> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    let mut version_2 = b"\x93NUMPY\x02\x00".to_vec();
    version_2.extend((header.len() as u32).to_le_bytes());
    version_2.extend(header.as_bytes());
    version_2.extend([0; 24]);
    vec![
        file(header, 24),
        version_2,
        file("{'descr': '>i2', 'fortran_order': True, 'shape': (3, 1, 2), }   \n", 12),
        file("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", 1),
    ]
}

#[test]
fn every_byte_damaged_in_every_way() {
    for sample in samples() {
        assert!(check_consistent(&sample));
        let (mut read, mut refused) = (0, 0);
        for position in 0..sample.len() {
            for byte in 0..=255 {
                let mut damaged = sample.clone();
                damaged[position] = byte;
                if check_consistent(&damaged) { read += 1 } else { refused += 1 }
            }
        }
        // Few changes leave a valid file, such as `<i4` for `<f4`, and almost none of those to the header do.
        assert!(refused > 50 * 250 && read > 0, "{read} read, {refused} refused");
    }
}

#[test]
fn every_byte_missing_or_doubled() {
    for sample in samples() {
        for position in 0..sample.len() {
            let mut shorter = sample.clone();
            shorter.remove(position);
            check_consistent(&shorter);
            let mut longer = sample.clone();
            longer.insert(position, sample[position]);
            check_consistent(&longer);
        }
    }
}

#[test]
fn truncated_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    for sample in samples() {
        for length in 0..sample.len() {
            let (code, message) = refusal(&sample[..length]);
            assert!(["not-npy", "bad-header", "wrong-length"].contains(&code), "{message}");
            fs::write(&path, &sample[..length]).unwrap();
            assert_eq!(ArrayFile::open(&path).unwrap_err().code(), code);
        }
    }
}

#[test]
fn elements_that_are_missing() {
    let header = with("'<f4'", "(2, 3)");
    check(&header, 23, "wrong-length", "shape [2, 3] asks for 24 bytes of elements, there are 23");
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn absurd_shapes() {
    let f8 = |shape: &str| with("'<f8'", shape);
    check(&f8("(4611686018427387904,)"), 0, "too-large", "");
    check(&f8("(4294967296, 4294967296)"), 0, "too-large", "");
    check(&f8("(3037000500, 3037000500, 2)"), 0, "too-large", "");
    check(&f8("(18446744073709551616,)"), 0, "bad-header", "a size that is a non-negative integer");
    check(&f8("(99999999999999999999999999999999,)"), 0, "bad-header", "a size");
    check(&f8("(-1,)"), 0, "bad-header", "a size");
    check(&f8("(2.0,)"), 16, "bad-header", "");
    check(&f8("(True,)"), 8, "bad-header", "a size");
    check(&f8("(0x2,)"), 16, "bad-header", "a size");
    check(&f8("(2 3)"), 48, "bad-header", "`,` or `)`");
    check(&f8("(,)"), 8, "bad-header", "a size");
    check(&f8("(2,,3)"), 48, "bad-header", "a size");
    check(&f8("((2,),)"), 16, "bad-header", "a size");
    check(&f8("[2]"), 16, "bad-header", "`(`");
    check(&f8("2"), 16, "bad-header", "`(`");
    check(&f8("None"), 16, "bad-header", "`(`");
    check(&f8("(1099511627776,)"), 8, "wrong-length", "asks for 8796093022208 bytes");
    check(&f8(&format!("({})", "2, ".repeat(64))), 8, "too-large", "");
    check(&f8(&format!("({})", "1, ".repeat(64))), 0, "wrong-length", "there are 0");
}

#[test]
fn huge_axes_beside_an_empty_one_hold_nothing() {
    for shape in ["(0, 18446744073709551615, 3)", "(18446744073709551615, 3, 0)"] {
        let array = ArrayFile::from_bytes(file(&with("'<f8'", shape), 0)).unwrap();
        assert!(dense(&array.view()).bytes().is_empty());
    }
}

#[test]
fn elements_that_are_no_numbers() {
    let code = "unknown-element-type";
    for descr in [
        "|O", "|S5", "<U5", "<M8[ns]", "<m8[us]", "|V2", "|V4", "<f16", "<c32", "<i3", "f4", "",
        "<", "é4",
    ] {
        let message = format!("elements of type `{descr}` are not numbers");
        check(&with(&format!("'{descr}'"), "(2,)"), 8, code, &message);
    }
    let structure = with("[('a', '<f4'), ('b', '<i4', (2, 2))]", "(2,)");
    check(&structure, 40, code, "a structure");
    check(&with("{'names': ['a']}", "(2,)"), 8, "bad-header", "a text in quotes");
    check(&with("None", "(2,)"), 8, "bad-header", "a text in quotes");
    check(&with("('<f4', (2,))", "(2,)"), 8, "bad-header", "a text in quotes");
}

#[test]
fn headers_that_are_no_header() {
    let good = with("'<f4'", "(1,)");
    let bad = |header: &str, message: &str| check(header, 4, "bad-header", message);
    bad("", "expected `{` at byte 10");
    bad("[]", "expected `{` at byte 10");
    bad("{}", "the keys descr, fortran_order and shape");
    bad("{'descr': '<f4', 'shape': (1,)}", "the keys descr, fortran_order and shape");
    bad("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "once");
    bad("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", "once");
    bad("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "True or False");
    bad("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "`,` or `}`");
    bad("{'descr', '<f4'}", "`:`");
    bad("{descr: '<f4'}", "a text in quotes");
    bad("{'descr: '<f4'}", "`:`");
    bad("{'descr': '<f4", "a closing quote");
    bad(&format!("{good} 1"), "the end of the header");
    bad(&format!("{good}\0"), "the end of the header");
    bad(&"{".repeat(60_000), "a text in quotes");
    bad(&"{'descr': [".repeat(6_000).replacen('[', "{", 1), "a text in quotes");
    bad("__import__('os').system('true')", "expected `{` at byte 10");
}

#[test]
fn the_rank_is_limited() {
    let ones = |rank: usize| format!("({})", "1,".repeat(rank));
    assert!(ArrayFile::from_bytes(file(&with("'<f4'", &ones(64)), 4)).is_ok());
    check(&with("'<f4'", &ones(65)), 4, "rank-limit", "at most 64 axes");
    check(&with("'<f4'", &ones(30_000)), 4, "rank-limit", "at most 64 axes");
}

#[test]
fn spellings_that_python_reads_too() {
    let read =
        |header: &str| ArrayFile::from_bytes(file(header, 4)).unwrap().array_type().to_string();
    assert_eq!(read("{\"shape\":(1,),\"fortran_order\":True,\"descr\":\"<f4\"}"), "f32[1]");
    assert_eq!(read("{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 1 , ) }"), "f32[1]");
    assert_eq!(read("{'descr': '<f4', 'fortran_order': False, 'shape': (1L,), }"), "f32[1]");
    assert_eq!(read("{'descr': '=u4', 'fortran_order': False, 'shape': (), }\n\n"), "u32[]");
}

#[test]
fn other_files() {
    let check = |file: &[u8], code: &str, message: &str| {
        let found = refusal(file);
        assert_eq!(found.0, code, "{}", found.1);
        assert!(found.1.contains(message), "{}", found.1);
    };
    check(b"PK\x03\x04", "not-npy", "not a .npy file");
    // A pickled list, which NumPy loads on request.
    check(b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e.", "not-npy", "");
    check(b"\x93NUMPY\x04\x00\x00\x00", "unknown-version", "version 4.0");
    check(b"\x93NUMPY\x01\x01\x00\x00", "unknown-version", "version 1.1");
    check(b"\x93NUMPY\x00\x00\x00\x00", "unknown-version", "version 0.0");
    check(b"\x93NUMPY\x01\x00\xff\xff{}", "bad-header", "claims 65535 bytes");
    check(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "bad-header", "claims 4294967295 bytes");
    let mut long = b"\x93NUMPY\x03\x00\x40\x42\x0f\x00".to_vec();
    long.extend(vec![b' '; 1_000_000]);
    check(&long, "bad-header", "a header has at most 65536");
}

#[test]
fn errors_are_typed() {
    let kind = ArrayFile::from_bytes(file(&with("'<f4'", "(2,)"), 3)).unwrap_err();
    assert!(
        matches!(kind, FileErrorKind::WrongLength { expected: 8, available: 3, .. }),
        "{kind:?}"
    );
    let kind = ArrayFile::from_bytes(file("{'descr': 1}", 0)).unwrap_err();
    assert!(matches!(kind, FileErrorKind::BadHeader { position: 20, .. }), "{kind:?}");
}
