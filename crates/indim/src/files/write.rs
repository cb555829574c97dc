//! Writing `.npy` files: complete, or not at all.

use std::fs::{File, Permissions};
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::path::Path;

use indim_graph::ArrayType;
use indim_shape::Shape;

use super::descr::to_descr;
use super::{FileError, FileErrorKind};

/// NumPy aligns the elements of a file to this many bytes.
const ALIGNMENT: usize = 64;

/// NumPy leaves room in a header for a first axis of this many digits.
const GROWTH_DIGITS: usize = 21;

/// Writes a dense row-major array as a `.npy` file.
///
/// The file is written beside its place and renamed when it is complete and on disk, so that
/// whatever happens there is the old file or the new one.
///
/// # Errors
/// When the file cannot be written; the old file, if there was one, is untouched.
pub fn write_npy(path: &Path, array_type: &ArrayType, elements: &[u8]) -> Result<(), FileError> {
    write_beside(path, |file| write_npy_to(file, array_type, elements))
}

/// Writes a text file, complete or not at all.
///
/// # Errors
/// When the file cannot be written; the old file, if there was one, is untouched.
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    write_beside(path, |file| Ok(file.write_all(text.as_bytes())?))
}

fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), FileErrorKind>,
) -> Result<(), FileError> {
    let written = || {
        let Ok(old) = std::fs::metadata(path) else { return replace(path, None, write) };
        if old.is_dir() {
            return Err(FileErrorKind::NotAFile);
        }
        // What may not be written to is not replaced either.
        let mut file = File::options().write(true).open(path)?;
        match old.is_file() {
            // Behind a link it is the file that is replaced, not the link.
            true => replace(&path.canonicalize()?, Some(old.permissions()), write),
            // A pipe or a device takes the bytes as they come; renaming would put a file in its place.
            false => write(&mut file),
        }
    };
    written().map_err(|kind| FileError::new(path, kind))
}

/// Writes a temporary file in the same folder, so that renaming moves nothing, and renames it.
fn replace(
    path: &Path,
    permissions: Option<Permissions>,
    write: impl FnOnce(&mut File) -> Result<(), FileErrorKind>,
) -> Result<(), FileErrorKind> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".indim-").suffix(".tmp");
    // Temporary files are private by default; a result is as public as the user's mask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file =
        builder.tempfile_in(folder).map_err(|error| without_temporary_name(error, folder))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The error without the name of a temporary file, which means nothing to the user.
fn without_temporary_name(error: Error, folder: &Path) -> Error {
    match (error.kind(), error.raw_os_error().or_else(|| inner_os_error(&error))) {
        (ErrorKind::NotFound, _) if !folder.exists() => {
            Error::new(ErrorKind::NotFound, format!("there is no folder {}", folder.display()))
        }
        (_, Some(code)) => Error::from_raw_os_error(code),
        (kind, None) => Error::from(kind),
    }
}

/// The system's code in an error to which the library has added a path.
fn inner_os_error(error: &Error) -> Option<i32> {
    let source = error.get_ref()?.source()?;
    source.downcast_ref::<Error>()?.raw_os_error()
}

/// Writes a dense row-major array in the `.npy` format.
///
/// # Errors
/// When there are fewer or more elements than the shape asks for, or the output cannot be written.
pub fn write_npy_to(
    output: impl Write,
    array_type: &ArrayType,
    elements: &[u8],
) -> Result<(), FileErrorKind> {
    let ArrayType { dtype, shape } = array_type;
    let expected = shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    if expected != elements.len() {
        let (shape, available) = (shape.clone(), elements.len());
        return Err(FileErrorKind::WrongLength { shape, expected, available });
    }
    let mut output = BufWriter::new(output);
    output.write_all(&header(&to_descr(*dtype), shape))?;
    output.write_all(elements)?;
    output.flush()?;
    Ok(())
}

/// The bytes that NumPy writes in front of the elements.
fn header(descr: &str, shape: &Shape) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size}")).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let list = sizes.join(", ");
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({list}{comma}), }}");
    if let Some(first) = sizes.first() {
        // Room for the first axis to grow in place.
        text.push_str(&" ".repeat(GROWTH_DIGITS.saturating_sub(first.len())));
    }
    let mut header = b"\x93NUMPY".to_vec();
    let longest = usize::from(u16::MAX);
    // Magic, version and length take 10 bytes in version 1.0, 12 in 2.0.
    let mut length = padded(10, text.len());
    if length <= longest {
        header.extend([1, 0]);
        header.extend((length as u16).to_le_bytes());
    } else {
        length = padded(12, text.len());
        header.extend([2, 0]);
        header.extend((length as u32).to_le_bytes());
    }
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    header.extend(text.into_bytes());
    header
}

/// The length of a header of `length` characters with its line feed and at least one space, so that it
/// ends aligned when `before` bytes stand in front of it. NumPy pads a header that already does.
fn padded(before: usize, length: usize) -> usize {
    let unpadded = length + 1;
    unpadded + ALIGNMENT - (before + unpadded) % ALIGNMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.npy");
        std::fs::write(&path, "old").unwrap();
        let failing = |file: &mut File| {
            file.write_all(b"half of the new")?;
            Err(FileErrorKind::OutOfMemory { bytes: 1 })
        };
        assert_eq!(write_beside(&path, failing).unwrap_err().code(), "out-of-memory");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        let fresh = folder.path().join("fresh.npy");
        assert!(write_beside(&fresh, failing).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn long_headers_are_of_version_2() {
        let header = header("<f4", &[1; 30_000].into());
        assert_eq!(header[6..8], [2, 0]);
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        assert_eq!(header.len(), 12 + length as usize);
        assert_eq!(header.len() % ALIGNMENT, 0);
    }
}
