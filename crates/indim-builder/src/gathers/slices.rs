//! Slices of one size at many starts that are data: reads and updates, as XLA's `gather` and `scatter`.

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, Literal, ScatterMode, TakeMode, ValueId};
use indim_ops::{Op, ScatterOp};
use indim_shape::{RuleSet, Shape, sort_few_by_key};

use super::positions::FlatAxes;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// Slices of one size of an array, at starts that are data.
#[derive(Debug, Clone)]
pub struct StartedSlices {
    /// The shape of the starts: one slice for each of its elements.
    pub shape: Shape,
    /// For some axes of the array, the starts along them: arrays of integers of this shape. Along an axis
    /// that is in neither `starts` nor `batches`, slices start at 0.
    pub starts: Vec<(usize, Value)>,
    /// Pairs of a batch axis of the array and an axis of the starts, of equal sizes. The slice at index
    /// `i` of the axis of the starts begins at `i` along the batch axis, and has size 1 there.
    pub batches: Vec<(usize, usize)>,
    /// The size of a slice along each axis of the array.
    pub sizes: Vec<usize>,
}

/// A plan that expresses slices of an array by a gather or scatter along one axis, to which several axes
/// are flattened.
struct SlicePlan<'s> {
    slices: &'s StartedSlices,
    flat: FlatAxes,
    /// The flattened axes along which the size of a slice is not 1. The positions have an axis for each
    /// of these.
    windows: Vec<usize>,
    /// The axes of the array that are not flattened: those before the flattened axis, and those after it.
    around: [Vec<usize>; 2],
}

impl<'s> SlicePlan<'s> {
    /// `flattened` is not empty.
    fn new(shape: &Shape, slices: &'s StartedSlices, flattened: &[usize]) -> SlicePlan<'s> {
        let flat = FlatAxes::new(shape, flattened);
        let is_window = |&axis: &usize| flattened.contains(&axis) && slices.sizes[axis] != 1;
        let others = (0..shape.rank()).filter(|axis| !flattened.contains(axis));
        let (before, after) = others.partition(|&axis| axis < flat.at);
        let windows = (0..shape.rank()).filter(is_window).collect();
        SlicePlan { slices, flat, windows, around: [before, after] }
    }

    /// The shape of the positions: that of the starts, then the windows.
    fn positions_shape(&self) -> Shape {
        let windows = self.windows.iter().map(|&axis| self.slices.sizes[axis]);
        self.slices.shape.iter().copied().chain(windows).collect()
    }

    /// The starts along the flattened axis, if it is the only one and slices have size 1 along it. These
    /// starts are the positions.
    fn position_starts(&self) -> Option<&Value> {
        match (self.flat.axes(), &self.windows[..]) {
            (&[axis], []) => self.slices.start(axis),
            _ => None,
        }
    }

    /// The axes of a gather's result, in order. With starts of rank `r`, a number below `r` is an axis of
    /// the starts; `r + i` is axis `i` of the array.
    fn order(&self) -> Vec<usize> {
        let rank = self.slices.shape.rank();
        let [before, after] =
            self.around.each_ref().map(|axes| axes.iter().map(|axis| rank + axis));
        let windows = self.windows.iter().map(|axis| rank + axis);
        before.chain(0..rank).chain(windows).chain(after).collect()
    }
}

impl GraphBuilder {
    /// XLA's `gather`: a slice of the array for each start. The result has the axes of the starts, then those
    /// of the array with the sizes of a slice. Starts are clamped so that slices are within the array.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, StartedSlices};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    /// use indim_shape::Shape;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [5])?;
    /// let start = b.parameter("start", DType::I64, [2])?;
    /// let (shape, batches) = (Shape::from([2]), Vec::new());
    /// let slices = StartedSlices { shape, starts: vec![(0, start)], batches, sizes: vec![3] };
    /// let graph = b.finish(&[b.gather_slices(&x, &slices)?])?;
    /// let x = Array::new([5], vec![0, 10, 20, 30, 40])?;
    /// let start = Array::new([2], vec![1i64, 9])?;
    /// let found = evaluate(&graph, &[x, start])?;
    /// assert_eq!(found[0].elements::<i32>(), Ok(&[10, 20, 30, 20, 30, 40][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `slice-rank`, `slice-out-of-range` for the sizes; `axis-out-of-range`, `axes-not-unique`; TY1 for
    /// starts that are not integers; the labels of the rule `none` for starts and batches of other sizes;
    /// E5 `too-large`.
    #[track_caller]
    pub fn gather_slices(&self, operand: impl Operand, slices: &StartedSlices) -> BuildResult {
        const NAME: &str = "gather_slices";
        let id = self.operand_id(NAME, operand)?;
        self.check_slices(NAME, id, slices)?;
        let shape = self.type_of(id).shape;
        let part: Vec<AxisSlice> = (0..shape.rank())
            .map(|axis| match slices.has_variable_start(axis) {
                true => AxisSlice::whole(shape[axis]),
                false => AxisSlice::new(0, slices.sizes[axis], 1),
            })
            .collect();
        let table = self.slice(self.value(id), &part)?;
        let result: Shape = slices.shape.iter().chain(&slices.sizes).copied().collect();
        let shape = table.array_type()?.shape;
        let moved: Vec<usize> = (0..shape.rank())
            .filter(|&axis| slices.has_variable_start(axis) && slices.sizes[axis] != shape[axis])
            .collect();
        if moved.is_empty() {
            let dims: Vec<i64> = (slices.shape.rank()..result.rank()).map(|at| at as i64).collect();
            return self.broadcast_in_dim(table, &dims, result);
        }
        let plan = SlicePlan::new(&shape, slices, &moved);
        let positions = match plan.position_starts() {
            Some(start) => start.clone(),
            None => self.slice_positions(&shape, &plan)?,
        };
        let flat = plan.flat.flatten(self, &table)?;
        let taken = self.take(flat, positions, plan.flat.at as i64, TakeMode::Clip)?;
        let order = plan.order();
        let mut inverse: Vec<i64> = (0..order.len() as i64).collect();
        sort_few_by_key(&mut inverse, |&axis| order[axis as usize]);
        self.reshape(self.transpose(taken, &inverse)?, result)
    }

