//! Stable sorts of lists of items by their keys.
//!
//! Short lists take a comparison sort of keys packed with their positions. Longer lists with few distinct
//! keys take a counting sort, others a radix sort, from the least significant digit on; a digit that is the
//! same in all keys is skipped.

use core::ops::{ControlFlow, RangeInclusive};

use crate::packed_words::WordPacking;
use crate::sort_few::{DistinctWords, SAMPLE};
use crate::sort_keys::SortKey;

/// Minimum length of a list whose radix sort has digits of 11 bits, which need fewer passes but a larger
/// table of counts: a pass over such a list costs more than the table. Shorter lists have digits of 8
/// bits.
const MIN_WIDE_DIGIT_LENGTH: usize = 1 << 15;

/// Maximum length of a list with keys of up to 32 bits that takes a comparison sort.
const MAX_COMPARISON_SORT_LENGTH: usize = 512;

/// Maximum length of a list with longer keys that takes a comparison sort, per byte of a key: a radix sort
/// takes a pass for each byte.
const COMPARISON_SORT_LENGTH_PER_BYTE: usize = 24;

/// Minimum length of a list of which a sample is searched for equal keys: the sample costs less than a
/// hundredth of a radix sort.
const MIN_SAMPLED_LENGTH: usize = 2048;

/// Bits of keys that are searched for equal keys. A radix sort of shorter keys takes at most two passes, and
/// longer keys are no words.
const COUNTED_BITS: RangeInclusive<u32> = u32::BITS..=u64::BITS;

/// Items of a pass between two calls of the function that may stop a sort.
pub(crate) const ITEMS_PER_CALL: usize = 1 << 14;

/// Receives the number of items that passes of a sort have moved or read since its last call, and may stop
/// the sort. Short lists are sorted without a call.
pub type SortProgress<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;

/// Upper bound of the passes of a sort over its items, with keys of `size` bytes.
pub const fn max_passes(size: usize) -> usize {
    // One pass looks for items out of order, one counts distinct keys, one counts digits, one makes a
    // second list, and one may copy the items back.
    5 + size
}

/// Scratch memory of sorts, reused for several lists.
pub struct SortScratch<I, K: SortKey> {
    item_buffer: Vec<I>,
    words: Vec<u64>,
    packed: Vec<K::WithPosition>,
    /// The number of each item's key among few distinct keys.
    key_numbers: Vec<u8>,
    /// For each digit and each of its values, the number of items; during a pass, the position of the next
    /// item with this value.
    counts: Vec<usize>,
}

impl<I, K: SortKey> Default for SortScratch<I, K> {
    fn default() -> Self {
        SortScratch {
            item_buffer: Vec::new(),
            words: Vec::new(),
            packed: Vec::new(),
            key_numbers: Vec::new(),
            counts: Vec::new(),
        }
    }
}

/// Bytes of the counts of a radix sort, for a list of `items` items with keys of `size` bytes.
pub const fn count_bytes(items: usize, size: usize) -> usize {
    let bits: usize = if items < MIN_WIDE_DIGIT_LENGTH { 8 } else { 11 };
    (8 * size).div_ceil(bits) * (1 << bits) * size_of::<usize>()
}

impl<I: Copy + Default, K: SortKey> SortScratch<I, K> {
    /// Sorts `items` by `key`, stably, until `progress` stops the sort; then the items are those of before,
    /// some of them several times.
    pub fn sort(
        &mut self,
        items: &mut [I],
        key: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        if are_sorted(items, key, progress)?
            || are_few_expected(items, key) && self.sort_few(items, key, progress)?
        {
            return ControlFlow::Continue(());
        }
        self.sort_any(items, key, progress)
    }

    /// Like [`SortScratch::sort`], for items of which those with equal `bits` are the same.
    pub fn sort_elements(
        &mut self,
        items: &mut [I],
        key: impl Fn(I) -> K + Copy,
        bits: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let is_done = are_sorted(items, key, progress)?
            || are_few_expected(items, bits) && fill_few(items, key, bits, progress)?;
        if is_done { ControlFlow::Continue(()) } else { self.sort_any(items, key, progress) }
    }

