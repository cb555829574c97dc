//! Whether indices name elements: found before anything that depends on it is written. Holds unsafe code.

use indim_loops::loop_nest::IndexCheck;
use indim_ops::DType;

use crate::run::error::RunError;

/// Finds the first index, in row-major order, that names no element. Negative ones count from the end.
///
/// # Errors
/// `index-out-of-range`.
///
/// # Safety
/// `first` and `strides`, in bytes along each axis of the check's shape, are of an array of integers of the
/// check's type: every element is valid for reads.
pub(crate) unsafe fn check(
    check: &IndexCheck,
    first: *const u8,
    strides: &[isize],
) -> Result<(), RunError> {
    let from = first_merged(&check.shape, strides);
    let (outer, inner) = check.shape.split_at(from);
    let row = Row { count: inner.iter().product(), stride: strides.last().copied().unwrap_or(0) };
    for number in 0..outer.iter().product() {
        let index = unravel(number, outer);
        let along = index.iter().zip(strides).map(|(&index, stride)| index as isize * stride);
        let place = first.wrapping_offset(along.sum());
        // SAFETY: a row of the caller's.
        let found = unsafe { first_outside(place, row, check.access.array_type.dtype, check.size) };
        if let Some((position, found)) = found {
            return Err(RunError::IndexOutOfRange {
                name: check.name.clone(),
                index: found,
                position: index.into_iter().chain(unravel(position, inner)).collect(),
                axis: check.axis,
                size: check.size,
            });
        }
    }
    Ok(())
}

/// The axis from which on the elements lie at one stride.
fn first_merged(shape: &[usize], strides: &[isize]) -> usize {
    let continues = |axis: usize| strides[axis - 1] == strides[axis] * shape[axis] as isize;
    let mut from = shape.len().saturating_sub(1);
    while from > 0 && continues(from) {
        from -= 1;
    }
    from
}

/// Indices at one stride.
#[derive(Clone, Copy)]
struct Row {
    count: usize,
    stride: isize,
}

/// The index along each axis of element `number` in row-major order.
fn unravel(mut number: usize, sizes: &[usize]) -> Vec<usize> {
    let mut index = vec![0; sizes.len()];
    for (slot, &size) in index.iter_mut().zip(sizes).rev() {
        *slot = number % size;
        number /= size;
    }
    index
}

/// The first index of a row that names none of `size` elements, and its position.
///
/// # Safety
/// Every element of the row is valid for reads of a `dtype`.
unsafe fn first_outside(
    first: *const u8,
    row: Row,
    dtype: DType,
    size: usize,
) -> Option<(usize, i128)> {
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::I8 => outside_of::<i8>(first, row, size),
            DType::I16 => outside_of::<i16>(first, row, size),
            DType::I32 => outside_of::<i32>(first, row, size),
            DType::I64 => outside_of::<i64>(first, row, size),
            DType::U8 => outside_of::<u8>(first, row, size),
            DType::U16 => outside_of::<u16>(first, row, size),
            DType::U32 => outside_of::<u32>(first, row, size),
            DType::U64 => outside_of::<u64>(first, row, size),
            _ => unreachable!("invariant: indices are integers"),
        }
    }
}

/// # Safety
/// As [`first_outside`], for elements of type `T`.
unsafe fn outside_of<T: Copy + PartialOrd + Into<i128>>(
    first: *const u8,
    row: Row,
    size: usize,
) -> Option<(usize, i128)> {
    let element = |position: usize| {
        let place = first.wrapping_offset(row.stride * position as isize);
        // SAFETY: an element of the caller's row.
        unsafe { place.cast::<T>().read_unaligned() }
    };
    let (mut least, mut most) = (element(0), element(0));
    for position in 1..row.count {
        let element = element(position);
        least = if element < least { element } else { least };
        most = if element > most { element } else { most };
    }
    let is_outside = |index: i128| index < -(size as i128) || index >= size as i128;
    if !is_outside(least.into()) && !is_outside(most.into()) {
        return None;
    }
    let indices = (0..row.count).map(|position| (position, element(position).into()));
    indices.into_iter().find(|&(_, index)| is_outside(index))
}
