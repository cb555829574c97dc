//! `bitcast`: the bytes stay, so the layouts of both types determine the order of the elements.

use indim_builder::{GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::ArrayType;

use super::syntax::HloLayout;
use crate::operation::Operation;

/// A bitcast as four steps: transpose to memory order, reshape, bitcast of the elements, transpose from
/// memory order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bitcast {
    /// The axes of the operand, the outermost first.
    to_memory_order: Vec<i64>,
    /// The type of the result in memory order.
    memory_type: ArrayType,
    /// For each axis of the result its axis in memory order.
    from_memory_order: Vec<i64>,
}

impl Bitcast {
    /// The bitcast between two types.
    ///
    /// # Errors
    /// `unsupported` for tiled layouts.
    pub(super) fn of(
        from: &ArrayType,
        from_layout: &HloLayout,
        to: &ArrayType,
        to_layout: &HloLayout,
    ) -> Result<Bitcast, FormatErrorKind> {
        let to_memory_order = major_to_minor(from_layout, from.shape.rank())?;
        let order = major_to_minor(to_layout, to.shape.rank())?;
        let sizes: Vec<usize> = order.iter().map(|&axis| to.shape.sizes()[axis]).collect();
        let mut from_memory_order = vec![0; order.len()];
        order
            .iter()
            .enumerate()
            .for_each(|(position, &axis)| from_memory_order[axis] = position as i64);
        Ok(Bitcast {
            to_memory_order: to_memory_order.into_iter().map(|axis| axis as i64).collect(),
            memory_type: ArrayType::new(to.dtype, sizes),
            from_memory_order,
        })
    }

    /// Builds the bitcast.
    ///
    /// # Errors
    /// Returns errors of the builder; `unsupported` between elements of different widths.
    pub(super) fn build(
        &self,
        b: &GraphBuilder,
        operand: &Value,
    ) -> Result<Value, FormatErrorKind> {
        let in_memory = b.transpose(operand, &self.to_memory_order)?;
        let reshaped = b.reshape(in_memory, self.memory_type.shape.clone())?;
        let read = Operation::Bitcast.build(b, &[reshaped], Some(&self.memory_type))?;
        Ok(b.transpose(read, &self.from_memory_order)?)
    }
}

/// The axes, the outermost first.
fn major_to_minor(layout: &HloLayout, rank: usize) -> Result<Vec<usize>, FormatErrorKind> {
    match layout {
        HloLayout::RowMajor => Ok((0..rank).collect()),
        HloLayout::MinorToMajor(axes) => Ok(axes.iter().rev().copied().collect()),
        HloLayout::Other => {
            let what = "a bitcast between layouts in tiles is".to_owned();
            Err(FormatErrorKind::Unsupported { what })
        }
    }
}
