//! Shapes: the size of each axis, and dense strides. `explicit.rs` counts elements and bytes, and checks that
//! they fit `isize`.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

/// The size of each axis of an array; no axes for a scalar.
///
/// Clones share the sizes, because many nodes of a graph have the same shape.
///
/// ```
/// use indim_shape::Shape;
///
/// let shape = Shape::from([2, 3, 4]);
/// assert_eq!((shape.rank(), shape.sizes(), shape.to_string().as_str()), (3, &[2, 3, 4][..], "[2, 3, 4]"));
/// assert_eq!(shape.row_major_strides(), [12, 4, 1]);
/// assert_eq!(shape.element_count()?, 24);
/// assert_eq!(shape.byte_count(4)?, 96); // of f32
/// assert!(Shape::scalar().is_scalar());
/// assert_eq!(Shape::from([usize::MAX, 2]).element_count().unwrap_err().code(), "too-large");
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(Arc<[usize]>);

impl Shape {
    /// The shape of a scalar, `[]`.
    pub fn scalar() -> Self {
        Shape(Arc::default())
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The size of each axis.
    pub fn sizes(&self) -> &[usize] {
        &self.0
    }

    /// Whether the rank is 0. `[1]` is not a scalar.
    pub fn is_scalar(&self) -> bool {
        self.0.is_empty()
    }

    /// The strides of a dense row-major array, in elements; zeros for an array without elements.
    pub fn row_major_strides(&self) -> Vec<isize> {
        let mut strides = vec![0; self.rank()];
        if self.0.contains(&0) {
            return strides;
        }
        let mut stride: isize = 1;
        for (slot, &size) in strides.iter_mut().zip(&self[..]).rev() {
            *slot = stride;
            // Saturates only for shapes too large for an array in memory.
            stride = stride.saturating_mul(isize::try_from(size).unwrap_or(isize::MAX));
        }
        strides
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

/// Converts a 64-bit size to `usize`. On a 32-bit machine a size that does not fit becomes `usize::MAX`, so
/// that E5 refuses the shape as `too-large`, as a 64-bit machine does.
///
/// ```
/// assert_eq!(indim_shape::saturating_size(3), 3);
/// ```
pub fn saturating_size(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

impl Default for Shape {
    /// The shape of a scalar.
    fn default() -> Self {
        Self::scalar()
    }
}

impl From<Vec<usize>> for Shape {
    fn from(sizes: Vec<usize>) -> Self {
        Shape(sizes.into())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Self {
        Shape(Arc::from(sizes))
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Self {
        Shape(Arc::from(sizes))
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Self {
        Shape(sizes.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}
