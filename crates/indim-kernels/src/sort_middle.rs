//! Selections of elements in the middle of a sorted row, such as its median.
//!
//! A first pass over the keys counts those with each upper digit. A second pass collects the keys with the
//! digits of the elements that are read. Few of the row's keys have them, unless most are near each other.

use core::ops::Range;

use crate::sort_first::KEYS_TOGETHER;
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
    /// The least and the greatest key with the digits of the elements that are read, once all keys are
    /// counted.
    bounds: Option<[K; 2]>,
    /// The number of keys before the least one.
    lesser: usize,
    /// The keys within the bounds, with their positions.
    candidates: Vec<K::WithPosition>,
}

impl<K: SortKey> MiddleSelection<K> {
    /// A selection of the elements at the positions `read` of the sorted row, at least one.
    pub(crate) fn new(read: Range<usize>) -> MiddleSelection<K> {
        let counts = vec![0; 1 << DIGIT_BITS];
        MiddleSelection { read, counts, bounds: None, lesser: 0, candidates: Vec::new() }
    }

    /// Bits below the digit.
    const SHIFT: u32 = K::BITS.saturating_sub(DIGIT_BITS);

    /// Adds the keys of the row from position `first` on. All keys are added twice.
    pub(crate) fn add(&mut self, keys: &[K], first: usize) {
        let Some([least, greatest]) = self.bounds else {
            for &key in keys {
                self.counts[key.digit(Self::SHIFT, K::BITS - Self::SHIFT)] += 1;
            }
            return;
        };
        let is_within = |key: K| (least <= key) & (key <= greatest);
        for (keys, first) in keys.chunks(KEYS_TOGETHER).zip((first..).step_by(KEYS_TOGETHER)) {
            if keys.iter().fold(false, |any, &key| any | is_within(key)) {
                let positions = keys.iter().zip(first as u32..);
                let candidates = positions.filter(|&(&key, _)| is_within(key));
                self.candidates.extend(candidates.map(|(key, at)| key.with_position(at)));
            }
        }
    }

    /// Ends a pass over the keys.
    pub(crate) fn end_pass(&mut self) {
        if self.bounds.is_some() {
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
        let [least, _] = K::bounds_of_digit(first, Self::SHIFT);
        let [_, greatest] = K::bounds_of_digit(last, Self::SHIFT);
        self.bounds = Some([least, greatest]);
    }

    /// The selected keys with their positions in sorted order, and begins the next row.
    pub(crate) fn finish(&mut self) -> &[K::WithPosition] {
        self.bounds = None;
        let [start, end] = [self.read.start, self.read.end].map(|position| position - self.lesser);
        self.candidates.select_nth_unstable(start);
        self.candidates[start..].select_nth_unstable(end - 1 - start);
        self.candidates[start..end].sort_unstable();
        &self.candidates[start..end]
    }
}
