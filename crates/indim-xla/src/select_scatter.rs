//! `select_and_scatter`, the gradient of a pool: each window adds a value of the source to its extreme.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, PaddedWindow, TakeMode};
use indim_model::FormatErrorKind;
use indim_ops::{DType, ReduceOp};

use super::reducer::{ReducerBody, Update};
use super::scatter::scatter_op;
use super::value::ArrayValue;
use super::windows::WindowAttributes;

/// The reason for the refusal of other bodies.
pub const UNKNOWN_BODIES: &str = "it does not select by `ge` or `le` of a pair, or does not combine by a \
                                  sum, product, maximum or minimum";

/// A recognised `select_and_scatter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectAndScatter {
    /// The arg-reduction that finds the selected element of a window, the first at ties.
    pub selection: ReduceOp,
    /// How a value of the source is combined with the selected element.
    pub update: Update,
}

impl SelectAndScatter {
    /// Recognises the bodies that return these terms; `None` for other bodies.
    pub fn of(select: (&ReducerBody, usize), scatter: (&ReducerBody, usize)) -> Option<Self> {
        let selection = match select.0.term(select.1)? {
            "ge(0,1)" => ReduceOp::ArgMax,
            "le(0,1)" => ReduceOp::ArgMin,
            _ => return None,
        };
        let [update] = scatter.0.updates(&[scatter.1])?[..] else { return None };
        Some(SelectAndScatter { selection, update })
    }

    /// Builds the operation; `operands` are the array, the source and the initial value. Padding is never
    /// selected. A NaN is selected as an extreme of a pool is: the first one of its window.
    ///
    /// # Errors
    /// `wrong-count`, `attribute`, `unsupported`, and errors of the builder.
    pub fn build(
        self,
        b: &GraphBuilder,
        operands: &[ArrayValue],
        window: &WindowAttributes,
    ) -> Result<Value, FormatErrorKind> {
        let [operand, source, init] = operands else {
            let (expected, given) = ("three".to_owned(), operands.len());
            return Err(FormatErrorKind::Count { what: "operands", expected, given });
        };
        let of_operand = operand.value.array_type()?;
        let rank = of_operand.shape.rank();
        if window.sizes.len() != rank || rank == 0 {
            let problem = format!("has {} sizes for {rank} axes", window.sizes.len());
            return Err(FormatErrorKind::attribute("window", problem));
        }
        let windows = window.windows(rank)?;
        check_windows(&windows)?;
        let positions = self.positions(b, &operand.value, &windows)?;
        let op = scatter_op(self.update, of_operand.dtype)?;
        let start = b.broadcast_in_dim(&init.value, &[], of_operand.shape)?;
        let axes: Vec<i64> = (0..rank as i64).collect();
        Ok(b.scatter_at(op, start, &axes, &positions, &source.value, TakeMode::Clip)?)
    }

    /// For each axis, the index of the selected element of each window. Axes are reduced one after another,
    /// the last one first, so overlapping windows share work; the first extreme in row-major order is that
    /// of the first row with the extreme.
    fn positions(
        self,
        b: &GraphBuilder,
        operand: &Value,
        windows: &[PaddedWindow],
    ) -> Result<Vec<Value>, FormatErrorKind> {
        let of_operand = operand.array_type()?;
        let rank = windows.len();
        let extremum = self.selection.extremum();
        let mut value = self.padded(b, operand, windows)?;
        let mut positions: Vec<(usize, Value)> = Vec::new();
        for (axis, window) in windows.iter().enumerate().rev() {
            if *window == PaddedWindow::default() {
                continue;
            }
            let view = b.window(&value, axis as i64, window.window())?;
            let within = b.reduce(self.selection, &view, rank as i64)?;
            let starts = b.iota(DType::I64, within.array_type()?.shape, axis as i64)?;
            // A window without an element beyond the padding's value selects the first that is no padding.
            let first = window.low.max(0);
            let last = (window.low + of_operand.shape[axis] as i64 - 1).max(first);
            let padded = (within + starts * window.stride as i64).clamp(first, last);
            for (_, position) in &mut positions {
                *position = b.take_along_axis(&*position, &padded, axis as i64, TakeMode::Clip)?;
            }
            positions.push((axis, padded - window.low));
            value = b.reduce(extremum, &view, rank as i64)?;
        }
        let shape = value.array_type()?.shape;
        let position = |axis: usize| match positions.iter().find(|(of, _)| *of == axis) {
            Some((_, position)) => Ok(position.clone()),
            None => Ok(b.iota(DType::I64, shape.clone(), axis as i64)?),
        };
        (0..rank).map(position).collect()
    }

    /// The operand, padded by the identity of the extreme.
    fn padded(
        self,
        b: &GraphBuilder,
        operand: &Value,
        windows: &[PaddedWindow],
    ) -> Result<Value, FormatErrorKind> {
        if windows.iter().all(PaddedWindow::is_unpadded) {
            return Ok(operand.clone());
        }
        let dtype = operand.array_type()?.dtype;
        let identity = Array::identity(self.selection.extremum(), dtype).ok_or_else(|| {
            let what = format!("a selection of {dtype} is");
            FormatErrorKind::Unsupported { what }
        })?;
        let widths: Vec<_> = windows.iter().map(|window| (window.low, window.high, 0)).collect();
        Ok(b.pad(operand, b.constant(identity), &widths)?)
    }
}

/// Refuses dilated windows, which XLA does not define, and windows that may lie within the padding.
fn check_windows(windows: &[PaddedWindow]) -> Result<(), FormatErrorKind> {
    let is_refused = |window: &PaddedWindow| {
        let is_plain = window.dilation == 1 && window.base_dilation == 1 && !window.is_reversed;
        !is_plain || window.low.max(window.high) >= window.size as i64
    };
    match windows.iter().any(is_refused) {
        true => {
            let what =
                "a select_and_scatter with dilated windows, or padding as wide as a window, is";
            Err(FormatErrorKind::Unsupported { what: what.to_owned() })
        }
        false => Ok(()),
    }
}
