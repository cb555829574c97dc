//! Broadcasts of shapes with unknown sizes: legal under conditions on these sizes.

use alloc::vec::Vec;

use crate::error::ShapeError;
use crate::explicit::Broadcast;
use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{SizedAxis, Violation};

/// A condition on two sizes that meet, at least one of them unknown: they are equal, or, if the rule allows
/// it, one of them is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeCondition {
    /// One axis, with its size.
    pub first: SizedAxis,
    /// The other axis, with its size.
    pub second: SizedAxis,
    /// Whether the broadcast is legal too if the first size is 1.
    pub first_may_be_one: bool,
    /// Whether the broadcast is legal too if the second size is 1.
    pub second_may_be_one: bool,
}

/// A broadcast that is legal if all conditions hold. Its form assumes that sizes that meet are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionalBroadcast {
    /// The explicit form.
    pub form: Broadcast,
    /// The conditions, none for a broadcast that is legal for all sizes.
    pub conditions: Vec<SizeCondition>,
}

impl AnyRule {
    /// The explicit form of operands with unknown sizes. Each number that `is_unknown` accepts is a
    /// placeholder for one unknown size; equal numbers stand for equal sizes. Choose numbers other than
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
        is_unknown: impl Fn(usize) -> bool,
    ) -> Result<ConditionalBroadcast, ShapeError> {
        // Each round elaborates. If sizes clash and one of them is unknown, the round records the
        // condition, and replaces that size by the other one for the next round.
        let (mut operands, mut target) = (operands.to_vec(), target.cloned());
        let mut conditions = Vec::new();
        loop {
            let error = match self.elaborate(&operands, target.as_ref()) {
                Ok(form) => return Ok(ConditionalBroadcast { form, conditions }),
                Err(error) => error,
            };
            let Some((first, second)) = clashing_axes(error.violation(), &operands) else {
                return Err(error);
            };
            let (from, to) = match (is_unknown(first.size), is_unknown(second.size)) {
                (true, _) => (first.size, second.size),
                (false, true) => (second.size, first.size),
                (false, false) => return Err(error),
            };
            let is_legal_with_one = |axis: SizedAxis| {
                let with_one = |shape: &Shape| replace_size(shape, axis.size, 1);
                let operands: Vec<Shape> = operands.iter().map(with_one).collect();
                let elaborated = self.elaborate(&operands, target.as_ref().map(with_one).as_ref());
                // If the other size is the known size 1, a size of 1 is the case of equal sizes.
                let is_other = first.size != 1 && second.size != 1;
                is_unknown(axis.size)
                    && is_other
                    && elaborated
                        .err()
                        .and_then(|e| clashing_axes(e.violation(), &operands))
                        .is_none_or(|clashing_axes| !are_same_axes(clashing_axes, (first, second)))
            };
            let [first_may_be_one, second_may_be_one] = [first, second].map(is_legal_with_one);
            conditions.push(SizeCondition { first, second, first_may_be_one, second_may_be_one });
            operands.iter_mut().for_each(|shape| *shape = replace_size(shape, from, to));
            target = target.map(|target| replace_size(&target, from, to));
        }
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

fn replace_size(shape: &Shape, from: usize, to: usize) -> Shape {
    shape.iter().map(|&size| if size == from { to } else { size }).collect()
}

fn are_same_axes(a: (SizedAxis, SizedAxis), b: (SizedAxis, SizedAxis)) -> bool {
    let axis = |sized: SizedAxis| (sized.owner, sized.axis);
    let axes = (axis(a.0), axis(a.1));
    axes == (axis(b.0), axis(b.1)) || axes == (axis(b.1), axis(b.0))
}
