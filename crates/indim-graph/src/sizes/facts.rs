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
    /// Pairs of values with equal shapes.
    equal_shapes: Vec<(ValueId, ValueId)>,
    slices: Vec<WrittenSlice>,
    reshapes: Vec<FreeReshape>,
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
            self.equal_shapes.push((value, other));
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

    /// Adds the facts of another graph, whose values are these values. Names are left out.
    pub fn inline(&mut self, facts: &SizeFacts, values: &[ValueId]) {
        let value = |of: ValueId| values.get(of.index()).copied();
        for (&(of, axis), reason) in &facts.pinned {
            value(of).into_iter().for_each(|of| self.pin(of, axis, reason));
        }
        for &(of, other) in &facts.equal_shapes {
            value(of).zip(value(other)).into_iter().for_each(|(of, other)| self.equate(of, other));
        }
        for &WrittenSlice { operand, result, axis, bounds } in &facts.slices {
            let slice = value(operand).zip(value(result));
            let slice =
                slice.map(|(operand, result)| WrittenSlice { operand, result, axis, bounds });
            self.slices.extend(slice);
        }
        for &FreeReshape { operand, result, inferred } in &facts.reshapes {
            let reshape = value(operand).zip(value(result));
            self.reshapes.extend(reshape.map(|(operand, result)| FreeReshape {
                operand,
                result,
                inferred,
            }));
        }
        for (of, ElementCount { axes, correction }) in &facts.counts {
            let axes = axes.iter().map(|&(of, axis)| Some((value(of)?, axis)));
            if let (Some(of), Some(axes)) = (value(*of), axes.collect()) {
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

    /// The pairs of values with equal shapes.
    pub(super) fn equal_shapes(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        self.equal_shapes.iter().copied()
    }
}
