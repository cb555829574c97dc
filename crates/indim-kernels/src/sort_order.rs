//! Stable sorts of lists of items by their keys.
//!
//! Short lists take a comparison sort of keys packed with their positions. Longer lists take a radix sort,
//! from the least significant digit on; a digit that is the same in all keys is skipped.

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

/// Scratch memory of sorts, reused for several lists.
pub struct SortScratch<I, K: SortKey> {
    item_buffer: Vec<I>,
    packed: Vec<K::WithPosition>,
    /// For each digit and each of its values, the number of items; during a pass, the position of the next
    /// item with this value.
    counts: Vec<usize>,
}

impl<I, K: SortKey> Default for SortScratch<I, K> {
    fn default() -> Self {
        SortScratch { item_buffer: Vec::new(), packed: Vec::new(), counts: Vec::new() }
    }
}

/// Bytes of the counts of a radix sort, for a list of `items` items with keys of `size` bytes.
pub const fn count_bytes(items: usize, size: usize) -> usize {
    let bits: usize = if items < MIN_WIDE_DIGIT_LENGTH { 8 } else { 11 };
    (8 * size).div_ceil(bits) * (1 << bits) * size_of::<usize>()
}

impl<I: Copy + Default, K: SortKey> SortScratch<I, K> {
    /// Sorts `items` by `key`, stably.
    pub fn sort(&mut self, items: &mut [I], key: impl Fn(I) -> K + Copy) {
        if items.is_sorted_by_key(|&item| key(item)) {
            return;
        }
        let compared = if K::BITS <= 32 {
            MAX_COMPARISON_SORT_LENGTH
        } else {
            COMPARISON_SORT_LENGTH_PER_BYTE * size_of::<K>()
        };
        match items.len() {
            count if count <= compared => self.sort_packed(items, key),
            count if count < MIN_WIDE_DIGIT_LENGTH || K::BITS <= 16 => {
                self.radix_sort::<8>(items, key)
            }
            _ => self.radix_sort::<11>(items, key),
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

    /// Radix sort with digits of `BITS` bits.
    fn radix_sort<const BITS: u32>(&mut self, items: &mut [I], key: impl Fn(I) -> K + Copy) {
        let (values, digits) = (1 << BITS, K::BITS.div_ceil(BITS) as usize);
        self.counts.clear();
        self.counts.resize(values * digits, 0);
        for &item in &*items {
            let key = key(item);
            for (digit, counts) in self.counts.chunks_exact_mut(values).enumerate() {
                counts[key.digit(digit as u32 * BITS, BITS)] += 1;
            }
        }
        if self.item_buffer.len() < items.len() {
            self.item_buffer.resize(items.len(), I::default());
        }
        let count = items.len();
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
            for &item in &*from {
                let place = &mut counts[key(item).digit(digit as u32 * BITS, BITS)];
                to[*place] = item;
                *place += 1;
            }
            (from, to) = (to, from);
            is_moved = !is_moved;
        }
        if is_moved {
            to.copy_from_slice(from);
        }
    }
}
