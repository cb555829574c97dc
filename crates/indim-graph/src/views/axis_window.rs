//! The windows of one axis: size, stride and dilation.

use core::fmt;

use indim_ops::ArrayType;
use indim_shape::Shape;

use super::existing_axis;
use crate::error::GraphErrorKind;

/// The windows of one axis: window `p` has the elements at `p * stride + t * dilation`, for `t` from 0 to
/// `size - 1`. A window that would end beyond the axis does not exist.
///
/// ```
/// use indim_graph::AxisWindow;
///
/// let window = AxisWindow::new(3, 2, 2); // 0 2 4, then 2 4 6
/// assert_eq!((window.span(), window.positions(7), window.positions(8)), (5, 2, 2));
/// assert_eq!((window.positions(4), window.index(1, 2)), (0, 6));
/// assert_eq!(AxisWindow::sliding(3).positions(7), 5);
/// assert_eq!(window.to_string(), "3, stride=2, dilation=2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisWindow {
    size: usize,
    stride: usize,
    dilation: usize,
}

impl AxisWindow {
    /// Windows of `size` elements that are `dilation` apart; a window begins at every `stride`-th element.
    pub const fn new(size: usize, stride: usize, dilation: usize) -> Self {
        AxisWindow { size, stride, dilation }
    }

    /// All windows of `size` adjacent elements.
    pub const fn sliding(size: usize) -> Self {
        AxisWindow::new(size, 1, 1)
    }

    /// The number of elements of a window.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The distance from one window to the next.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// The distance from one element of a window to the next.
    pub const fn dilation(&self) -> usize {
        self.dilation
    }

    /// The number of elements from the first to the last of a window, both included; saturates.
    pub const fn span(&self) -> usize {
        let steps = self.size.saturating_sub(1);
        steps.saturating_mul(self.dilation).saturating_add(1)
    }

    /// The number of windows along an axis of this size.
    pub const fn positions(&self, size: usize) -> usize {
        match (size.checked_sub(self.span()), self.stride) {
            (Some(rest), 1..) => rest / self.stride + 1,
            _ => 0,
        }
    }

    /// The index of element `element` of the window at `position`.
    pub const fn index(&self, position: usize, element: usize) -> usize {
        position * self.stride + element * self.dilation
    }

    /// Checks that size, stride and dilation are at least 1 and fit an `isize`.
    fn check(&self) -> Result<(), GraphErrorKind> {
        let is_allowed = |number: usize| number > 0 && isize::try_from(number).is_ok();
        match [self.size, self.stride, self.dilation].into_iter().all(is_allowed) {
            true => Ok(()),
            false => Err(GraphErrorKind::BadWindow { window: *self }),
        }
    }
}

/// `3, stride=2, dilation=2`: a stride or a dilation of 1 is left out.
impl fmt::Display for AxisWindow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &AxisWindow { size, stride, dilation } = self;
        write!(formatter, "{size}")?;
        for (name, number) in [("stride", stride), ("dilation", dilation)] {
            if number != 1 {
                write!(formatter, ", {name}={number}")?;
            }
        }
        Ok(())
    }
}

/// The checked axis and the type of the windows of `operand` along `axis`. Their positions replace the axis;
/// the elements of a window are a new last axis.
///
/// # Errors
/// `axis-out-of-range`, `bad-window`.
pub fn check_window(
    axis: i64,
    window: &AxisWindow,
    operand: &ArrayType,
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let axis = existing_axis(axis, operand.shape.rank())?;
    window.check()?;
    let mut sizes = operand.shape.to_vec();
    sizes[axis] = window.positions(sizes[axis]);
    sizes.push(window.size);
    Ok((axis, ArrayType::new(operand.dtype, Shape::from(sizes))))
}
