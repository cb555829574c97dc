//! A `.npy` file as a source.

use std::path::Path;

use crate::{ArrayRegion, Source, StoreError};
use indim_arrays::Array;
use indim_ops::ArrayType;

use super::read::{open_error, read_header};
use crate::FileError;
use crate::dense_file::DenseFile;

/// The array in a `.npy` file, row-major or column-major, in either byte order.
///
/// ```
/// use indim_stores::{NpySource, write_npy};
/// use indim_stores::{ArrayRegion, Source};
/// use indim_ops::{ArrayType, DType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.npy");
/// write_npy(&path, &ArrayType::new(DType::U8, [2, 3]), &[1, 2, 3, 4, 5, 6])?;
/// let x = NpySource::open(&path)?;
/// assert_eq!(x.array_type().to_string(), "u8[2, 3]");
/// assert_eq!(x.read(&ArrayRegion::new([0, 1], [2, 1]))?.bytes(), [2, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NpySource(DenseFile);

impl NpySource {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Like [`ArrayFile::open`](crate::ArrayFile::open), except `out-of-memory`.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || {
            let (mut file, length) = super::read::open(path)?;
            let (_, header) = read_header(&mut file, length)?;
            Ok(NpySource(DenseFile::new(path, file, header, 0)?))
        };
        open().map_err(|kind| open_error(path, kind))
    }
}

impl Source for NpySource {
    fn array_type(&self) -> &ArrayType {
        self.0.array_type()
    }

    fn is_column_major(&self) -> bool {
        self.0.is_column_major()
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        self.0.read(region)
    }

    fn check_unchanged(&self) -> Result<(), StoreError> {
        self.0.check_unchanged()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use indim_ops::DType;
    use indim_shape::Shape;

    use super::*;
    use crate::write_npy;

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        write_npy(&path, &ArrayType::new(DType::U8, [4]), &[1, 2, 3, 4]).unwrap();
        let source = NpySource::open(&path).unwrap();
        let whole = ArrayRegion::whole(&Shape::from([4]));
        assert_eq!(source.read(&whole).unwrap().bytes(), [1, 2, 3, 4]);
        assert!(source.check_unchanged().is_ok());
        File::options().write(true).open(&path).unwrap().set_len(130).unwrap();
        assert_eq!(source.read(&whole).unwrap_err().code(), "file-changed");
        assert_eq!(source.read(&ArrayRegion::new([0], [2])).unwrap().bytes(), [1, 2]);
        assert_eq!(source.check_unchanged().unwrap_err().code(), "file-changed");
        assert_eq!(
            source.read(&ArrayRegion::new([3], [2])).unwrap_err().code(),
            "outside-of-array"
        );
    }
}
