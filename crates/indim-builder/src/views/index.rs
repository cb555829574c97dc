//! Python's index syntax: `x[1:, None, ..., -1]`.

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, SliceBounds, TakeMode, ValueId};
use indim_shape::{AxisMap, Shape};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// One item of a Python index `x[...]`; `A` is the type of an index array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Index<A = Value> {
    /// `3`: one element of the axis, which is removed; a negative index counts from the end.
    At(i64),
    /// `start:stop:step`, with bounds clamped like in Python.
    Slice {
        /// The first index.
        start: Option<i64>,
        /// The exclusive end.
        stop: Option<i64>,
        /// The distance between elements; a negative step goes backwards.
        step: Option<i64>,
    },
    /// `None`: a new axis of size 1.
    NewAxis,
    /// `...`: all axes that no other item indexes.
    Ellipsis,
    /// An array of integers: a gather, like [`GraphBuilder::gather`] with mode [`TakeMode::Error`].
    Elements(A),
}

impl Index {
    /// `:`, a whole axis.
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: None };

    fn consumes_axis(&self) -> bool {
        !matches!(self, Index::NewAxis | Index::Ellipsis)
    }
}

/// The steps of an index: a slice, then a reshape and broadcast, then a gather, and a transposition if
/// `index_axes_first` is set.
#[derive(Default)]
struct IndexPlan {
    /// The slice of each axis of the operand.
    slices: Vec<AxisSlice>,
    /// The sizes before the gather: kept axes and new axes.
    sizes: Vec<usize>,
    /// The positions in `sizes` of the kept axes; gathered axes are kept until the gather.
    result_axes: Vec<usize>,
    /// For each kept axis, its number in the operand.
    source_axes: Vec<usize>,
    /// The axes of the operand whose slice depends on the size, with the bounds as written.
    bounds: Vec<(usize, SliceBounds)>,
    /// The gathered axes, as positions in `sizes`, and their indices.
    index_arrays: Vec<(usize, Value)>,
    /// Whether the axes of the index arrays come first in the result, as in NumPy if index arrays and
    /// integers are not all adjacent.
    index_axes_first: bool,
}

impl GraphBuilder {
    /// Python's `x[...]` under NumPy's rules. Arrays of integers broadcast together. Their axes replace the
    /// indexed ones if all arrays and integers are adjacent; otherwise they come first in the result.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, Index};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [5, 4, 3])?;
    /// let reversed = Index::Slice { start: None, stop: None, step: Some(-2) };
    /// let reshaped = b.index(&x, &[reversed, Index::NewAxis, Index::Ellipsis, Index::At(-1)])?;
    /// assert_eq!(reshaped.array_type()?.to_string(), "f32[3, 1, 4]"); // x[::-2, None, ..., -1]
    /// assert_eq!(b.index(&x, &[Index::At(5)]).unwrap_err().code(), "index-out-of-range");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `too-many-indices`, `several-ellipses`, `index-out-of-range`, `zero-step`; those of
    /// [`GraphBuilder::gather`].
    #[track_caller]
    pub fn index(&self, operand: impl Operand, indices: &[Index]) -> BuildResult {
        let id = self.operand_id("index", operand)?;
        let shape = self.type_of(id).shape;
        let plan = match plan(&shape, indices) {
            Ok(plan) => plan,
            Err(kind) => return Err(self.error("index", &[id], kind)),
        };
        let sliced = self.slice_unpinned("index", id, &plan.slices)?;
        let sliced = self.id("index", &sliced)?;
        self.with_facts(|facts| {
            plan.bounds.iter().for_each(|&(axis, bounds)| facts.slice([id, sliced], axis, bounds));
        });
        let reshaped = self.reshape_to_plan(sliced, &plan)?;
        let axes: Vec<i64> = plan.index_arrays.iter().map(|&(axis, _)| axis as i64).collect();
        let elements: Vec<Value> =
            plan.index_arrays.into_iter().map(|(_, elements)| elements).collect();
        let gathered = self.gather(reshaped, &axes, &elements, TakeMode::Error)?;
        match plan.index_axes_first {
            true => self.move_index_axes_to_front(&gathered, axes[0] as usize, &elements),
            false => Ok(gathered),
        }
    }

    /// Moves the axes of the index arrays, which begin at `first`, before all other axes.
    #[track_caller]
    fn move_index_axes_to_front(&self, x: &Value, first: usize, indices: &[Value]) -> BuildResult {
        let count = self.common_shape("index", &self.ids("index", indices)?)?.rank();
        let rank = self.type_of(x.expect_id()).shape.rank();
        let order = (first..first + count).chain(0..first).chain(first + count..rank);
        let order: Vec<i64> = order.map(|axis| axis as i64).collect();
        self.transpose(x, &order)
    }

