//! Broadcasts of shapes with unknown sizes: legal under conditions on these sizes.

use alloc::vec::Vec;

use crate::error::ShapeError;
use crate::explicit::Broadcast;
use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{SizedAxis, Violation};

/// Maximum number of nested decisions between "equal" and "1"; later clashes are equal.
const MAX_DECISIONS: usize = 16;

/// Maximum elaborations that try sizes of 1 in place of equal sizes, for all decisions together.
const MAX_TRIALS: usize = 512;

/// The facts about unknown sizes, which placeholders stand for.
///
/// Every `Fn(usize) -> bool` is such a type: it says which numbers are placeholders.
pub trait UnknownSizes {
    /// Whether the number is a placeholder.
    fn is_unknown(&self, size: usize) -> bool;

    /// Whether two sizes, at least one of them a placeholder, can be equal. `N` and `N + 1` cannot.
    fn may_be_equal(&self, _first: usize, _second: usize) -> bool {
        true
    }
}

impl<F: Fn(usize) -> bool> UnknownSizes for F {
    fn is_unknown(&self, size: usize) -> bool {
        self(size)
    }
}

/// A condition on two sizes that meet, at least one of them unknown: they are equal, or, if the rule allows
/// it, one of them is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeCondition {
    /// One axis, with its size.
    pub first: SizedAxis,
    /// The other axis, with its size.
    pub second: SizedAxis,
    /// Whether equal sizes are legal. `false` for `[N, N]` with `[3, 4]` in the rule of NumPy: only `N = 1`
    /// is legal, because `N` cannot be 3 and 4.
    pub may_be_equal: bool,
    /// Whether the broadcast is legal too if the first size is 1.
    pub first_may_be_one: bool,
    /// Whether the broadcast is legal too if the second size is 1.
    pub second_may_be_one: bool,
}

/// A broadcast that is legal if all conditions hold. Its form assumes that sizes that meet are equal, or 1 if
/// they cannot be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionalBroadcast {
    /// The explicit form.
    pub form: Broadcast,
    /// The conditions, none for a broadcast that is legal for all sizes.
    pub conditions: Vec<SizeCondition>,
}

impl AnyRule {
    /// The explicit form of operands with unknown sizes. Each number that `sizes` calls unknown is
    /// a placeholder for one unknown size; equal numbers stand for equal sizes. Choose numbers other than
    /// 0, 1 and the known sizes.
    ///
    /// ```
    /// use indim_shape::{AnyRule, RuleSet, Shape};
    ///
    /// let rule = AnyRule::from(RuleSet::Numpy);
    /// let (n, m) = (7, 11);
    /// let is_unknown = |size: usize| size == n || size == m;
    /// let row = rule.elaborate_if(&[Shape::from([n, 6]), Shape::from([6])], None, is_unknown)?;
    /// assert!(row.conditions.is_empty());
    /// let two = rule.elaborate_if(&[Shape::from([n, 6]), Shape::from([m, 6])], None, is_unknown)?;
    /// assert_eq!((two.conditions[0].first.size, two.conditions[0].second.size), (m, n));
    /// assert!(two.conditions[0].first_may_be_one && two.conditions[0].second_may_be_one);
    /// let known = rule.elaborate_if(&[Shape::from([n, 6]), Shape::from([m, 5])], None, is_unknown);
    /// assert_eq!(known.unwrap_err().code(), "size-mismatch");
    ///
    /// let equal = AnyRule::from(RuleSet::StableHlo);
    /// let two = equal.elaborate_if(&[Shape::from([n, 6]), Shape::from([m, 6])], None, is_unknown)?;
    /// assert!(!two.conditions[0].first_may_be_one && !two.conditions[0].second_may_be_one);
    /// # Ok::<(), indim_shape::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`AnyRule::elaborate`] that hold for every value of the unknown sizes.
    pub fn elaborate_if(
        &self,
        operands: &[Shape],
        target: Option<&Shape>,
        sizes: impl UnknownSizes,
    ) -> Result<ConditionalBroadcast, ShapeError> {
        let shapes = Shapes { operands: operands.to_vec(), target: target.cloned() };
        Search { rule: self, sizes, trials: MAX_TRIALS }.elaborate(shapes, 0)
    }
}

