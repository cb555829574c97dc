//! Tensors of `.safetensors` files: files of the library `safetensors`, and damaged or hostile ones.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::dense;
use indim::array::MappedFile;
use indim::files::{
    ArrayFile, FileErrorKind, OutputFile, SafetensorsSource, read_tensor, read_tensor_type,
    safetensors_sinks, write_safetensors_to,
};
use indim::stream::{ArrayRegion, MemorySource, Source};
use indim::{Array, ArrayError, ArrayType, DType};
use safetensors::tensor::{Dtype, TensorView, serialize};

/// A file in a folder of its own.
struct TestFile {
    folder: tempfile::TempDir,
}

impl TestFile {
    fn new(bytes: &[u8]) -> Self {
        let test_file = TestFile { folder: tempfile::tempdir().unwrap() };
        fs::write(test_file.path(), bytes).unwrap();
        test_file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("model.safetensors")
    }

    fn code(&self, tensor: &str) -> &'static str {
        read_tensor(&self.path(), tensor, usize::MAX).unwrap_err().code()
    }
}

/// A file with this header, followed by this many zeros.
fn with_header(header: &str, zeros: usize) -> TestFile {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + zeros, 0);
    TestFile::new(&file)
}

/// Files of the library are read as a whole, mapped, and by regions.
#[test]
fn tensors_of_the_library_are_read() {
    let floats: Vec<u8> = (0..24u16).flat_map(|at| f32::from(at).to_le_bytes()).collect();
    let halves: Vec<u8> = [0x3f80u16, 0xc000].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let tensors = [
        ("layer.0/weight:0", TensorView::new(Dtype::F32, vec![2, 3, 4], &floats).unwrap()),
        ("bf", TensorView::new(Dtype::BF16, vec![2], &halves).unwrap()),
        ("f8", TensorView::new(Dtype::F8_E4M3, vec![2], &halves[..2]).unwrap()),
        ("e8", TensorView::new(Dtype::F8_E8M0, vec![2], &halves[..2]).unwrap()),
        ("none", TensorView::new(Dtype::F64, vec![0, 3], &[]).unwrap()),
        ("one", TensorView::new(Dtype::U8, vec![], &[7]).unwrap()),
    ];
    let test_file = TestFile::new(&serialize(tensors, None).unwrap());
    let path = test_file.path();
    let w = read_tensor(&path, "layer.0/weight:0", usize::MAX).unwrap();
    assert_eq!(w.array_type().to_string(), "f32[2, 3, 4]");
    let expected: Vec<f32> = (0..24u16).map(f32::from).collect();
    assert_eq!(dense(&w.view()).elements::<f32>().unwrap(), expected);
    let bf = read_tensor(&path, "bf", usize::MAX).unwrap();
    assert_eq!(bf.array_type().to_string(), "bf16[2]");
    let bits = [0x3f80u16, 0xc000].iter().flat_map(|bits| bits.to_ne_bytes());
    assert_eq!(bf.bytes(), bits.collect::<Vec<u8>>());
    assert_eq!(read_tensor_type(&path, "none").unwrap().to_string(), "f64[0, 3]");
    assert_eq!(read_tensor(&path, "one", usize::MAX).unwrap().bytes(), [7]);
    let f8 = read_tensor(&path, "f8", usize::MAX).unwrap();
    assert_eq!(f8.array_type().to_string(), "f8e4m3fn[2]");
    assert_eq!(f8.bytes(), &halves[..2]);
    assert_eq!(test_file.code("e8"), "unknown-element-type");
    assert_eq!(read_tensor(&path, "one", 0).unwrap_err().code(), "memory-limit");

    let source = SafetensorsSource::open(&path, "layer.0/weight:0").unwrap();
    let part = source.read(&ArrayRegion::new([1, 1, 0], [1, 2, 2])).unwrap();
    assert_eq!(part.elements::<f32>().unwrap(), [16.0, 17.0, 20.0, 21.0]);
    // SAFETY: no other process knows the folder, so the mapped file does not change.
    let mapped = unsafe { MappedFile::open(&path) }.unwrap();
    let mapped = ArrayFile::from_mapped_tensor(&path, mapped, "layer.0/weight:0", usize::MAX);
    assert_eq!(dense(&mapped.unwrap().view()).elements::<f32>().unwrap(), expected);

    let error = read_tensor(&path, "weight", usize::MAX).unwrap_err().to_string();
    let names = "there is no member `weight`; there are: bf, e8, f8, layer.0/weight:0, none, one";
    assert!(error.ends_with(names), "{error}");
    let error = ArrayFile::open(&path).unwrap_err();
    assert_eq!(error.code(), "member-not-named");
    let message = "as in `.safetensors:bf`; there are: bf, e8, f8,";
    assert!(error.to_string().contains(message), "{error}");
}

