//! Every kind of SOURCE that `indim eval` reads.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::run::{Folder, command, f32_bytes, fails, fails_with, finish, npy, succeeds};

#[test]
fn npy_files_of_every_type() {
    let folder = Folder::new();
    for (descr, bytes, printed) in [
        ("|b1", vec![1u8, 0], "[ True False]"),
        ("|i1", vec![0xff, 2], "[-1  2]"),
        ("|u1", vec![0xff, 2], "[255   2]"),
        ("<i2", [-1i16, 2].map(i16::to_le_bytes).concat(), "[-1  2]"),
        ("<u2", [65535u16, 2].map(u16::to_le_bytes).concat(), "[65535     2]"),
        ("<i4", [-1i32, 2].map(i32::to_le_bytes).concat(), "[-1  2]"),
        ("<u4", [1u32, 2].map(u32::to_le_bytes).concat(), "[1 2]"),
        ("<i8", [-1i64, 2].map(i64::to_le_bytes).concat(), "[-1  2]"),
        (
            "<u8",
            [u64::MAX, 2].map(u64::to_le_bytes).concat(),
            "[18446744073709551615                    2]",
        ),
        ("<f2", [0x3800u16, 0x4000].map(u16::to_le_bytes).concat(), "[0.5 2. ]"),
        ("<f4", f32_bytes(&[0.5, 2.0]), "[0.5 2. ]"),
        ("<c8", f32_bytes(&[0.5, 2.0, -1.0, 0.0]), "[ 0.5+2.j -1. +0.j]"),
        ("<f8", [0.5f64, 2.0].map(f64::to_le_bytes).concat(), "[0.5 2. ]"),
        (">i4", [-1i32, 2].map(i32::to_be_bytes).concat(), "[-1  2]"),
        (">f8", [0.5f64, 2.0].map(f64::to_be_bytes).concat(), "[0.5 2. ]"),
    ] {
        let binding = folder.bind("x", "x.npy", &npy(descr, false, "(2,)", &bytes));
        assert_eq!(succeeds(&["eval", "x", &binding]), format!("{printed}\n"), "{descr}");
    }
}

#[test]
fn fortran_order() {
    let folder = Folder::new();
    let bytes = f32_bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let binding = folder.bind("x", "x.npy", &npy("<f4", true, "(2, 3)", &bytes));
    assert_eq!(succeeds(&["eval", "x + 0", &binding]), "[[1. 2. 3.]\n [4. 5. 6.]]\n");
}

#[test]
fn scalars_and_empty_arrays() {
    let folder = Folder::new();
    let scalar = folder.bind("x", "x.npy", &npy("<f4", false, "()", &f32_bytes(&[1.5])));
    assert_eq!(succeeds(&["eval", "x", &scalar]), "1.5\n");
    let empty = folder.bind("x", "x.npy", &npy("<f4", false, "(0, 3)", &[]));
    assert_eq!(succeeds(&["eval", "x + 1", &empty]), "[]\n");
}

#[test]
fn members_of_archives() {
    let folder = Folder::new();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    archive.start_file("weights.npy", options).expect("a member");
    archive.write_all(&npy("<f4", false, "(2,)", &f32_bytes(&[1.0, 2.0]))).expect("written");
    let bytes = archive.finish().expect("an archive").into_inner();
    let binding = folder.bind("x", "a.npz", &bytes);
    assert_eq!(succeeds(&["eval", "x * 2", &format!("{binding}:weights")]), "[2. 4.]\n");
    assert_eq!(succeeds(&["eval", "x * 2", &format!("{binding}:weights.npy")]), "[2. 4.]\n");
    let message = fails(&["eval", "x", &format!("{binding}:bias")]);
    assert!(message.contains("weights"), "the members there are: {message}");
    fails_with("member-not-named", &["eval", "x", &binding]);
    let message = fails(&["eval", "x", &binding]);
    assert!(message.contains("as in `.npz:weights`; there are: weights"), "{message}");
}

#[test]
fn tensors_of_safetensors_files() {
    let folder = Folder::new();
    let file = folder.file("m.safetensors").display().to_string();
    let made = ["eval", "w = a; h = b; w, h", "a=bf16[1.5, -2]", "b=f16[[1], [2]]", "-o", &file];
    assert_eq!(succeeds(&made), "");
    let source = |tensor: &str| format!("x={file}:{tensor}");
    assert_eq!(succeeds(&["eval", "x * 2", &source("w")]), "[ 3. -4.]\n");
    assert_eq!(succeeds(&["explain", "x + x", &source("h")]).lines().count(), {
        succeeds(&["explain", "x + x", "x=f16[2, 1]"]).lines().count()
    });
    let message = fails(&["eval", "x", &source("v")]);
    assert!(message.contains("there is no member `v`; there are: h, w"), "{message}");
    fails_with("member-not-named", &["eval", "x", &format!("x={file}")]);
    fails_with("io", &["eval", "x", "x=missing.safetensors:w"]);
    fails_with("io", &["eval", "x", "x=missing.safetensors"]);
    let damaged = folder.bind("x", "d.safetensors", b"no tensors");
    fails_with("bad-header", &["eval", "x", &format!("{damaged}:w")]);
    fails_with("bad-header", &["eval", "x", &damaged]);
}

