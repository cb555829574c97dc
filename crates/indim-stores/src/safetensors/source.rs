//! A tensor of a `.safetensors` file as a source.

use std::path::Path;

use crate::{ArrayRegion, Source, StoreError};
use indim_arrays::Array;
use indim_ops::ArrayType;

use super::tensors;
use crate::FileError;
use crate::dense_file::DenseFile;

/// A tensor of a `.safetensors` file.
///
/// ```
/// use indim_stores::{SafetensorsSource, write_safetensors_to};
/// use indim_stores::{ArrayRegion, Source};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.safetensors");
/// let bytes = ArrayType::new(DType::U8, [3]);
/// assert!(write_safetensors_to(std::fs::File::create(&path)?, &[("w", &bytes, &[1, 2, 3][..])]).is_ok());
/// let w = SafetensorsSource::open(&path, "w")?;
/// assert_eq!(w.read(&ArrayRegion::new([1], [2]))?.bytes(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SafetensorsSource(DenseFile);

impl SafetensorsSource {
    /// Opens a tensor of a file and reads the header.
    ///
    /// # Errors
    /// Like [`read_tensor_type`](crate::read_tensor_type).
    pub fn open(path: &Path, tensor: &str) -> Result<Self, FileError> {
        let open = || {
            let (file, header) = tensors::locate(path, tensor)?;
            Ok(SafetensorsSource(DenseFile::new(path, file, header, 0)?))
        };
        open().map_err(|kind| FileError::new(path, kind))
    }
}

impl Source for SafetensorsSource {
    fn array_type(&self) -> &ArrayType {
        self.0.array_type()
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        self.0.read(region)
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.0.check_unchanged()
    }
}
