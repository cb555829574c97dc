//! Scans in the form of `reduce_window`. Windows as long as the axis, with the axis padded on one side to
//! twice its length minus 1, contain all elements up to each position, or from it on.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, Literal};
use indim_model::FormatErrorKind;
use indim_ops::{DType, ReduceOp};
use indim_shape::Shape;

use super::value::ArrayValue;
use super::windows::WindowAttributes;

/// A `reduce_window` that is a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanWindow {
    /// The axis.
    pub axis: usize,
    /// Whether a window has the elements from its position to the last.
    pub reverse: bool,
    /// Whether one more window contains only padding: before the first position, or after the last one if
    /// `reverse`.
    pub has_empty: bool,
}

impl ScanWindow {
    /// Recognises windows of an operand of this shape that are a scan; `None` for other windows.
    pub fn of(window: &WindowAttributes, shape: &Shape) -> Option<ScanWindow> {
        let ones = [&window.strides, &window.base_dilations, &window.window_dilations];
        let rank = shape.rank();
        let are_ones =
            |list: &&Vec<i64>| list.iter().all(|&one| one == 1) && [0, rank].contains(&list.len());
        let has_axes = window.sizes.len() == rank && [0, rank].contains(&window.padding.len());
        if !has_axes || !ones.iter().all(are_ones) || window.is_reversed.contains(&true) {
            return None;
        }
        let padding = |axis: usize| window.padding.get(axis).copied().unwrap_or([0, 0]);
        let is_single = |axis: usize| window.sizes[axis] == 1 && padding(axis) == [0, 0];
        let mut long = (0..rank).filter(|&axis| !is_single(axis));
        let Some(axis) = long.next() else {
            let axis = shape.iter().position(|&size| size == 1)?;
            return Some(ScanWindow { axis, reverse: false, has_empty: false });
        };
        let size = i64::try_from(shape[axis]).ok()?;
        let (reverse, padded) = match padding(axis) {
            [low, 0] => (false, low),
            [0, high] => (true, high),
            _ => return None,
        };
        let is_scan = window.sizes[axis] == size && size > 0 && long.next().is_none();
        let has_empty = padded == size;
        (is_scan && (has_empty || padded == size - 1)).then_some(ScanWindow {
            axis,
            reverse,
            has_empty,
        })
    }

    /// Builds the scan; `None` if the initial value is not the identity of the operation.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn build(
        self,
        b: &GraphBuilder,
        op: ReduceOp,
        value: &Value,
        start: &ArrayValue,
    ) -> Result<Option<Value>, FormatErrorKind> {
        let dtype = value.array_type()?.dtype;
        if !start.constant().is_some_and(|start| is_identity(op, dtype, start)) {
            return Ok(None);
        }
        let scan = b.scan(op, value, self.axis as i64, self.reverse, false)?;
        self.with_empty(b, scan, start).map(Some)
    }

    /// Builds the scan by `logaddexp`; `None` if the initial value is not -inf.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn log_sum_exp(
        self,
        b: &GraphBuilder,
        value: &Value,
        start: &ArrayValue,
    ) -> Result<Option<Value>, FormatErrorKind> {
        let dtype = value.array_type()?.dtype;
        if !start.constant().is_some_and(|start| is_identity(ReduceOp::Max, dtype, start)) {
            return Ok(None);
        }
        let options = ReduceOptions::axes(self.axis as i64);
        let options = options.number("reverse", Literal::Bool(self.reverse));
        let scan = b.along(Reduction::CumLogSumExp, value, options)?;
        self.with_empty(b, scan, start).map(Some)
    }

    /// The scan, with the initial value in the place of the window that contains only padding.
    fn with_empty(
        self,
        b: &GraphBuilder,
        scan: Value,
        start: &ArrayValue,
    ) -> Result<Value, FormatErrorKind> {
        let mut widths = vec![(0, 0, 0); scan.array_type()?.shape.rank()];
        widths[self.axis] = if self.reverse { (0, 1, 0) } else { (1, 0, 0) };
        Ok(if self.has_empty { b.pad(scan, &start.value, &widths)? } else { scan })
    }
}

/// Whether `start` is the identity of a scan of elements of type `dtype`.
fn is_identity(op: ReduceOp, dtype: DType, start: &Array) -> bool {
    match op {
        ReduceOp::Add => *start == Literal::Int(0).element(dtype),
        ReduceOp::Mul => *start == Literal::Int(1).element(dtype),
        _ => Some(start) == Array::identity(op, dtype).as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_are_scans() {
        let shape = Shape::from(vec![3, 8]);
        let found = |sizes: [i64; 2], padding: [[i64; 2]; 2]| {
            let (sizes, padding) = (sizes.to_vec(), padding.to_vec());
            let window = WindowAttributes { sizes, padding, ..WindowAttributes::default() };
            ScanWindow::of(&window, &shape).map(|it| (it.axis, it.reverse, it.has_empty))
        };
        assert_eq!(found([1, 8], [[0, 0], [7, 0]]), Some((1, false, false)));
        assert_eq!(found([1, 8], [[0, 0], [0, 7]]), Some((1, true, false)));
        assert_eq!(found([1, 8], [[0, 0], [8, 0]]), Some((1, false, true)));
        assert_eq!(found([3, 1], [[2, 0], [0, 0]]), Some((0, false, false)));
        for (sizes, padding) in [
            ([1, 8], [[0, 0], [6, 0]]),
            ([1, 7], [[0, 0], [7, 0]]),
            ([1, 8], [[0, 0], [7, 1]]),
            ([3, 8], [[2, 0], [7, 0]]),
            ([1, 1], [[0, 0], [0, 0]]),
        ] {
            assert_eq!(found(sizes, padding), None, "{sizes:?} {padding:?}");
        }
        let strided = WindowAttributes {
            sizes: vec![1, 8],
            padding: vec![[0, 0], [7, 0]],
            strides: vec![1, 2],
            ..WindowAttributes::default()
        };
        assert_eq!(ScanWindow::of(&strided, &shape), None);
    }
}
