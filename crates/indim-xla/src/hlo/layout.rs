//! What `bitcast` does: the bytes stay, so that the layouts of both types say which element is which.

use indim_builder::{GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::ArrayType;

use super::syntax::Layout;
use crate::operation::Operation;

/// A bitcast as a transposition to the order in memory, a reshape, and a transposition from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bitcast {
    /// The axes of the operand, the outermost first.
    unrolled: Vec<i64>,
    /// The type as the result lies in memory.
    laid: ArrayType,
    /// Of which of those axes each axis of the result is.
    rolled: Vec<i64>,
}

impl Bitcast {
    /// Between two types.
    ///
    /// # Errors
    /// `unsupported`, for layouts in tiles.
    pub(super) fn of(
        from: &ArrayType,
        laid: &Layout,
        to: &ArrayType,
        lays: &Layout,
    ) -> Result<Bitcast, FormatErrorKind> {
        let unrolled = major_to_minor(laid, from.shape.rank())?;
        let order = major_to_minor(lays, to.shape.rank())?;
        let sizes: Vec<usize> = order.iter().map(|&axis| to.shape.sizes()[axis]).collect();
        let mut rolled = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| rolled[axis] = place as i64);
        Ok(Bitcast {
            unrolled: unrolled.into_iter().map(|axis| axis as i64).collect(),
            laid: ArrayType::new(to.dtype, sizes),
            rolled,
        })
    }

    /// The value that it makes.
    ///
    /// # Errors
    /// What the builder says; `unsupported` between elements of different widths.
    pub(super) fn build(
        &self,
        b: &GraphBuilder,
        operand: &Value,
    ) -> Result<Value, FormatErrorKind> {
        let in_memory = b.transpose(operand, &self.unrolled)?;
        let laid = b.reshape(in_memory, self.laid.shape.clone())?;
        let read = Operation::Bitcast.build(b, &[laid], Some(&self.laid))?;
        Ok(b.transpose(read, &self.rolled)?)
    }
}

/// The axes, the outermost first.
fn major_to_minor(layout: &Layout, rank: usize) -> Result<Vec<usize>, FormatErrorKind> {
    match layout {
        Layout::RowMajor => Ok((0..rank).collect()),
        Layout::MinorToMajor(axes) => Ok(axes.iter().rev().copied().collect()),
        Layout::Other => {
            let what = "a bitcast between layouts in tiles is".to_owned();
            Err(FormatErrorKind::Unsupported { what })
        }
    }
}
