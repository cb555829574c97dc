//! Written archives, compared with those of the library `zip`.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use indim_io::npy::npy_header;
use indim_io::stored_archive::ArchiveWriter;
use indim_ops::{ArrayType, DType};
use indim_stores::write_npz_to;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, ZipArchive};

/// The archive of these members as `zip` writes it to a stream.
fn expected(members: &[(&str, Vec<u8>)]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = ZipWriter::new_stream(Vec::new());
    for (name, bytes) in members {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        archive.start_file(*name, options)?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn written(members: &[(&str, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut archive = ArchiveWriter::new(Vec::new(), 0);
    for (name, bytes) in members {
        archive.begin(name)?;
        archive.write_all(bytes)?;
    }
    archive.finish()
}

#[test]
fn archives_have_the_bytes_of_the_library() -> Result<(), Box<dyn Error>> {
    let members = [("x", vec![]), ("höhe/Å", vec![7; 3]), ("c.npy", (0..=255).collect())];
    for count in 0..=members.len() {
        assert_eq!(written(&members[..count])?, expected(&members[..count])?, "{count} members");
    }
    let array_type = ArrayType::new(DType::U16, [2]);
    let elements = [1, 0, 2, 0];
    let mut archive = Vec::new();
    assert!(write_npz_to(&mut archive, [("µ", &array_type, &elements[..])]).is_ok());
    assert_eq!(
        archive,
        expected(&[("µ.npy", [&npy_header(&array_type)[..], &elements].concat())])?
    );
    Ok(())
}

/// From 65,536 members on, records of 64-bit numbers precede the end.
#[test]
fn many_members_have_the_bytes_of_the_library() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = (0..65_536).map(|number: u32| number.to_string()).collect();
    for count in [65_535, 65_536] {
        let members: Vec<(&str, Vec<u8>)> =
            names[..count].iter().map(|name| (name.as_str(), vec![])).collect();
        assert!(written(&members)? == expected(&members)?, "{count} members");
    }
    Ok(())
}

/// Offsets of 4 GiB and more stand in the 64-bit fields. The file has a hole before the archive.
#[test]
#[cfg(unix)]
fn a_member_behind_4_gib_is_found() -> Result<(), Box<dyn Error>> {
    for offset in [u64::from(u32::MAX) - 1, u64::from(u32::MAX), 5 << 30] {
        let mut file = tempfile::tempfile()?;
        file.seek(SeekFrom::Start(offset))?;
        let mut archive = ArchiveWriter::new(file, offset);
        for (name, bytes) in [("a", b"first"), ("b", b"other")] {
            archive.begin(name)?;
            archive.write_all(bytes)?;
        }
        let file: File = archive.finish()?;
        let mut text = String::new();
        ZipArchive::new(file)?.by_name("b")?.read_to_string(&mut text)?;
        assert_eq!(text, "other", "at {offset}");
    }
    Ok(())
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let mut archive = ArchiveWriter::new(Vec::new(), 0);
    assert!(archive.write_all(b"bytes of no member").is_err());
    assert!(archive.begin(&"n".repeat(65_505)).is_err());
    assert!(archive.begin(&"n".repeat(65_504)).is_ok());
    let message = archive.begin(&"n".repeat(65_504)).map_err(|error| error.to_string());
    assert!(message.is_err_and(|message| message.contains("have the name")));
}
