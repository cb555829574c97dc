//! The trait `Source`: a stored array that is read by regions.

use core::fmt;

use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::{ArrayRegion, Geography, StoreError, StoreErrorKind};

/// A stored array. Threads read regions of it concurrently.
///
/// An implementation checks [`Source::array_type`] against the file when it opens the file, so callers
/// may allocate any region. A read allocates the region and at most [`Source::scratch_bytes`] more.
///
/// ```
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
/// use indim_io::{MemorySource, ArrayRegion, Source};
///
/// let array = Array::filled(ArrayType::new(DType::U8, [2, 3]), |bytes| {
///     bytes.copy_from_slice(&[0, 1, 2, 3, 4, 5]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let source: Box<dyn Source> = Box::new(MemorySource::new(array)?);
/// let column = source.read(&ArrayRegion::new([0, 1], [2, 1]))?;
/// assert_eq!(column.array_type().to_string(), "u8[2, 1]");
/// assert_eq!(column.elements::<u8>(), Ok(&[1, 4][..]));
/// assert_eq!(source.read(&ArrayRegion::new([2, 0], [1, 3])).unwrap_err().code(), "outside-of-array");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: fmt::Debug + Send + Sync {
    /// Element type and shape.
    fn array_type(&self) -> &ArrayType;

    /// Shape of the chunks that the array is stored in. A read decodes each chunk that it touches as a whole.
    /// `None` if the cost of a read depends on the size of its region alone.
    fn chunks(&self) -> Option<&[usize]> {
        None
    }

    /// Bytes of scratch memory that one read takes in addition to its result, such as one decoded chunk.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Whether the array is stored column-major: regions that are whole along the first axes are read
    /// fastest.
    fn is_column_major(&self) -> bool {
        false
    }

    /// Whether the array is one stream, such as deflated data. A read before the end of the last read
    /// decodes the stream from its beginning again, so read regions in storage order. See
    /// [`Source::is_read_once`] for pipes.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Whether the array is read only once, like a pipe: a read before the end of the last read is an error.
    fn is_read_once(&self) -> bool {
        false
    }

    /// Reads the elements of a region. The array is dense, in row-major or column-major order; its
    /// strides tell which.
    ///
    /// # Errors
    /// `outside-of-array`; the errors of the file.
    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError>;

    /// Reads several regions, concurrently if that is faster, within the same
    /// [scratch memory](Source::scratch_bytes).
    ///
    /// # Errors
    /// Like [`Source::read`].
    fn read_each(&self, regions: &[ArrayRegion]) -> Result<Vec<Array>, StoreError> {
        regions.iter().map(|region| self.read(region)).collect()
    }

    /// Names of the axes, if the format stores them; an unnamed axis has an empty name.
    fn axis_names(&self) -> Option<&[String]> {
        None
    }

    /// The geography of a grid, if the format records it.
    fn geography(&self) -> Option<&Geography> {
        None
    }

    /// Warnings about the array for the user, one sentence each.
    fn remarks(&self) -> &[String] {
        &[]
    }

    /// Fails if the array has changed since it was opened, as far as its file length and modification time
    /// tell.
    ///
    /// # Errors
    /// `file-changed`.
    fn check_unchanged(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Refuses a region outside an array; for implementations of [`Source`].
///
/// # Errors
/// `outside-of-array`.
pub fn check_region(region: &ArrayRegion, array_type: &ArrayType) -> Result<(), StoreErrorKind> {
    match region.is_within(&array_type.shape) {
        true => Ok(()),
        false => Err(StoreErrorKind::OutsideOfArray {
            region: region.clone(),
            shape: array_type.shape.clone(),
        }),
    }
}
