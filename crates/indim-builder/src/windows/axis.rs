//! Padding of the axes of windows, and errors of convolutions and pools.

use indim_graph::{GraphError, PaddedWindow};

use crate::builder::{BuildResult, GraphBuilder, Value};

impl GraphBuilder {
    /// `x` with these axes padded by `value`, a scalar. Only the paddings of `windows` are used; the result
    /// has no windows yet.
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
        for &(axis, PaddedWindow { low, high, base_dilation, .. }) in windows {
            widths[axis] = (low, high, base_dilation.saturating_sub(1));
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
        let ids: Vec<_> = operands.iter().map(|value| value.expect_id()).collect();
        self.error(operation, &ids, indim_graph::GraphErrorKind::Convolution { problem })
    }
}
