//! The builder's methods for gathers from several axes.

use core::borrow::Borrow;

use indim_graph::{GraphError, GraphErrorKind, TakeMode, ValueId};
use indim_shape::{RuleSet, Shape};

use super::positions::{FlatAxes, PINNED};
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// A gather from several axes: `x[i, j]` in NumPy. `indices` has one array for each of `axes`; the arrays
    /// broadcast under the numpy rule. In the result their axes replace the lowest of `axes`; the others of
    /// `axes` are removed.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, [4]).unwrap());
    /// let graph = b.finish(&[b.gather(&x, &[0, 1], &[i, j], TakeMode::Error)?])?;
    /// let x = Array::new([2, 3], vec![0, 1, 2, 10, 11, 12])?;
    /// let [i, j] = [Array::new([4], vec![0i64, 1, 1, -1])?, Array::new([4], vec![2i64, 0, 1, -1])?];
    /// assert_eq!(evaluate(&graph, &[x, i, j])?[0].elements::<i32>(), Ok(&[2, 10, 11, 12][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`, `axes-not-unique`; `wrong-operand-count` unless each axis has an index; TY1 for
    /// indices that are not integers; `take-from-empty`; the labels of the numpy rule; E5 `too-large`.
    #[track_caller]
    pub fn gather(
        &self,
        operand: impl Operand,
        axes: &[i64],
        indices: &[impl Borrow<Value>],
        mode: TakeMode,
    ) -> BuildResult {
        let id = self.operand_id("gather", operand)?;
        let axes = self.distinct_axes("gather", id, axes)?;
        let ids = self.ids("gather", indices)?;
        if axes.len() != ids.len() {
            let kind = GraphErrorKind::WrongOperandCount { expected: axes.len(), given: ids.len() };
            return Err(self.error("gather", &[&[id], &ids[..]].concat(), kind));
        }
        match (&axes[..], &ids[..]) {
            ([], _) => return Ok(self.value(id)),
            (&[axis], &[index]) => {
                return self.take(self.value(id), self.value(index), axis as i64, mode);
            }
            _ => {}
        }
        let flat = FlatAxes::new(&self.type_of(id).shape, &axes);
        let values = ids.iter().map(|&index| self.value(index));
        let of_axes: Vec<(usize, Value)> = axes.iter().copied().zip(values).collect();
        let resolved = self.resolved_indices("gather", id, &of_axes, mode, flat.dtype())?;
        let shape = self.common_shape("gather", &ids)?;
        self.gather_resolved(id, &flat, &resolved, &shape)
    }

    /// NumPy's `take_along_axis`: the elements at `indices` along `axis`. Indices and operand have equal
    /// ranks; their other axes broadcast under the numpy rule.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let i = b.parameter("i", DType::I64, [2, 2])?;
    /// let graph = b.finish(&[b.take_along_axis(&x, &i, 1, TakeMode::Error)?])?;
    /// let x = Array::new([2, 3], vec![0, 1, 2, 10, 11, 12])?;
    /// let i = Array::new([2, 2], vec![2i64, 0, 1, -1])?;
    /// assert_eq!(evaluate(&graph, &[x, i])?[0].elements::<i32>(), Ok(&[2, 0, 11, 12][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; `index-rank` if the ranks differ; TY1 for indices that are not integers;
    /// `take-from-empty`; the labels of the numpy rule; E5 `too-large`.
    #[track_caller]
    pub fn take_along_axis(
        &self,
        operand: impl Operand,
        indices: impl Operand,
        axis: i64,
        mode: TakeMode,
    ) -> BuildResult {
        const NAME: &str = "take_along_axis";
        let ids = [self.operand_id(NAME, operand)?, self.operand_id(NAME, indices)?];
        let (axis, shape) = self.shape_along_axis(NAME, ids, axis)?;
        self.check_index(NAME, ids, axis)?;
        let operand = self.type_of(ids[0]).shape;
        if operand.rank() == 1 {
            return self.take(self.value(ids[0]), self.value(ids[1]), 0, mode);
        }
        let is_flattened = |&other: &usize| other != axis && operand[other] != 1;
        let mut axes: Vec<usize> = (0..operand.rank()).filter(is_flattened).collect();
        axes.push(axis);
        let flat = FlatAxes::new(&operand, &axes);
        self.pin_all(ids[1], PINNED);
        let resolved = self.resolve_indices(ids, axis, mode, flat.dtype())?;
        let mut indices = vec![(axis, resolved)];
        for &other in axes.iter().filter(|&&other| other != axis) {
            let counter = self.counter(flat.dtype(), operand.rank(), other, operand[other])?;
            indices.push((other, counter));
        }
        // The axes of the indices replace the flattened axes; the operand's axes of size 1 remain.
        let taken = self.gather_resolved(ids[0], &flat, &indices, &shape)?;
        self.reshape_units(taken, shape)
    }

    /// The axis, counted from the front, of a function that has an index for each element. Operand and
    /// indices must have equal ranks.
    #[track_caller]
    pub(super) fn axis_of_indices(
        &self,
        operation: &'static str,
        ids: [ValueId; 2],
        axis: i64,
    ) -> Result<usize, GraphError> {
        let [expected, given] = ids.map(|id| self.type_of(id).shape.rank());
        let axis = self.checked_axis(operation, &ids, axis, expected)?;
        match expected == given {
            true => Ok(axis),
            false => {
                Err(self.error(operation, &ids, GraphErrorKind::IndexRank { expected, given }))
            }
        }
    }

    /// The axis and the shape of the result of `take_along_axis`.
    #[track_caller]
    fn shape_along_axis(
        &self,
        operation: &'static str,
        ids: [ValueId; 2],
        axis: i64,
    ) -> Result<(usize, Shape), GraphError> {
        let axis = self.axis_of_indices(operation, ids, axis)?;
        let [operand, index] = ids.map(|id| self.type_of(id).shape);
        let mut others = operand.to_vec();
        others[axis] = index[axis];
        match RuleSet::Numpy.elaborate(&[Shape::from(others), index.clone()]) {
            Ok(broadcast) => {
                let mut shape = broadcast.result().to_vec();
                shape[axis] = index[axis];
                Ok((axis, Shape::from(shape)))
            }
            Err(error) => Err(self.shape_error(operation, &ids, error)),
        }
    }

    /// The shape to which values broadcast under the numpy rule.
    #[track_caller]
    pub(crate) fn common_shape(
        &self,
        operation: &'static str,
        ids: &[ValueId],
    ) -> Result<Shape, GraphError> {
        let shapes: Vec<Shape> = ids.iter().map(|&id| self.type_of(id).shape).collect();
        match RuleSet::Numpy.elaborate(&shapes) {
            Ok(broadcast) => Ok(broadcast.result().clone()),
            Err(error) => Err(self.shape_error(operation, ids, error)),
        }
    }

    /// The elements at these indices, which are resolved to positions in range. `shape`, the common shape
    /// of the indices, replaces the flattened axes.
    #[track_caller]
    pub(super) fn gather_resolved(
        &self,
        operand: ValueId,
        flat: &FlatAxes,
        indices: &[(usize, Value)],
        shape: &Shape,
    ) -> BuildResult {
        self.pin_all(operand, PINNED);
        let positions = flat.positions(self, indices, shape)?;
        let table = flat.flatten(self, &self.value(operand))?;
        self.take(table, positions, flat.at as i64, TakeMode::Clip)
    }
}
