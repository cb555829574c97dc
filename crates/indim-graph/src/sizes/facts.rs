//! Facts about sizes from the builder of a graph, which its nodes do not state.

use std::collections::BTreeMap;

use crate::graph::ValueId;

/// The number of elements along some axes, less a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Count {
    /// The axes, each of a value of the graph.
    pub(super) axes: Vec<(ValueId, usize)>,
    /// The number subtracted from it.
    pub(super) less: f64,
}

/// The key of a count: its axes, and the bits of the number subtracted from it.
type CountKey = (Vec<(ValueId, usize)>, u64);

/// The value of a count for axes of these sizes.
pub fn count_of(sizes: impl Iterator<Item = usize>, less: f64) -> f64 {
    sizes.map(|size| size as f64).product::<f64>() - less
}

/// Facts about sizes that the nodes of a graph do not state: sizes that its builder used as numbers, and
/// which are equal because one was made of the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizeFacts {
    pinned: BTreeMap<(ValueId, usize), &'static str>,
    equal: Vec<(ValueId, ValueId)>,
    counts: Vec<(ValueId, Count)>,
    /// The places of counts.
    counted: BTreeMap<CountKey, Vec<usize>>,
    names: Vec<String>,
    named: Vec<(ValueId, usize, usize)>,
}

impl SizeFacts {
    /// The size of this axis was used as a number; `reason` says for what, as in "the mean divides by it".
    pub fn pin(&mut self, value: ValueId, axis: usize, reason: &'static str) {
        self.pinned.entry((value, axis)).or_insert(reason);
    }

    /// Two values have one shape, since that of one was made of the other's.
    pub fn equate(&mut self, value: ValueId, other: ValueId) {
        if value != other {
            self.equal.push((value, other));
        }
    }

    /// The size of this axis has a name: all of one name are equal.
    pub fn name(&mut self, value: ValueId, axis: usize, name: &str) {
        let place = self.place_of_name(name);
        self.named.push((value, axis, place));
    }

    /// The place of a name among those of sizes, the last if it is new.
    pub fn place_of_name(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The names of sizes.
    pub fn size_names(&self) -> impl Iterator<Item = &str> + '_ {
        self.names.iter().map(String::as_str)
    }

    /// The axes whose sizes have names, with the places of these.
    pub(super) fn named(&self) -> &[(ValueId, usize, usize)] {
        &self.named
    }

    /// The constant `value` is the number of elements along these axes, less a number.
    pub fn count(&mut self, value: ValueId, axes: Vec<(ValueId, usize)>, less: f64) {
        self.counted.entry((axes.clone(), less.to_bits())).or_default().push(self.counts.len());
        self.counts.push((value, Count { axes, less }));
    }

    /// The constants that are such a count.
    pub fn counts_of(
        &self,
        axes: Vec<(ValueId, usize)>,
        less: f64,
    ) -> impl Iterator<Item = ValueId> + '_ {
        let places = self.counted.get(&(axes, less.to_bits())).into_iter().flatten();
        places.map(|&place| self.counts[place].0)
    }

    /// The constants that follow sizes.
    pub(super) fn counts(&self) -> impl Iterator<Item = (ValueId, &Count)> + '_ {
        self.counts.iter().map(|(value, count)| (*value, count))
    }

    /// The axes whose sizes were numbers, and why.
    pub(super) fn pinned(&self) -> impl Iterator<Item = (ValueId, usize, &'static str)> + '_ {
        self.pinned.iter().map(|(&(value, axis), &reason)| (value, axis, reason))
    }

    /// The values of one shape.
    pub(super) fn equal(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        self.equal.iter().copied()
    }
}
