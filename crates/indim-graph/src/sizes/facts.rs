//! Facts about sizes that only the builder of a graph knows.

use std::collections::BTreeMap;

use crate::graph::ValueId;
use crate::views::AxisSlice;

/// The bounds of a slice of an axis as they were written, like those of Python's `start:stop:step`: they give
/// the slice of an axis of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SliceBounds {
    /// The first index.
    pub start: Option<i64>,
    /// The exclusive end.
    pub stop: Option<i64>,
    /// The distance between elements.
    pub step: Option<i64>,
}

impl SliceBounds {
    /// The slice of an axis of this size; `None` if a bound is out of range and would be clamped, or the
    /// step is 0.
    pub(super) fn slice(&self, size: usize) -> Option<AxisSlice> {
        let is_in_range =
            |bound: Option<i64>| bound.is_none_or(|bound| bound.unsigned_abs() <= size as u64);
        let slice = AxisSlice::python(self.start, self.stop, self.step, size).ok()?;
        (is_in_range(self.start) && is_in_range(self.stop)).then_some(slice)
    }

    /// The first index of the slice of an axis of this size, or its distance from the end if the bounds start
    /// from the end.
    pub(super) fn start_of(&self, slice: &AxisSlice, size: usize) -> usize {
        if self.starts_from_end() { size - slice.start() } else { slice.start() }
    }

    /// Whether the first index has the same distance from the end of the axis for all sizes of the axis.
    /// Otherwise it is the same index.
    pub(super) fn starts_from_end(&self) -> bool {
        self.start.map_or(self.is_backwards(), |start| start < 0)
    }

    /// Whether the number of elements is the same for all sizes of the axis.
    pub(super) fn has_fixed_count(&self) -> bool {
        let stops_from_end = self.stop.map_or(!self.is_backwards(), |stop| stop < 0);
        self.starts_from_end() == stops_from_end
    }

    /// Whether the number of elements before the lowest index of the slice is the same for all sizes of the
    /// axis with one remainder by the step.
    pub(super) fn has_fixed_low(&self) -> bool {
        match self.is_backwards() {
            true => self.stop.is_none_or(|stop| stop >= 0),
            false => !self.starts_from_end(),
        }
    }

    /// Like [`SliceBounds::has_fixed_low`], for the elements after the highest index.
    pub(super) fn has_fixed_high(&self) -> bool {
        match self.is_backwards() {
            true => self.starts_from_end(),
            false => self.stop.is_none_or(|stop| stop < 0),
        }
    }

    fn is_backwards(&self) -> bool {
        self.step.is_some_and(|step| step < 0)
    }
}

/// The axis of a slice, with its bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenSlice {
    pub(super) operand: ValueId,
    pub(super) result: ValueId,
    pub(super) axis: usize,
    pub(super) bounds: SliceBounds,
}

/// A reshape whose sizes do not pin those of its operand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FreeReshape {
    pub(super) operand: ValueId,
    pub(super) result: ValueId,
    /// The axis of the result whose size follows from the others.
    pub(super) inferred: usize,
}

/// An axis of a value.
pub type ValueAxis = (ValueId, usize);

/// The axis of a slice of a concatenation that has the elements of one part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlicedPart {
    pub(super) operand: ValueId,
    pub(super) result: ValueId,
    pub(super) axis: usize,
    /// The part.
    pub(super) part: ValueId,
    /// The parts before it.
    pub(super) before: Vec<ValueId>,
}

/// Arrays that extend the elements of a slice, spread by its step, to the size of the sliced axis again.
#[derive(Debug, Clone, PartialEq)]
pub struct SlicePadding {
    /// The sliced value, and the slice.
    pub slice: [ValueId; 2],
    /// The axis.
    pub axis: usize,
    /// The array before the elements.
    pub low: Option<ValueId>,
    /// The elements.
    pub middle: ValueId,
    /// The array after the elements.
    pub high: Option<ValueId>,
}

impl SlicedPart {
    /// The values that have the axis.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        [self.operand, self.result, self.part].into_iter().chain(self.before.iter().copied())
    }

    /// The part of these values, whose axis is after the added ones; `None` if a value has other axes than
    /// the others.
    fn inlined(&self, value: impl Fn(ValueId) -> Option<(ValueId, usize)>) -> Option<SlicedPart> {
        let added = value(self.result)?.1;
        let of = |of: ValueId| value(of).filter(|value| value.1 == added).map(|value| value.0);
        Some(SlicedPart {
            operand: of(self.operand)?,
            result: of(self.result)?,
            axis: self.axis + added,
            part: of(self.part)?,
            before: self.before.iter().map(|&before| of(before)).collect::<Option<_>>()?,
        })
    }
}

