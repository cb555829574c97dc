//! Gathers and scatters of ONNX: with an index for each element, and with index vectors along the last axis.

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, ScatterMode, TakeMode, ValueId};
use indim_ops::ScatterOp;
use indim_shape::{RuleSet, Shape};

use super::positions::FlatAxes;
use super::scatter::ScatterIndices;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// ONNX's `GatherElements`: like [`GraphBuilder::take_along_axis`], but other axes do not broadcast.
    /// Along another axis the indices may be shorter than the operand; only the operand's first elements
    /// are then used.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::take_along_axis`]; `slice-out-of-range` if another axis of the indices is
    /// longer.
    #[track_caller]
    pub fn gather_elements(
        &self,
        operand: impl Operand,
        indices: impl Operand,
        axis: i64,
        mode: TakeMode,
    ) -> BuildResult {
        const NAME: &str = "gather_elements";
        let ids = [self.operand_id(NAME, operand)?, self.operand_id(NAME, indices)?];
        let (first, axis) = self.first_elements(NAME, ids, axis)?;
        self.take_along_axis(first, self.value(ids[1]), axis as i64, mode)
    }

    /// ONNX's `ScatterElements`: a scatter with an index and an update for each element, the reverse of
    /// [`GraphBuilder::gather_elements`].
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::{DType, ScatterOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let i = b.parameter("i", DType::I64, [2, 2])?;
    /// let u = b.parameter("u", DType::I32, [2, 2])?;
    /// let sum = b.scatter_elements(ScatterOp::Add, &x, &i, &u, 1, TakeMode::Error)?;
    /// let x = Array::new([2, 3], vec![0, 1, 2, 10, 11, 12])?;
    /// let i = Array::new([2, 2], vec![2i64, 2, 0, -1])?;
    /// let u = Array::new([2, 2], vec![100, 200, 300, 400])?;
    /// let found = evaluate(&b.finish(&[sum])?, &[x, i, u])?;
    /// assert_eq!(found[0].elements::<i32>(), Ok(&[0, 1, 302, 310, 11, 412][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::gather_elements`] and [`GraphBuilder::scatter`].
    #[track_caller]
    pub fn scatter_elements(
        &self,
        op: ScatterOp,
        operand: impl Operand,
        indices: impl Operand,
        updates: impl Operand,
        axis: i64,
        mode: impl Into<ScatterMode>,
    ) -> BuildResult {
        const NAME: &str = "scatter_elements";
        let ids = [self.operand_id(NAME, operand)?, self.operand_id(NAME, indices)?];
        let updates = self.operand_id(NAME, updates)?;
        let (_, axis) = self.first_elements(NAME, ids, axis)?;
        let [table, index] = ids.map(|id| self.type_of(id).shape);
        let all: Vec<usize> = (0..table.rank()).collect();
        let flat = FlatAxes::new(&table, &all);
        let mut counters = Vec::with_capacity(all.len());
        for other in all.into_iter().filter(|&other| other != axis) {
            counters.push((other, self.counter(flat.dtype(), table.rank(), other, index[other])?));
        }
        let indices = vec![(axis, self.value(ids[1]))];
        let indices = ScatterIndices { indices, counters, shape: index };
        self.scatter_resolved(op, [ids[0], updates], &flat, &indices, mode.into())
    }

    /// The operand, sliced to the sizes of the indices along all axes but `axis`, and the checked axis.
    #[track_caller]
    fn first_elements(
        &self,
        operation: &'static str,
        ids: [ValueId; 2],
        axis: i64,
    ) -> Result<(Value, usize), GraphError> {
        let axis = self.axis_of_indices(operation, ids, axis)?;
        let [operand, index] = ids.map(|id| self.type_of(id).shape);
        let size = |at: usize| if at == axis { operand[at] } else { index[at] };
        let slices: Vec<AxisSlice> =
            (0..operand.rank()).map(|at| AxisSlice::new(0, size(at), 1)).collect();
        Ok((self.slice(self.value(ids[0]), &slices)?, axis))
    }

    /// ONNX's `GatherND`: the last axis of the indices holds index vectors, with one index for each of the
    /// operand's first axes. Operand and indices may begin with `batch` common axes.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::TakeMode;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [5, 4, 3, 2])?;
    /// let i = b.parameter("i", DType::I64, [5, 7, 2])?;
    /// assert_eq!(b.gather_nd(&x, &i, 1, TakeMode::Error)?.array_type()?.to_string(), "f32[5, 7, 2]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `index-rank` if the batch axes and the indexed axes together are none, or more than the operand has,
    /// or if the indices have no axis after the batch axes; the labels of the rule `none` if the batch axes
    /// differ; those of [`GraphBuilder::gather`].
    #[track_caller]
    pub fn gather_nd(
        &self,
        operand: impl Operand,
        indices: impl Operand,
        batch: usize,
        mode: TakeMode,
    ) -> BuildResult {
        const NAME: &str = "gather_nd";
        let ids = [self.operand_id(NAME, operand)?, self.operand_id(NAME, indices)?];
        let (indices, shape) = self.vector_indices(NAME, ids, batch)?;
        let axes: Vec<usize> = (0..batch + indices.len()).collect();
        let flat = FlatAxes::new(&self.type_of(ids[0]).shape, &axes);
        let mut resolved = self.resolved_indices(NAME, ids[0], &indices, mode, flat.dtype())?;
        for axis in 0..batch {
            resolved.push((axis, self.counter(flat.dtype(), shape.rank(), axis, shape[axis])?));
        }
        self.gather_resolved(ids[0], &flat, &resolved, &shape)
    }

    /// ONNX's `ScatterND`: a scatter to the elements that [`GraphBuilder::gather_nd`] reads.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::gather_nd`] and [`GraphBuilder::scatter`].
    #[track_caller]
    pub fn scatter_nd(
        &self,
        op: ScatterOp,
        operand: impl Operand,
        indices: impl Operand,
        updates: impl Operand,
        mode: impl Into<ScatterMode>,
    ) -> BuildResult {
        const NAME: &str = "scatter_nd";
        let ids = [self.operand_id(NAME, operand)?, self.operand_id(NAME, indices)?];
        let updates = self.operand_id(NAME, updates)?;
        let (indices, shape) = self.vector_indices(NAME, ids, 0)?;
        let axes: Vec<usize> = (0..indices.len()).collect();
        let flat = FlatAxes::new(&self.type_of(ids[0]).shape, &axes);
        let indices = ScatterIndices { indices, counters: Vec::new(), shape };
        self.scatter_resolved(op, [ids[0], updates], &flat, &indices, mode.into())
    }

    /// Splits the index vectors, which lie along the last axis. Returns each indexed axis of the operand
    /// with its array of indices, and the shape of these arrays. The first indexed axis follows the batch
    /// axes.
    #[track_caller]
    fn vector_indices(
        &self,
        operation: &'static str,
        ids: [ValueId; 2],
        batch: usize,
    ) -> Result<(Vec<(usize, Value)>, Shape), GraphError> {
        let [operand, index] = ids.map(|id| self.type_of(id).shape);
        let length = index.last().copied().unwrap_or(0);
        let count = batch.saturating_add(length);
        if count > operand.rank() || count == 0 || batch >= index.rank() {
            let (expected, given) = (operand.rank(), count);
            return Err(self.error(operation, &ids, GraphErrorKind::IndexRank { expected, given }));
        }
        let batches = [&operand[..batch], &index[..batch]].map(Shape::from);
        if let Err(error) = RuleSet::None.elaborate(&batches) {
            return Err(self.shape_error(operation, &ids, error));
        }
        let shape = Shape::from(&index[..index.rank() - 1]);
        let indices = self.value(ids[1]);
        let mut of_axes = Vec::with_capacity(length);
        for number in 0..length {
            let part = self.slice_axis(&indices, index.rank() - 1, AxisSlice::new(number, 1, 1))?;
            of_axes.push((batch + number, self.reshape_units(part, shape.clone())?));
        }
        Ok((of_axes, shape))
    }
}
