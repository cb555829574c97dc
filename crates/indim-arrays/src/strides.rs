//! Strides of dense arrays in any memory order.

use std::sync::Arc;

use indim_ops::{ArrayType, DType};

/// The strides in bytes of a dense row-major array.
///
/// ```
/// use indim_arrays::row_major_byte_strides;
/// use indim_ops::{ArrayType, DType};
/// assert_eq!(row_major_byte_strides(&ArrayType::new(DType::F32, [2, 3])), [12, 4]);
/// ```
pub fn row_major_byte_strides(array_type: &ArrayType) -> Vec<isize> {
    let mut strides = vec![0; array_type.shape.rank()];
    write_row_major_byte_strides(array_type, &mut strides);
    strides
}

/// Like [`row_major_byte_strides`], in one allocation that arrays share.
pub(crate) fn shared_byte_strides(array_type: &ArrayType) -> Arc<[isize]> {
    let mut strides: Arc<[isize]> = core::iter::repeat_n(0, array_type.shape.rank()).collect();
    if let Some(strides) = Arc::get_mut(&mut strides) {
        write_row_major_byte_strides(array_type, strides);
    }
    strides
}

/// Like [`row_major_byte_strides`], into existing memory: one stride for each axis.
pub fn write_row_major_byte_strides(array_type: &ArrayType, strides: &mut [isize]) {
    let is_empty = array_type.shape.contains(&0);
    let mut dense = if is_empty { 0 } else { array_type.dtype.size() as isize };
    for (stride, &size) in strides.iter_mut().zip(array_type.shape.iter()).rev() {
        *stride = dense;
        // Only a shape that no array in memory can have saturates.
        dense = dense.saturating_mul(isize::try_from(size).unwrap_or(isize::MAX));
    }
}

/// Whether the array is dense and in row-major order. An axis of size 1 may have any stride.
pub(crate) fn is_row_major(array_type: &ArrayType, strides: &[isize]) -> bool {
    array_type.shape.contains(&0)
        || is_dense(array_type.shape.iter().zip(strides).rev(), array_type.dtype)
}

/// Moves an index to the next element in row-major order; after the last element, to the first.
pub(crate) fn advance(index: &mut [usize], sizes: &[usize]) {
    for (index, &size) in index.iter_mut().zip(sizes).rev() {
        *index += 1;
        if *index < size {
            break;
        }
        *index = 0;
    }
}

/// Whether the array is dense and in column-major order. An axis of size 1 may have any stride.
pub fn is_column_major(array_type: &ArrayType, strides: &[isize]) -> bool {
    array_type.shape.contains(&0)
        || is_dense(array_type.shape.iter().zip(strides), array_type.dtype)
}

/// Whether the stride of each axis is the number of bytes of all axes inside it. `axes` begins with the
/// innermost axis.
fn is_dense<'a>(mut axes: impl Iterator<Item = (&'a usize, &'a isize)>, dtype: DType) -> bool {
    let mut dense = dtype.size() as isize;
    axes.all(|(&size, &stride)| {
        let is_dense = size == 1 || stride == dense;
        // The bytes of an existing array fit `isize`.
        dense = dense.wrapping_mul(size as isize);
        is_dense
    })
}

/// The strides in bytes of a dense array whose axes have the order `axes` in memory, outermost first;
/// `None` for row-major order.
pub fn dense_byte_strides(array_type: &ArrayType, axes: &[usize]) -> Option<Vec<isize>> {
    if axes.is_sorted() {
        return None;
    }
    let mut strides = vec![0; axes.len()];
    let mut stride = array_type.dtype.size() as isize;
    for &axis in axes.iter().rev() {
        strides[axis] = stride;
        // Only a shape that no array in memory can have saturates.
        let size = isize::try_from(array_type.shape[axis].max(1)).unwrap_or(isize::MAX);
        stride = stride.saturating_mul(size);
    }
    Some(strides)
}
