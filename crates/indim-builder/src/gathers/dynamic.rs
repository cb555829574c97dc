//! Slices whose starts are data: reads and replacements, as XLA's dynamic slices.

use core::borrow::Borrow;

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, Literal, TakeMode, ValueId};
use indim_ops::{DType, Op, ScatterOp};
use indim_shape::{RuleSet, Shape, TargetRule, sort_few_by};

use super::positions::PINNED;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// An axis along which a slice is shorter than its array.
struct ShorterAxis {
    axis: usize,
    /// The position along the axis of each element of the slice.
    positions: Value,
    /// Sizes of the slice and of the array.
    sizes: [usize; 2],
}

impl GraphBuilder {
    /// XLA's `dynamic_slice`: a slice of these sizes, with a start for each axis. Starts are scalars of
    /// any integer type. Each start is clamped so that the slice is within the array; a negative start
    /// becomes 0.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 4])?;
    /// let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, []).unwrap());
    /// let graph = b.finish(&[b.dynamic_slice(&x, &[i, j], &[1, 3])?])?;
    /// let x = Array::new([2, 4], vec![0, 1, 2, 3, 10, 11, 12, 13])?;
    /// let [i, j] = [1i64, 9].map(|start| Array::new([], vec![start]).unwrap());
    /// assert_eq!(evaluate(&graph, &[x, i, j])?[0].elements::<i32>(), Ok(&[11, 12, 13][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `slice-rank` unless each axis has a size; `wrong-operand-count` unless each has a start;
    /// `slice-out-of-range` for a size beyond that of the axis; TY1 for starts that are not integers;
    /// the labels of [the rule](indim_shape::rules#onto-a-target-shape-t) of a broadcast to the shape of a
    /// scalar for starts that have axes.
    #[track_caller]
    pub fn dynamic_slice(
        &self,
        operand: impl Operand,
        starts: &[impl Borrow<Value>],
        sizes: &[usize],
    ) -> BuildResult {
        const NAME: &str = "dynamic_slice";
        let id = self.operand_id(NAME, operand)?;
        self.check_slice_sizes(NAME, id, sizes)?;
        let mut slice = self.value(id);
        for ShorterAxis { axis, positions, .. } in self.shorter_axes(NAME, id, starts, sizes)? {
            slice = self.take(slice, positions, axis as i64, TakeMode::Clip)?;
        }
        Ok(slice)
    }

    /// XLA's `dynamic_update_slice`: the array with a slice replaced by `update`. The starts are clamped
    /// as in [`GraphBuilder::dynamic_slice`], for a slice with the sizes of the update.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [5])?;
    /// let update = b.parameter("update", DType::I32, [2])?;
    /// let start = b.parameter("start", DType::I32, [])?;
    /// let graph = b.finish(&[b.dynamic_update_slice(&x, &update, &[start])?])?;
    /// let [x, update] = [Array::new([5], vec![0; 5])?, Array::new([2], vec![7, 8])?];
    /// let found = evaluate(&graph, &[x, update, Array::new([], vec![9])?])?;
    /// assert_eq!(found[0].elements::<i32>(), Ok(&[0, 0, 0, 7, 8][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY2 unless the update has the element type of the operand; those of [`GraphBuilder::dynamic_slice`].
    #[track_caller]
    pub fn dynamic_update_slice(
        &self,
        operand: impl Operand,
        update: impl Operand,
        starts: &[impl Borrow<Value>],
    ) -> BuildResult {
        const NAME: &str = "dynamic_update_slice";
        let id = self.operand_id(NAME, operand)?;
        let update = self.operand_id(NAME, update)?;
        let [expected, dtype] = [id, update].map(|id| self.type_of(id).dtype);
        if dtype != expected {
            let kind = GraphErrorKind::ElementTypeMismatch { operand: 1, dtype, expected };
            return Err(self.error(NAME, &[id, update], kind));
        }
        let sizes = self.type_of(update).shape;
        self.check_slice_sizes(NAME, id, &sizes)?;
        self.pin_all(update, PINNED);
        let shorter = self.shorter_axes(NAME, id, starts, &sizes)?;
        // `parts[k]` is the array sliced along the first `k` shorter axes. Each part is the operand of
        // one scatter; the scatters run from the last part to the first.
        let mut parts = vec![self.value(id)];
        for (part, ShorterAxis { axis, positions, .. }) in
            shorter.iter().take(shorter.len().saturating_sub(1)).enumerate()
        {
            parts.push(self.take(&parts[part], positions, *axis as i64, TakeMode::Clip)?);
        }
        let mut updated = self.value(update);
        for (part, ShorterAxis { axis, positions, .. }) in parts.iter().zip(&shorter).rev() {
            let mode = TakeMode::Clip;
            updated = self.scatter(ScatterOp::Set, part, positions, updated, *axis as i64, mode)?;
        }
        Ok(updated)
    }

