//! The builder's methods for slices, concatenation, gather and scatter.

use std::sync::Arc;

use indim_graph::signature::{check_concatenation, check_scatter, check_slices, check_take};
use indim_graph::{
    AxisSlice, GraphError, GraphErrorKind, NodeKind, ScatterMode, SliceBounds, TakeMode, ValueId,
};
use indim_ops::ScatterOp;

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// A slice along each axis. The result is a view, without a copy.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, AxisSlice, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [5])?;
    /// let graph = b.finish(&[b.slice(&x, &[AxisSlice::new(4, 3, -2)])?])?;
    /// let x = Array::new([5], vec![10, 11, 12, 13, 14])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<i32>(), Ok(&[14, 12, 10][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `slice-rank`, `zero-step`; `slice-out-of-range`: bounds are not clamped, like in XLA.
    #[track_caller]
    pub fn slice(&self, operand: impl Operand, slices: &[AxisSlice]) -> BuildResult {
        let id = self.operand_id("slice", operand)?;
        self.pin_all(id, "a slice of it is taken");
        self.slice_unpinned("slice", id, slices)
    }

    /// Like [`GraphBuilder::slice`], but pins no size; `operation` is the name of the function in errors.
    #[track_caller]
    pub(super) fn slice_unpinned(
        &self,
        operation: &'static str,
        id: ValueId,
        slices: &[AxisSlice],
    ) -> BuildResult {
        let operand = self.type_of(id);
        let array_type = match check_slices(slices, &operand) {
            Ok(array_type) => array_type,
            Err(kind) => return Err(self.error(operation, &[id], kind)),
        };
        if slices.iter().zip(operand.shape.iter()).all(|(slice, &size)| slice.is_whole(size)) {
            return Ok(self.value(id));
        }
        // A slice is not larger than its operand, unless an axis of size 0 hid the product of the other
        // sizes.
        self.check_size(operation, &array_type, &[id])?;
        Ok(self.add_node(NodeKind::Slice(Arc::from(slices)), &[id], array_type))
    }

    /// XLA's `Rev`: the elements along each of these axes in reverse order.
    ///
    /// # Errors
    /// `axis-out-of-range`, `axes-not-unique`.
    #[track_caller]
    pub fn reverse(&self, operand: impl Operand, axes: &[i64]) -> BuildResult {
        let id = self.operand_id("reverse", operand)?;
        let shape = self.type_of(id).shape;
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        let axes = self.distinct_axes("reverse", id, axes)?;
        axes.iter().for_each(|&axis| slices[axis] = AxisSlice::reversed(shape[axis]));
        let reversed = self.slice_unpinned("reverse", id, &slices)?;
        let bounds = SliceBounds { start: None, stop: None, step: Some(-1) };
        let values = [id, reversed.expect_id()];
        self.with_facts(|facts| axes.iter().for_each(|&axis| facts.slice(values, axis, bounds)));
        Ok(reversed)
    }

    /// The axes counted from the front; an error if one occurs twice.
    #[track_caller]
    pub(crate) fn distinct_axes(
        &self,
        operation: &'static str,
        id: ValueId,
        axes: &[i64],
    ) -> Result<Vec<usize>, GraphError> {
        let rank = self.type_of(id).shape.rank();
        let mut is_named = vec![false; rank];
        let mut distinct = Vec::with_capacity(axes.len());
        for &axis in axes {
            let index = self.checked_axis(operation, &[id], axis, rank)?;
            if core::mem::replace(&mut is_named[index], true) {
                let kind = GraphErrorKind::AxesNotUnique { axes: axes.to_vec() };
                return Err(self.error(operation, &[id], kind));
            }
            distinct.push(index);
        }
        Ok(distinct)
    }

    /// Concatenates values along `axis`. The program writes each operand directly into the result.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 1])?;
    /// let y = b.parameter("y", DType::I32, [2, 2])?;
    /// let graph = b.finish(&[b.concatenate(&[x, y], 1)?])?;
    /// let arguments = [Array::new([2, 1], vec![1, 4])?, Array::new([2, 2], vec![2, 3, 5, 6])?];
    /// assert_eq!(evaluate(&graph, &arguments)?[0].elements::<i32>(), Ok(&[1, 2, 3, 4, 5, 6][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `nothing-to-concatenate`; `axis-out-of-range`; TY2; `concatenate-shape` if sizes of other axes differ;
    /// E5 `too-large`.
    #[track_caller]
    pub fn concatenate(
        &self,
        operands: &[impl core::borrow::Borrow<Value>],
        axis: i64,
    ) -> BuildResult {
        let ids = self.ids("concatenate", operands)?;
        let types: Vec<_> = ids.iter().map(|&id| self.type_of(id)).collect();
        let (axis, array_type) = match check_concatenation(axis, &types) {
            Ok(checked) => checked,
            Err(kind) => return Err(self.error("concatenate", &ids, kind)),
        };
        if let [only] = ids[..] {
            return Ok(self.value(only));
        }
        self.check_size("concatenate", &array_type, &ids)?;
        Ok(self.add_node(NodeKind::Concatenate { axis }, &ids, array_type))
    }

    /// A gather, like NumPy's `take`: the elements at `indices` along `axis`. In the result, the axes of the
    /// indices replace `axis`.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let table = b.parameter("table", DType::F32, [3])?;
    /// let image = b.parameter("image", DType::U8, [2, 2])?;
    /// let graph = b.finish(&[b.take(&table, &image, 0, TakeMode::Error)?])?;
    /// let table = Array::new([3], vec![0.5f32, 1.5, 2.5])?;
    /// let image = Array::new([2, 2], vec![2u8, 0, 1, 2])?;
    /// let expected = Ok(&[2.5f32, 0.5, 1.5, 2.5][..]);
    /// assert_eq!(evaluate(&graph, &[table, image])?[0].elements::<f32>(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; TY1 for indices that are not integers; `take-from-empty`; E5 `too-large`.
    #[track_caller]
    pub fn take(
        &self,
        operand: impl Operand,
        indices: impl Operand,
        axis: i64,
        mode: TakeMode,
    ) -> BuildResult {
        let ids = [self.operand_id("take", operand)?, self.operand_id("take", indices)?];
        let [operand, indices] = ids.map(|id| self.type_of(id));
        let (axis, array_type) = match check_take(axis, &operand, &indices) {
            Ok(checked) => checked,
            Err(kind) => return Err(self.error("take", &ids, kind)),
        };
        self.check_size("take", &array_type, &ids)?;
        Ok(self.add_node(NodeKind::Take { axis, mode }, &ids, array_type))
    }

    /// A scatter, like NumPy's `add.at`: combines each element of `updates` with the element of `operand` at
    /// its index along `axis`. The updates have the shape of a [`GraphBuilder::take`] with these indices.
    /// Several updates of one element are combined in row-major order. Floats are added and multiplied in
    /// `f64`, complex numbers in `c128`, and both are rounded once; `set` keeps the last update.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, ScatterMode, evaluate};
    /// use indim_ops::{DType, ScatterOp};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [3])?;
    /// let i = b.parameter("i", DType::I64, [4])?;
    /// let v = b.parameter("v", DType::I32, [4])?;
    /// let graph = b.finish(&[b.scatter(ScatterOp::Max, &x, &i, &v, 0, ScatterMode::Drop)?])?;
    /// let x = Array::new([3], vec![0, 10, 20])?;
    /// let i = Array::new([4], vec![2i64, 0, 3, 0])?;
    /// let v = Array::new([4], vec![5, 7, 9, 6])?;
    /// assert_eq!(evaluate(&graph, &[x, i, v])?[0].elements::<i32>(), Ok(&[7, 10, 20][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::take`], without `take-from-empty` if updates are dropped; TY1 if the
    /// operation does not combine such elements; TY2; `scatter-shape`.
    #[track_caller]
    pub fn scatter(
        &self,
        op: ScatterOp,
        operand: impl Operand,
        indices: impl Operand,
        updates: impl Operand,
        axis: i64,
        mode: impl Into<ScatterMode>,
    ) -> BuildResult {
        let mode = mode.into();
        let name = NodeKind::Scatter { op, axis: 0, mode }.name();
        let ids = [
            self.operand_id(name, operand)?,
            self.operand_id(name, indices)?,
            self.operand_id(name, updates)?,
        ];
        let types = ids.map(|id| self.type_of(id));
        match check_scatter(op, axis, mode, types.each_ref()) {
            Ok((axis, array_type)) => {
                Ok(self.add_node(NodeKind::Scatter { op, axis, mode }, &ids, array_type))
            }
            Err(kind) => Err(self.error(name, &ids, kind)),
        }
    }

    /// [`GraphBuilder::scatter`] that adds.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, TakeMode, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let counts = b.parameter("counts", DType::I32, [3])?;
    /// let bins = b.parameter("bins", DType::U8, [4])?;
    /// let ones = b.constant(Array::new([4], vec![1; 4])?);
    /// let graph = b.finish(&[b.scatter_add(&counts, &bins, ones, 0, TakeMode::Error)?])?;
    /// let counts = Array::new([3], vec![0, 10, 20])?;
    /// let bins = Array::new([4], vec![2u8, 0, 2, 2])?;
    /// assert_eq!(evaluate(&graph, &[counts, bins])?[0].elements::<i32>().unwrap(), [1, 10, 23]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::scatter`].
    #[track_caller]
    pub fn scatter_add(
        &self,
        operand: impl Operand,
        indices: impl Operand,
        updates: impl Operand,
        axis: i64,
        mode: impl Into<ScatterMode>,
    ) -> BuildResult {
        self.scatter(ScatterOp::Add, operand, indices, updates, axis, mode)
    }
}
