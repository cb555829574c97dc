//! Functions composed of slices and concatenation: `stack`, `roll` and padding.

use core::cmp::Ordering;

use indim_graph::{AxisSlice, GraphError, GraphErrorKind};
use indim_shape::{Shape, check_broadcast_in_dim};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;
use crate::views::Index;

/// The elements of a padding, for [`GraphBuilder::extend`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PadMode {
    /// The element at the edge, repeated.
    Edge,
    /// The array, repeated.
    Wrap,
    /// The array mirrored at its edge element, which is not repeated: `c b a b c`.
    Reflect,
    /// The array mirrored with its edge element: `b a a b`.
    Symmetric,
}

impl PadMode {
    /// Every mode.
    pub const ALL: [PadMode; 4] =
        [PadMode::Edge, PadMode::Wrap, PadMode::Reflect, PadMode::Symmetric];

    /// NumPy's name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            PadMode::Edge => "edge",
            PadMode::Wrap => "wrap",
            PadMode::Reflect => "reflect",
            PadMode::Symmetric => "symmetric",
        }
    }
}

impl core::str::FromStr for PadMode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        PadMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or(())
    }
}

impl GraphBuilder {
    /// Stacks values of one shape along a new axis at position `axis` of the result.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::F32, [4, 3]).unwrap());
    /// assert_eq!(b.stack(&[x, y], -1)?.array_type()?.to_string(), "f32[4, 3, 2]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `nothing-to-concatenate`; `axis-out-of-range`; `stack-shape` if the shapes differ;
    /// [TY2](indim_shape::rules#element-types-ty) if the element types do;
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn stack(&self, operands: &[impl core::borrow::Borrow<Value>], axis: i64) -> BuildResult {
        let ids = self.ids("stack", operands)?;
        let Some(&first) = ids.first() else {
            return Err(self.error("stack", &[], GraphErrorKind::NothingToConcatenate));
        };
        let rank = self.type_of(first).shape.rank() + 1;
        let axis = self.checked_axis("stack", &ids, axis, rank)?;
        let mut parts = Vec::with_capacity(ids.len());
        for (position, &id) in ids.iter().enumerate() {
            let mut sizes = self.type_of(id).shape.to_vec();
            if self.type_of(id).shape != self.type_of(first).shape {
                let kind = GraphErrorKind::StackShape { operand: position };
                return Err(self.error("stack", &ids, kind));
            }
            sizes.insert(axis, 1);
            let (part, source_axis) = (self.value(id), |at: usize| match at.cmp(&axis) {
                Ordering::Less => Some(at),
                Ordering::Equal => None,
                Ordering::Greater => Some(at - 1),
            });
            let expanded = self.reshape_units(&part, sizes)?;
            parts.push(self.keep_axis_names(&part, expanded, source_axis));
        }
        self.concatenate(&parts, axis as i64)
    }

    /// The elements along `axis` shifted by `shift` positions, cyclically.
    ///
    /// # Errors
    /// `axis-out-of-range`.
    #[track_caller]
    pub fn roll(&self, operand: impl Operand, shift: i64, axis: i64) -> BuildResult {
        let (x, shape, axis) = self.along_axis("roll", operand, axis)?;
        let size = shape[axis];
        // The remainder is undefined for an empty axis, where nothing moves.
        let offset = i128::from(shift).checked_rem_euclid(size as i128).unwrap_or(0);
        if shift != 0 && shift.unsigned_abs() >= size as u64 {
            self.pin(&x, axis, "it is shifted by a remainder of its size");
        }
        if offset == 0 {
            return Ok(x);
        }
        // A shift below the size is the same bound for all sizes.
        let bound = match shift.unsigned_abs() < size as u64 {
            true => -shift,
            false => size as i64 - offset as i64,
        };
        let front = self.slice_bounds(&x, axis, (Some(bound), None, None))?;
        let back = self.slice_bounds(&x, axis, (None, Some(bound), None))?;
        self.concatenate(&[front, back], axis as i64)
    }

