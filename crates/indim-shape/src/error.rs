//! The error of this crate: a violation, the label of the rule, the rule set with its attributes, and the
//! shapes as given.
//!
//! The kinds of mistakes are in `violation.rs`, the words in `message.rs`, the drawing in
//! `picture.rs`, what would work instead in `repair.rs`.

use crate::ErrorCode;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{Refusal, Violation};

/// Shapes that a rule refuses.
///
/// ```
/// use indim_shape::{RuleSet, Shape, find_repairs};
///
/// let shapes = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
/// let error = RuleSet::Numpy.elaborate(&shapes).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "N2"));
/// assert_eq!((error.operand(), error.axis()), (Some(1), Some(0)));
/// assert_eq!(
///     find_repairs(&error)[0].to_string(),
///     "broadcast_dimensions=[1] gives [1, 3, 224, 224] (the only axis of operand 0 of size 3)",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(Box<Details>);

/// Boxed so that results which carry the error stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    violation: Violation,
    label: &'static str,
    rule: AnyRule,
    shapes: Vec<Shape>,
    target: Option<Shape>,
}

impl ShapeError {
    /// A refused check, with the requested rule set and the shapes as given.
    pub(crate) fn new(
        refusal: Refusal,
        rule: AnyRule,
        shapes: &[Shape],
        target: Option<&Shape>,
    ) -> Self {
        let Refusal { violation, label } = refusal;
        let (shapes, target) = (shapes.to_vec(), target.cloned());
        ShapeError(Box::new(Details { violation, label, rule, shapes, target }))
    }

    /// The violation, with operands, axes and sizes.
    pub fn violation(&self) -> &Violation {
        &self.0.violation
    }

    /// The rule set with its attributes as given.
    pub fn rule(&self) -> &AnyRule {
        &self.0.rule
    }

    /// The operands' shapes as given.
    pub fn shapes(&self) -> &[Shape] {
        &self.0.shapes
    }

    /// The target of a target rule, or the result of the explicit form, as given.
    pub fn target(&self) -> Option<&Shape> {
        self.0.target.as_ref()
    }

    /// The stable code: `size-mismatch`, `dim-too-large`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        self.0.violation.error_code()
    }

    /// The position of the guilty operand.
    pub fn operand(&self) -> Option<usize> {
        self.0.violation.operand()
    }

    /// The guilty axis of the guilty operand.
    pub fn axis(&self) -> Option<usize> {
        self.0.violation.axis()
    }

    /// The label of the rule that was broken, as in [the rules](crate::rules): `N2`, `X7`, `E4`, ...
    ///
    /// Two labels are not of the rules: `XT` stands for the ternary operations of XLA and StableHLO, and
    /// the letter of a rule set alone for a number of operands that it does not speak of.
    pub fn label(&self) -> &'static str {
        self.0.label
    }
}

impl core::error::Error for ShapeError {}
