//! An array in a file, mapped or read.

use core::ops::Range;
use std::path::Path;

use indim_arrays::{ArrayView, MappedFile};
use indim_ops::ArrayType;

use crate::npy::header::{self, ArrayHeader};
use crate::npy::read;
#[cfg(feature = "safetensors")]
use crate::safetensors::{read_tensor, tensors};
use crate::{FileError, FileErrorKind};

/// An array from a file. Its elements are a mapped range of the file, or a copy in memory.
///
/// ```
/// use indim_stores::{ArrayFile, FileErrorKind, write_npy};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// write_npy(&path, &ArrayType::new(DType::U8, [2, 2]), &[1, 2, 3, 4])?;
/// let file = ArrayFile::open(&path)?;
/// assert_eq!((file.array_type().to_string().as_str(), file.byte_strides()), ("u8[2, 2]", &[2, 1][..]));
/// assert_eq!((file.bytes(), file.held_bytes(), file.is_unchanged()), (&[1, 2, 3, 4][..], 4, true));
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
    /// `member-not-named` if it is an archive. The elements are allocated after the check of the header.
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

    /// The array of a mapped `.npy` file: the system reads elements when they are first accessed.
    /// Elements in non-native byte order are copied, at most `limit` bytes. `path` names the file in
    /// errors.
    ///
    /// # Errors
    /// Like [`ArrayFile::open_within`].
    ///
    /// ```
    /// use indim_stores::{ArrayFile, write_npy};
    /// use indim_arrays::MappedFile;
    /// use indim_ops::{ArrayType, DType};
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
        let header = header.map_err(|kind| read::open_error(path, kind))?;
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
    /// use indim_stores::{ArrayFile, write_safetensors_to};
    /// use indim_arrays::MappedFile;
    /// use indim_ops::{ArrayType, DType};
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
    /// Like [`read_tensor`](crate::read_tensor).
    #[cfg(feature = "safetensors")]
    pub fn from_mapped_tensor(
        path: &Path,
        file: MappedFile,
        tensor: &str,
        limit: usize,
    ) -> Result<Self, FileError> {
        let header = tensors::locate_in(&mut &*file, file.len(), tensor);
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
    pub(crate) fn from_elements(header: ArrayHeader, mut elements: Vec<u8>) -> Self {
        header.to_native(&mut elements);
        let strides = header.strides();
        ArrayFile { array_type: header.array_type, strides, bytes: ElementBytes::Owned(elements) }
    }

    /// Element type and shape.
    pub fn array_type(&self) -> &ArrayType {
        &self.array_type
    }

    /// Byte stride along each axis.
    pub fn byte_strides(&self) -> &[isize] {
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
