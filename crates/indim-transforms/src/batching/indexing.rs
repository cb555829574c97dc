//! The rules of gathers and scatters.

use indim_graph::{GraphError, ScatterMode, TakeMode};
use indim_ops::{DType, ScatterOp};

use super::walk::{BatchValue, Batcher};
use crate::BuildResult;
use indim_builder::Value;

impl Batcher<'_> {
    /// Gathers along `axis` of each element's table.
    pub(super) fn take(
        &self,
        axis: usize,
        mode: TakeMode,
        table: &BatchValue,
        indices: &BatchValue,
    ) -> Result<BatchValue, GraphError> {
        let b = self.b;
        let value = match (table.is_batched, indices.is_batched) {
            (_, false) => b.take(&table.value, &indices.value, axis as i64 + 1, mode)?,
            // The axes of the indices, the batch first, replace `axis`.
            (false, true) => {
                let taken = b.take(&table.value, &indices.value, axis as i64, mode)?;
                moved_axis(&taken, axis, 0)?
            }
            (true, true) => {
                let axes = [0, axis as i64 + 1];
                let of_element = [self.element_numbers(&indices.value)?, indices.value.clone()];
                // The axes of the indices come first; those before `axis` follow.
                let taken = b.gather(&table.value, &axes, &of_element, mode)?;
                moved_group(&taken, indices_rank(indices)?, axis)?
            }
        };
        Ok(BatchValue { value, is_batched: true })
    }

    /// Scatters along an axis of each element's array. `operands` are array, indices and updates.
    pub(super) fn scatter(
        &self,
        (op, axis, mode): (ScatterOp, usize, ScatterMode),
        operands: &[BatchValue],
    ) -> Result<BatchValue, GraphError> {
        let (array, updates) = (self.batched(&operands[0])?, self.batched(&operands[2])?);
        let (b, indices) = (self.b, &operands[1]);
        let value = match indices.is_batched {
            false => b.scatter(op, array, &indices.value, updates, axis as i64 + 1, mode)?,
            true => {
                let axes = [0, axis as i64 + 1];
                let of_element = [self.element_numbers(&indices.value)?, indices.value.clone()];
                let updates = moved_group_back(&updates, indices_rank(indices)?, axis)?;
                b.scatter_at(op, array, &axes, &of_element, updates, mode)?
            }
        };
        Ok(BatchValue { value, is_batched: true })
    }

    /// For each index, the number of its element in the batch. The shape broadcasts to that of the indices.
    fn element_numbers(&self, indices: &Value) -> BuildResult {
        let mut sizes = vec![1; indices.array_type()?.shape.rank()];
        sizes[0] = self.size;
        self.b.iota(DType::I64, sizes, 0)
    }
}

/// The rank of one element's indices.
fn indices_rank(indices: &BatchValue) -> Result<usize, GraphError> {
    Ok(indices.value.array_type()?.shape.rank() - 1)
}

/// The value with axis `from` moved to position `to`.
pub(super) fn moved_axis(value: &Value, from: usize, to: usize) -> BuildResult {
    let mut permutation: Vec<i64> = (0..value.array_type()?.shape.rank() as i64).collect();
    let moved = permutation.remove(from);
    permutation.insert(to, moved);
    value.builder().transpose(value, &permutation)
}

/// The value with its `count` axes after the batch moved behind the `before` axes that follow them.
fn moved_group(value: &Value, count: usize, before: usize) -> BuildResult {
    let mut permutation: Vec<i64> = (0..value.array_type()?.shape.rank() as i64).collect();
    permutation[1..=count + before].rotate_left(count);
    value.builder().transpose(value, &permutation)
}

/// Reverses [`moved_group`].
fn moved_group_back(value: &Value, count: usize, before: usize) -> BuildResult {
    moved_group(value, before, count)
}
