//! Writes `.npz` archives.

use std::io::{self, Error, ErrorKind, Write};

use indim_ops::ArrayType;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use crate::FileErrorKind;
use crate::format_code::NamedArray;
use indim_io::npy::{check_length, npy_header};

/// Writes dense row-major arrays as an uncompressed `.npz` archive, like `numpy.savez`.
///
/// ```
/// use indim_stores::{read_npz_member, write_npz_to};
/// use indim_ops::{ArrayType, DType};
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
/// Like [`write_npy_to`](crate::write_npy_to); `io` if two members have the same name.
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
pub(crate) struct NpzWriter<W: Write>(ZipWriter<StreamWriter<FusedWriter<W>>>);

impl<W: Write> NpzWriter<W> {
    pub(crate) fn new(output: W) -> Self {
        NpzWriter(ZipWriter::new_stream(FusedWriter { output, has_failed: false }))
    }

    /// Begins a member; the caller then writes its elements.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        array_type: &ArrayType,
    ) -> Result<(), FileErrorKind> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            // 64-bit sizes for every member, like NumPy.
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), options).map_err(Error::from)?;
        Ok(self.0.write_all(&npy_header(array_type))?)
    }

    /// Writes the central directory and returns the output.
    pub(crate) fn finish(self) -> Result<W, FileErrorKind> {
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

/// A writer that discards all bytes after its first error, so that later writes succeed. `ZipWriter`
/// completes the archive when it is dropped, and prints to standard error if that fails.
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
