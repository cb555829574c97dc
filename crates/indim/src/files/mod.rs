//! Files of arrays: `.npy`, members of `.npz`, and, with the feature `safetensors`, tensors of
//! `.safetensors`.
//!
//! ```
//! use indim::evaluate;
//! use indim::files::{ArrayFile, write_npy};
//! use indim::{ArrayType, DType};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.npy");
//! write_npy(&path, &ArrayType::new(DType::U8, [2, 2]), &[1, 2, 3, 4])?;
//!
//! let x = ArrayFile::open(&path)?;
//! let doubled = evaluate("x * 2", [("x", x.view())])?;
//! assert_eq!(doubled.elements::<u8>().unwrap(), [2, 4, 6, 8]);
//! write_npy(&path, doubled.array_type(), doubled.bytes())?;
//! assert_eq!(ArrayFile::open(&path)?.bytes(), [2, 4, 6, 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - `deflated.rs`: a deflated array in an archive, as a sequential source;
//! - `dense_file.rs`: a dense, uncompressed array in a file, as a source;
//! - `descr.rs`: element types in headers of `.npy` files;
//! - `error.rs`: errors of array files;
//! - `header.rs`: the header of a `.npy` file;
//! - `npy_sink.rs`: a `.npy` file or stream as a sink;
//! - `npy_source.rs`: a `.npy` file as a source;
//! - `npz.rs`: members of `.npz` archives, stored or deflated;
//! - `npz_sink.rs`: members of a `.npz` archive as sinks;
//! - `npz_source.rs`: a member of a `.npz` archive as a source;
//! - `open_file.rs`: a file that threads read concurrently by offset;
//! - `output_file.rs`: a file that appears under its name complete or not at all;
//! - `read.rs`: reads `.npy` data into memory;
//! - `runs.rs`: contiguous runs of a region in a file;
//! - `safetensors.rs`: tensors in `.safetensors` files;
//! - `safetensors_header.rs`: the header of a `.safetensors` file, parsed entry by entry;
//! - `safetensors_sink.rs`: tensors of a `.safetensors` file as sinks;
//! - `safetensors_source.rs`: a tensor of a `.safetensors` file as a source;
//! - `shared_output.rs`: one file that several sinks write;
//! - `stream.rs`: arrays from a pipe of unknown length;
//! - `hidden_names.rs`: hidden names of incomplete files, and their removal when a signal ends the process;
//! - `write.rs`: writes the formats `.npy` and `.npz`.

mod deflated;
mod dense_file;
mod descr;
mod error;
mod header;
mod hidden_names;
mod npy_sink;
mod npy_source;
mod npz;
mod npz_sink;
mod npz_source;
mod open_file;
mod output_file;
mod read;
mod runs;
#[cfg(feature = "safetensors")]
mod safetensors;
#[cfg(feature = "safetensors")]
mod safetensors_header;
#[cfg(feature = "safetensors")]
mod safetensors_sink;
#[cfg(feature = "safetensors")]
mod safetensors_source;
mod shared_output;
mod stream;
mod write;

use core::ops::Range;
use std::path::Path;

use indim_cpu::{ArrayView, MappedFile};
use indim_ops::ArrayType;

pub use error::{FileError, FileErrorKind};
pub use hidden_names::remove_unfinished_files;
pub use npy_sink::NpySink;
pub use npy_source::NpySource;
pub use npz::{read_npz_member, read_npz_member_type, read_npz_member_within};
pub use npz_sink::{largest, npz_sinks};
pub use npz_source::NpzSource;
pub use output_file::{CompleteOutput, OutputFile};
pub use read::read_npy_type;
#[cfg(feature = "safetensors")]
pub use safetensors::{read_tensor, read_tensor_type, write_safetensors_to};
#[cfg(feature = "safetensors")]
pub use safetensors_sink::safetensors_sinks;
#[cfg(feature = "safetensors")]
pub use safetensors_source::SafetensorsSource;
pub use stream::ArrayStream;
pub use write::{NamedArray, write_npy, write_npy_to, write_npz_to, write_text};

use header::ArrayHeader;

/// An array in a file, or read from one.
///
/// ```
/// use indim::files::{ArrayFile, FileErrorKind, write_npy};
/// use indim::{ArrayType, DType, evaluate};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// write_npy(&path, &ArrayType::new(DType::U8, [2, 2]), &[1, 2, 3, 4])?;
/// let file = ArrayFile::open(&path)?;
/// assert_eq!((file.array_type().to_string().as_str(), file.strides()), ("u8[2, 2]", &[2, 1][..]));
/// assert_eq!((file.bytes(), file.held_bytes(), file.is_unchanged()), (&[1, 2, 3, 4][..], 4, true));
/// assert_eq!(evaluate("x + x", [("x", file.view())])?.elements(), Some(&[2u8, 4, 6, 8][..]));
///
/// let error = ArrayFile::from_bytes(b"no array".to_vec()).unwrap_err();
/// assert!(matches!(error, FileErrorKind::NotNpy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArrayFile {
    array_type: ArrayType,
    strides: Vec<isize>,
    bytes: ElementBytes,
}

#[derive(Debug)]
enum ElementBytes {
    Mapped { file: MappedFile, elements: Range<usize> },
    Owned(Vec<u8>),
}

