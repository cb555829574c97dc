//! Keys packed with their positions into 64-bit words, which sort faster than pairs.

use crate::sort_keys::SortKey;

/// The packing of the keys of a list: a word holds the upper bits of the distance from the least key, and the
/// position.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordPacking {
    least: u64,
    /// Lower bits of a distance that a word has no room for.
    dropped_bits: u32,
    position_bits: u32,
}

impl WordPacking {
    /// The packing of `count` keys; `None` if a key has more than 64 bits.
    #[inline(always)]
    pub(crate) fn new<K: SortKey>(
        keys: impl Iterator<Item = K>,
        count: usize,
    ) -> Option<WordPacking> {
        let (mut least, mut greatest) = (u64::MAX, 0);
        for key in keys {
            let word = key.word()?;
            (least, greatest) = (least.min(word), greatest.max(word));
        }
        let position_bits = usize::BITS - count.saturating_sub(1).leading_zeros();
        let free_bits = greatest.saturating_sub(least).leading_zeros();
        let dropped_bits = position_bits.saturating_sub(free_bits);
        Some(WordPacking { least, dropped_bits, position_bits })
    }

    /// The word of a key at a position.
    #[inline(always)]
    pub(crate) fn pack<K: SortKey>(&self, key: K, position: usize) -> u64 {
        let distance = key.word().unwrap_or(self.least) - self.least;
        (distance >> self.dropped_bits) << self.position_bits | position as u64
    }

    /// The position in a word.
    #[inline(always)]
    pub(crate) fn position(&self, word: u64) -> usize {
        (word & ((1 << self.position_bits) - 1)) as usize
    }

    /// Whether sorted words are in the order of their keys. They are unless they lack bits of their keys.
    #[inline(always)]
    pub(crate) fn are_sorted<K: SortKey>(
        &self,
        words: impl Iterator<Item = u64>,
        key: impl Fn(usize) -> K,
    ) -> bool {
        self.dropped_bits == 0 || words.map(|word| key(self.position(word))).is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_far_keys_lack_bits_and_tell_it() {
        let keys = [u64::MAX, 1, 0, 7, 5];
        let packing = WordPacking::new(keys.iter().copied(), keys.len()).expect("64 bits");
        let mut words: Vec<u64> =
            keys.iter().enumerate().map(|(at, &key)| packing.pack(key, at)).collect();
        words.sort_unstable();
        // All but the greatest key have the same upper bits.
        let positions: Vec<usize> = words.iter().map(|&word| packing.position(word)).collect();
        assert_eq!(positions, [1, 2, 3, 4, 0]);
        assert!(!packing.are_sorted(words.into_iter(), |position| keys[position]));
    }

    #[test]
    fn words_of_near_keys_have_all_bits() {
        let keys = [u64::MAX, u64::MAX - 9, u64::MAX - 3];
        let packing = WordPacking::new(keys.iter().copied(), keys.len()).expect("64 bits");
        assert_eq!((packing.dropped_bits, packing.position_bits), (0, 2));
        assert_eq!(packing.pack(keys[2], 2), 6 << 2 | 2);
        assert!(WordPacking::new([u128::MAX].into_iter(), 1).is_none());
    }
}
