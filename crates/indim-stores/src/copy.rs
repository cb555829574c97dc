//! How the elements of a region go from one dense array to another.

use core::ops::Range;

use indim_shape::Shape;

use crate::Region;

/// Copies a region of an array of this shape, whose elements of `size` bytes are `from` in row-major order,
/// into `to`, which is the region alone.
///
/// ```
/// use indim_shape::Shape;
/// use indim_stores::{Region, copy_from_region};
///
/// let mut column = [0; 2];
/// copy_from_region(&[0, 1, 2, 3, 4, 5], &Shape::from([2, 3]), 1, &Region::new([0, 1], [2, 1]), &mut column);
/// assert_eq!(column, [1, 4]);
/// ```
///
/// # Panics
/// When the region is not within the shape, or a slice has not as many bytes.
pub fn copy_from_region(from: &[u8], shape: &Shape, size: usize, region: &Region, to: &mut [u8]) {
    for (whole, part) in runs(shape, size, region) {
        to[part].copy_from_slice(&from[whole]);
    }
}

/// Copies `from`, which is a region alone, into that region of an array, as [`copy_from_region`] does the
/// other way round.
///
/// ```
/// use indim_shape::Shape;
/// use indim_stores::{Region, copy_into_region};
///
/// let mut array = [0; 6];
/// copy_into_region(&[7, 8], &mut array, &Shape::from([2, 3]), 1, &Region::new([0, 1], [2, 1]));
/// assert_eq!(array, [0, 7, 0, 0, 8, 0]);
/// ```
///
/// # Panics
/// As [`copy_from_region`].
pub fn copy_into_region(from: &[u8], to: &mut [u8], shape: &Shape, size: usize, region: &Region) {
    for (whole, part) in runs(shape, size, region) {
        to[whole].copy_from_slice(&from[part]);
    }
}

/// The bytes of the array and those of the region, wherever both are dense.
fn runs(
    shape: &Shape,
    size: usize,
    region: &Region,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    assert!(region.is_within(shape), "the region {region} is within {shape}");
    // The axes from here on are whole, so that one run goes over them and the one before.
    let is_whole = |&axis: &usize| region.extents()[axis] == shape[axis];
    let whole = (0..shape.rank()).rev().take_while(is_whole).count();
    let outer = (shape.rank() - whole).saturating_sub(1);
    let strides: Vec<usize> =
        (0..shape.rank()).map(|axis| shape[axis + 1..].iter().product::<usize>() * size).collect();
    let bytes = region.extents()[outer..].iter().product::<usize>() * size;
    let offset = |starts: &[usize]| starts.iter().zip(&strides).map(|(s, stride)| s * stride).sum();
    let base: usize = offset(region.starts());
    let steps = vec![1; outer];
    let rows: Vec<usize> = match bytes {
        0 => Vec::new(),
        _ => Region::grid(&region.extents()[..outer].into(), &steps)
            .map(|row| base + offset(row.starts()))
            .collect(),
    };
    let run =
        move |(index, at): (usize, usize)| (at..at + bytes, index * bytes..(index + 1) * bytes);
    rows.into_iter().enumerate().map(run)
}
