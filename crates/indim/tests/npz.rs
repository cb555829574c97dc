//! Members of `.npz` archives: NumPy's archives, and damaged or hostile ones.

mod common;

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use common::{data, dense};
use indim::files::{
    ArrayFile, FileError, FileErrorKind, NpzSource, OutputFile, npz_sinks, read_npz_member,
    read_npz_member_type, read_npz_member_within, write_npy_to, write_npz_to,
};
use indim::stream::{ArrayRegion, MemorySource, Source};
use indim::{Array, ArrayError, ArrayType, DType};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An archive with these members.
fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes 0 to `count`, as a file.
fn npy(count: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let elements: Vec<u8> = (0..count).map(|index| index as u8).collect();
    write_npy_to(&mut file, &ArrayType::new(DType::U8, [count]), &elements).unwrap();
    file
}

fn read(archive: &[u8], member: &str) -> Result<ArrayFile, FileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    fs::write(&path, archive).unwrap();
    read_npz_member(&path, member)
}

#[test]
fn archives_of_numpy_are_read() {
    for name in ["saved.npz", "compressed.npz"] {
        for member in ["x", "x.npy"] {
            let x = dense(&read_npz_member(&data(name), member).unwrap().view());
            assert_eq!(x.array_type().to_string(), "f64[2, 3]");
            assert_eq!(x.elements::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        }
        let none = read_npz_member(&data(name), "none").unwrap();
        assert_eq!(none.array_type().to_string(), "f64[0, 3]");
    }
}

#[test]
fn members_longer_than_any_header_are_read_whole() {
    let steps = dense(&read_npz_member(&data("compressed.npz"), "steps").unwrap().view());
    let expected: Vec<i32> = (0..70_000).map(|step| step % 250).collect();
    assert_eq!(steps.elements::<i32>().unwrap(), expected);
    // Sizes around the length of the first read, 64 KiB and 12 bytes; the header takes 128 bytes.
    for count in (64 * 1024 - 122)..(64 * 1024 - 110) {
        let bytes = archive(&[("x.npy", &npy(count))], CompressionMethod::Stored);
        assert_eq!(read(&bytes, "x").unwrap().bytes().len(), count);
    }
}

#[test]
fn bytes_behind_the_elements_of_a_member_are_ignored() {
    for count in [3, 70_000, 200_000] {
        let bytes = [npy(count), vec![7; 100]].concat();
        let bytes = archive(&[("x.npy", &bytes)], CompressionMethod::Deflated);
        assert_eq!(read(&bytes, "x").unwrap().bytes().len(), count);
    }
}

#[test]
fn a_missing_member_is_told_with_those_there_are() {
    let error = read_npz_member(&data("compressed.npz"), "y").unwrap_err();
    assert_eq!(error.code(), "no-member");
    let message = "compressed.npz: there is no member `y`; there are: none, steps, x";
    assert!(error.to_string().ends_with(message), "{error}");
    let error = read(&archive(&[], CompressionMethod::Stored), "y").unwrap_err();
    assert!(error.to_string().contains("no member `y`; the archive is empty"), "{error}");
}

#[test]
fn members_are_found_by_their_whole_name_only() {
    let npy = npy(1);
    let names = ["../../x.npy", "/y.npy", "a/b.npy", "z.npy.npy", "é.npy", ""];
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &npy[..])).collect();
    let bytes = archive(&members, CompressionMethod::Deflated);
    for member in ["../../x", "/y", "a/b", "z.npy", "é", ""] {
        assert_eq!(read(&bytes, member).unwrap().bytes(), [0], "{member}");
    }
    for member in ["x", "y", "b", "z", "e"] {
        assert_eq!(read(&bytes, member).unwrap_err().code(), "no-member", "{member}");
    }
}

#[test]
fn members_that_are_no_arrays() {
    let code = |bytes: &[u8]| {
        read(&archive(&[("x", bytes)], CompressionMethod::Deflated), "x").unwrap_err().code()
    };
    assert_eq!(code(b""), "not-npy");
    assert_eq!(code(b"some text"), "not-npy");
    assert_eq!(code(&npy(5)[..100]), "bad-header");
    assert_eq!(code(&npy(5)[..130]), "wrong-length");
    assert_eq!(code(&npy(200_000)[..199_000]), "wrong-length");
}

/// A `.npy` file whose header claims `count` elements, followed by this many zeros.
fn claiming(count: usize, zeros: usize) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({count},)}}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.resize(file.len() + zeros, 0);
    file
}

