//! Rectangular regions of arrays.

use core::fmt;
use core::ops::Range;

use indim_shape::Shape;

/// A rectangular part of an array: a start and an extent for each axis, like a NumPy basic slice of step 1.
///
/// ```
/// use indim_shape::Shape;
/// use indim_io::ArrayRegion;
///
/// let region = ArrayRegion::new([2, 0], [2, 5]);
/// assert_eq!((region.starts(), region.extents()), (&[2, 0][..], &Shape::from([2, 5])));
/// assert_eq!(region.to_string(), "[2:4, 0:5]");
/// assert!(region.is_within(&Shape::from([4, 5])));
/// assert!(!region.is_within(&Shape::from([3, 5])));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayRegion {
    starts: Vec<usize>,
    extents: Shape,
}

impl ArrayRegion {
    /// The region with these starts and this shape.
    ///
    /// # Panics
    /// If `starts` and `extents` have different lengths.
    pub fn new(starts: impl Into<Vec<usize>>, extents: impl Into<Shape>) -> Self {
        let (starts, extents) = (starts.into(), extents.into());
        assert_eq!(starts.len(), extents.rank(), "one start for each axis");
        ArrayRegion { starts, extents }
    }

    /// The region that is the whole array.
    ///
    /// ```
    /// use indim_shape::Shape;
    /// use indim_io::ArrayRegion;
    ///
    /// assert_eq!(ArrayRegion::whole(&Shape::from([3, 4])), ArrayRegion::new([0, 0], [3, 4]));
    /// ```
    pub fn whole(shape: &Shape) -> Self {
        ArrayRegion { starts: vec![0; shape.rank()], extents: shape.clone() }
    }

    /// The index of the first element along each axis.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The shape.
    pub fn extents(&self) -> &Shape {
        &self.extents
    }

    /// The indices along each axis.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ends = self.starts.iter().zip(self.extents.iter());
        ends.map(|(&start, &extent)| start..start.saturating_add(extent))
    }

    /// Whether an array of this shape has every index of the region.
    pub fn is_within(&self, shape: &Shape) -> bool {
        let ends = self.starts.iter().zip(self.extents.iter());
        self.starts.len() == shape.rank()
            && ends.zip(shape.iter()).all(|((&start, &extent), &size)| {
                start.checked_add(extent).is_some_and(|end| end <= size)
            })
    }

    /// The regions of shape `steps` that cover an array, in row-major order; the last along each axis may be
    /// smaller. A step of 0 counts as 1. An array without elements has no regions.
    ///
    /// ```
    /// use indim_shape::Shape;
    /// use indim_io::ArrayRegion;
    ///
    /// let grid: Vec<ArrayRegion> = ArrayRegion::grid(&Shape::from([3, 4]), &[2, 4]).collect();
    /// assert_eq!(grid, [ArrayRegion::new([0, 0], [2, 4]), ArrayRegion::new([2, 0], [1, 4])]);
    /// ```
    ///
    /// # Panics
    /// If `steps` does not have one step for each axis.
    pub fn grid(shape: &Shape, steps: &[usize]) -> impl Iterator<Item = ArrayRegion> + use<> {
        assert_eq!(steps.len(), shape.rank(), "one step for each axis");
        let steps: Vec<usize> = steps.iter().map(|&step| step.max(1)).collect();
        let first = (!shape.contains(&0)).then(|| vec![0; shape.rank()]);
        let shape = shape.clone();
        let next = {
            let (shape, steps) = (shape.clone(), steps.clone());
            move |starts: &Vec<usize>| next_in_grid(starts, &shape, &steps)
        };
        core::iter::successors(first, next).map(move |starts| {
            let sizes = starts.iter().zip(shape.iter()).zip(&steps);
            let extents = sizes.map(|((&start, &size), &step)| step.min(size - start)).collect();
            ArrayRegion { starts, extents }
        })
    }
}

/// The starts of the next region in the grid, or `None` at its end.
fn next_in_grid(starts: &[usize], shape: &Shape, steps: &[usize]) -> Option<Vec<usize>> {
    let mut next = starts.to_vec();
    for axis in (0..next.len()).rev() {
        match next[axis].checked_add(steps[axis]).filter(|&start| start < shape[axis]) {
            Some(start) => {
                next[axis] = start;
                return Some(next);
            }
            None => next[axis] = 0,
        }
    }
    None
}

impl fmt::Display for ArrayRegion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[")?;
        for (axis, range) in self.ranges().enumerate() {
            let comma = if axis > 0 { ", " } else { "" };
            write!(formatter, "{comma}{}:{}", range.start, range.end)?;
        }
        formatter.write_str("]")
    }
}
