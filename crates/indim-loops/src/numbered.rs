//! A list of different things, each found by its number and numbered by what it is.
//!
//! Lowering meets the same arrays again and again; a graph has up to 100,000 nodes, so looking
//! through a list each time would take longer than everything else.

use core::hash::Hash;

use foldhash::{HashMap, HashMapExt};

/// Things in the order in which they first came.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    items: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    pub(crate) fn new() -> Self {
        Numbered { items: Vec::new(), numbers: HashMap::new() }
    }

    /// The number of `item`, which is added when it is new.
    pub(crate) fn number(&mut self, item: &T) -> usize {
        if let Some(number) = self.find(item) {
            return number;
        }
        self.items.push(item.clone());
        self.numbers.insert(item.clone(), self.items.len() - 1);
        self.items.len() - 1
    }

    /// The number of `item`, if it has one.
    pub(crate) fn find(&self, item: &T) -> Option<usize> {
        self.numbers.get(item).copied()
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn into_items(self) -> Vec<T> {
        self.items
    }
}

impl<T: Clone + Eq + Hash> FromIterator<T> for Numbered<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut numbered = Numbered::new();
        items.into_iter().for_each(|item| {
            numbered.number(&item);
        });
        numbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_one_number() {
        let mut numbered: Numbered<&str> = ["a", "b", "a"].into_iter().collect();
        assert_eq!(numbered.items(), ["a", "b"]);
        assert_eq!((numbered.number(&"b"), numbered.number(&"c")), (1, 2));
        assert_eq!((numbered.find(&"c"), numbered.find(&"d")), (Some(2), None));
        assert_eq!(numbered.into_items(), ["a", "b", "c"]);
    }
}
