//! Range checks of indices, before any nest that uses them runs. Holds unsafe code.

use indim_loops::MemoryUse;
use indim_loops::loop_nest::IndexCheck;
use indim_loops::resize::Sizes;
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use crate::run::error::RunError;

/// A bounds check with concrete sizes.
#[derive(Debug)]
pub(crate) struct BoundCheck {
    pub(crate) check: IndexCheck,
    /// The array of the indices.
    pub(crate) array_type: ArrayType,
    /// The shape of the indices.
    pub(crate) shape: Shape,
}

impl BoundCheck {
    pub(crate) fn new(check: &IndexCheck, sizes: Sizes<'_>) -> BoundCheck {
        let (array_type, shape) = (&check.access.array_type, check.shape.resolve(sizes.0));
        BoundCheck { check: check.clone(), array_type: sizes.array_type(array_type), shape }
    }

    /// Counts the memory of the check.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<u8>(self.check.name.capacity());
        memory_use.add_shape(&self.array_type.shape);
        memory_use.add_shape(&self.shape);
    }

    /// Finds the first index out of range, in row-major order. Negative indices count from the end.
    ///
    /// # Errors
    /// `index-out-of-range`.
    ///
    /// # Safety
    /// An array with the check's shape and integer type, `strides` in bytes along each axis, and its first
    /// element at `first` is valid for reads.
    pub(crate) unsafe fn check(&self, first: *const u8, strides: &[isize]) -> Result<(), RunError> {
        let (check, size) = (&self.check, self.check.size);
        let from = first_merged(&self.shape, strides);
        let (outer, inner) = self.shape.split_at(from);
        let row =
            Row { count: inner.iter().product(), stride: strides.last().copied().unwrap_or(0) };
        for number in 0..outer.iter().product() {
            let index = unravel(number, outer);
            let along = index.iter().zip(strides).map(|(&index, stride)| index as isize * stride);
            let place = first.wrapping_offset(along.sum());
            // SAFETY: the row is a part of the caller's array: the axes from `from` on, at an index of the
            // axes before, merge into one stride.
            let found = unsafe { first_out_of_range(place, row, self.array_type.dtype, size) };
            if let Some((position, found)) = found {
                return Err(RunError::IndexOutOfRange {
                    name: check.name.clone(),
                    index: found,
                    position: index.into_iter().chain(unravel(position, inner)).collect(),
                    axis: check.axis,
                    size,
                });
            }
        }
        Ok(())
    }
}

/// The first of the trailing axes that merge into one axis with one stride.
fn first_merged(shape: &[usize], strides: &[isize]) -> usize {
    let continues = |axis: usize| strides[axis - 1] == strides[axis] * shape[axis] as isize;
    let mut from = shape.len().saturating_sub(1);
    while from > 0 && continues(from) {
        from -= 1;
    }
    from
}

/// A row of indices at one stride.
#[derive(Clone, Copy)]
struct Row {
    count: usize,
    stride: isize,
}

/// The multi-index of element `number` in row-major order.
fn unravel(mut number: usize, sizes: &[usize]) -> Vec<usize> {
    let mut index = vec![0; sizes.len()];
    for (coordinate, &size) in index.iter_mut().zip(sizes).rev() {
        *coordinate = number % size;
        number /= size;
    }
    index
}

/// The first index of a row that is out of range for `size` elements, with its position.
///
/// # Safety
/// Every element of the row is valid for reads of a `dtype`.
unsafe fn first_out_of_range(
    first: *const u8,
    row: Row,
    dtype: DType,
    size: usize,
) -> Option<(usize, i128)> {
    // SAFETY: the caller ensures readable elements; each arm has the type of `dtype`.
    unsafe {
        match dtype {
            DType::I8 => first_out_of_range_of_type::<i8>(first, row, size),
            DType::I16 => first_out_of_range_of_type::<i16>(first, row, size),
            DType::I32 => first_out_of_range_of_type::<i32>(first, row, size),
            DType::I64 => first_out_of_range_of_type::<i64>(first, row, size),
            DType::U8 => first_out_of_range_of_type::<u8>(first, row, size),
            DType::U16 => first_out_of_range_of_type::<u16>(first, row, size),
            DType::U32 => first_out_of_range_of_type::<u32>(first, row, size),
            DType::U64 => first_out_of_range_of_type::<u64>(first, row, size),
            _ => unreachable!("invariant: indices are integers"),
        }
    }
}

/// An integer type of indices.
trait Index: Copy + Into<i128> {
    /// Whether the type has negative indices, which count from the end.
    const IS_SIGNED: bool;

    /// The index as 64 bits; values above `i64::MAX` become negative.
    fn to_i64(self) -> i64;
}

macro_rules! indices {
    (signed: $($signed:ty)*; unsigned: $($unsigned:ty)*) => {
        $(impl Index for $signed {
            const IS_SIGNED: bool = true;

            #[inline(always)]
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
        })*
        $(impl Index for $unsigned {
            const IS_SIGNED: bool = false;

            #[inline(always)]
            fn to_i64(self) -> i64 {
                u64::from(self) as i64
            }
        })*
    };
}

indices! { signed: i8 i16 i32 i64; unsigned: u8 u16 u32 u64 }

/// Size of the largest axis, in elements, for the check without branches: the distance between the smallest
/// and the greatest index must fit an `i64`.
const MAX_SIZE: u64 = 1 << 62;

/// Like [`first_out_of_range`], for elements of type `T`.
///
/// # Safety
/// Like [`first_out_of_range`].
unsafe fn first_out_of_range_of_type<T: Index>(
    first: *const u8,
    row: Row,
    size: usize,
) -> Option<(usize, i128)> {
    let element = |position: usize, stride: isize| {
        let place = first.wrapping_offset(stride * position as isize);
        // SAFETY: `position` is below `row.count`, so the caller ensures a readable element.
        unsafe { place.cast::<T>().read_unaligned() }
    };
    // A constant stride lets the compiler use vectors.
    let is_any_out_of_range = match row.stride == size_of::<T>() as isize {
        true => is_any_out_of_range(row.count, size, |at| element(at, size_of::<T>() as isize)),
        false => is_any_out_of_range(row.count, size, |at| element(at, row.stride)),
    };
    let min = if T::IS_SIGNED { -(size as i128) } else { 0 };
    let indices = (0..row.count).map(|position| (position, element(position, row.stride).into()));
    let mut indices = indices.take_while(|_| is_any_out_of_range);
    indices.find(|&(_, index)| index < min || index >= size as i128)
}

/// Whether any of these indices may be out of range for `size` elements. The loop has no branch and no
/// comparison: an index below the smallest or above the greatest sets the sign bit of `outside`.
#[inline(always)]
fn is_any_out_of_range<T: Index>(count: usize, size: usize, element: impl Fn(usize) -> T) -> bool {
    if size as u64 > MAX_SIZE {
        return true;
    }
    let min = if T::IS_SIGNED { -(size as i64) } else { 0 };
    let span = size as i64 - 1 - min;
    let outside = |index: i64| {
        let from_min = index.wrapping_sub(min);
        from_min | span.wrapping_sub(from_min)
    };
    (0..count).fold(0, |signs, position| signs | outside(element(position).to_i64())) < 0
}
