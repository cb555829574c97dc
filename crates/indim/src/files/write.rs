//! Writes the formats `.npy` and `.npz`.

use std::io::{self, BufWriter, Error, ErrorKind, Write};
use std::path::Path;

use indim_ops::ArrayType;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use super::descr::to_descr;
use super::output_file::OutputFile;
use super::{FileError, FileErrorKind};

/// NumPy aligns the elements of a file to this many bytes.
const ALIGNMENT: usize = 64;

/// NumPy leaves room in a header for a first axis of this many digits.
const GROWTH_DIGITS: usize = 21;

/// Writes a dense row-major array as a `.npy` file, which appears complete or not at all, like an
/// [`OutputFile`].
///
/// ```
/// use indim::files::write_npy;
/// use indim::{ArrayType, DType};
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
/// `wrong-length`; those of [`OutputFile::create`] and [`OutputFile::finish`]. An existing file is then
/// untouched.
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
/// indim::files::write_text(&path, "<svg/>")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "<svg/>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`OutputFile::create`] and [`OutputFile::finish`]. An existing file is then untouched.
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| FileError::new(path, error.into()))?;
    file.finish(&mut |_| ())
}

/// Writes a dense row-major array in the `.npy` format.
///
/// ```
/// use indim::files::{ArrayFile, write_npy_to};
/// use indim::{ArrayType, DType};
///
/// let mut bytes = Vec::new();
/// write_npy_to(&mut bytes, &ArrayType::new(DType::U8, [2]), &[1, 2])?;
/// assert!(bytes.starts_with(b"\x93NUMPY"));
/// assert_eq!(ArrayFile::from_bytes(bytes)?.bytes(), [1, 2]);
/// # Ok::<(), indim::files::FileErrorKind>(())
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

/// A dense row-major array of an archive: name (without `.npy`), type, and bytes of its elements.
pub type NamedArray<'a> = (&'a str, &'a ArrayType, &'a [u8]);

/// Writes dense row-major arrays as an uncompressed `.npz` archive, like `numpy.savez`.
///
/// ```
/// use indim::files::{read_npz_member, write_npz_to};
/// use indim::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("arrays.npz");
/// let file = std::fs::File::create(&path)?;
/// let bytes = ArrayType::new(DType::U8, [2]);
/// assert!(write_npz_to(file, [("x", &bytes, &[1, 2][..]), ("y", &bytes, &[3, 4])]).is_ok());
/// assert_eq!(read_npz_member(&path, "y")?.bytes(), [3, 4]);
///
/// let twice = [("x", &bytes, &[1, 2][..]), ("x", &bytes, &[3, 4])];
/// assert!(write_npz_to(Vec::new(), twice).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Like [`write_npy_to`]; `io` if two members have the same name.
pub fn write_npz_to<'a>(
    output: impl Write,
    members: impl IntoIterator<Item = NamedArray<'a>>,
) -> Result<(), FileErrorKind> {
    let mut archive = NpzWriter::new(output);
    for (name, array_type, elements) in members {
        check_length(array_type, elements)?;
        archive.begin(name, array_type)?;
        archive.write_all(elements)?;
    }
    archive.finish()?.flush()?;
    Ok(())
}

/// A `.npz` archive being written, member by member.
pub(super) struct NpzWriter<W: Write>(ZipWriter<StreamWriter<FusedWriter<W>>>);

impl<W: Write> NpzWriter<W> {
    pub(super) fn new(output: W) -> Self {
        NpzWriter(ZipWriter::new_stream(FusedWriter { output, has_failed: false }))
    }

    /// Begins a member; the caller then writes its elements.
    pub(super) fn begin(&mut self, name: &str, of: &ArrayType) -> Result<(), FileErrorKind> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            // 64-bit sizes for every member, like NumPy.
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), options).map_err(Error::from)?;
        Ok(self.0.write_all(&npy_header(of))?)
    }

    /// Writes the central directory and returns the output.
    pub(super) fn finish(self) -> Result<W, FileErrorKind> {
        Ok(self.0.finish().map_err(Error::from)?.into_inner().output)
    }
}

impl<W: Write> Write for NpzWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A writer that discards all bytes after its first error. `ZipWriter` completes the archive when it is
/// dropped, and prints to standard error if that fails too.
struct FusedWriter<W> {
    output: W,
    has_failed: bool,
}

impl<W: Write> Write for FusedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.output.write(bytes);
        self.has_failed =
            written.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed { Ok(()) } else { self.output.flush() }
    }
}

/// Fails if the number of bytes does not match the type.
pub(super) fn check_length(array_type: &ArrayType, elements: &[u8]) -> Result<(), FileErrorKind> {
    let ArrayType { dtype, shape } = array_type;
    let expected = shape.byte_count(dtype.size()).map_err(FileErrorKind::TooLarge)?;
    match elements.len() {
        length if length == expected => Ok(()),
        available => Err(FileErrorKind::WrongLength { shape: shape.clone(), expected, available }),
    }
}

/// The header of a `.npy` file, with NumPy's padding.
pub(super) fn npy_header(array_type: &ArrayType) -> Vec<u8> {
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

/// Padded length of a header of `length` characters, with its line feed. `before` bytes precede it, and its
/// end is aligned. Like NumPy, an aligned header gets a full padding.
fn padded(before: usize, length: usize) -> usize {
    let unpadded = length + 1;
    unpadded + ALIGNMENT - (before + unpadded) % ALIGNMENT
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
