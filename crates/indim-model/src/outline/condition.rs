//! Conditions on symbolic sizes: two sizes are equal, or one of them is 1, or one is at most the other.

use super::size::SymbolicSize;

/// A condition on two sizes: they are equal, or one of `ones` is 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamedCondition {
    /// The two sizes.
    pub sizes: [SymbolicSize; 2],
    /// Whether equal sizes fulfil the condition. `false` for `N` and `N + 1`.
    pub may_be_equal: bool,
    /// The sizes that may be 1 instead.
    pub ones: Vec<SymbolicSize>,
}

impl NamedCondition {
    /// The condition that two sizes are equal.
    pub fn equal(first: &SymbolicSize, second: &SymbolicSize) -> Self {
        let mut sizes = [first.clone(), second.clone()];
        // The name comes first: `N = 5`.
        sizes.sort_by_key(|size| (size.number().is_some(), size.clone()));
        NamedCondition { sizes, may_be_equal: true, ones: Vec::new() }
    }

    /// `N = M or N = 1`, solved for a name if that is possible: `N = 0` for `N + 1 = 1`.
    ///
    /// ```
    /// use indim_model::outline::{NamedCondition, SymbolicSize};
    ///
    /// let (n, limit) = (SymbolicSize::named("N"), SymbolicSize::known(128));
    /// let shorter = NamedCondition::equal(&limit.minimum(&n).unwrap(), &n);
    /// assert_eq!(shorter.shown(), "N <= 128");
    /// let longer = NamedCondition::equal(&limit.minimum(&n).unwrap(), &limit);
    /// assert_eq!(longer.shown(), "N >= 128");
    /// let doubled = n.times(&SymbolicSize::known(2)).unwrap();
    /// assert_eq!(NamedCondition::equal(&doubled, &SymbolicSize::known(6)).shown(), "N = 3");
    /// ```
    pub fn shown(&self) -> String {
        let [first, second] = &self.sizes;
        let mut texts = Vec::new();
        if self.may_be_equal {
            texts.push(first.equation(second));
        }
        for one in &self.ones {
            let text = one.equation(&SymbolicSize::known(1));
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join(" or ")
    }

    /// Whether only sizes of 1 or 0 fulfil the condition.
    pub fn is_degenerate(&self) -> bool {
        let [first, second] = &self.sizes;
        !self.may_be_equal || !first.may_be_equal(second, 1)
    }

    /// The name that the condition determines, and the numbers that it may be; `None` if it relates sizes in
    /// another way.
    pub fn values(&self) -> Option<(&str, Vec<i64>)> {
        let [first, second] = &self.sizes;
        let (name, number) = (first.name()?, second.number()?);
        let equal = self.may_be_equal.then_some(number);
        let one = self.ones.iter().any(|one| one == first).then_some(1);
        Some((name, equal.into_iter().chain(one).collect()))
    }
}