impl SlicePadding {
    /// The values of the padding.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.slice.into_iter().chain(self.low).chain([self.middle]).chain(self.high)
    }

    /// The padding of these values, whose axis is after the added ones; `None` if a value is missing, or has
    /// other axes than the others.
    fn inlined(&self, value: impl Fn(ValueId) -> Option<(ValueId, usize)>) -> Option<SlicePadding> {
        let added = value(self.middle)?.1;
        let of = |of: ValueId| value(of).filter(|value| value.1 == added).map(|value| value.0);
        let side = |side: Option<ValueId>| side.map_or(Some(None), |side| of(side).map(Some));
        Some(SlicePadding {
            slice: [of(self.slice[0])?, of(self.slice[1])?],
            axis: self.axis + added,
            low: side(self.low)?,
            middle: of(self.middle)?,
            high: side(self.high)?,
        })
    }
}

/// The number of elements along some axes, minus a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ElementCount {
    /// The axes, each with its value.
    pub(super) axes: Vec<(ValueId, usize)>,
    /// The subtracted number.
    pub(super) correction: f64,
}

/// The key of a count: its axes, and the bits of the subtracted number.
type CountKey = (Vec<(ValueId, usize)>, u64);

/// The value of a count: the product of `sizes`, minus `correction`.
pub fn count_of(sizes: impl Iterator<Item = usize>, correction: f64) -> f64 {
    sizes.map(|size| size as f64).product::<f64>() - correction
}

/// Facts about sizes that the nodes of a graph do not state: sizes that the builder used as numbers, shapes
/// that are equal by construction, names, and counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizeFacts {
    pinned: BTreeMap<(ValueId, usize), &'static str>,
    /// Pairs of values whose axes from these on have equal sizes in order.
    equal_shapes: Vec<(ValueAxis, ValueAxis)>,
    /// Pairs of axes of equal size.
    equal_axes: Vec<(ValueAxis, ValueAxis)>,
    slices: Vec<WrittenSlice>,
    reshapes: Vec<FreeReshape>,
    parts: Vec<SlicedPart>,
    paddings: Vec<SlicePadding>,
    counts: Vec<(ValueId, ElementCount)>,
    /// The indices in `counts` of each key.
    count_indices: BTreeMap<CountKey, Vec<usize>>,
    names: Vec<String>,
    /// Each named axis: value, axis, and index in `names`.
    named_axes: Vec<(ValueId, usize, usize)>,
}

impl SizeFacts {
    /// States that the size of this axis was used as a number; `reason` is text such as "the mean divides by
    /// it".
    pub fn pin(&mut self, value: ValueId, axis: usize, reason: &'static str) {
        self.pinned.entry((value, axis)).or_insert(reason);
    }

    /// States that two values have equal shapes by construction.
    pub fn equate(&mut self, value: ValueId, other: ValueId) {
        if value != other {
            self.equal_shapes.push(((value, 0), (other, 0)));
        }
    }

    /// States the bounds as written of the slice of `operand` along this axis. The result may be the operand
    /// itself.
    pub fn slice(&mut self, [operand, result]: [ValueId; 2], axis: usize, bounds: SliceBounds) {
        if bounds.has_fixed_count() {
            self.pin(result, axis, "a slice of it is taken");
        }
        self.slices.push(WrittenSlice { operand, result, axis, bounds });
    }

    /// States that the size of the axis `inferred` of a reshape follows from its other sizes and those of
    /// its operand. The result may be the operand itself.
    pub fn reshape(&mut self, [operand, result]: [ValueId; 2], inferred: usize) {
        self.reshapes.push(FreeReshape { operand, result, inferred });
    }

    /// States that two axes have equal sizes.
    pub fn equate_axes(&mut self, axis: ValueAxis, other: ValueAxis) {
        self.equal_axes.push((axis, other));
    }

    /// States that the slice `result` of a concatenation `operand` has the elements of `part`, after those of
    /// the parts `before`. The result may be the operand itself.
    pub fn part(
        &mut self,
        [operand, result]: [ValueId; 2],
        axis: usize,
        part: ValueId,
        before: Vec<ValueId>,
    ) {
        self.parts.push(SlicedPart { operand, result, axis, part, before });
    }

    /// States that arrays extend the elements of a slice to the size of the sliced axis.
    pub fn padding(&mut self, padding: SlicePadding) {
        self.paddings.push(padding);
    }

