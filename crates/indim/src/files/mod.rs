//! Files of arrays: `.npy`, and members of `.npz`.

mod descr;
mod error;
mod header;
mod npz;
mod write;

use core::ops::Range;
use std::path::Path;

use indim_cpu::{ArrayView, MappedFile};
use indim_graph::ArrayType;

pub use error::{FileError, FileErrorKind};
pub use npz::read_npz_member;
pub use write::{write_npy, write_npy_to, write_text};

/// An array in a file, or read from one.
///
/// The elements of a `.npy` file in the machine's byte order are read where they are, by the system,
/// when they are touched; those in the other byte order are copied.
#[derive(Debug)]
pub struct ArrayFile {
    array_type: ArrayType,
    strides: Vec<isize>,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Mapped { file: MappedFile, elements: Range<usize> },
    Owned(Vec<u8>),
}

impl ArrayFile {
    /// Opens a `.npy` file.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or has elements of a type that indim does not
    /// evaluate. Nothing is allocated before the header has been checked.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let located = |kind| FileError::new(path, kind);
        require_file(path).map_err(located)?;
        let file = MappedFile::open(path).map_err(|error| located(error.into()))?;
        let header = match header::parse(&file) {
            Err(FileErrorKind::NotNpy) if file.starts_with(b"PK") => {
                return Err(located(npz::member_not_named(path)));
            }
            header => header.map_err(located)?,
        };
        let strides = header.strides();
        let bytes = match header.is_swapped {
            false => Bytes::Mapped { file, elements: header.elements },
            true => Bytes::Owned(header.swapped(&file[header.elements.clone()]).map_err(located)?),
        };
        Ok(ArrayFile { array_type: header.array_type, strides, bytes })
    }

    /// An array from the bytes of a whole `.npy` file, wherever they come from.
    ///
    /// # Errors
    /// When the bytes are damaged, or hold elements of a type that indim does not evaluate.
    pub fn from_bytes(mut file: Vec<u8>) -> Result<Self, FileErrorKind> {
        let header = header::parse(&file)?;
        let strides = header.strides();
        file.truncate(header.elements.end);
        file.drain(..header.elements.start);
        if header.is_swapped {
            header.swap(&mut file);
        }
        Ok(ArrayFile { array_type: header.array_type, strides, bytes: Bytes::Owned(file) })
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// The stride along each axis in bytes.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The elements' bytes, in the machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped { file, elements } => &file[elements.clone()],
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// A view of the elements.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView::from_bytes(self.array_type.clone(), self.strides.clone(), self.bytes(), 0)
            .expect("invariant: the header was checked against the length")
    }
}

/// Refuses what cannot be mapped, before opening it, which for a pipe waits until somebody writes.
fn require_file(path: &Path) -> Result<(), FileErrorKind> {
    match std::fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(FileErrorKind::NotAFile),
    }
}

/// Room for `bytes` bytes, or a typed error where a `Vec` would end the process.
fn reserve(bytes: usize) -> Result<Vec<u8>, FileErrorKind> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| FileErrorKind::OutOfMemory { bytes })?;
    Ok(room)
}
