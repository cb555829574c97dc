//! Writes `.npy` files and text files.

use std::io::{BufWriter, Write};
use std::path::Path;

use indim_ops::ArrayType;

use super::descr::to_descr;
use crate::output_file::OutputFile;
use crate::{FileError, FileErrorKind};

/// NumPy aligns the elements of a file to this many bytes.
const ALIGNMENT: usize = 64;

/// NumPy leaves room in a header for a first axis of this many digits.
const GROWTH_DIGITS: usize = 21;

/// Writes a dense row-major array as a `.npy` file, which appears complete or not at all, like an
/// [`OutputFile`].
///
/// ```
/// use indim_io::write_npy;
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// let error = write_npy(&path, &ArrayType::new(DType::U8, [3]), &[1, 2]).unwrap_err();
/// assert!(error.to_string().contains("x.npy"));
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `wrong-length`; those of [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_npy(path: &Path, array_type: &ArrayType, elements: &[u8]) -> Result<(), FileError> {
    check_length(array_type, elements).map_err(|kind| FileError::new(path, kind))?;
    let mut file = OutputFile::create(path)?;
    write_npy_to(&mut file, array_type, elements).map_err(|kind| FileError::new(path, kind))?;
    file.finish(&mut |_| ())
}

/// Writes a text file, which appears complete or not at all, like an [`OutputFile`].
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("broadcast.svg");
/// indim_io::write_text(&path, "<svg/>")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "<svg/>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| FileError::new(path, error.into()))?;
    file.finish(&mut |_| ())
}

/// Writes a dense row-major array in the `.npy` format.
///
/// ```
/// use indim_io::write_npy_to;
/// use indim_ops::{ArrayType, DType};
///
/// let mut bytes = Vec::new();
/// write_npy_to(&mut bytes, &ArrayType::new(DType::U8, [2]), &[1, 2])?;
/// assert!(bytes.starts_with(b"\x93NUMPY") && bytes.ends_with(&[1, 2]));
/// # Ok::<(), indim_io::FileErrorKind>(())
/// ```
///
/// # Errors
/// `wrong-length` if the number of bytes does not match the type; `io`.
pub fn write_npy_to(
    output: impl Write,
    array_type: &ArrayType,
    elements: &[u8],
) -> Result<(), FileErrorKind> {
    check_length(array_type, elements)?;
    let mut output = BufWriter::new(output);
    output.write_all(&npy_header(array_type))?;
    output.write_all(elements)?;
    output.flush()?;
    Ok(())
}

/// Checks that the number of bytes matches the type.
///
/// # Errors
/// `wrong-length`; E5 `too-large`.
pub fn check_length(array_type: &ArrayType, elements: &[u8]) -> Result<(), FileErrorKind> {
    let ArrayType { dtype, shape } = array_type;
    let expected = shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    match elements.len() {
        length if length == expected => Ok(()),
        available => Err(FileErrorKind::WrongLength { shape: shape.clone(), expected, available }),
    }
}

/// The header of a `.npy` file, with NumPy's padding.
pub fn npy_header(array_type: &ArrayType) -> Vec<u8> {
    let (descr, shape) = (to_descr(array_type.dtype), &array_type.shape);
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
    let max_length = usize::from(u16::MAX);
    // Magic, version and length take 10 bytes in version 1.0, 12 in 2.0.
    let mut length = padded_length(10, text.len());
    if length <= max_length {
        header.extend([1, 0]);
        header.extend((length as u16).to_le_bytes());
    } else {
        length = padded_length(12, text.len());
        header.extend([2, 0]);
        header.extend((length as u32).to_le_bytes());
    }
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    header.extend(text.into_bytes());
    header
}

/// Padded length of a header of `length` characters, with its line feed. `prefix_bytes` bytes precede it, and
/// its end is aligned. As in NumPy, a header that is already aligned gets another `ALIGNMENT` bytes.
fn padded_length(prefix_bytes: usize, length: usize) -> usize {
    let unpadded = length + 1;
    unpadded + ALIGNMENT - (prefix_bytes + unpadded) % ALIGNMENT
}

#[cfg(test)]
mod tests {
    use indim_ops::DType;

    use super::*;

    #[test]
    fn long_headers_are_of_version_2() {
        let header = npy_header(&ArrayType::new(DType::F32, vec![1; 30_000]));
        assert_eq!(header[6..8], [2, 0]);
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        assert_eq!(header.len(), 12 + length as usize);
        assert_eq!(header.len() % ALIGNMENT, 0);
    }
}