#[test]
fn claims_of_the_header_take_no_memory() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        for zeros in [0, 10, 300_000] {
            let bytes = archive(&[("x.npy", &claiming(1 << (usize::BITS - 5), zeros))], method);
            let error = read(&bytes, "x").unwrap_err();
            assert_eq!(error.code(), "wrong-length", "{error}");
        }
    }
}

#[test]
fn a_bomb_is_read_no_further_than_its_header_asks() {
    // 64 MiB of zeros in 64 KiB; the header states ten elements. A limited number of bytes after them is read
    // for the checksum.
    let bytes = archive(&[("x.npy", &claiming(10, 64 << 20))], CompressionMethod::Deflated);
    assert!(bytes.len() < 100_000);
    let error = read(&bytes, "x").unwrap_err();
    assert_eq!(error.code(), "bad-archive");
    assert!(
        error.to_string().contains("more than 1048576 bytes stand behind the elements"),
        "{error}"
    );
}

#[test]
fn the_type_of_a_member_is_read_without_its_elements() {
    let whole = archive(&[("x.npy", &npy(300_000))], CompressionMethod::Stored);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    // A changed byte of the elements. Reading all elements finds the wrong checksum.
    let mut damaged = whole.clone();
    damaged[200_000] ^= 1;
    fs::write(&path, damaged).unwrap();
    assert_eq!(read_npz_member_type(&path, "x").unwrap().to_string(), "u8[300000]");
    assert_eq!(read_npz_member(&path, "x").unwrap_err().code(), "bad-archive");
    assert_eq!(read_npz_member_type(&path, "y").unwrap_err().code(), "no-member");
    fs::write(&path, archive(&[("x.npy", &claiming(10, 9))], CompressionMethod::Deflated)).unwrap();
    assert_eq!(read_npz_member_type(&path, "x").unwrap_err().code(), "wrong-length");
}

#[test]
fn a_limit_of_memory_is_kept() {
    let bytes = archive(&[("x.npy", &npy(300_000))], CompressionMethod::Deflated);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    fs::write(&path, bytes).unwrap();
    let array = read_npz_member_within(&path, "x", 300_000).unwrap();
    assert_eq!(array.held_bytes(), 300_000);
    let error = read_npz_member_within(&path, "x", 299_999).unwrap_err();
    assert_eq!(error.code(), "memory-limit");
    assert!(error.to_string().contains("takes 300000 bytes of memory"), "{error}");
}

#[test]
fn the_checksum_counts_also_with_bytes_behind_the_elements() {
    for count in [3, 70_000, 200_000] {
        let bytes = [npy(count), vec![7; 100]].concat();
        let good = archive(&[("x.npy", &bytes)], CompressionMethod::Stored);
        let start = good.windows(4).position(|bytes| bytes == b"\x93NUM").unwrap();
        for position in [128, 127 + count, 128 + count, 227 + count] {
            let mut damaged = good.clone();
            damaged[start + position] ^= 1;
            let error = read(&damaged, "x").expect_err("the checksum is another");
            assert_eq!(error.code(), "bad-archive", "{error}");
        }
        assert!(read(&good, "x").is_ok());
    }
}

#[test]
fn archives_of_indim_are_read_back() {
    let array_type = ArrayType::new(DType::F32, [2, 3]);
    let elements: Vec<u8> = (0..24).collect();
    let member = |name, elements| (name, &array_type, elements);
    let mut bytes = Vec::new();
    let reversed: Vec<u8> = (0..24).rev().collect();
    write_npz_to(&mut bytes, [member("arr_0", &elements[..]), member("größe", &reversed)]).unwrap();
    for (name, expected) in [("arr_0", &elements), ("größe", &reversed)] {
        let array = read(&bytes, name).unwrap();
        assert_eq!((array.array_type(), array.bytes()), (&array_type, &expected[..]));
    }
    let error = write_npz_to(Vec::new(), [member("x", &elements[1..])]).unwrap_err();
    assert!(matches!(error, FileErrorKind::WrongLength { .. }), "{error}");
    let error = write_npz_to(Vec::new(), [member("x", &elements[..]); 2]).unwrap_err();
    assert!(matches!(error, FileErrorKind::Io(_)), "{error}");
}

