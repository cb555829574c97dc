//! Copies of regions between dense arrays.

use indim_shape::Shape;

use crate::ArrayRegion;

/// Copies a region of the row-major array `from`, of shape `shape` and `size` bytes per element, to the
/// row-major array `to`, which has the shape of the region.
///
/// ```
/// use indim_shape::Shape;
/// use indim_io::{ArrayRegion, copy_from_region};
///
/// let mut column = [0; 2];
/// let second_column = ArrayRegion::new([0, 1], [2, 1]);
/// copy_from_region(&[0, 1, 2, 3, 4, 5], &Shape::from([2, 3]), 1, &second_column, &mut column);
/// assert_eq!(column, [1, 4]);
/// ```
///
/// # Panics
/// If the region is outside the array, or a slice is too short.
pub fn copy_from_region(
    from: &[u8],
    shape: &Shape,
    size: usize,
    region: &ArrayRegion,
    to: &mut [u8],
) {
    let zeros = vec![0; shape.rank()];
    let part = BlockOrigin::new(region.extents(), &zeros);
    let whole = BlockOrigin::new(shape, region.starts());
    copy_block((from, whole), (to, part), region.extents(), size);
}

/// Copies the row-major array `from`, which has the shape of the region, to a region of the row-major
/// array `to`, of shape `shape`: the inverse of [`copy_from_region`].
///
/// ```
/// use indim_shape::Shape;
/// use indim_io::{ArrayRegion, copy_into_region};
///
/// let mut array = [0; 6];
/// copy_into_region(&[7, 8], &mut array, &Shape::from([2, 3]), 1, &ArrayRegion::new([0, 1], [2, 1]));
/// assert_eq!(array, [0, 7, 0, 0, 8, 0]);
/// ```
///
/// # Panics
/// Like [`copy_from_region`].
pub fn copy_into_region(
    from: &[u8],
    to: &mut [u8],
    shape: &Shape,
    size: usize,
    region: &ArrayRegion,
) {
    let zeros = vec![0; shape.rank()];
    let part = BlockOrigin::new(region.extents(), &zeros);
    let whole = BlockOrigin::new(shape, region.starts());
    copy_block((from, part), (to, whole), region.extents(), size);
}

/// The shape of a row-major array, and the index of the first element of a block in it.
#[derive(Debug, Clone, Copy)]
pub struct BlockOrigin<'a> {
    /// Shape of the array.
    pub shape: &'a [usize],
    /// Index of the block's first element along each axis.
    pub starts: &'a [usize],
}

/// Copies a block of these extents, with `size` bytes per element, between row-major arrays.
///
/// # Panics
/// If the block is outside one of the arrays, or a slice is too short.
pub fn copy_block(
    (from, from_origin): (&[u8], BlockOrigin<'_>),
    (to, to_origin): (&mut [u8], BlockOrigin<'_>),
    extents: &[usize],
    size: usize,
) {
    for_each_run(from_origin, to_origin, extents, size, |source, target, bytes| {
        to[target..target + bytes].copy_from_slice(&from[source..source + bytes]);
    });
}

/// Fills a block with one element, given by its bytes.
///
/// # Panics
/// If the block is outside the array, or `to` is too short.
pub fn fill_block(element: &[u8], to: &mut [u8], origin: BlockOrigin<'_>, extents: &[usize]) {
    for_each_run(origin, origin, extents, element.len(), |start, _, bytes| {
        let run = &mut to[start..start + bytes];
        match element.iter().all(|&byte| byte == element[0]) {
            true => run.fill(element[0]),
            false => {
                run.chunks_exact_mut(element.len()).for_each(|it| it.copy_from_slice(element));
            }
        }
    });
}

/// Calls `run` for each run that is contiguous in both arrays, with its byte offsets in `from` and `to`
/// and its length in bytes. The runs are not collected: a block may have as many runs as elements.
fn for_each_run(
    from: BlockOrigin<'_>,
    to: BlockOrigin<'_>,
    extents: &[usize],
    size: usize,
    mut run: impl FnMut(usize, usize, usize),
) {
    assert!(
        from.contains_block(extents) && to.contains_block(extents),
        "a block of {extents:?} is in {from:?} and {to:?}"
    );
    if extents.contains(&0) {
        return;
    }
    // One run covers the trailing axes that the block spans in both arrays, and the axis before them.
    let is_whole =
        |&axis: &usize| extents[axis] == from.shape[axis] && extents[axis] == to.shape[axis];
    let whole = (0..extents.len()).rev().take_while(is_whole).count();
    let outer = (extents.len() - whole).saturating_sub(1);
    let bytes = extents[outer..].iter().product::<usize>() * size;
    let (from_strides, to_strides) = (from.strides(size), to.strides(size));
    let (mut source, mut target) = (from.offset(&from_strides), to.offset(&to_strides));
    let mut indices = vec![0; outer];
    loop {
        run(source, target, bytes);
        // Advance like an odometer: an axis at its end returns to its start.
        let Some(next) = (0..outer).rev().find(|&axis| indices[axis] + 1 < extents[axis]) else {
            return;
        };
        indices[next] += 1;
        source += from_strides[next];
        target += to_strides[next];
        for axis in next + 1..outer {
            source -= indices[axis] * from_strides[axis];
            target -= indices[axis] * to_strides[axis];
            indices[axis] = 0;
        }
    }
}

impl<'a> BlockOrigin<'a> {
    /// The origin of a block with these starts in an array of this shape.
    pub fn new(shape: &'a [usize], starts: &'a [usize]) -> Self {
        BlockOrigin { shape, starts }
    }

    /// Whether a block of these extents lies within the array.
    fn contains_block(&self, extents: &[usize]) -> bool {
        let ends =
            self.starts.iter().zip(extents).map(|(start, extent)| start.checked_add(*extent));
        self.starts.len() == self.shape.len()
            && extents.len() == self.shape.len()
            && ends.zip(self.shape).all(|(end, size)| end.is_some_and(|end| end <= *size))
    }

    /// The byte strides of the array.
    fn strides(&self, size: usize) -> Vec<usize> {
        let mut strides = vec![size; self.shape.len()];
        for axis in (1..self.shape.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(self.shape[axis]);
        }
        strides
    }

    fn offset(&self, strides: &[usize]) -> usize {
        self.starts.iter().zip(strides).map(|(start, stride)| start * stride).sum()
    }
}
