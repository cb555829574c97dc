//! Positions in several axes that are flattened to one.

use indim_graph::signature::check_take;
use indim_graph::{GraphError, Literal, TakeMode, ValueId};
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape, TargetRule};

use super::dynamic::position_type;
use crate::builder::{BuildResult, GraphBuilder, Value};

/// The reason for pinning the sizes of flattened axes, in messages.
pub(super) const PINNED: &str = "positions in several axes depend on their sizes";

/// Several axes of a shape, which are made adjacent and flattened to one.
pub(super) struct FlatAxes {
    /// The axes in ascending order.
    axes: Vec<usize>,
    /// The size of each axis.
    sizes: Vec<usize>,
    /// The transposition that makes the axes adjacent, from the first of them on.
    permutation: Vec<i64>,
    /// The shape with the flattened axis in place of the axes.
    pub(super) shape: Shape,
    /// The transposed shape, before the axes are flattened.
    transposed: Shape,
    /// The position of the flattened axis.
    pub(super) at: usize,
}

impl FlatAxes {
    /// Flattens `axes` of `shape`: one or more distinct axes.
    pub(super) fn new(shape: &Shape, axes: &[usize]) -> FlatAxes {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let at = axes[0];
        let kept = || (0..shape.rank()).filter(|axis| !axes.contains(axis));
        let (before, after) = (kept().filter(|&axis| axis < at), kept().filter(|&axis| axis > at));
        let order: Vec<usize> = before.chain(axes.iter().copied()).chain(after).collect();
        let sizes: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
        let transposed: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let mut flat = transposed.clone();
        // The caller's array exists, so the product of its sizes fits, unless one of them is 0.
        let count = sizes.iter().fold(1usize, |count, &size| count.saturating_mul(size));
        flat.splice(at..at + axes.len(), [count]);
        FlatAxes {
            axes,
            sizes,
            permutation: order.iter().map(|&axis| axis as i64).collect(),
            shape: Shape::from(flat),
            transposed: Shape::from(transposed),
            at,
        }
    }

    /// The flattened axes in ascending order.
    pub(super) fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// The element type of positions in the flattened axis: `i32` if it suffices, else `i64`.
    pub(super) fn dtype(&self) -> DType {
        position_type(self.shape[self.at])
    }

    /// The value with the axes flattened.
    #[track_caller]
    pub(super) fn flatten(&self, b: &GraphBuilder, operand: &Value) -> BuildResult {
        b.reshape(b.transpose(operand, &self.permutation)?, self.shape.clone())
    }

    /// Reverses [`FlatAxes::flatten`].
    #[track_caller]
    pub(super) fn restore(&self, b: &GraphBuilder, flat: &Value) -> BuildResult {
        let mut inverse = vec![0; self.permutation.len()];
        for (to, &from) in self.permutation.iter().enumerate() {
            inverse[from as usize] = to as i64;
        }
        b.transpose(b.reshape(flat, self.transposed.clone())?, &inverse)
    }

    /// The positions, in the flattened axis, of the elements at these indices: an array of this shape.
    /// `indices` has pairs of an axis and its index, which is in range and broadcasts to the shape. An
    /// axis without an index has index 0.
    #[track_caller]
    pub(super) fn positions(
        &self,
        b: &GraphBuilder,
        indices: &[(usize, Value)],
        shape: &Shape,
    ) -> BuildResult {
        let mut sum: Option<Value> = None;
        let mut stride = self.shape[self.at] as i64;
        for (&axis, &size) in self.axes.iter().zip(&self.sizes) {
            stride /= (size as i64).max(1);
            let Some((_, index)) = indices.iter().find(|(named, _)| *named == axis) else {
                continue;
            };
            // Also along an axis of size 1, whose index may be out of range.
            let offset = if stride == 1 { index.clone() } else { b.mul(index, stride, &[])? };
            sum = Some(match sum {
                Some(sum) => b.elementwise(Op::Add, &[sum, offset], &RuleSet::Numpy)?,
                None => offset,
            });
        }
        let sum = match sum {
            Some(sum) => sum,
            None => b.convert(b.scalar(0i32), self.dtype())?,
        };
        b.broadcast_to_target(sum, &TargetRule::Unidirectional, shape.clone())
    }
}

impl GraphBuilder {
    /// Checks that an operand can be indexed by an array along an axis.
    ///
    /// # Errors
    /// TY1 for indices that are not integers; `take-from-empty`.
    #[track_caller]
    pub(super) fn check_index(
        &self,
        operation: &'static str,
        ids: [ValueId; 2],
        axis: usize,
    ) -> Result<(), GraphError> {
        let [operand, indices] = ids.map(|id| self.type_of(id));
        match check_take(axis as i64, &operand, &indices) {
            Ok(_) => Ok(()),
            Err(kind) => Err(self.error(operation, &ids, kind)),
        }
    }

    /// Resolves checked indices under `mode` to positions along `axis`, as elements of type `dtype`.
    #[track_caller]
    pub(super) fn resolve_indices(
        &self,
        [operand, indices]: [ValueId; 2],
        axis: usize,
        mode: TakeMode,
        dtype: DType,
    ) -> BuildResult {
        let [table, index] = [operand, indices].map(|id| self.type_of(id));
        // A gather from a counter returns the resolved indices. The counter has the operand's rank, so
        // that errors name the operand's axis.
        let counter = self.counter(dtype, table.shape.rank(), axis, table.shape[axis])?;
        let taken = self.take(counter, self.value(indices), axis as i64, mode)?;
        self.reshape_units(taken, index.shape)
    }

    /// For each index, whether it is from 0 to `size - 1`; a negative index does not count from the end.
    #[track_caller]
    pub(crate) fn in_range_mask(&self, indices: &Value, size: usize) -> BuildResult {
        let indices = match indices.array_type()?.dtype.size() {
            8 => indices.clone(),
            _ => self.convert(indices, DType::I64)?,
        };
        let dtype = indices.array_type()?.dtype;
        let size = self.literal(Literal::Int(size as i128), dtype)?;
        let [below, from] = [size, self.literal(Literal::Int(0), dtype)?];
        let (below, from) = (self.lt(&indices, below, &[])?, self.ge(&indices, from, &[])?);
        self.and(below, from, &[])
    }

    /// The numbers 0 to `size - 1` along `axis` of `rank` axes; the other axes have size 1.
    #[track_caller]
    pub(super) fn counter(
        &self,
        dtype: DType,
        rank: usize,
        axis: usize,
        size: usize,
    ) -> BuildResult {
        let mut sizes = vec![1; rank];
        sizes[axis] = size;
        self.iota(dtype, sizes, axis as i64)
    }
}