#[test]
fn sizes_that_the_archive_tells_wrong() {
    let good = archive(&[("x.npy", &npy(1000))], CompressionMethod::Deflated);
    // The central directory: compressed and uncompressed size, 20 and 24 bytes from its start.
    let directory = good.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    for at in [20, 24] {
        for size in [0, 1, 100, 1 << 20, u32::MAX - 1, u32::MAX] {
            let mut lying = good.clone();
            lying[directory + at..directory + at + 4].copy_from_slice(&u32::to_le_bytes(size));
            match read(&lying, "x") {
                // Deflated data marks its own end, so the directory's sizes are not needed.
                Ok(array) => assert_eq!(array.bytes().len(), 1000),
                Err(error) => assert!(error.to_string().contains("x.npz: "), "{error}"),
            }
        }
    }
}

#[test]
fn every_byte_of_an_archive_damaged() {
    let npy = npy(5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let good = archive(&[("x.npy", &npy), ("y.npy", &npy)], method);
        for position in 0..good.len() {
            for change in [1, 0x80, 0xff] {
                let mut damaged = good.clone();
                damaged[position] ^= change;
                fs::write(&path, &damaged).unwrap();
                if let Ok(array) = read_npz_member(&path, "x") {
                    // Each member has a checksum, so a read without an error returns the written elements.
                    assert_eq!(array.bytes(), [0, 1, 2, 3, 4], "byte {position}");
                }
            }
        }
    }
}

#[test]
fn archives_cut_off_anywhere() {
    let good = archive(&[("x.npy", &npy(5))], CompressionMethod::Deflated);
    for length in 0..good.len() {
        let error = read(&good[..length], "x").unwrap_err();
        assert!(["bad-archive", "io"].contains(&error.code()), "{length}: {error}");
    }
}

#[test]
fn paths_that_hold_no_archive() {
    let folder = tempfile::tempdir().unwrap();
    let code = |path: &Path| read_npz_member(path, "x").unwrap_err().code();
    assert_eq!(code(folder.path()), "not-a-file");
    assert_eq!(code(&folder.path().join("missing.npz")), "io");
    assert_eq!(read(b"", "x").unwrap_err().code(), "bad-archive");
    assert_eq!(read(&npy(5), "x").unwrap_err().code(), "bad-archive");
}

/// Regions of a member, stored and deflated, row-major and column-major, in any order.
#[test]
fn regions_of_members() {
    let elements: Vec<u8> = (0..60_000u16).flat_map(u16::to_le_bytes).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        for is_fortran in ["False", "True"] {
            let header =
                format!("{{'descr': '<u2', 'fortran_order': {is_fortran}, 'shape': (300, 200)}}\n");
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((header.len() as u16).to_le_bytes());
            file.extend(header.as_bytes());
            file.extend(&elements);
            fs::write(&path, archive(&[("y.npy", &npy(9)), ("x.npy", &file)], method)).unwrap();
            let source = NpzSource::open(&path, "x").unwrap();
            assert_eq!(source.is_sequential(), method == CompressionMethod::Deflated);
            assert_eq!(source.is_column_major(), is_fortran == "True");
            // Consecutive regions, a step back, two regions read in turns, and one that ends with the array.
            for (start, extent) in [
                (0, 10),
                (10, 20),
                (29, 2),
                (250, 50),
                (0, 300),
                (40, 5),
                (41, 5),
                (45, 5),
                (46, 5),
            ] {
                for (column, columns) in [(0, 200), (150, 3), (7, 0)] {
                    let region = ArrayRegion::new([start, column], [extent, columns]);
                    let found = dense(&source.read(&region).unwrap().view());
                    let rows = (start..start + extent)
                        .flat_map(|row| (column..column + columns).map(move |at| (row, at)));
                    let expected = rows.map(|(row, at)| match is_fortran {
                        "True" => (at * 300 + row) as u16,
                        _ => (row * 200 + at) as u16,
                    });
                    let expected: Vec<u16> = expected.collect();
                    assert_eq!(found.elements::<u16>().unwrap(), expected, "{region}");
                }
            }
            let outside = source.read(&ArrayRegion::new([299, 0], [2, 1])).unwrap_err();
            assert_eq!(outside.code(), "outside-of-array");
        }
    }
}

