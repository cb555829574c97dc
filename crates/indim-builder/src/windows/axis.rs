//! The windows of one axis with padding, as XLA states them.

use indim_graph::{AxisWindow, GraphError};

use crate::builder::{BuildResult, GraphBuilder, Value};

/// Windows of a padded axis, like one dimension of XLA's `window`.
///
/// ```
/// use indim_builder::PaddedWindow;
///
/// let window = PaddedWindow { size: 3, stride: 2, low: 1, high: 1, ..PaddedWindow::default() };
/// assert_eq!((window.padded(7), window.positions(7)), (9, 4));
/// // A transposed convolution spreads the elements: 4 become 7.
/// let transposed = PaddedWindow { size: 3, spread: 2, low: 2, high: 2, ..PaddedWindow::default() };
/// assert_eq!((transposed.padded(4), transposed.positions(4)), (11, 9));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaddedWindow {
    /// Elements of a window; 0 for none, as for a kernel without elements.
    pub size: usize,
    /// The distance from one window to the next.
    pub stride: usize,
    /// The distance from one element of a window to the next: XLA's `rhs_dilation`.
    pub dilation: usize,
    /// The distance from one element of the axis to the next after padding: XLA's `lhs_dilation`.
    pub spread: usize,
    /// Elements of padding before the axis; a negative number removes elements.
    pub low: i64,
    /// Elements of padding behind the axis; a negative number removes elements.
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
            spread: 1,
            low: 0,
            high: 0,
            is_reversed: false,
        }
    }
}

impl PaddedWindow {
    /// The windows without padding.
    pub const fn window(&self) -> AxisWindow {
        AxisWindow::new(self.size, self.stride, self.dilation)
    }

    /// The size of an axis of this size after padding; 0 if more elements are removed than it has.
    pub fn padded(&self, size: usize) -> usize {
        let spread = match size.checked_sub(1) {
            Some(steps) => steps as i128 * self.spread as i128 + 1,
            None => 0,
        };
        let padded = spread + i128::from(self.low) + i128::from(self.high);
        usize::try_from(padded.max(0)).unwrap_or(usize::MAX)
    }

    /// The number of windows of an axis of this size.
    pub fn positions(&self, size: usize) -> usize {
        match (self.padded(size), self.size) {
            (0, _) => 0,
            (padded, 0) => padded.checked_div(self.stride).unwrap_or(0).saturating_add(1),
            (padded, _) => self.window().positions(padded),
        }
    }

    /// Whether padding leaves an axis of this size as it is.
    fn is_unpadded(&self) -> bool {
        self.spread <= 1 && self.low == 0 && self.high == 0
    }
}

impl GraphBuilder {
    /// `x` with the padding of each of these axes by `value`, a scalar.
    #[track_caller]
    pub(super) fn padded_windows(
        &self,
        x: &Value,
        value: &Value,
        windows: &[(usize, PaddedWindow)],
    ) -> BuildResult {
        if windows.iter().all(|(_, window)| window.is_unpadded()) {
            return Ok(x.clone());
        }
        let mut widths = vec![(0, 0, 0); x.array_type()?.shape.rank()];
        for &(axis, PaddedWindow { low, high, spread, .. }) in windows {
            widths[axis] = (low, high, spread.saturating_sub(1));
        }
        self.pad(x, value, &widths)
    }

    /// An error of a convolution or a pool of these operands.
    #[track_caller]
    pub(super) fn window_error(
        &self,
        operation: &'static str,
        operands: &[&Value],
        problem: String,
    ) -> GraphError {
        let ids: Vec<_> = operands.iter().map(|value| value.known_id()).collect();
        self.error(operation, &ids, indim_graph::GraphErrorKind::Convolution { problem })
    }
}
