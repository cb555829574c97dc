//! The trait `Sink`: a result that is written by regions.

use core::fmt;

use indim_arrays::Array;
use indim_ops::ArrayType;

use crate::source::check_region;
use crate::{ArrayRegion, StoreError, StoreErrorKind};

/// A result that is written by regions. It appears complete or not at all.
///
/// Callers cover the array with a [grid](ArrayRegion::grid) and write each region once, in row-major order.
/// If the sink has [chunks](Sink::chunks), the grid steps must be multiples of them. An incomplete sink that
/// is dropped leaves nothing behind and does not touch an earlier result at its path. A sink to a pipe cannot
/// take back what it has written.
///
/// ```
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
/// use indim_io::{MemorySink, ArrayRegion, Sink};
///
/// let row = Array::filled(ArrayType::new(DType::U8, [1, 3]), |bytes| {
///     bytes.copy_from_slice(&[1, 2, 3]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let (sink, result) = MemorySink::new(ArrayType::new(DType::U8, [2, 3]))?;
/// let mut sink: Box<dyn Sink> = Box::new(sink);
/// for region in ArrayRegion::grid(&sink.array_type().shape.clone(), &[1, 3]) {
///     sink.write(&region, &row)?;
/// }
/// sink.finish()?;
/// assert_eq!(result.take().unwrap().elements::<u8>(), Ok(&[1, 2, 3, 1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sink: fmt::Debug + Send {
    /// Element type and shape of the whole result.
    fn array_type(&self) -> &ArrayType;

    /// Shape of the chunks. Grid steps must be multiples of it; the last region along an axis may be smaller.
    /// `None` if regions may have any size.
    fn chunks(&self) -> Option<&[usize]> {
        None
    }

    /// Whether each region must continue where the previous one ended, in row-major order, as in a pipe.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Bytes of memory that the sink holds while it is written: encoded chunks, or the whole result if the
    /// format needs it.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Writes the elements of a region.
    ///
    /// # Errors
    /// `outside-of-array`; `wrong-piece` if `values` has another element type or shape than the
    /// region; `io`.
    fn write(&mut self, region: &ArrayRegion, values: &Array) -> Result<(), StoreError>;

    /// The first half of [`Sink::finish`], which can take long and fail: writes all that is left. Several
    /// results appear together if all are completed before the first is committed.
    ///
    /// # Errors
    /// `incomplete` if elements are missing; `io`.
    fn complete(self: Box<Self>) -> Result<Box<dyn CompleteResult>, StoreError>;

    /// Makes the result appear.
    ///
    /// # Errors
    /// Like [`Sink::complete`] and [`CompleteResult::commit`].
    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.complete()?.commit()
    }
}

/// A complete result that is not yet visible, except in a pipe. [`CompleteResult::commit`] makes it appear;
/// dropping it discards it.
pub trait CompleteResult: fmt::Debug + Send {
    /// Makes the result appear.
    ///
    /// # Errors
    /// `io`, for example if its folder was removed. An earlier result at its path is then untouched,
    /// unless only the last step failed: the flush of the folder after the rename.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// Refuses a result with missing elements; for implementations of [`Sink`].
///
/// # Errors
/// `incomplete`.
pub fn check_complete(array_type: &ArrayType, written: usize) -> Result<(), StoreErrorKind> {
    let elements = array_type.shape.element_count().unwrap_or(usize::MAX);
    match written == elements {
        true => Ok(()),
        false => Err(StoreErrorKind::Incomplete { written, elements }),
    }
}

/// Checks the values of a region and calls `write` with their elements in row-major order; for
/// implementations of [`Sink`].
///
/// ```
/// use indim_arrays::{ArrayError, Array};
/// use indim_ops::{ArrayType, DType};
/// use indim_io::{ArrayRegion, with_elements};
///
/// let values = Array::filled_column_major(ArrayType::new(DType::U8, [2, 2]), |bytes| {
///     bytes.copy_from_slice(&[1, 2, 3, 4]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let region = ArrayRegion::new([1, 0], [2, 2]);
/// with_elements(&region, &values, &ArrayType::new(DType::U8, [3, 2]), |elements| {
///     assert_eq!(elements, [1, 3, 2, 4]);
///     Ok(())
/// })
/// .unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `outside-of-array`; `wrong-piece` if the values have another element type or shape than the region;
/// `out-of-memory` for its copy in row-major order; the errors of `write`.
pub fn with_elements(
    region: &ArrayRegion,
    values: &Array,
    array_type: &ArrayType,
    write: impl FnOnce(&[u8]) -> Result<(), StoreErrorKind>,
) -> Result<(), StoreErrorKind> {
    check_region(region, array_type)?;
    let expected = ArrayType::new(array_type.dtype, region.extents().clone());
    if *values.array_type() != expected {
        return Err(StoreErrorKind::WrongPiece { actual: values.array_type().clone(), expected });
    }
    match values.is_row_major() {
        true => write(values.bytes()),
        false => write(values.to_row_major()?.bytes()),
    }
}