/// A member inflated piece by piece is compared with its checksum at the end; one that ends early is an
/// error.
#[test]
fn a_damaged_member_is_found_when_it_has_been_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let bytes = [npy(3000), vec![7; 100]].concat();
    let good = archive(&[("x.npy", &bytes)], CompressionMethod::Deflated);
    let read = |archive: &[u8]| -> Result<Vec<u8>, String> {
        fs::write(&path, archive).unwrap();
        let source = NpzSource::open(&path, "x").map_err(|error| error.code().to_owned())?;
        let mut elements = Vec::new();
        for region in ArrayRegion::grid(&source.array_type().shape.clone(), &[700]) {
            let piece = source.read(&region).map_err(|error| error.code().to_owned())?;
            elements.extend_from_slice(piece.bytes());
        }
        Ok(elements)
    };
    assert_eq!(read(&good).unwrap(), npy(3000)[128..]);
    let mut found = 0;
    for position in 0..good.len() {
        let mut damaged = good.clone();
        damaged[position] ^= 0x11;
        match read(&damaged) {
            Ok(elements) => assert_eq!(elements, npy(3000)[128..], "byte {position}"),
            Err(code) => found += usize::from(code == "bad-archive"),
        }
    }
    assert!(found > good.len() / 2, "{found} of {}", good.len());
    let trailing = [npy(10), vec![0; 2 << 20]].concat();
    let long = archive(&[("x.npy", &trailing)], CompressionMethod::Deflated);
    assert_eq!(read(&long).unwrap_err(), "bad-archive");

    fs::write(&path, &good).unwrap();
    let source = NpzSource::open(&path, "x").unwrap();
    fs::write(&path, &good[..good.len() / 2]).unwrap();
    let error = source.read(&ArrayRegion::new([0], [3000])).unwrap_err();
    assert_eq!((error.code(), source.check_unchanged().is_err()), ("file-changed", true));
}

/// Results written in pieces give the archive of results written from memory, except for the order of
/// members.
#[test]
fn members_written_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let (wide, flag) = (ArrayType::new(DType::U8, [40, 30]), ArrayType::new(DType::Bool, []));
    let members = [("flag", &flag), ("wide", &wide), ("again", &wide)];
    let whole = Array::filled(wide.clone(), |bytes| {
        bytes.iter_mut().enumerate().for_each(|(index, byte)| *byte = index as u8);
        Ok::<(), ArrayError>(())
    });
    let whole = whole.unwrap();
    let piece = |region: &ArrayRegion| {
        let source = MemorySource::new(whole.to_row_major().unwrap()).unwrap();
        source.read(region).unwrap()
    };
    let sinks = || npz_sinks(OutputFile::create(&path).unwrap(), &members).unwrap();

    let mut written = sinks();
    let sequential: Vec<bool> = written.iter().map(|sink| sink.is_sequential()).collect();
    assert_eq!(sequential, [false, true, false]);
    let truth = Array::filled(flag.clone(), |bytes| {
        bytes[0] = 1;
        Ok::<(), ArrayError>(())
    });
    written[0].write(&ArrayRegion::whole(&flag.shape), &truth.unwrap()).unwrap();
    for region in ArrayRegion::grid(&wide.shape, &[7, 30]) {
        written[1].write(&region, &piece(&region)).unwrap();
    }
    let backwards: Vec<ArrayRegion> = ArrayRegion::grid(&wide.shape, &[7, 11]).collect();
    for region in backwards.iter().rev() {
        written[2].write(region, &piece(region)).unwrap();
    }
    let complete: Vec<_> = written.into_iter().map(|sink| sink.complete().unwrap()).collect();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    complete.into_iter().for_each(|member| member.commit().unwrap());
    for name in ["wide", "again"] {
        assert_eq!(read_npz_member(&path, name).unwrap().bytes(), whole.bytes(), "{name}");
    }
    assert_eq!(read_npz_member(&path, "flag").unwrap().bytes(), [1]);
    let mut expected = Vec::new();
    let bytes = whole.bytes();
    let order = [("wide", &wide, bytes), ("flag", &flag, &[1][..]), ("again", &wide, bytes)];
    write_npz_to(&mut expected, order).unwrap();
    assert!(fs::read(&path).unwrap() == expected);

    // Members out of order and incomplete: the old archive stays.
    let mut written = sinks();
    let error = written[1].write(&backwards[3], &piece(&backwards[3])).unwrap_err();
    assert_eq!(error.code(), "io");
    let errors = written.into_iter().map(|sink| sink.complete().unwrap_err().code());
    assert!(errors.into_iter().all(|code| code == "incomplete"));
    assert!(fs::read(&path).unwrap() == expected);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(npz_sinks(OutputFile::create(&path).unwrap(), &[]).unwrap().is_empty());
}