    /// Adds the facts of another graph. `value` gives the value here for a value of that graph, and the
    /// number of axes that it has before those there; `None` for a value that is not here. Names are left
    /// out.
    pub fn inline(
        &mut self,
        facts: &SizeFacts,
        value: impl Fn(ValueId) -> Option<(ValueId, usize)>,
    ) {
        let place = |(of, axis): ValueAxis| value(of).map(|(of, added)| (of, axis + added));
        let pair = |first: ValueId, second: ValueId| {
            let (first, second) = (value(first)?, value(second)?);
            (first.1 == second.1).then_some(([first.0, second.0], first.1))
        };
        for (&axis, reason) in &facts.pinned {
            place(axis).into_iter().for_each(|(of, axis)| self.pin(of, axis, reason));
        }
        for &(axis, other) in &facts.equal_shapes {
            let pair = place(axis).zip(place(other));
            self.equal_shapes.extend(pair);
        }
        for &(axis, other) in &facts.equal_axes {
            let pair = place(axis).zip(place(other));
            self.equal_axes.extend(pair);
        }
        for &WrittenSlice { operand, result, axis, bounds } in &facts.slices {
            let slice = pair(operand, result).map(|([operand, result], added)| WrittenSlice {
                operand,
                result,
                axis: axis + added,
                bounds,
            });
            self.slices.extend(slice);
        }
        for &FreeReshape { operand, result, inferred } in &facts.reshapes {
            let reshape = pair(operand, result).map(|([operand, result], added)| FreeReshape {
                operand,
                result,
                inferred: inferred + added,
            });
            self.reshapes.extend(reshape);
        }
        self.parts.extend(facts.parts.iter().filter_map(|part| part.inlined(&value)));
        self.paddings.extend(facts.paddings.iter().filter_map(|padding| padding.inlined(&value)));
        for (of, ElementCount { axes, correction }) in &facts.counts {
            let axes = axes.iter().map(|&axis| place(axis)).collect();
            if let (Some((of, _)), Some(axes)) = (value(*of), axes) {
                self.add_count(of, axes, *correction);
            }
        }
    }

    /// Whether a value is a count.
    pub fn is_count(&self, value: ValueId) -> bool {
        self.counts.iter().any(|(count, _)| *count == value)
    }

    /// The slices with the bounds as written.
    pub(super) fn slices(&self) -> &[WrittenSlice] {
        &self.slices
    }

    /// The reshapes whose sizes do not pin those of their operands.
    pub(super) fn reshapes(&self) -> &[FreeReshape] {
        &self.reshapes
    }

    /// Names the size of this axis. Sizes with one name are equal.
    pub fn name(&mut self, value: ValueId, axis: usize, name: &str) {
        let index = self.name_index(name);
        self.named_axes.push((value, axis, index));
    }

    /// The index of a name in [`SizeFacts::size_names`]; a new name is added.
    pub fn name_index(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The names of sizes.
    pub fn size_names(&self) -> impl Iterator<Item = &str> + '_ {
        self.names.iter().map(String::as_str)
    }

    /// The axes whose sizes have names, with the indices of the names.
    pub(super) fn named_axes(&self) -> &[(ValueId, usize, usize)] {
        &self.named_axes
    }

    /// States that the constant `value` is the number of elements along these axes, minus `correction`.
    pub fn add_count(&mut self, value: ValueId, axes: Vec<(ValueId, usize)>, correction: f64) {
        self.count_indices
            .entry((axes.clone(), correction.to_bits()))
            .or_default()
            .push(self.counts.len());
        self.counts.push((value, ElementCount { axes, correction }));
    }

    /// The constants with this count.
    pub fn counts_of(
        &self,
        axes: Vec<(ValueId, usize)>,
        correction: f64,
    ) -> impl Iterator<Item = ValueId> + '_ {
        let indices = self.count_indices.get(&(axes, correction.to_bits())).into_iter().flatten();
        indices.map(|&index| self.counts[index].0)
    }

    /// The constants that are counts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (ValueId, &ElementCount)> + '_ {
        self.counts.iter().map(|(value, count)| (*value, count))
    }

    /// The axes whose sizes were used as numbers, with the reasons.
    pub(super) fn pinned(&self) -> impl Iterator<Item = (ValueId, usize, &'static str)> + '_ {
        self.pinned.iter().map(|(&(value, axis), &reason)| (value, axis, reason))
    }

    /// The pairs of values whose axes from these on have equal sizes in order.
    pub(super) fn equal_shapes(&self) -> &[(ValueAxis, ValueAxis)] {
        &self.equal_shapes
    }

    /// The pairs of axes of equal size.
    pub(super) fn equal_axes(&self) -> &[(ValueAxis, ValueAxis)] {
        &self.equal_axes
    }

    /// The slices of concatenations that are parts.
    pub(super) fn parts(&self) -> &[SlicedPart] {
        &self.parts
    }

    /// The paddings of slices.
    pub(super) fn paddings(&self) -> &[SlicePadding] {
        &self.paddings
    }
}