/// The shapes of a broadcast.
struct Shapes {
    operands: Vec<Shape>,
    target: Option<Shape>,
}

impl Shapes {
    /// The shapes with one size in place of another.
    fn replaced(&self, from: usize, to: usize) -> Shapes {
        let replace = |shape: &Shape| {
            shape.iter().map(|&size| if size == from { to } else { size }).collect()
        };
        let operands = self.operands.iter().map(replace).collect();
        Shapes { operands, target: self.target.as_ref().map(replace) }
    }
}

/// The search for values of the unknown sizes that make a broadcast legal.
struct Search<'r, S> {
    rule: &'r AnyRule,
    sizes: S,
    /// Elaborations with sizes of 1 that are left.
    trials: usize,
}

impl<S: UnknownSizes> Search<'_, S> {
    /// The first legal case, in which sizes that meet are equal, or else one of them is 1.
    ///
    /// Each round elaborates. If sizes clash and one of them is unknown, the round records the condition,
    /// and replaces that size by the other one for the next round. It decides between equal sizes and a size
    /// of 1 by a search of its own.
    fn elaborate(
        &mut self,
        mut shapes: Shapes,
        decisions: usize,
    ) -> Result<ConditionalBroadcast, ShapeError> {
        let mut conditions = Vec::new();
        loop {
            let error = match self.rule.elaborate(&shapes.operands, shapes.target.as_ref()) {
                Ok(form) => return Ok(ConditionalBroadcast { form, conditions }),
                Err(error) => error,
            };
            let Some((condition, equal)) = self.condition(&error, &shapes) else {
                return Err(error);
            };
            let may_be_one = condition.first_may_be_one || condition.second_may_be_one;
            // Without another choice, or after many decisions, the sizes are equal.
            if condition.may_be_equal && (!may_be_one || decisions >= MAX_DECISIONS) {
                conditions.push(condition);
                shapes = equal;
                continue;
            }
            let if_equal = condition.may_be_equal.then(|| self.elaborate(equal, decisions + 1));
            let (condition, legal) = match if_equal.unwrap_or(Err(error)) {
                Ok(legal) => (condition, legal),
                Err(reason) => self.with_one(condition, &shapes, decisions + 1).ok_or(reason)?,
            };
            conditions.push(condition);
            conditions.extend(legal.conditions);
            return Ok(ConditionalBroadcast { form: legal.form, conditions });
        }
    }

    /// The condition on the sizes that clash in an error, and the shapes with equal sizes; `None` if no
    /// unknown size clashes.
    fn condition(&self, error: &ShapeError, shapes: &Shapes) -> Option<(SizeCondition, Shapes)> {
        let clash = clashing_axes(error.violation(), &shapes.operands)?;
        let (first, second) = clash;
        let (from, to) = match [first, second].map(|axis| self.sizes.is_unknown(axis.size)) {
            [true, _] => (first.size, second.size),
            [false, true] => (second.size, first.size),
            [false, false] => return None,
        };
        let condition = SizeCondition {
            first,
            second,
            may_be_equal: self.sizes.may_be_equal(first.size, second.size),
            first_may_be_one: self.is_legal_with_one(first, clash, shapes),
            second_may_be_one: self.is_legal_with_one(second, clash, shapes),
        };
        Some((condition, shapes.replaced(from, to)))
    }

    /// The legal case in which one of the sizes of a condition is 1, and the condition, which records those
    /// that can be.
    fn with_one(
        &mut self,
        condition: SizeCondition,
        shapes: &Shapes,
        decisions: usize,
    ) -> Option<(SizeCondition, ConditionalBroadcast)> {
        let mut with_one = |may_be_one: bool, axis: SizedAxis| {
            if !may_be_one || self.trials == 0 {
                return None;
            }
            self.trials -= 1;
            self.elaborate(shapes.replaced(axis.size, 1), decisions).ok()
        };
        let first = with_one(condition.first_may_be_one, condition.first);
        let second = with_one(condition.second_may_be_one, condition.second);
        let condition = SizeCondition {
            may_be_equal: false,
            first_may_be_one: first.is_some(),
            second_may_be_one: second.is_some(),
            ..condition
        };
        Some((condition, first.or(second)?))
    }

    /// Whether the clash ends if the size of `axis`, which is one of the clashing axes, is 1.
    fn is_legal_with_one(
        &self,
        axis: SizedAxis,
        clash: (SizedAxis, SizedAxis),
        shapes: &Shapes,
    ) -> bool {
        // If the other size is the known size 1, a size of 1 is the case of equal sizes.
        let is_possible = self.sizes.is_unknown(axis.size)
            && clash.0.size != 1
            && clash.1.size != 1
            && self.sizes.may_be_equal(axis.size, 1);
        if !is_possible {
            return false;
        }
        let Shapes { operands, target } = shapes.replaced(axis.size, 1);
        let elaborated = self.rule.elaborate(&operands, target.as_ref());
        elaborated
            .err()
            .and_then(|error| clashing_axes(error.violation(), &operands))
            .is_none_or(|axes| !are_same_axes(axes, clash))
    }
}