    /// XLA's `Pad`. Each axis has an entry `(low, high, interior)`: `low` copies of the scalar `value` before
    /// the elements, `high` after them, and `interior` between each two neighbours; negative `low` and `high`
    /// remove elements.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [3])?;
    /// let graph = b.finish(&[b.pad(&x, 9, &[(1, -1, 1)])?])?;
    /// let x = Array::new([3], vec![1, 2, 3])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<i32>(), Ok(&[9, 1, 9, 2, 9][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `slice-rank` unless each axis has an entry; [TY2](indim_shape::rules#element-types-ty) if the element
    /// types differ; [E1](indim_shape::rules#the-explicit-form-e) if `value` is not a scalar;
    /// `slice-out-of-range` if more elements are removed than an axis has; E5 `too-large`.
    #[track_caller]
    pub fn pad(
        &self,
        operand: impl Operand,
        value: impl Operand,
        widths: &[(i64, i64, usize)],
    ) -> BuildResult {
        let ids = self.ids_of("pad", &[operand.into_arg(), value.into_arg()], 0)?;
        let [mut x, value] = [self.value(ids[0]), self.value(ids[1])];
        let (given, rank) = (widths.len(), self.type_of(ids[0]).shape.rank());
        if given != rank {
            return Err(self.error("pad", &ids, GraphErrorKind::SliceRank { given, rank }));
        }
        for (axis, &(low, high, interior)) in widths.iter().enumerate() {
            x = self.insert_interior(&x, &value, axis, interior)?;
            x = self.trim_ends(&x, axis, low, high)?;
            x = self.pad_ends(&x, axis, low, high, |width| self.fill(&x, &value, axis, width))?;
        }
        Ok(x)
    }

