//! Selections of some elements of a sorted row, without a sort of the whole row. A row arrives part by part.

use core::ops::Range;

use crate::sort_first::{FirstSelection, max_candidates};
use crate::sort_keys::SortKey;
use crate::sort_middle::{MIDDLE_COUNT_BYTES, MiddleSelection};

/// Minimum length of a row. Shorter rows are sorted together, which takes less time.
const MIN_LENGTH: usize = 512;

/// Maximum length of a row that may be sorted together with others.
const MAX_SHORT_LENGTH: usize = 1024;

/// Minimum length of a short row per selected element. The more are selected, the more keys become
/// candidates.
const MIN_SHORT_LENGTH_PER_SELECTED: usize = 16;

/// Minimum length of other rows per selected element.
const MIN_LENGTH_PER_SELECTED: usize = 4;

/// Elements of a row that are added together: their keys stay in L1.
const PART_ELEMENTS: usize = 2048;

/// The elements that are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// This number of elements from the start of the sorted row on.
    First(usize),
    /// This number of elements up to the end of the sorted row. They are the first ones in the reversed
    /// order.
    Last(usize),
    /// Elements that are far from both ends.
    Middle,
}

/// The way to select elements of rows of one length.
#[derive(Debug)]
pub struct Selection {
    /// The sorted positions that are read.
    read: Range<usize>,
    length: usize,
    method: Method,
}

impl Selection {
    /// Selections of the elements at the positions `read` of a sorted row of `length` elements; none if a
    /// sort of the whole row takes less time.
    pub fn of_ranges(read: &[Range<usize>], length: usize) -> Vec<Selection> {
        let selections = read.iter().map(|range| Selection::new(range.clone(), length, read.len()));
        selections.collect::<Option<_>>().unwrap_or_default()
    }

    /// One of `count` selections from a row; `None` if a sort takes less time.
    fn new(read: Range<usize>, length: usize, count: usize) -> Option<Selection> {
        let per_selected = match length {
            ..MIN_LENGTH => return None,
            MIN_LENGTH..=MAX_SHORT_LENGTH => count * MIN_SHORT_LENGTH_PER_SELECTED,
            _ => count * MIN_LENGTH_PER_SELECTED,
        };
        // A candidate has 32 bits for its position.
        if read.is_empty() || u32::try_from(length).is_err() {
            return None;
        }
        let method = match [read.end, length - read.start, read.len()] {
            [first, last, _] if first <= last && first <= length / per_selected => {
                Method::First(first)
            }
            [_, last, _] if last <= length / per_selected => Method::Last(last),
            [.., read] if length > MAX_SHORT_LENGTH && read <= length / per_selected => {
                Method::Middle
            }
            _ => return None,
        };
        Some(Selection { read, length, method })
    }

    /// The sorted positions that are read.
    pub fn read(&self) -> Range<usize> {
        self.read.clone()
    }

    /// Upper bound of the bytes for a row, with keys of `size` bytes.
    pub fn row_bytes(&self, size: usize) -> usize {
        // A key and a position; the largest key is aligned to its size.
        let candidate = if size <= 4 { 8 } else { 2 * size };
        let candidates = match self.method {
            Method::First(selected) | Method::Last(selected) => {
                max_candidates(selected) * candidate
            }
            // The list grows by doubling.
            Method::Middle => MIDDLE_COUNT_BYTES + 2 * self.length * candidate,
        };
        let results = self.read.len() * (size_of::<i64>() + size);
        candidates + PART_ELEMENTS.min(self.length) * size + results
    }

    /// Whether keys are added in the reversed order: from the end of the row on, with all bits inverted.
    pub fn is_reversed(&self) -> bool {
        matches!(self.method, Method::Last(_))
    }

    /// The parts of a row in the order in which their keys are added. The middle takes each part twice.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (length, is_reversed) = (self.length, self.is_reversed());
        let passes = if self.method == Method::Middle { 2 } else { 1 };
        let parts = (0..passes).flat_map(move |_| (0..length).step_by(PART_ELEMENTS));
        parts.map(move |first| {
            let part = first..length.min(first + PART_ELEMENTS);
            if is_reversed { length - part.end..length - part.start } else { part }
        })
    }

    /// The selection of one row after another.
    pub fn rows<K: SortKey>(&self) -> RowSelection<K> {
        let state = match self.method {
            Method::First(selected) | Method::Last(selected) => {
                State::First(FirstSelection::new(selected))
            }
            Method::Middle => State::Middle(MiddleSelection::new(self.read.clone())),
        };
        RowSelection { state, added: 0 }
    }

    /// Appends the positions in the row that are read, in sorted order, and begins the next row.
    pub fn finish<K: SortKey>(&self, row: &mut RowSelection<K>, positions: &mut Vec<i64>) {
        row.added = 0;
        let selected = match &mut row.state {
            State::First(row) => row.finish(),
            State::Middle(row) => row.finish(),
        };
        let position = |&it: &K::WithPosition| K::position(it) as i64;
        match self.method {
            Method::First(_) => positions.extend(selected[self.read.start..].iter().map(position)),
            Method::Last(_) => {
                let from_end = selected.iter().rev().take(self.read.len()).map(position);
                positions.extend(from_end.map(|position| self.length as i64 - 1 - position));
            }
            Method::Middle => positions.extend(selected.iter().map(position)),
        }
    }
}

/// The selection of elements of one row after another.
#[derive(Debug)]
pub struct RowSelection<K: SortKey> {
    state: State<K>,
    /// The number of keys of the row added in this pass.
    added: usize,
}

#[derive(Debug)]
enum State<K: SortKey> {
    First(FirstSelection<K>),
    Middle(MiddleSelection<K>),
}

impl<K: SortKey> RowSelection<K> {
    /// Adds the keys of the next part of a row of `length` elements. Equal keys are selected in the order in
    /// which they are added.
    pub fn add(&mut self, keys: &[K], length: usize) {
        let first = self.added;
        self.added += keys.len();
        match &mut self.state {
            State::First(row) => row.add(keys, first),
            State::Middle(row) => {
                row.add(keys, first);
                if self.added == length {
                    self.added = 0;
                    row.end_pass();
                }
            }
        }
    }
}
