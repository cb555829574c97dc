//! Facts about sizes that only the builder of a graph knows.

use std::collections::BTreeMap;

use crate::graph::ValueId;

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