    /// XLA's `scatter`: combines a slice of updates with the array for each start. The updates have the
    /// shape of the result of [`GraphBuilder::gather_slices`]. A slice that is not within the array is
    /// dropped as a whole. The updates of one element are combined in the order of their slices; see
    /// [`GraphBuilder::scatter`].
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, StartedSlices};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ScatterOp};
    /// use indim_shape::Shape;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [5])?;
    /// let start = b.parameter("start", DType::I64, [3])?;
    /// let updates = b.parameter("updates", DType::I32, [3, 2])?;
    /// let (shape, batches) = (Shape::from([3]), Vec::new());
    /// let slices = StartedSlices { shape, starts: vec![(0, start)], batches, sizes: vec![2] };
    /// let graph = b.finish(&[b.scatter_slices(ScatterOp::Add, &x, &slices, &updates)?])?;
    /// let x = Array::new([5], vec![0; 5])?;
    /// let start = Array::new([3], vec![1i64, 4, 2])?;
    /// let updates = Array::new([3, 2], vec![1, 2, 10, 20, 100, 200])?;
    /// let found = evaluate(&graph, &[x, start, updates])?;
    /// assert_eq!(found[0].elements::<i32>(), Ok(&[0, 1, 102, 200, 0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`GraphBuilder::gather_slices`]; `scatter-shape` for updates of another shape; TY1 if the
    /// operation does not combine such elements; TY2 for updates of another type.
    #[track_caller]
    pub fn scatter_slices(
        &self,
        op: ScatterOp,
        operand: impl Operand,
        slices: &StartedSlices,
        updates: impl Operand,
    ) -> BuildResult {
        const NAME: &str = "scatter_slices";
        let id = self.operand_id(NAME, operand)?;
        let updates = self.operand_id(NAME, updates)?;
        self.check_slices(NAME, id, slices)?;
        let expected: Shape = slices.shape.iter().chain(&slices.sizes).copied().collect();
        if self.type_of(updates).shape != expected {
            let kind = GraphErrorKind::ScatterShape { expected };
            return Err(self.error(NAME, &[id, id, updates], kind));
        }
        self.pin_all(updates, super::positions::PINNED);
        let shape = self.type_of(id).shape;
        if shape.rank() == 0 {
            let slices = StartedSlices { sizes: vec![1], ..slices.clone() };
            let updates = self.reshape(self.value(updates), [&expected[..], &[1]].concat())?;
            let one = self.reshape(self.value(id), [1])?;
            return self.reshape(self.scatter_slices(op, one, &slices, updates)?, Shape::from([]));
        }
        let is_shorter = |&axis: &usize| slices.sizes[axis] != shape[axis];
        let mut flattened: Vec<usize> = (0..shape.rank()).filter(is_shorter).collect();
        if flattened.is_empty() {
            flattened.push(slices.starts.first().map_or(0, |(axis, _)| *axis));
        }
        let plan = SlicePlan::new(&shape, slices, &flattened);
        let positions = match plan.position_starts().filter(|_| slices.starts.len() == 1) {
            Some(start) => start.clone(),
            None => {
                let positions = self.slice_positions(&shape, &plan)?;
                self.dropped_slices(&shape, &plan, positions)?
            }
        };
        let order = plan.order();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let sizes: Vec<usize> = sorted.iter().map(|&axis| expected[axis]).collect();
        let place = |axis: &usize| sorted.binary_search(axis).unwrap_or(0) as i64;
        let permutation: Vec<i64> = order.iter().map(place).collect();
        let updates = self.reshape(self.value(updates), sizes)?;
        let updates = self.transpose(updates, &permutation)?;
        let table = plan.flat.flatten(self, &self.value(id))?;
        let at = plan.flat.at as i64;
        let scattered = self.scatter(op, table, positions, updates, at, ScatterMode::Drop)?;
        plan.flat.restore(self, &scattered)
    }

    #[track_caller]
    fn check_slices(
        &self,
        operation: &'static str,
        id: ValueId,
        slices: &StartedSlices,
    ) -> Result<(), GraphError> {
        self.check_slice_sizes(operation, id, &slices.sizes)?;
        let shape = self.type_of(id).shape;
        let started = slices.starts.iter().map(|(axis, _)| *axis);
        let moved = started.chain(slices.batches.iter().map(|(axis, _)| *axis));
        self.distinct_axes(operation, id, &moved.map(|axis| axis as i64).collect::<Vec<_>>())?;
        let equal = |pair: [Shape; 2], ids: &[ValueId]| match RuleSet::None.elaborate(&pair) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.shape_error(operation, ids, error)),
        };
        for (_, start) in &slices.starts {
            let start = self.id(operation, start)?;
            self.check_index_type(operation, [id, start], 1)?;
            self.pin_all(start, super::positions::PINNED);
            equal([slices.shape.clone(), self.type_of(start).shape], &[id, start])?;
        }
        for &(axis, batch) in &slices.batches {
            let rank = slices.shape.rank();
            let batch = self.checked_axis(operation, &[id], batch as i64, rank)?;
            let sizes = [shape[axis], slices.shape[batch]].map(|size| Shape::from([size]));
            equal(sizes, &[id, id])?;
            equal([slices.sizes[axis], 1].map(|size| Shape::from([size])), &[id, id])?;
        }
        Ok(())
    }

    /// The positions of the elements of each slice along the flattened axis.
    #[track_caller]
    fn slice_positions(&self, shape: &Shape, plan: &SlicePlan<'_>) -> BuildResult {
        let (slices, dtype) = (plan.slices, plan.flat.dtype());
        let (batch, positions) = (slices.shape.rank(), plan.positions_shape());
        let mut of_axes: Vec<(usize, Value)> = Vec::new();
        for &axis in plan.flat.axes().iter().filter(|&&axis| shape[axis] != 1) {
            let window = plan.windows.iter().position(|&window| window == axis);
            let counter = |at: usize, size: usize| self.counter(dtype, positions.rank(), at, size);
            let offset = match window {
                Some(window) => Some(counter(batch + window, slices.sizes[axis])?),
                None => None,
            };
            let start = match slices.start(axis) {
                Some(start) => {
                    let last = shape[axis] - slices.sizes[axis];
                    let start = self.clamp_start(start, last, dtype)?;
                    let mut wide = slices.shape.to_vec();
                    wide.resize(positions.rank(), 1);
                    Some(self.reshape(start, wide)?)
                }
                None => {
                    let mut batches = slices.batches.iter();
                    let of_axis = batches.find(|(of, _)| *of == axis);
                    of_axis.map(|&(_, along)| counter(along, shape[axis])).transpose()?
                }
            };
            let position = match (start, offset) {
                (Some(start), Some(offset)) => {
                    self.elementwise(Op::Add, &[start, offset], &RuleSet::Numpy)?
                }
                (Some(position), None) | (None, Some(position)) => position,
                (None, None) => continue,
            };
            of_axes.push((axis, position));
        }
        plan.flat.positions(self, &of_axes, &positions)
    }

    /// The positions, with -1, which drops the update, for slices that are not within the array.
    #[track_caller]
    fn dropped_slices(&self, shape: &Shape, plan: &SlicePlan<'_>, positions: Value) -> BuildResult {
        let slices = plan.slices;
        let mut are_within: Option<Value> = None;
        for (axis, start) in &slices.starts {
            let is_within = self.in_range_mask(start, shape[*axis] - slices.sizes[*axis] + 1)?;
            are_within = Some(match are_within {
                Some(others) => self.and(others, is_within, &[])?,
                None => is_within,
            });
        }
        let Some(are_within) = are_within else { return Ok(positions) };
        let mut wide = slices.shape.to_vec();
        wide.resize(plan.positions_shape().rank(), 1);
        let are_within = self.reshape(are_within, wide)?;
        let none = self.literal(Literal::Int(-1), plan.flat.dtype())?;
        self.elementwise(Op::Select, &[are_within, positions, none], &RuleSet::Numpy)
    }
}

impl StartedSlices {
    /// The starts along an axis; `None` if `starts` does not have the axis.
    fn start(&self, axis: usize) -> Option<&Value> {
        self.starts.iter().find(|(started, _)| *started == axis).map(|(_, start)| start)
    }

    /// Whether slices may start at another position than 0 along an axis.
    fn has_variable_start(&self, axis: usize) -> bool {
        self.start(axis).is_some() || self.batches.iter().any(|&(of, _)| of == axis)
    }
}