    /// Sorts items with any keys.
    fn sort_any(
        &mut self,
        items: &mut [I],
        key: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let compared = if K::BITS <= 32 {
            MAX_COMPARISON_SORT_LENGTH
        } else {
            COMPARISON_SORT_LENGTH_PER_BYTE * size_of::<K>()
        };
        match items.len() {
            count if count <= compared => {
                if !self.sort_words(items, key) {
                    self.sort_packed(items, key);
                }
                ControlFlow::Continue(())
            }
            count if count < MIN_WIDE_DIGIT_LENGTH || K::BITS <= 16 => {
                self.radix_sort::<8>(items, key, progress)
            }
            _ => self.radix_sort::<11>(items, key, progress),
        }
    }

    /// Sorts by packed keys and positions. They are distinct, so an unstable sort of them is stable for keys.
    fn sort_packed(&mut self, items: &mut [I], key: impl Fn(I) -> K + Copy) {
        let packed =
            items.iter().zip(0..).map(|(&item, position)| key(item).with_position(position));
        self.packed.clear();
        self.packed.extend(packed);
        self.packed.sort_unstable();
        self.item_buffer.clear();
        self.item_buffer.extend_from_slice(items);
        for (item, &packed) in items.iter_mut().zip(&self.packed) {
            *item = self.item_buffer[K::position(packed)];
        }
    }

    /// Like [`SortScratch::sort_packed`], with words that may lack bits of the keys. Returns `false` and
    /// changes nothing if these bits decide.
    fn sort_words(&mut self, items: &mut [I], key: impl Fn(I) -> K + Copy) -> bool {
        let keys = items.iter().map(|&item| key(item));
        let Some(packing) = WordPacking::new(keys, items.len()) else { return false };
        let words = items.iter().enumerate().map(|(at, &item)| packing.pack(key(item), at));
        self.words.clear();
        self.words.extend(words);
        self.words.sort_unstable();
        let words = self.words.iter().copied();
        if !packing.are_sorted(words, |position| key(items[position])) {
            return false;
        }
        self.item_buffer.clear();
        self.item_buffer.extend_from_slice(items);
        for (item, &word) in items.iter_mut().zip(&self.words) {
            *item = self.item_buffer[packing.position(word)];
        }
        true
    }

    /// Radix sort with digits of `BITS` bits.
    fn radix_sort<const BITS: u32>(
        &mut self,
        items: &mut [I],
        key: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        self.count_digits::<BITS>(items, key, progress)?;
        let (count, values) = (items.len(), 1 << BITS);
        self.grow_buffer(items, progress)?;
        let (mut from, mut to) = (&mut *items, &mut self.item_buffer[..count]);
        let mut is_moved = false;
        for (digit, counts) in self.counts.chunks_exact_mut(values).enumerate() {
            if counts.contains(&count) {
                continue;
            }
            let mut next = 0;
            for places in &mut *counts {
                next += core::mem::replace(places, next);
            }
            for part in from.chunks(ITEMS_PER_CALL) {
                for &item in part {
                    let place = &mut counts[key(item).digit(digit as u32 * BITS, BITS)];
                    to[*place] = item;
                    *place += 1;
                }
                call_after(part, progress)?;
            }
            (from, to) = (to, from);
            is_moved = !is_moved;
        }
        if is_moved { copy_items(from, to, progress) } else { ControlFlow::Continue(()) }
    }

    /// Makes room in the buffer for all items.
    fn grow_buffer(&mut self, items: &[I], progress: &mut SortProgress<'_>) -> ControlFlow<()> {
        let count = items.len();
        while self.item_buffer.len() < count {
            self.item_buffer.reserve_exact(count - self.item_buffer.len());
            let part = (count - self.item_buffer.len()).min(ITEMS_PER_CALL);
            self.item_buffer.resize(self.item_buffer.len() + part, I::default());
            call_after(&items[..part], progress)?;
        }
        ControlFlow::Continue(())
    }

