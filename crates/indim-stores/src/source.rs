//! `Source`: a stored array that is read by regions.

use core::fmt;

use indim_arrays::Buffer;
use indim_ops::ArrayType;

use crate::{Geography, Region, StoreError, StoreErrorKind};

/// An array that lies elsewhere and is read by regions, by several threads at once.
///
/// What [`Source::array_type`] says has been checked against what the format allows, so that a region may be
/// allocated; no more than the region, and [`Source::scratch_bytes`], is held while one is read.
///
/// ```
/// use indim_arrays::{ArrayError, Buffer};
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::{MemorySource, Region, Source};
///
/// let array = Buffer::filled(ArrayType::new(DType::U8, [2, 3]), |bytes| {
///     bytes.copy_from_slice(&[0, 1, 2, 3, 4, 5]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let source: Box<dyn Source> = Box::new(MemorySource::new(array)?);
/// let column = source.read(&Region::new([0, 1], [2, 1]))?;
/// assert_eq!(column.array_type().to_string(), "u8[2, 1]");
/// assert_eq!(column.elements::<u8>(), Some(&[1, 4][..]));
/// assert_eq!(source.read(&Region::new([2, 0], [1, 3])).unwrap_err().code(), "outside-of-array");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: fmt::Debug + Send + Sync {
    /// Element type and shape.
    fn array_type(&self) -> &ArrayType;

    /// The sizes of the pieces that the array is stored in, each of which is read as a whole; `None` where
    /// regions of any size cost what they hold.
    fn chunks(&self) -> Option<&[usize]> {
        None
    }

    /// Bytes of scratch memory that one read takes in addition to its result, such as one decoded chunk.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Whether neighbours along the first axis are stored beside one another, not those along the last, so
    /// that regions are read fastest that are whole along the first axes.
    fn is_column_major(&self) -> bool {
        false
    }

    /// Whether what lies before the last region that was read is read again from the beginning, as of what is
    /// compressed as a whole, so that regions are to be read in the order in which elements are stored.
    fn is_sequential(&self) -> bool {
        false
    }

    /// The elements of a region, which lie densely in any order, as the strides of the buffer say.
    ///
    /// # Errors
    /// `outside-of-array`; what is wrong with the file that the elements come from.
    fn read(&self, region: &Region) -> Result<Buffer, StoreError>;

    /// What its axes are called, where the format has names for them; empty for one without a name.
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

    /// Refuses what was read of an array that has changed since it was opened, as far as that can be told.
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
pub fn check_region(region: &Region, array_type: &ArrayType) -> Result<(), StoreErrorKind> {
    match region.is_within(&array_type.shape) {
        true => Ok(()),
        false => Err(StoreErrorKind::OutsideOfArray {
            region: region.clone(),
            shape: array_type.shape.clone(),
        }),
    }
}