    /// Pads each axis with `(before, after)` elements by `mode`, like NumPy's `pad`.
    ///
    /// ```
    /// use indim_builder::{GraphBuilder, PadMode};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [3])?;
    /// let graph = b.finish(&[b.extend(&x, &[(2, 1)], PadMode::Wrap)?])?;
    /// let x = Array::new([3], vec![1, 2, 3])?;
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<i32>(), Ok(&[2, 3, 1, 2, 3, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `slice-rank` unless each axis has an entry; `pad-width` if the array has no elements to repeat, or too
    /// few to mirror; E5 `too-large`.
    #[track_caller]
    pub fn extend(
        &self,
        operand: impl Operand,
        widths: &[(usize, usize)],
        mode: PadMode,
    ) -> BuildResult {
        let id = self.operand_id("pad", operand)?;
        let (given, rank) = (widths.len(), self.type_of(id).shape.rank());
        if given != rank {
            return Err(self.error("pad", &[id], GraphErrorKind::SliceRank { given, rank }));
        }
        let mut x = self.value(id);
        for (axis, &(low, high)) in widths.iter().enumerate() {
            let [front, back] = [(low, true), (high, false)].map(|(width, is_front)| match width {
                0 => Ok(None),
                _ => self.border(&x, axis, width, is_front, mode).map(Some),
            });
            let parts: Vec<Value> = front?.into_iter().chain([x]).chain(back?).collect();
            x = self.concatenate(&parts, axis as i64)?;
        }
        Ok(x)
    }

    /// The padding before or after the elements of an axis.
    #[track_caller]
    fn border(
        &self,
        x: &Value,
        axis: usize,
        width: usize,
        is_front: bool,
        mode: PadMode,
    ) -> BuildResult {
        let size = x.array_type()?.shape[axis];
        let max = match mode {
            _ if size == 0 => 0,
            PadMode::Edge | PadMode::Wrap => usize::MAX,
            PadMode::Reflect => size - 1,
            PadMode::Symmetric => size,
        };
        if width > max {
            let kind = GraphErrorKind::PadWidth { axis, width, max };
            return Err(self.error("pad", &[self.id("pad", x)?], kind));
        }
        let count = i64::try_from(width).unwrap_or(i64::MAX);
        let (first, last) = match (mode, is_front) {
            (PadMode::Edge, true) => (None, Some(1)),
            (PadMode::Edge, false) => (Some(-1), None),
            (PadMode::Wrap, _) if width >= size => {
                return self.wrap_border(x, axis, width, is_front);
            }
            (PadMode::Wrap, true) => (Some(-count), None),
            (PadMode::Wrap, false) => (None, Some(count)),
            (PadMode::Reflect, true) => (Some(count), Some(0)),
            (PadMode::Reflect, false) => (Some(-2), Some(-2 - count)),
            (PadMode::Symmetric, true) => (Some(count - 1), None),
            (PadMode::Symmetric, false) => (Some(-1), Some(-1 - count)),
        };
        let step = matches!(mode, PadMode::Reflect | PadMode::Symmetric).then_some(-1);
        let border = self.slice_bounds(x, axis, (first, last, step))?;
        match mode {
            PadMode::Edge => self.repeat_edge(&border, axis, width),
            _ => Ok(border),
        }
    }

    /// `width` elements of the axis repeated cyclically: the last elements if `is_last`, else the first.
    #[track_caller]
    fn wrap_border(&self, x: &Value, axis: usize, width: usize, is_last: bool) -> BuildResult {
        let mut sizes = x.array_type()?.shape.to_vec();
        let size = sizes[axis];
        let repeats = width.div_ceil(size);
        let dims: Vec<i64> =
            (0..sizes.len()).map(|other| (other + usize::from(other >= axis)) as i64).collect();
        sizes.insert(axis, repeats);
        let repeated = self.broadcast_in_dim(x, &dims, &sizes[..])?;
        sizes.remove(axis);
        sizes[axis] = repeats.saturating_mul(size);
        let cycle = self.reshape(repeated, &sizes[..])?;
        let start = if is_last { sizes[axis] - width } else { 0 };
        self.slice_axis(&cycle, axis, AxisSlice::new(start, width, 1))
    }

    /// An axis of one element, repeated to `width` elements.
    #[track_caller]
    fn repeat_edge(&self, x: &Value, axis: usize, width: usize) -> BuildResult {
        let dims: Vec<i64> = (0..x.array_type()?.shape.rank() as i64).collect();
        let repeated = self.broadcast_along(x, &dims, x, (axis, width))?;
        self.pin(&repeated, axis, "a padding has this size");
        Ok(repeated)
    }

    /// Inserts `count` copies of `value` between each two neighbours along an axis.
    #[track_caller]
    pub(crate) fn insert_interior(
        &self,
        x: &Value,
        value: &Value,
        axis: usize,
        count: usize,
    ) -> BuildResult {
        let mut sizes = x.array_type()?.shape.to_vec();
        let size = sizes[axis];
        if count == 0 || size < 2 {
            return Ok(x.clone());
        }
        sizes.insert(axis + 1, 1);
        let elements = self.reshape_units(x, &sizes[..])?;
        let padding = self.fill(&elements, value, axis + 1, count)?;
        let interleaved = self.concatenate(&[elements, padding], axis as i64 + 1)?;
        sizes.remove(axis + 1);
        sizes[axis] = size.saturating_mul(count.saturating_add(1));
        let flat = self.merged_axes(&interleaved, axis, &sizes[..])?;
        let behind = i64::try_from(count).unwrap_or(i64::MAX);
        self.slice_bounds(&flat, axis, (None, Some(-behind), None))
    }

    /// A reshape that merges `axis` and the axis after it.
    #[track_caller]
    fn merged_axes(&self, x: &Value, axis: usize, sizes: &[usize]) -> BuildResult {
        let id = self.id("reshape", x)?;
        let flat = self.reshape_unpinned(id, Shape::from(sizes))?;
        let result = self.id("reshape", &flat)?;
        self.with_facts(|facts| {
            facts.reshape([id, result], axis);
            (0..axis).for_each(|other| facts.equate_axes((id, other), (result, other)));
            let after = axis + 1..sizes.len();
            after.for_each(|other| facts.equate_axes((id, other + 1), (result, other)));
        });
        Ok(flat)
    }

    /// Removes elements at the ends whose width is negative.
    #[track_caller]
    fn trim_ends(&self, x: &Value, axis: usize, low: i64, high: i64) -> BuildResult {
        let size = x.array_type()?.shape[axis];
        let cut = |width: i64| usize::try_from(-i128::from(width.min(0))).unwrap_or(usize::MAX);
        let (front, back) = (cut(low), cut(high));
        let Some(kept_count) = size.checked_sub(front.saturating_add(back)) else {
            let slice = AxisSlice::new(front, front.saturating_add(back), 1);
            let kind = GraphErrorKind::SliceOutOfRange { axis, slice, size };
            return Err(self.error("pad", &[self.id("pad", x)?], kind));
        };
        let behind = size - front - kept_count;
        let [first, last] = [(front, front as i64), (behind, -(behind as i64))]
            .map(|(width, bound)| (width > 0).then_some(bound));
        self.slice_bounds(x, axis, (first, last, None))
    }

    /// `x` with `fill_width(width)` before and after it, for positive widths.
    #[track_caller]
    fn pad_ends(
        &self,
        x: &Value,
        axis: usize,
        low: i64,
        high: i64,
        fill_width: impl Fn(usize) -> BuildResult,
    ) -> BuildResult {
        let side = |width: i64| match usize::try_from(width).unwrap_or(0) {
            0 => Ok(None),
            width => fill_width(width).map(Some),
        };
        let parts = side(low)?.into_iter().chain([x.clone()]).chain(side(high)?);
        self.concatenate(&parts.collect::<Vec<Value>>(), axis as i64)
    }

    /// The scalar `value` broadcast to the shape of `x` with `width` elements along `axis`.
    #[track_caller]
    fn fill(&self, x: &Value, value: &Value, axis: usize, width: usize) -> BuildResult {
        let filled = self.filled_axis(x, value, axis, width)?;
        self.pin(&filled, axis, "a padding has this size");
        Ok(filled)
    }

    /// Like [`GraphBuilder::fill`], but does not pin the width.
    #[track_caller]
    pub(crate) fn filled_axis(
        &self,
        x: &Value,
        value: &Value,
        axis: usize,
        width: usize,
    ) -> BuildResult {
        self.broadcast_along(value, &[], x, (axis, width))
    }

    /// A broadcast to the shape of `like` with `width` elements along `axis`, whose size is not pinned.
    #[track_caller]
    fn broadcast_along(
        &self,
        operand: &Value,
        dims: &[i64],
        like: &Value,
        (axis, width): (usize, usize),
    ) -> BuildResult {
        let [id, like] = [self.id("pad", operand)?, self.id("pad", like)?];
        let mut sizes = self.type_of(like).shape.to_vec();
        sizes[axis] = width;
        let shape = Shape::from(sizes);
        let map = match check_broadcast_in_dim(&self.type_of(id).shape, dims, &shape) {
            Ok(map) => map,
            Err(error) => return Err(self.shape_error("broadcast_in_dim", &[id], error)),
        };
        let result = self.checked_broadcast("broadcast_in_dim", id, &map, &shape)?;
        let result_id = result.expect_id();
        let others = (0..shape.rank()).filter(|other| *other != axis);
        self.with_facts(|facts| {
            others.for_each(|other| facts.equate_axes((result_id, other), (like, other)));
        });
        Ok(result)
    }

    /// A slice of one axis by Python's bounds, which state it for all sizes of the axis.
    #[track_caller]
    fn slice_bounds(
        &self,
        x: &Value,
        axis: usize,
        (start, stop, step): (Option<i64>, Option<i64>, Option<i64>),
    ) -> BuildResult {
        let mut indices = vec![Index::ALL; axis];
        indices.push(Index::Slice { start, stop, step });
        self.index(x, &indices)
    }

    /// A slice of one axis; all other axes stay whole.
    #[track_caller]
    pub(crate) fn slice_axis(&self, x: &Value, axis: usize, slice: AxisSlice) -> BuildResult {
        let shape = x.array_type()?.shape;
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = slice;
        self.pin(x, axis, "a part of it is taken");
        self.slice_unpinned("slice", self.id("slice", x)?, &slices)
    }

    /// The operand as a value, its shape, and `axis` counted from the front.
    #[track_caller]
    pub(crate) fn along_axis(
        &self,
        operation: &'static str,
        operand: impl Operand,
        axis: i64,
    ) -> Result<(Value, Shape, usize), GraphError> {
        let id = self.operand_id(operation, operand)?;
        let shape = self.type_of(id).shape;
        let axis = self.checked_axis(operation, &[id], axis, shape.rank())?;
        Ok((self.value(id), shape, axis))
    }
}
