//! Writing `.npy` files: complete, or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use indim_graph::{ArrayType, DType};

use super::{FileError, FileErrorKind};

/// NumPy aligns the elements of a file to this many bytes.
const ALIGNMENT: usize = 64;

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
    write_beside(path, |file| file.write_all(text.as_bytes()))
}

fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".indim-").suffix(".tmp");
    // Temporary files are private by default; a result is as public as the user's mask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let written = builder.tempfile_in(folder.unwrap_or(Path::new("."))).and_then(|mut file| {
        write(file.as_file_mut())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    });
    written.map_err(|error| FileError::new(path, FileErrorKind::Io(error)))
}

/// Writes a dense row-major array in the `.npy` format.
///
/// # Errors
/// When the output cannot be written.
pub fn write_npy_to(output: impl Write, array_type: &ArrayType, elements: &[u8]) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    output.write_all(&header(array_type))?;
    output.write_all(elements)?;
    output.flush()
}

fn header(array_type: &ArrayType) -> Vec<u8> {
    let sizes: Vec<String> = array_type.shape.iter().map(|size| format!("{size}")).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", sizes.join(", "));
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}",
        descr(array_type.dtype)
    );
    // Magic, version and length take 10 bytes in version 1.0, 12 in 2.0.
    let is_long = text.len() + ALIGNMENT > usize::from(u16::MAX);
    let fixed = if is_long { 12 } else { 10 };
    let padding = ALIGNMENT - 1 - (fixed + text.len()) % ALIGNMENT;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut header = b"\x93NUMPY".to_vec();
    match is_long {
        false => {
            header.extend([1, 0]);
            header.extend((text.len() as u16).to_le_bytes());
        }
        true => {
            header.extend([2, 0]);
            header.extend((text.len() as u32).to_le_bytes());
        }
    }
    header.extend(text.into_bytes());
    header
}

fn descr(dtype: DType) -> String {
    let kind = match dtype {
        DType::Bool => return "|b1".to_owned(),
        // As NumPy writes the bfloat16 of ml_dtypes: bytes without a meaning.
        DType::Bf16 => 'V',
        _ if dtype.is_float() => 'f',
        _ if dtype.name().starts_with('u') => 'u',
        _ if dtype.is_integer() => 'i',
        _ => 'c',
    };
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    format!("{order}{kind}{}", dtype.size())
}
