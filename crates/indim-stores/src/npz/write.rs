//! Writes `.npz` archives.

use std::io::{self, Write};

use indim_ops::ArrayType;

use crate::FileErrorKind;
use crate::format_code::NamedArray;
use indim_io::npy::{check_length, npy_header};
use indim_io::stored_archive::ArchiveWriter;

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
pub(crate) struct NpzWriter<W: Write>(ArchiveWriter<W>);

impl<W: Write> NpzWriter<W> {
    pub(crate) fn new(output: W) -> Self {
        NpzWriter(ArchiveWriter::new(output, 0))
    }

    /// Begins a member; the caller then writes its elements.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        array_type: &ArrayType,
    ) -> Result<(), FileErrorKind> {
        self.0.begin(&format!("{name}.npy"))?;
        Ok(self.0.write_all(&npy_header(array_type))?)
    }

    /// Writes the central directory and returns the output.
    pub(crate) fn finish(self) -> Result<W, FileErrorKind> {
        Ok(self.0.finish()?)
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