/// Headers without padding leave elements unaligned.
#[test]
fn elements_need_not_be_aligned() {
    let header = r#"{"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    assert_ne!((8 + header.len()) % 8, 0);
    file.extend(header.as_bytes());
    file.extend([1.5f64, -2.0].iter().flat_map(|number| number.to_le_bytes()));
    let test_file = TestFile::new(&file);
    // SAFETY: no other process knows the folder, so the mapped file does not change.
    let mapped = unsafe { MappedFile::open(&test_file.path()) }.unwrap();
    let mapped = ArrayFile::from_mapped_tensor(&test_file.path(), mapped, "x", usize::MAX).unwrap();
    assert_eq!(dense(&mapped.view()).elements::<f64>().unwrap(), [1.5, -2.0]);
    let read = read_tensor(&test_file.path(), "x", usize::MAX).unwrap();
    assert_eq!(dense(&read.view()).elements::<f64>().unwrap(), [1.5, -2.0]);
}

#[test]
fn headers_that_lie() {
    let tensor = |shape: &str, offsets: &str| {
        format!(r#"{{"x":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let code = |header: &str, zeros| with_header(header, zeros).code("x");
    assert!(read_tensor(&with_header(&tensor("[2]", "[0,8]"), 8).path(), "x", 8).is_ok());
    for (shape, offsets, zeros) in [
        ("[2]", "[0,8]", 7),
        ("[2]", "[0,8]", 9),
        ("[2]", "[4,12]", 12),
        ("[2]", "[0,4]", 4),
        ("[2]", "[8,0]", 8),
        ("[4294967296,4294967296]", "[0,0]", 0),
        ("[4611686018427387904]", "[0,0]", 0),
        ("[-1]", "[0,0]", 0),
        ("[1.5]", "[0,4]", 4),
        ("[99999999999999999999]", "[0,4]", 4),
        ("[2]", "[0,18446744073709551615]", 8),
        ("2", "[0,8]", 8),
    ] {
        assert_eq!(code(&tensor(shape, offsets), zeros), "bad-archive", "{shape} {offsets}");
    }
    let deep = format!("[{}]", vec!["1"; 40_000].join(","));
    assert_eq!(code(&tensor(&deep, "[0,4]"), 4), "rank-limit");
    for header in ["", "[]", "{", "null", r#"{"x":3}"#, r#"{"__metadata__":{"x":1}}"#] {
        assert_eq!(code(header, 0), "bad-archive", "{header}");
    }
    assert_eq!(code(&"[".repeat(100_000), 0), "bad-archive");
    assert_eq!(code("{}", 0), "no-member");
    let two = r#"{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
                  "y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#;
    assert_eq!(code(two, 3), "bad-archive");
    for claimed in [9, 1 << 24, (1 << 24) + 1, 1 << 40, u64::MAX] {
        let file = [&claimed.to_le_bytes()[..], b"{}      "].concat();
        assert_eq!(TestFile::new(&file).code("x"), "bad-header", "{claimed}");
    }
}

#[test]
fn every_byte_of_a_file_damaged_and_files_cut_off_anywhere() {
    let bytes = ArrayType::new(DType::U8, [3]);
    let mut good = Vec::new();
    let tensors = [("x", &bytes, &[1, 2, 3][..]), ("y", &bytes, &[4, 5, 6])];
    write_safetensors_to(&mut good, &tensors).unwrap();
    let test_file = TestFile::new(&good);
    for position in 0..good.len() - 6 {
        for change in [1, 0x10, 0x80, 0xff] {
            let mut damaged = good.clone();
            damaged[position] ^= change;
            fs::write(test_file.path(), &damaged).unwrap();
            // The format has no checksum: a changed type or shape with the same number of bytes is accepted.
            let read = read_tensor(&test_file.path(), "x", usize::MAX);
            assert!(read.is_err() || read.unwrap().bytes().len() == 3, "byte {position}");
        }
    }
    for length in 0..good.len() {
        fs::write(test_file.path(), &good[..length]).unwrap();
        let code = test_file.code("x");
        assert!(["bad-archive", "bad-header"].contains(&code), "{length}: {code}");
    }
    let missing = Path::new("no such folder/x.safetensors");
    assert_eq!(read_tensor(missing, "x", usize::MAX).unwrap_err().code(), "io");
    assert_eq!(
        read_tensor(test_file.folder.path(), "x", usize::MAX).unwrap_err().code(),
        "not-a-file"
    );
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let bytes = ArrayType::new(DType::U8, [3]);
    let mut file = Vec::new();
    write_safetensors_to(&mut file, &[("x", &bytes, &[1, 2, 3][..])]).unwrap();
    let test_file = TestFile::new(&file);
    let source = SafetensorsSource::open(&test_file.path(), "x").unwrap();
    assert!(source.check_unchanged().is_ok());
    fs::write(test_file.path(), &file[..file.len() - 1]).unwrap();
    let error = source.read(&ArrayRegion::new([0], [3])).unwrap_err();
    assert_eq!((error.code(), source.check_unchanged().is_err()), ("file-changed", true));
}

/// The library reads files that indim wrote, as a whole or in pieces of any order.
#[test]
fn tensors_are_written() {
    let types = [DType::U8, DType::F64, DType::Bf16, DType::Bool, DType::C64, DType::I16];
    let types: Vec<ArrayType> = types.iter().map(|&of| ArrayType::new(of, [5, 4])).collect();
    let arrays: Vec<Array> = types
        .iter()
        .map(|of| {
            let fill = |bytes: &mut [u8]| {
                let zero_or_one = usize::from(of.dtype == DType::Bool) * 254;
                let each = bytes.iter_mut().enumerate();
                each.for_each(|(index, byte)| *byte = (index % (256 - zero_or_one)) as u8);
                Ok::<(), ArrayError>(())
            };
            Array::filled(of.clone(), fill).unwrap()
        })
        .collect();
    let names: Vec<String> = (0..types.len()).map(|index| format!("größe.{index}")).collect();
    let members: Vec<(&str, &ArrayType)> = names.iter().map(String::as_str).zip(&types).collect();
    let whole: Vec<_> = members
        .iter()
        .zip(&arrays)
        .map(|((name, of), array)| (*name, *of, array.bytes()))
        .collect();
    let mut expected = Vec::new();
    write_safetensors_to(&mut expected, &whole).unwrap();

    let read = safetensors::SafeTensors::deserialize(&expected).unwrap();
    for (name, array) in names.iter().zip(&arrays) {
        let tensor = read.tensor(name).unwrap();
        let number = match array.array_type().dtype {
            DType::C64 => 4,
            dtype => dtype.size(),
        };
        let mut bytes = tensor.data().to_vec();
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(number).for_each(<[u8]>::reverse);
        }
        assert_eq!((tensor.shape(), &bytes[..]), (&[5, 4][..], array.bytes()), "{name}");
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.safetensors");
    let mut sinks = safetensors_sinks(OutputFile::create(&path).unwrap(), &members).unwrap();
    for (sink, array) in sinks.iter_mut().zip(&arrays).rev() {
        let source = MemorySource::new(array.to_row_major().unwrap()).unwrap();
        let regions: Vec<ArrayRegion> =
            ArrayRegion::grid(&array.array_type().shape.clone(), &[2, 3]).collect();
        for region in regions.iter().rev() {
            sink.write(region, &source.read(region).unwrap()).unwrap();
        }
    }
    let complete: Vec<_> = sinks.into_iter().map(|sink| sink.complete().unwrap()).collect();
    assert!(!path.exists());
    complete.into_iter().for_each(|tensor| tensor.commit().unwrap());
    assert!(fs::read(&path).unwrap() == expected);

    // While one tensor is incomplete, the file does not appear.
    let sinks = safetensors_sinks(OutputFile::create(&path).unwrap(), &members).unwrap();
    let codes = sinks.into_iter().map(|sink| sink.complete().unwrap_err().code());
    assert!(codes.into_iter().all(|code| code == "incomplete"));
    assert!(fs::read(&path).unwrap() == expected);
}

#[test]
fn what_the_format_has_not() {
    let (one, pair) = (ArrayType::new(DType::U8, [1]), ArrayType::new(DType::C128, [1]));
    let write = |members: &[(&str, &ArrayType, &[u8])]| {
        write_safetensors_to(Vec::new(), members).expect_err("is refused")
    };
    let error = write(&[("x", &pair, &[0; 16])]);
    assert!(matches!(error, FileErrorKind::ElementTypeNotInFormat { dtype: DType::C128, .. }));
    assert!(
        error.to_string().contains(".safetensors file has no elements of type c128"),
        "{error}"
    );
    for members in [&[("__metadata__", &one, &[1][..])][..], &[("x", &one, &[1][..]); 2]] {
        let error = write(members);
        assert!(matches!(error, FileErrorKind::Io(_)), "{error}");
    }
    let error = write(&[("x", &one, &[1, 2])]);
    assert!(matches!(error, FileErrorKind::WrongLength { .. }), "{error}");
}
