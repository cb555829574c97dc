//! Selections of the first elements of a row in sorted order.
//!
//! Each part of a row is compared with a bound, the last of the best keys so far, and the few keys before the
//! bound become candidates. If there is no room for more candidates, the best ones stay, and their last key
//! becomes the bound.

use crate::sort_keys::SortKey;

/// Keys that are compared with a bound together, so that the compiler uses vectors.
pub(crate) const KEYS_TOGETHER: usize = 64;

/// Minimum room for candidates: with less, selections of a few elements would look for new bounds too often.
const MIN_CANDIDATES: usize = 256;

/// Maximum number of candidates of a selection of `selected` elements.
pub(crate) const fn max_candidates(selected: usize) -> usize {
    let room = 2 * selected;
    (if room < MIN_CANDIDATES { MIN_CANDIDATES } else { room }) + KEYS_TOGETHER
}

/// The selection of the first elements of a row.
#[derive(Debug)]
pub(crate) struct FirstSelection<K: SortKey> {
    selected: usize,
    /// The best keys so far, each with its position; those from `count` on are free.
    candidates: Vec<K::WithPosition>,
    count: usize,
    /// Only keys before this one can be selected, once there are enough candidates.
    bound: Option<K>,
}

impl<K: SortKey> FirstSelection<K> {
    /// A selection of `selected` elements, at least one.
    pub(crate) fn new(selected: usize) -> FirstSelection<K> {
        let candidates = vec![K::default().with_position(0); max_candidates(selected)];
        FirstSelection { selected, candidates, count: 0, bound: None }
    }

    /// Adds the keys of the row from position `first` on.
    pub(crate) fn add(&mut self, keys: &[K], first: usize) {
        for (keys, first) in keys.chunks(KEYS_TOGETHER).zip((first..).step_by(KEYS_TOGETHER)) {
            match self.bound {
                Some(bound) => {
                    // Without a branch for each key, so with vectors.
                    if keys.iter().fold(false, |any, &key| any | (key < bound)) {
                        self.push(keys, first, |key| key < bound);
                    }
                }
                None => self.push(keys, first, |_| true),
            }
        }
    }

    /// Adds those of at most [`KEYS_TOGETHER`] keys that are candidates.
    fn push(&mut self, keys: &[K], first: usize, is_candidate: impl Fn(K) -> bool) {
        for (&key, position) in keys.iter().zip(first as u32..) {
            // Without a branch: the next key overwrites one that is no candidate.
            self.candidates[self.count] = key.with_position(position);
            self.count += usize::from(is_candidate(key));
        }
        if self.count + KEYS_TOGETHER > self.candidates.len() {
            let candidates = &mut self.candidates[..self.count];
            let (_, &mut last, _) = candidates.select_nth_unstable(self.selected - 1);
            self.bound = Some(K::key(last));
            self.count = self.selected;
        }
    }

    /// The selected keys with their positions in sorted order, and begins the next row.
    pub(crate) fn finish(&mut self) -> &[K::WithPosition] {
        let count = core::mem::take(&mut self.count);
        self.bound = None;
        if count > self.selected {
            self.candidates[..count].select_nth_unstable(self.selected - 1);
        }
        let selected = &mut self.candidates[..count.min(self.selected)];
        selected.sort_unstable();
        selected
    }
}
