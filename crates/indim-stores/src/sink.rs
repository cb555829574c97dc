//! `Sink`: a result that is written by regions.

use core::fmt;

use indim_arrays::Buffer;
use indim_ops::ArrayType;

use crate::source::check_region;
use crate::{Region, StoreError, StoreErrorKind};

/// A result that is written by regions and appears complete or not at all.
///
/// Whoever writes covers the array by a [grid](Region::grid), region by region in row-major order, each once;
/// where the sink has [chunks](Sink::chunks), the steps of the grid are multiples of theirs. One that is
/// dropped before it is complete leaves nothing behind, and what was in its place untouched.
///
/// ```
/// use indim_arrays::{ArrayError, Buffer};
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::{MemorySink, Region, Sink};
///
/// let row = Buffer::filled(ArrayType::new(DType::U8, [1, 3]), |bytes| {
///     bytes.copy_from_slice(&[1, 2, 3]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let (sink, result) = MemorySink::new(ArrayType::new(DType::U8, [2, 3]))?;
/// let mut sink: Box<dyn Sink> = Box::new(sink);
/// for region in Region::grid(&sink.array_type().shape.clone(), &[1, 3]) {
///     sink.write(&region, &row)?;
/// }
/// sink.finish()?;
/// assert_eq!(result.take().unwrap().elements::<u8>(), Some(&[1, 2, 3, 1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sink: fmt::Debug + Send {
    /// Element type and shape of the whole result.
    fn array_type(&self) -> &ArrayType;

    /// The sizes of which those of regions are multiples, but for the last along each axis; `None` where
    /// regions may be of any size.
    fn chunks(&self) -> Option<&[usize]> {
        None
    }

    /// Whether elements are written in row-major order, each region behind the one before, as to a pipe.
    fn is_sequential(&self) -> bool {
        false
    }

    /// The bytes of memory that the sink holds while it is written, such as one encoded chunk, or, of formats
    /// that are written in one go, the whole result.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Writes the elements of a region.
    ///
    /// # Errors
    /// `outside-of-array`; `wrong-piece` for one of another element type or shape; `io`.
    fn write(&mut self, region: &Region, piece: &Buffer) -> Result<(), StoreError>;

    /// The first half of [`Sink::finish`], which takes long and may fail: everything is on the disk then. Of
    /// several results, all are completed before any appears.
    ///
    /// # Errors
    /// `incomplete` when not every element was written; `io`.
    fn complete(self: Box<Self>) -> Result<Box<dyn Complete>, StoreError>;

    /// Makes the result appear.
    ///
    /// # Errors
    /// Like [`Sink::complete`]; what has been in its place is untouched then.
    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.complete()?.put_in_place()
    }
}

/// A result that is complete, and appears by [`Complete::put_in_place`] or vanishes.
pub trait Complete: fmt::Debug + Send {
    /// Makes the result appear.
    ///
    /// # Errors
    /// `io`, when meanwhile its folder has gone; what has been in its place is untouched then.
    fn put_in_place(self: Box<Self>) -> Result<(), StoreError>;
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

/// Passes on the elements of a piece in row-major order; for implementations of [`Sink`].
///
/// ```
/// use indim_arrays::{ArrayError, Buffer};
/// use indim_ops::{ArrayType, DType};
/// use indim_stores::{Region, with_elements};
///
/// let piece = Buffer::filled_column_major(ArrayType::new(DType::U8, [2, 2]), |bytes| {
///     bytes.copy_from_slice(&[1, 2, 3, 4]);
///     Ok::<(), ArrayError>(())
/// })?;
/// let region = Region::new([1, 0], [2, 2]);
/// with_elements(&region, &piece, &ArrayType::new(DType::U8, [3, 2]), |elements| {
///     assert_eq!(elements, [1, 3, 2, 4]);
///     Ok(())
/// })
/// .unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `outside-of-array` for a region that the array has not, `wrong-piece` for a piece of another element type
/// or shape, `out-of-memory` for a copy of it, and those of `write`.
pub fn with_elements(
    region: &Region,
    piece: &Buffer,
    array_type: &ArrayType,
    write: impl FnOnce(&[u8]) -> Result<(), StoreErrorKind>,
) -> Result<(), StoreErrorKind> {
    check_region(region, array_type)?;
    let expected = ArrayType::new(array_type.dtype, region.extents().clone());
    if *piece.array_type() != expected {
        return Err(StoreErrorKind::WrongPiece { given: piece.array_type().clone(), expected });
    }
    match piece.is_row_major() {
        true => write(piece.bytes()),
        false => write(piece.to_row_major()?.bytes()),
    }
}
