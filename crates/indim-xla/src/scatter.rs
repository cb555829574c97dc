//! `scatter`, with all dimension numbers.

use indim_builder::{GraphBuilder, Value};
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op, ScatterOp};
use indim_shape::sort_few_by_key;

use super::gather::{SliceStarts, result_order};
use super::reducer::Update;
use super::value::ArrayValue;

/// The attributes of a `scatter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScatterOperation {
    /// Axes of the updates that are axes of a slice.
    pub update_window_dims: Vec<i64>,
    /// Axes of the operand that the updates lack.
    pub inserted_window_dims: Vec<i64>,
    /// The start of the slice that an index selects.
    pub starts: SliceStarts,
}

/// The scatter operation for elements of this type.
///
/// # Errors
/// `unsupported`.
pub(super) fn scatter_op(update: Update, dtype: DType) -> Result<ScatterOp, FormatErrorKind> {
    Ok(match (update, dtype) {
        (Update::Set, _) => ScatterOp::Set,
        (Update::Fold(Op::Add | Op::Or | Op::Max), DType::Bool) => ScatterOp::Max,
        (Update::Fold(Op::Mul | Op::And | Op::Min), DType::Bool) => ScatterOp::Min,
        (Update::Fold(Op::Add), _) => ScatterOp::Add,
        (Update::Fold(Op::Mul), _) => ScatterOp::Mul,
        (Update::Fold(Op::Max), _) => ScatterOp::Max,
        (Update::Fold(Op::Min), _) => ScatterOp::Min,
        (Update::Fold(op), _) => {
            let what = format!("a scatter of {dtype} by {} is", op.name());
            return Err(FormatErrorKind::Unsupported { what });
        }
    })
}

impl ScatterOperation {
    /// Builds the scatter of several operands, each with its update; `operands` are the arrays, the indices,
    /// and the updates. Slices that are not within the array are dropped as a whole.
    ///
    /// # Errors
    /// `wrong-count`; `attribute`; `unsupported`; errors of the builder.
    pub fn build(
        &self,
        b: &GraphBuilder,
        updates: &[Update],
        operands: &[ArrayValue],
    ) -> Result<Vec<Value>, FormatErrorKind> {
        let count = updates.len();
        if operands.len() != 2 * count + 1 {
            let expected = format!("{count} arrays, indices, and {count} arrays of updates");
            let given = operands.len();
            return Err(FormatErrorKind::Count { what: "operands", expected, given });
        }
        let (arrays, rest) = operands.split_at(count);
        let each = updates.iter().zip(arrays).zip(&rest[1..]);
        each.map(|((&update, array), updates)| {
            self.scatter(b, update, [&array.value, &rest[0].value, &updates.value])
        })
        .collect()
    }

    /// Scatters updates into one array.
    fn scatter(
        &self,
        b: &GraphBuilder,
        update: Update,
        [operand, indices, updates]: [&Value; 3],
    ) -> Result<Value, FormatErrorKind> {
        let array_type = operand.array_type()?;
        let rank = array_type.shape.rank();
        let given = updates.array_type()?.shape;
        let windows =
            self.starts.offset_axes("inserted_window_dims", &self.inserted_window_dims, rank)?;
        let batches = given.rank().checked_sub(windows.len()).ok_or_else(|| {
            let problem = format!("needs {} axes of updates of shape {given}", windows.len());
            FormatErrorKind::attribute("update_window_dims", problem)
        })?;
        let order =
            result_order("update_window_dims", &self.update_window_dims, windows.len(), batches)?;
        let mut sizes = vec![1; rank];
        for (&axis, &dim) in windows.iter().zip(&self.update_window_dims) {
            sizes[axis] = given[dim as usize];
        }
        let slices = self.starts.slices(b, indices, sizes)?;
        // The inverse of `order`: it brings the axes of the updates into the order batch axes, slice axes.
        let mut permutation: Vec<i64> = (0..order.len() as i64).collect();
        sort_few_by_key(&mut permutation, |&axis| order[axis as usize]);
        let sorted = b.transpose(updates, &permutation)?;
        let sorted_shape = sorted.array_type()?.shape;
        if sorted_shape[..batches] != slices.shape[..] {
            let problem = format!(
                "leaves {:?} of the updates' axes for indices of {}",
                &sorted_shape[..batches],
                slices.shape
            );
            return Err(FormatErrorKind::attribute("update_window_dims", problem));
        }
        let shape: Vec<usize> = slices.shape.iter().chain(&slices.sizes).copied().collect();
        let op = scatter_op(update, array_type.dtype)?;
        Ok(b.scatter_slices(op, operand, &slices, b.reshape(sorted, shape)?)?)
    }
}