/// The two axes whose sizes clash in a violation. For shapes that must be equal, these are the first
/// axes that differ.
fn clashing_axes(violation: &Violation, operands: &[Shape]) -> Option<(SizedAxis, SizedAxis)> {
    let unequal = |first: usize, second: usize| {
        let (shape, other) = (&operands[first], &operands[second]);
        let mut axes = 0..shape.rank();
        let axis = axes.find(|&axis| shape.rank() == other.rank() && shape[axis] != other[axis])?;
        let sized = |operand, shape: &Shape| SizedAxis::operand(operand, axis, shape[axis]);
        Some((sized(first, shape), sized(second, other)))
    };
    match *violation {
        Violation::ShapesDiffer { operand, .. } => unequal(0, operand),
        Violation::ImplicitBroadcastUnsupported { operand } => {
            (0..operands.len()).find_map(|other| unequal(other, operand))
        }
        ref violation => violation.clash(),
    }
}

fn are_same_axes(a: (SizedAxis, SizedAxis), b: (SizedAxis, SizedAxis)) -> bool {
    let axis = |sized: SizedAxis| (sized.owner, sized.axis);
    let axes = (axis(a.0), axis(a.1));
    axes == (axis(b.0), axis(b.1)) || axes == (axis(b.1), axis(b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::RuleSet;

    const N: usize = 7;

    #[test]
    fn a_size_that_cannot_have_two_values_may_be_one() {
        let shapes = |a: [usize; 2], b: [usize; 2]| [Shape::from(a), Shape::from(b)];
        let is_unknown = |size: usize| size == N;
        let numpy = AnyRule::from(RuleSet::Numpy);
        let legal = numpy.elaborate_if(&shapes([N, N], [3, 4]), None, is_unknown).unwrap();
        assert_eq!(legal.form.result(), &Shape::from([3, 4]));
        let [condition] = legal.conditions[..] else { panic!("{:?}", legal.conditions) };
        assert!(!condition.may_be_equal);
        assert!(condition.first_may_be_one != condition.second_may_be_one);
        // Equal known sizes leave both choices.
        let legal = numpy.elaborate_if(&shapes([N, N], [3, 3]), None, is_unknown).unwrap();
        assert!(legal.conditions.iter().all(|condition| condition.may_be_equal));
        let equal = AnyRule::from(RuleSet::StableHlo);
        assert!(equal.elaborate_if(&shapes([N, N], [3, 4]), None, is_unknown).is_err());
    }

    #[test]
    fn sizes_that_cannot_be_equal_may_be_one() {
        struct Successor;
        impl UnknownSizes for Successor {
            fn is_unknown(&self, size: usize) -> bool {
                size == N || size == N + 1
            }
            fn may_be_equal(&self, first: usize, second: usize) -> bool {
                // The size N + 1 is one more than N, which is at least 1.
                (first.min(second), first.max(second)) == (1, N)
            }
        }
        let operands = [Shape::from([N + 1]), Shape::from([N])];
        let legal = AnyRule::from(RuleSet::Numpy).elaborate_if(&operands, None, Successor).unwrap();
        assert_eq!(legal.form.result(), &Shape::from([N + 1]));
        let [condition] = legal.conditions[..] else { panic!("{:?}", legal.conditions) };
        assert!(!condition.may_be_equal);
        assert!(condition.first_may_be_one != condition.second_may_be_one);
    }
}