    /// The sliced value without the axes that integers index, and with the new axes.
    #[track_caller]
    fn reshape_to_plan(&self, sliced: ValueId, plan: &IndexPlan) -> Result<Value, GraphError> {
        let kept_shape: Shape = plan.result_axes.iter().map(|&axis| plan.sizes[axis]).collect();
        let sliced = self.value(sliced);
        let dropped = self.reshape_units(&sliced, kept_shape)?;
        let dropped =
            self.keep_axis_names(&sliced, dropped, |axis| plan.source_axes.get(axis).copied());
        let map = AxisMap::from(plan.result_axes.clone());
        let shape = Shape::from(&plan.sizes[..]);
        Ok(self.value(self.add_broadcast(self.id("index", &dropped)?, &map, &shape)))
    }
}

/// The steps of an index of an array of this shape.
fn plan(shape: &Shape, indices: &[Index]) -> Result<IndexPlan, GraphErrorKind> {
    let consumed = indices.iter().filter(|index| index.consumes_axis()).count();
    let ellipses = indices.iter().filter(|index| matches!(index, Index::Ellipsis)).count();
    let Some(ellipsis_rank) = shape.rank().checked_sub(consumed) else {
        return Err(GraphErrorKind::TooManyIndices { given: consumed, rank: shape.rank() });
    };
    if ellipses > 1 {
        return Err(GraphErrorKind::SeveralEllipses);
    }
    let mut plan =
        IndexPlan { index_axes_first: index_axes_first(indices), ..IndexPlan::default() };
    for index in indices {
        plan.add(shape, index, ellipsis_rank)?;
    }
    // Axes after the last item are whole.
    while plan.slices.len() < shape.rank() {
        plan.keep_axis(AxisSlice::whole(shape[plan.slices.len()]));
    }
    Ok(plan)
}

impl IndexPlan {
    /// Adds an item. `ellipsis_rank` is the number of axes that an ellipsis stands for.
    fn add(
        &mut self,
        shape: &Shape,
        index: &Index,
        ellipsis_rank: usize,
    ) -> Result<(), GraphErrorKind> {
        let axis = self.slices.len();
        match index {
            Index::NewAxis => self.sizes.push(1),
            Index::Ellipsis => {
                (axis..axis + ellipsis_rank)
                    .for_each(|axis| self.keep_axis(AxisSlice::whole(shape[axis])));
            }
            Index::At(index) => {
                let start = TakeMode::Error.resolve(i128::from(*index), shape[axis]);
                let (index, size) = (*index, shape[axis]);
                let stop = index.checked_add(1).filter(|&stop| stop != 0);
                let bounds = SliceBounds { start: Some(index), stop, step: None };
                self.bounds.push((axis, bounds));
                let start = start.ok_or(GraphErrorKind::IndexOutOfRange { axis, index, size })?;
                self.slices.push(AxisSlice::new(start, 1, 1));
            }
            &Index::Slice { start, stop, step } => {
                if start.is_some() || stop.is_some() || step.is_some_and(|step| step != 1) {
                    self.bounds.push((axis, SliceBounds { start, stop, step }));
                }
                self.keep_axis(AxisSlice::python(start, stop, step, shape[axis])?);
            }
            Index::Elements(value) => {
                self.index_arrays.push((self.sizes.len(), value.clone()));
                self.keep_axis(AxisSlice::whole(shape[axis]));
            }
        }
        Ok(())
    }

    /// Keeps the next axis of the operand, sliced.
    fn keep_axis(&mut self, slice: AxisSlice) {
        self.result_axes.push(self.sizes.len());
        self.source_axes.push(self.slices.len());
        self.sizes.push(slice.count());
        self.slices.push(slice);
    }
}

/// Whether the axes of index arrays come first. With an array in the index, NumPy treats integers as arrays
/// too, and moves their axes unless all are adjacent.
fn index_axes_first(indices: &[Index]) -> bool {
    let is_array = |index: &Index| matches!(index, Index::Elements(_));
    let is_advanced = |index: &Index| is_array(index) || matches!(index, Index::At(_));
    let first = indices.iter().position(is_advanced).unwrap_or(0);
    let end = indices.iter().rposition(is_advanced).map_or(0, |last| last + 1);
    indices.iter().any(is_array) && !indices[first..end].iter().all(is_advanced)
}
