//! The builder's scatters to several axes.

use core::borrow::Borrow;

use indim_graph::{GraphError, GraphErrorKind, ScatterMode, TakeMode, ValueId};
use indim_ops::{DType, Op, ScatterOp};
use indim_shape::{RuleSet, Shape};

use super::positions::{FlatAxes, PINNED};
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// The indices of a scatter to several axes.
pub(super) struct ScatterIndices {
    /// For some axes, the caller's indices, which may be out of range.
    pub(super) indices: Vec<(usize, Value)>,
    /// For the other axes, counters: positions along the axis, all in range.
    pub(super) counters: Vec<(usize, Value)>,
    /// The shape to which all indices and counters broadcast.
    pub(super) shape: Shape,
}

impl GraphBuilder {
    /// A scatter to several axes, with an array of indices for each: NumPy's `add.at(x, (i, j), v)`. The
    /// updates have the shape of the result of [`GraphBuilder::gather`] with these indices.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::{DType, ScatterOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 2])?;
    /// let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, [3]).unwrap());
    /// let v = b.parameter("v", DType::I32, [3])?;
    /// let sum = b.scatter_at(ScatterOp::Add, &x, &[0, 1], &[i, j], &v, TakeMode::Error)?;
    /// let graph = b.finish(&[sum])?;
    /// let indices = |elements: [i64; 3]| Array::new([3], elements.to_vec());
    /// let x = Array::new([2, 2], vec![0, 10, 20, 30])?;
    /// let arguments = [x, indices([0, 1, 0])?, indices([1, 0, -1])?, Array::new([3], vec![1, 2, 3])?];
    /// assert_eq!(evaluate(&graph, &arguments)?[0].elements::<i32>(), Ok(&[0, 14, 22, 30][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::gather`] and [`GraphBuilder::scatter`].
    #[track_caller]
    pub fn scatter_at(
        &self,
        op: ScatterOp,
        operand: impl Operand,
        axes: &[i64],
        indices: &[impl Borrow<Value>],
        updates: impl Operand,
        mode: impl Into<ScatterMode>,
    ) -> BuildResult {
        const NAME: &str = "scatter_at";
        let id = self.operand_id(NAME, operand)?;
        let axes = self.distinct_axes(NAME, id, axes)?;
        let ids = self.ids(NAME, indices)?;
        let updates = self.operand_id(NAME, updates)?;
        if axes.len() != ids.len() || axes.is_empty() {
            let kind = GraphErrorKind::WrongOperandCount { expected: axes.len(), given: ids.len() };
            return Err(self.error(NAME, &[&[id], &ids[..]].concat(), kind));
        }
        if let (&[axis], &[index]) = (&axes[..], &ids[..]) {
            let [x, index, updates] = [id, index, updates].map(|id| self.value(id));
            return self.scatter(op, x, index, updates, axis as i64, mode);
        }
        let shape = self.common_shape(NAME, &ids)?;
        let flat = FlatAxes::new(&self.type_of(id).shape, &axes);
        let values = ids.iter().map(|&index| self.value(index));
        let indices = axes.iter().copied().zip(values).collect();
        let indices = ScatterIndices { indices, counters: Vec::new(), shape };
        self.scatter_resolved(op, [id, updates], &flat, &indices, mode.into())
    }

    /// Checks the indices of these axes and resolves them to positions along their axes.
    #[track_caller]
    pub(super) fn resolved_indices(
        &self,
        operation: &'static str,
        operand: ValueId,
        indices: &[(usize, Value)],
        mode: TakeMode,
        dtype: DType,
    ) -> Result<Vec<(usize, Value)>, GraphError> {
        let mut resolved = Vec::with_capacity(indices.len());
        for (axis, index) in indices {
            let ids = [operand, self.id(operation, index)?];
            self.check_index(operation, ids, *axis)?;
            self.pin_all(ids[1], PINNED);
            resolved.push((*axis, self.resolve_indices(ids, *axis, mode, dtype)?));
        }
        Ok(resolved)
    }

    /// The scatter of updates to the elements at these indices. In the shape of the updates, the common
    /// shape of the indices replaces the flattened axes.
    #[track_caller]
    pub(super) fn scatter_resolved(
        &self,
        op: ScatterOp,
        [operand, updates]: [ValueId; 2],
        flat: &FlatAxes,
        indices: &ScatterIndices,
        mode: ScatterMode,
    ) -> BuildResult {
        self.pin_all(operand, PINNED);
        let of_axis = match mode {
            ScatterMode::Take(mode) => mode,
            // `mark_dropped` replaces the positions of clamped indices.
            ScatterMode::Drop => TakeMode::Clip,
        };
        let ScatterIndices { indices, counters, shape } = indices;
        let mut along =
            self.resolved_indices("scatter", operand, indices, of_axis, flat.dtype())?;
        along.extend(counters.iter().cloned());
        let mut positions = flat.positions(self, &along, shape)?;
        if mode == ScatterMode::Drop {
            positions = self.mark_dropped(operand, flat, indices, positions)?;
        }
        let table = flat.flatten(self, &self.value(operand))?;
        let at = flat.at as i64;
        let mode = match mode {
            ScatterMode::Take(_) => ScatterMode::Take(TakeMode::Clip),
            ScatterMode::Drop => ScatterMode::Drop,
        };
        let updates = self.value(updates);
        flat.restore(self, &self.scatter(op, table, positions, updates, at, mode)?)
    }

    /// Replaces the position of each update that has an index out of range by -1, which drops the update.
    #[track_caller]
    fn mark_dropped(
        &self,
        operand: ValueId,
        flat: &FlatAxes,
        indices: &[(usize, Value)],
        positions: Value,
    ) -> BuildResult {
        let shape = self.type_of(operand).shape;
        let mut positions = positions;
        for (axis, index) in indices {
            let in_range_mask = self.in_range_mask(index, shape[*axis])?;
            let none = self.convert(self.scalar(-1i32), flat.dtype())?;
            let operands = [in_range_mask, positions, none];
            positions = self.elementwise(Op::Select, &operands, &RuleSet::Numpy)?;
        }
        Ok(positions)
    }
}