impl ArrayFile {
    /// Reads a `.npy` file into memory.
    ///
    /// # Errors
    /// `io` and `not-a-file` if the file cannot be read; `not-npy`, `unknown-version`, `bad-header` and
    /// `wrong-length` if it is damaged; `unknown-element-type`, `rank-limit`, `too-large`, `out-of-memory`;
    /// `member-not-named` if it is an archive. Nothing is allocated before the header has been checked.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_within(path, usize::MAX)
    }

    /// Like [`ArrayFile::open`], with at most `limit` bytes of elements.
    ///
    /// # Errors
    /// Like [`ArrayFile::open`], and `memory-limit`.
    pub fn open_within(path: &Path, limit: usize) -> Result<Self, FileError> {
        read::open_npy(path, limit)
    }

    /// A mapped `.npy` file: the system reads elements when they are first accessed. Elements in the other
    /// byte order, at most `limit` bytes, are copied. `path` is for messages.
    ///
    /// # Errors
    /// Like [`ArrayFile::open_within`].
    ///
    /// ```
    /// use indim::files::{ArrayFile, write_npy};
    /// use indim::{ArrayType, DType, MappedFile};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("x.npy");
    /// write_npy(&path, &ArrayType::new(DType::U8, [3]), &[1, 2, 3])?;
    /// // SAFETY: nobody else knows of the folder.
    /// let file = unsafe { MappedFile::open(&path)? };
    /// assert_eq!(ArrayFile::from_mapped(&path, file, usize::MAX)?.bytes(), [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_mapped(path: &Path, file: MappedFile, limit: usize) -> Result<Self, FileError> {
        let header = header::parse(&file, file.len());
        let header = header.map_err(|kind| read::not_npy_but_archive(path, kind))?;
        if header.is_swapped {
            let copy = read::read_npy(&*file, file.len(), limit);
            return copy.map_err(|kind| FileError::new(path, kind));
        }
        let strides = header.strides();
        let bytes = ElementBytes::Mapped { file, elements: header.elements };
        Ok(ArrayFile { array_type: header.array_type, strides, bytes })
    }

    /// A tensor of a mapped `.safetensors` file; see [`ArrayFile::from_mapped`].
    ///
    /// ```
    /// use indim::files::{ArrayFile, write_safetensors_to};
    /// use indim::{ArrayType, DType, MappedFile};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.safetensors");
    /// let bytes = ArrayType::new(DType::U8, [2]);
    /// assert!(write_safetensors_to(std::fs::File::create(&path)?, &[("w", &bytes, &[1, 2][..])]).is_ok());
    /// // SAFETY: nobody else knows of the folder.
    /// let file = unsafe { MappedFile::open(&path)? };
    /// assert_eq!(ArrayFile::from_mapped_tensor(&path, file, "w", usize::MAX)?.bytes(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`read_tensor`].
    #[cfg(feature = "safetensors")]
    pub fn from_mapped_tensor(
        path: &Path,
        file: MappedFile,
        tensor: &str,
        limit: usize,
    ) -> Result<Self, FileError> {
        let header = safetensors::locate_in(&mut &*file, file.len(), tensor);
        let header = header.map_err(|kind| FileError::new(path, kind))?;
        if header.is_swapped {
            return read_tensor(path, tensor, limit);
        }
        let strides = header.strides();
        let bytes = ElementBytes::Mapped { file, elements: header.elements };
        Ok(ArrayFile { array_type: header.array_type, strides, bytes })
    }

    /// An array from the content of a `.npy` file.
    ///
    /// # Errors
    /// Like [`ArrayFile::open`], except errors of the file system.
    pub fn from_bytes(mut file: Vec<u8>) -> Result<Self, FileErrorKind> {
        let header = header::parse(&file, file.len())?;
        file.truncate(header.elements.end);
        file.drain(..header.elements.start);
        Ok(Self::from_elements(header, file))
    }

    /// The array of this header; `elements` is a copy of its elements in the byte order of the file.
    fn from_elements(header: ArrayHeader, mut elements: Vec<u8>) -> Self {
        header.to_native(&mut elements);
        let strides = header.strides();
        ArrayFile { array_type: header.array_type, strides, bytes: ElementBytes::Owned(elements) }
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// Byte stride along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Bytes of the elements, in native byte order.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            ElementBytes::Mapped { file, elements } => &file[elements.clone()],
            ElementBytes::Owned(bytes) => bytes,
        }
    }

    /// Bytes of memory that hold the elements; 0 if they are mapped.
    pub fn held_bytes(&self) -> usize {
        match &self.bytes {
            ElementBytes::Mapped { .. } => 0,
            ElementBytes::Owned(bytes) => bytes.len(),
        }
    }

    /// Whether a mapped file is unchanged since it was opened, as far as its length and modification time
    /// tell. A copy never changes.
    pub fn is_unchanged(&self) -> bool {
        match &self.bytes {
            ElementBytes::Mapped { file, .. } => file.is_unchanged(),
            ElementBytes::Owned(_) => true,
        }
    }

    /// A view of the elements.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView::from_bytes(self.array_type.clone(), self.strides.clone(), self.bytes(), 0)
            .expect("invariant: the header was checked against the length")
    }
}
