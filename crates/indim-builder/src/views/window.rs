//! Windows: views of an axis as overlapping pieces, and NumPy's `sliding_window_view`.

use indim_graph::signature::check_window;
use indim_graph::{AxisWindow, GraphErrorKind, NodeKind};

use crate::builder::{BuildResult, GraphBuilder};
use crate::operand::Operand;

impl GraphBuilder {
    /// The windows along `axis`. In the result, `axis` counts the windows, and a new last axis counts the
    /// elements of a window. The result is a view: windows that overlap share elements.
    ///
    /// A reduction along the last axis is a moving sum or extreme; a product with a kernel of the window's
    /// size is a convolution.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, AxisWindow, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [6])?;
    /// let windows = b.window(&x, 0, AxisWindow::new(3, 2, 1))?;
    /// let graph = b.finish(&[windows.clone(), b.reduce(ReduceOp::Max, windows, 1)?])?;
    /// let results = evaluate(&graph, &[Array::new([6], vec![3, 1, 4, 1, 5, 9])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Ok(&[3, 1, 4, 4, 1, 5][..]));
    /// assert_eq!(results[1].elements::<i32>(), Ok(&[4, 5][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`, `bad-window`; E5 `too-large`.
    #[track_caller]
    pub fn window(&self, operand: impl Operand, axis: i64, window: AxisWindow) -> BuildResult {
        let id = self.operand_id("window", operand)?;
        let (axis, array_type) = match check_window(axis, &window, &self.type_of(id)) {
            Ok(checked) => checked,
            Err(kind) => return Err(self.error("window", &[id], kind)),
        };
        self.check_size("window", &array_type, &[id])?;
        self.pin(&self.value(id), axis, "windows of it are taken");
        Ok(self.add_node(NodeKind::Window { axis, window }, &[id], array_type))
    }

    /// NumPy's `sliding_window_view`: all windows along each of these axes. The axes of the windows follow
    /// the others, in the order of the list; an axis may occur several times.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::AxisWindow;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::U8, [480, 640, 3])?;
    /// let (rows, columns) = (AxisWindow::sliding(5), AxisWindow::new(3, 2, 1));
    /// let windows = b.sliding_window_view(&x, &[(0, rows), (1, columns)])?;
    /// assert_eq!(windows.array_type()?.to_string(), "u8[476, 319, 3, 5, 3]");
    /// assert_eq!(b.sliding_window_view(x, &[(2, rows)]).unwrap_err().code(), "window-too-large");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`, `bad-window`; `window-too-large`; E5 `too-large`.
    #[track_caller]
    pub fn sliding_window_view(
        &self,
        operand: impl Operand,
        windows: &[(i64, AxisWindow)],
    ) -> BuildResult {
        const NAME: &str = "sliding_window_view";
        let id = self.operand_id(NAME, operand)?;
        let rank = self.type_of(id).shape.rank();
        let mut view = self.value(id);
        for &(axis, window) in windows {
            let axis = self.checked_axis(NAME, &[id], axis, rank)?;
            let size = view.array_type()?.shape[axis];
            if window.span() > size && window.size() > 0 {
                let kind = GraphErrorKind::WindowTooLarge { axis, window, size };
                return Err(self.error(NAME, &[id], kind));
            }
            view = self.window(view, axis as i64, window)?;
        }
        Ok(view)
    }
}