    /// Converts Python's starts of slices, where a negative start counts from the end of an axis of
    /// `size` elements, to starts counted from the front, of 64 bits.
    ///
    /// # Errors
    /// TY1 for starts that are not integers.
    #[track_caller]
    pub fn starts_from_end(&self, start: &Value, size: usize) -> BuildResult {
        let id = self.id("dynamic_slice", start)?;
        self.check_index_type("dynamic_slice", [id, id], 1)?;
        let start = self.widen_start(start)?;
        let dtype = start.array_type()?.dtype;
        if dtype == DType::U64 {
            return Ok(start);
        }
        let [zero, size] =
            [0, size as i128].map(|number| self.literal(Literal::Int(number), dtype));
        let is_negative = self.lt(&start, zero?, &[])?;
        let counted = self.add(&start, size?, &[])?;
        self.elementwise(Op::Select, &[is_negative, counted, start], &RuleSet::Numpy)
    }

    /// Checks that a slice of these sizes is within the operand, and pins the operand's sizes, because
    /// the bounds of starts are constants of the graph.
    #[track_caller]
    pub(super) fn check_slice_sizes(
        &self,
        operation: &'static str,
        id: ValueId,
        sizes: &[usize],
    ) -> Result<(), GraphError> {
        let shape = self.type_of(id).shape;
        if sizes.len() != shape.rank() {
            let kind = GraphErrorKind::SliceRank { rank: shape.rank(), given: sizes.len() };
            return Err(self.error(operation, &[id], kind));
        }
        self.pin_all(id, PINNED);
        let mut sizes = sizes.iter().zip(shape.iter()).enumerate();
        match sizes.find(|(_, (taken, size))| taken > size) {
            Some((axis, (&taken, &size))) => {
                let slice = AxisSlice::new(0, taken, 1);
                let kind = GraphErrorKind::SliceOutOfRange { axis, slice, size };
                Err(self.error(operation, &[id], kind))
            }
            None => Ok(()),
        }
    }

    /// The axes along which a slice is shorter than the array. The axis with the smallest share of its
    /// elements is first, because it shrinks the later gathers most.
    #[track_caller]
    fn shorter_axes(
        &self,
        operation: &'static str,
        id: ValueId,
        starts: &[impl Borrow<Value>],
        sizes: &[usize],
    ) -> Result<Vec<ShorterAxis>, GraphError> {
        let shape = self.type_of(id).shape;
        if starts.len() != shape.rank() {
            let (expected, given) = (shape.rank(), starts.len());
            let kind = GraphErrorKind::WrongOperandCount { expected, given };
            return Err(self.error(operation, &[id], kind));
        }
        let mut shorter = Vec::new();
        for (axis, start) in starts.iter().enumerate() {
            let start = self.id(operation, start.borrow())?;
            self.check_index_type(operation, [id, start], 1)?;
            let rule = TargetRule::Unidirectional;
            let start = self.broadcast_to_target(self.value(start), &rule, Shape::from([]))?;
            let sizes = [sizes[axis], shape[axis]];
            if sizes[0] < sizes[1] {
                let [taken, size] = sizes;
                let dtype = position_type(size);
                let start = self.clamp_start(&start, size - taken, dtype)?;
                let counter = self.iota(dtype, [taken], 0)?;
                let positions = self.elementwise(Op::Add, &[start, counter], &RuleSet::Numpy)?;
                shorter.push(ShorterAxis { axis, positions, sizes });
            }
        }
        let share =
            |it: &ShorterAxis, other: &ShorterAxis| it.sizes[0] as u128 * other.sizes[1] as u128;
        sort_few_by(&mut shorter, |it, other| share(it, other).cmp(&share(other, it)));
        Ok(shorter)
    }

    /// Checks that starts are integers. `operands` are the array and the starts; `operand` is the
    /// position of the starts in the error.
    ///
    /// # Errors
    /// TY1.
    #[track_caller]
    pub(super) fn check_index_type(
        &self,
        operation: &'static str,
        operands: [ValueId; 2],
        operand: usize,
    ) -> Result<(), GraphError> {
        let dtype = self.type_of(operands[1]).dtype;
        match dtype.is_integer() {
            true => Ok(()),
            false => {
                let kind = GraphErrorKind::ElementTypeNotAllowed { operand, dtype };
                Err(self.error(operation, &operands, kind))
            }
        }
    }

    /// Starts clamped to `0..=last`, as elements of type `dtype`, which can hold `last`.
    #[track_caller]
    pub(super) fn clamp_start(&self, start: &Value, last: usize, dtype: DType) -> BuildResult {
        let mut start = self.widen_start(start)?;
        let wide = start.array_type()?.dtype;
        let bound = |number: usize| self.literal(Literal::Int(number as i128), wide);
        let bounds = [(Op::Max, bound(0)?), (Op::Min, bound(last)?)];
        for (op, bound) in bounds {
            if wide == DType::I64 || op == Op::Min {
                start = self.elementwise(op, &[start, bound], &RuleSet::Numpy)?;
            }
        }
        self.convert(start, dtype)
    }

    /// Starts as integers of 64 bits: `u64` stays, other types become `i64`.
    #[track_caller]
    fn widen_start(&self, start: &Value) -> BuildResult {
        match start.array_type()?.dtype {
            DType::U64 => Ok(start.clone()),
            _ => self.convert(start, DType::I64),
        }
    }
}

/// The element type of positions along an axis of `size` elements.
pub(super) fn position_type(size: usize) -> DType {
    match i32::try_from(size) {
        Ok(_) => DType::I32,
        Err(_) => DType::I64,
    }
}
