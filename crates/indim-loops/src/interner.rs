//! Interner: distinct items, each with an index.
//!
//! Lowering looks up the same arrays many times. A graph has up to 100,000 nodes, so linear search would
//! dominate the time of lowering.

use core::hash::Hash;

use foldhash::{HashMap, HashMapExt};

/// Distinct items in the order of their first occurrence.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    indices: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { items: Vec::new(), indices: HashMap::new() }
    }

    /// The index of `item`, which is added if it is new.
    pub(crate) fn intern(&mut self, item: &T) -> usize {
        if let Some(intern) = self.find(item) {
            return intern;
        }
        self.items.push(item.clone());
        self.indices.insert(item.clone(), self.items.len() - 1);
        self.items.len() - 1
    }

    /// The index of `item`, if it was added.
    pub(crate) fn find(&self, item: &T) -> Option<usize> {
        self.indices.get(item).copied()
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn into_items(self) -> Vec<T> {
        self.items
    }
}

impl<T: Clone + Eq + Hash> FromIterator<T> for Interner<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut interner = Interner::new();
        items.into_iter().for_each(|item| {
            interner.intern(&item);
        });
        interner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_have_one_index() {
        let mut interner: Interner<&str> = ["a", "b", "a"].into_iter().collect();
        assert_eq!(interner.items(), ["a", "b"]);
        assert_eq!((interner.intern(&"b"), interner.intern(&"c")), (1, 2));
        assert_eq!((interner.find(&"c"), interner.find(&"d")), (Some(2), None));
        assert_eq!(interner.into_items(), ["a", "b", "c"]);
    }
}