#[test]
fn a_file_does_not_change_what_a_literal_means() {
    let folder = Folder::new();
    let bytes = npy("<f4", false, "(2,)", &f32_bytes(&[1.0, 2.0]));
    for name in ["3", "true", "nan", "[7]", "f32[7]", "weights"] {
        folder.bind("x", name, &bytes);
    }
    let eval = |source: &str| {
        let mut command = command();
        finish(command.args(["eval", "x", source]).current_dir(folder.path())).stdout
    };
    assert_eq!(eval("x=3"), "3\n");
    assert_eq!(eval("x=true"), "True\n");
    assert_eq!(eval("x=nan"), "nan\n");
    assert_eq!(eval("x=[7]"), "[7]\n");
    assert_eq!(eval("x=f32[7]"), "[7.]\n");
    assert_eq!(eval("x=./3"), "[1. 2.]\n");
    assert_eq!(eval("x=weights"), "[1. 2.]\n");
}

#[test]
fn literals() {
    for (source, printed) in [
        ("[[1,2,3],[4,5,6]]", "[[1 2 3]\n [4 5 6]]"),
        ("f32[1.5, 2]", "[1.5 2. ]"),
        ("7", "7"),
        ("-0.5", "-0.5"),
        ("u8[255]", "[255]"),
        ("bool[True, False]", "[ True False]"),
    ] {
        let printed = format!("{printed}\n");
        assert_eq!(succeeds(&["eval", "x", &format!("x={source}")]), printed, "{source}");
    }
}

#[test]
fn sources_that_are_none() {
    for (source, code) in [
        ("", "bad-literal"),
        ("[1,", "bad-literal"),
        ("[[1,2],[3]]", "ragged-literal"),
        ("u8[256]", "element-does-not-fit"),
        ("f99[1]", "unknown-element-type"),
        ("[1 2]", "bad-literal"),
        ("1.2.3", "wrong-element"),
        ("no-such-file", "no-such-source"),
        ("2024/day", "no-such-source"),
    ] {
        fails_with(code, &["eval", "x", &format!("x={source}")]);
    }
    fails_with("io", &["eval", "x", "x=missing.npy"]);
    fails_with("io", &["eval", "x", "x=missing.npz:member"]);
}

#[test]
fn damaged_files() {
    let folder = Folder::new();
    let whole = npy("<f4", false, "(2, 3)", &f32_bytes(&[0.0; 6]));
    for length in [0, 5, 9, 20, whole.len() - 1] {
        let binding = folder.bind("x", "x.npy", &whole[..length]);
        let message = fails(&["eval", "x", &binding]);
        assert!(message.contains("x.npy"), "{length}: {message}");
    }
    for shape in
        ["(9223372036854775807,)", "(4294967296, 4294967296)", "(-1,)", "(1e3,)", "(((((", "2"]
    {
        let binding = folder.bind("x", "x.npy", &npy("<f4", false, shape, &[0; 4]));
        fails(&["eval", "x", &binding]);
    }
    for descr in ["<f3", "|O", "<U8", "[('a', '<f4')]", "<f16"] {
        let binding = folder.bind("x", "x.npy", &npy(descr, false, "(1,)", &[0; 32]));
        fails(&["eval", "x", &binding]);
    }
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    fails(&["eval", "x", &format!("x={}", folder.path().display())]);
}

/// Names of remote stores, in a build without the feature `remote`.
#[cfg(not(feature = "remote"))]
#[test]
fn remote_names_need_the_feature() {
    for source in ["s3://bucket/x.npy", "https://host/x.zarr", "gs://bucket/no-ending"] {
        for arguments in [vec!["eval", "x"], vec!["explain", "x"]] {
            let binding = format!("x={source}");
            let error = fails(&[&arguments[..], &[&binding]].concat());
            assert!(error.contains("error[remote-off]") && error.contains(source), "{error}");
            assert!(error.contains("cargo install indim-cli --features remote"), "{error}");
        }
    }
    let error = fails(&["eval", "x", "x=https://u:HIDDEN@host/x.npy?sig=HIDDEN"]);
    assert!(error.contains("error[remote-off]") && !error.contains("HIDDEN"), "{error}");
    fails_with("remote-off", &["eval", "1.5", "-o", "s3://bucket/y.npy"]);
}
