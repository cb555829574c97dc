//! Tables of few distinct words: a list with few distinct keys is sorted by counting each of them.

/// Maximum number of distinct words.
pub(crate) const MAX_DISTINCT: usize = 64;

/// Slots of the table: enough that few words share one.
const SLOTS: usize = 4 * MAX_DISTINCT;

/// Items of a sample.
pub(crate) const SAMPLE: usize = 64;

/// Maximum number of distinct words in a sample of a list with [`MAX_DISTINCT`] of them: 41 are expected if
/// all are equally frequent.
const MAX_DISTINCT_IN_SAMPLE: usize = 46;

/// Distinct words, numbered in the order of their first occurrence, with the number of occurrences.
pub(crate) struct DistinctWords {
    /// For each hash value, one more than the number of a word; 0 for none.
    slots: [u8; SLOTS],
    words: [u64; MAX_DISTINCT],
    counts: [usize; MAX_DISTINCT],
    len: usize,
}

impl DistinctWords {
    /// A table without words.
    pub(crate) fn new() -> DistinctWords {
        let (words, counts) = ([0; MAX_DISTINCT], [0; MAX_DISTINCT]);
        DistinctWords { slots: [0; SLOTS], words, counts, len: 0 }
    }

    /// Whether a sample of a list suggests that few of its words are distinct.
    pub(crate) fn are_expected(sample: &[u64; SAMPLE]) -> bool {
        let mut distinct = DistinctWords::new();
        sample
            .iter()
            .all(|&word| distinct.add(word).is_some() && distinct.len <= MAX_DISTINCT_IN_SAMPLE)
    }

    /// Counts an occurrence of `word`, and returns its number; `None` if there are too many words.
    #[inline(always)]
    pub(crate) fn add(&mut self, word: u64) -> Option<usize> {
        // Fibonacci hashing: the upper bits of the product depend on all bits of the word.
        let product = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut slot = (product >> (u64::BITS - SLOTS.ilog2())) as usize;
        loop {
            let number = usize::from(self.slots[slot]).wrapping_sub(1);
            if number < MAX_DISTINCT && self.words[number] == word {
                self.counts[number] += 1;
                return Some(number);
            }
            if number >= MAX_DISTINCT {
                return self.insert(slot, word);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Adds a new word at its slot.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: usize, word: u64) -> Option<usize> {
        let number = self.len;
        *self.words.get_mut(number)? = word;
        self.counts[number] = 1;
        self.len += 1;
        self.slots[slot] = self.len as u8;
        Some(number)
    }

    /// The number of occurrences of a word.
    pub(crate) fn count(&self, number: usize) -> usize {
        self.counts[number]
    }

    /// For each word, the number of occurrences of lesser words.
    pub(crate) fn places(&self) -> [usize; MAX_DISTINCT] {
        let mut order: Vec<usize> = (0..self.len).collect();
        order.sort_unstable_by_key(|&number| self.words[number]);
        let (mut places, mut next) = ([0; MAX_DISTINCT], 0);
        for number in order {
            places[number] = next;
            next += self.counts[number];
        }
        places
    }
}