    /// Counting sort of items with few distinct keys. Returns `false` and changes nothing if there are many.
    fn sort_few(
        &mut self,
        items: &mut [I],
        key: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<(), bool> {
        let mut distinct = DistinctWords::new();
        self.key_numbers.clear();
        self.key_numbers.reserve_exact(items.len());
        for part in items.chunks(ITEMS_PER_CALL) {
            for &item in part {
                let Some(number) = distinct.add(key(item).word().unwrap_or_default()) else {
                    return ControlFlow::Continue(false);
                };
                self.key_numbers.push(number as u8);
            }
            call_after(part, progress)?;
        }
        self.grow_buffer(items, progress)?;
        let mut places = distinct.places();
        for (part, numbers) in
            items.chunks(ITEMS_PER_CALL).zip(self.key_numbers.chunks(ITEMS_PER_CALL))
        {
            for (&item, &number) in part.iter().zip(numbers) {
                let place = &mut places[usize::from(number)];
                self.item_buffer[*place] = item;
                *place += 1;
            }
            call_after(part, progress)?;
        }
        copy_items(&self.item_buffer[..items.len()], items, progress)?;
        ControlFlow::Continue(true)
    }

    /// Counts the items with each value of each digit of `BITS` bits.
    fn count_digits<const BITS: u32>(
        &mut self,
        items: &[I],
        key: impl Fn(I) -> K + Copy,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let (values, digits) = (1 << BITS, K::BITS.div_ceil(BITS) as usize);
        self.counts.clear();
        self.counts.resize(values * digits, 0);
        for part in items.chunks(ITEMS_PER_CALL) {
            for &item in part {
                let key = key(item);
                for (digit, counts) in self.counts.chunks_exact_mut(values).enumerate() {
                    counts[key.digit(digit as u32 * BITS, BITS)] += 1;
                }
            }
            call_after(part, progress)?;
        }
        ControlFlow::Continue(())
    }
}

/// Whether a sample of the items suggests that few words are distinct.
fn are_few_expected<I: Copy, K: SortKey>(items: &[I], word: impl Fn(I) -> K) -> bool {
    items.len() >= MIN_SAMPLED_LENGTH
        && COUNTED_BITS.contains(&K::BITS)
        && DistinctWords::are_expected(&core::array::from_fn(|index| {
            word(items[items.len() / SAMPLE * index]).word().unwrap_or_default()
        }))
}

/// Sorts items with few distinct `bits`: counts each, and writes the equal items one after another. Returns
/// `false` and changes nothing if there are many, or if some with different bits have equal keys.
fn fill_few<I: Copy, K: SortKey>(
    items: &mut [I],
    key: impl Fn(I) -> K + Copy,
    bits: impl Fn(I) -> K + Copy,
    progress: &mut SortProgress<'_>,
) -> ControlFlow<(), bool> {
    let mut distinct = DistinctWords::new();
    let mut found: Vec<(K, I, usize)> = Vec::new();
    for part in items.chunks(ITEMS_PER_CALL) {
        for &item in part {
            let Some(number) = distinct.add(bits(item).word().unwrap_or_default()) else {
                return ControlFlow::Continue(false);
            };
            if number == found.len() {
                let key = key(item);
                if found.iter().any(|&(found, ..)| found == key) {
                    return ControlFlow::Continue(false);
                }
                found.push((key, item, number));
            }
        }
        call_after(part, progress)?;
    }
    found.sort_unstable_by_key(|&(key, ..)| key);
    let mut rest = items;
    for (_, item, number) in found {
        let (filled, others) = rest.split_at_mut(distinct.count(number));
        for part in filled.chunks_mut(ITEMS_PER_CALL) {
            part.fill(item);
            call_after(part, progress)?;
        }
        rest = others;
    }
    ControlFlow::Continue(true)
}

/// Copies all items.
fn copy_items<I: Copy>(
    from: &[I],
    to: &mut [I],
    progress: &mut SortProgress<'_>,
) -> ControlFlow<()> {
    for (to, from) in to.chunks_mut(ITEMS_PER_CALL).zip(from.chunks(ITEMS_PER_CALL)) {
        to.copy_from_slice(from);
        call_after(from, progress)?;
    }
    ControlFlow::Continue(())
}

/// Whether the keys of `items` are in order.
fn are_sorted<I: Copy, K: SortKey>(
    items: &[I],
    key: impl Fn(I) -> K + Copy,
    progress: &mut SortProgress<'_>,
) -> ControlFlow<(), bool> {
    let mut first = 0;
    while first < items.len() {
        // Each part begins with the last item of the part before.
        let part = &items[first.saturating_sub(1)..items.len().min(first + ITEMS_PER_CALL)];
        if !part.is_sorted_by_key(|&item| key(item)) {
            return ControlFlow::Continue(false);
        }
        call_after(part, progress)?;
        first += ITEMS_PER_CALL;
    }
    ControlFlow::Continue(true)
}

/// Calls `progress` after a part of a pass, unless it is the only part of a short list.
pub(crate) fn call_after<I>(part: &[I], progress: &mut SortProgress<'_>) -> ControlFlow<()> {
    match part.len() < ITEMS_PER_CALL {
        true => ControlFlow::Continue(()),
        false => progress(part.len()),
    }
}
