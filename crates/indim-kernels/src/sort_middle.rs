//! Selections of elements in the middle of a sorted row, such as its median.
//!
//! A first pass over the keys counts those with each upper digit. A second pass collects the keys with the
//! digits of the elements that are read. Few of the row's keys have them, unless most are near each other.

use core::ops::{Range, RangeInclusive};

use crate::sort_keys::SortKey;

/// Bits of the digit: the sign and the exponent of a float, and two bits more.
const DIGIT_BITS: u32 = 11;

/// Bytes of the counts of a selection.
pub(crate) const MIDDLE_COUNT_BYTES: usize = (1 << DIGIT_BITS) * size_of::<u32>();

/// The selection of elements in the middle of a row.
#[derive(Debug)]
pub(crate) struct MiddleSelection<K: SortKey> {
    /// The sorted positions that are read.
    read: Range<usize>,
    /// The number of keys with each digit.
    counts: Vec<u32>,
    /// The digits of the elements that are read, once all keys are counted.
    digits: Option<RangeInclusive<usize>>,
    /// The number of keys with lesser digits.
    lesser: usize,
    /// The keys with these digits, with their positions.
    candidates: Vec<K::WithPosition>,
}

impl<K: SortKey> MiddleSelection<K> {
    /// A selection of the elements at the positions `read` of the sorted row, at least one.
    pub(crate) fn new(read: Range<usize>) -> MiddleSelection<K> {
        let counts = vec![0; 1 << DIGIT_BITS];
        MiddleSelection { read, counts, digits: None, lesser: 0, candidates: Vec::new() }
    }

    fn digit(key: K) -> usize {
        key.digit(K::BITS.saturating_sub(DIGIT_BITS), DIGIT_BITS.min(K::BITS))
    }

    /// Adds the keys of the row from position `first` on. All keys are added twice.
    pub(crate) fn add(&mut self, keys: &[K], first: usize) {
        let Some(digits) = &self.digits else {
            keys.iter().for_each(|&key| self.counts[Self::digit(key)] += 1);
            return;
        };
        for (&key, position) in keys.iter().zip(first as u32..) {
            if digits.contains(&Self::digit(key)) {
                self.candidates.push(key.with_position(position));
            }
        }
    }

    /// Ends a pass over the keys.
    pub(crate) fn end_pass(&mut self) {
        if self.digits.is_some() {
            return;
        }
        self.candidates.clear();
        let (mut first, mut last, mut lesser) = (0, 0, 0);
        for (digit, count) in self.counts.iter_mut().enumerate() {
            let count = core::mem::take(count) as usize;
            if lesser <= self.read.start {
                (first, self.lesser) = (digit, lesser);
            }
            if lesser < self.read.end {
                last = digit;
            }
            lesser += count;
        }
        self.digits = Some(first..=last);
    }

    /// The selected keys with their positions in sorted order, and begins the next row.
    pub(crate) fn finish(&mut self) -> &[K::WithPosition] {
        self.digits = None;
        let [start, end] = [self.read.start, self.read.end].map(|position| position - self.lesser);
        self.candidates.select_nth_unstable(start);
        self.candidates[start..].select_nth_unstable(end - 1 - start);
        self.candidates[start..end].sort_unstable();
        &self.candidates[start..end]
    }
}
