//! The windows of one axis and its padding, with the parameters of XLA's `window`.

use super::AxisWindow;

/// Windows of a padded axis, like one dimension of XLA's `window`.
///
/// ```
/// use indim_graph::PaddedWindow;
///
/// let window = PaddedWindow { size: 3, stride: 2, low: 1, high: 1, ..PaddedWindow::default() };
/// assert_eq!((window.padded(7), window.positions(7)), (9, 4));
/// // A transposed convolution inserts zeros between the elements: 4 become 7.
/// let transposed = PaddedWindow { size: 3, base_dilation: 2, low: 2, high: 2, ..PaddedWindow::default() };
/// assert_eq!((transposed.padded(4), transposed.positions(4)), (11, 9));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaddedWindow {
    /// Number of elements of a window; 0 for a kernel without elements.
    pub size: usize,
    /// The distance from one window to the next, in elements of the padded axis.
    pub stride: usize,
    /// The distance from one element of a window to the next: XLA's `window_dilation`.
    pub dilation: usize,
    /// The distance from one element of the axis to the next in the padded axis: XLA's `base_dilation`.
    pub base_dilation: usize,
    /// Elements of padding before the axis; a negative number removes elements.
    pub low: i64,
    /// Elements of padding after the axis; a negative number removes elements.
    pub high: i64,
    /// Whether the elements of a window are in reverse order.
    pub is_reversed: bool,
}

impl Default for PaddedWindow {
    fn default() -> Self {
        PaddedWindow {
            size: 1,
            stride: 1,
            dilation: 1,
            base_dilation: 1,
            low: 0,
            high: 0,
            is_reversed: false,
        }
    }
}

impl PaddedWindow {
    /// The windows of the padded axis.
    pub const fn window(&self) -> AxisWindow {
        AxisWindow::new(self.size, self.stride, self.dilation)
    }

    /// The padded size of an axis of `size` elements; 0 if padding removes all of them.
    pub fn padded(&self, size: usize) -> usize {
        let dilated = match size.checked_sub(1) {
            Some(steps) => steps as i128 * self.base_dilation as i128 + 1,
            None => 0,
        };
        let padded = dilated + i128::from(self.low) + i128::from(self.high);
        usize::try_from(padded.max(0)).unwrap_or(usize::MAX)
    }

    /// The number of windows of an axis of `size` elements.
    pub fn positions(&self, size: usize) -> usize {
        match (self.padded(size), self.size) {
            (0, _) => 0,
            (padded, 0) => padded.checked_div(self.stride).unwrap_or(0).saturating_add(1),
            (padded, _) => self.window().positions(padded),
        }
    }

    /// Whether the axis has no padding.
    pub fn is_unpadded(&self) -> bool {
        self.base_dilation <= 1 && self.low == 0 && self.high == 0
    }
}
