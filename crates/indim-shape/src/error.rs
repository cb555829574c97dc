//! Errors of broadcasts: a violation, the label of the violated rule, the rule set with its attributes, and
//! the shapes as given.
//!
//! `violation.rs` defines the violations, `message.rs` the messages, `picture.rs` draws an error, `repair.rs`
//! finds repairs.

use crate::ErrorCode;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{Refusal, Violation};

/// The error for shapes that a rule refuses.
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
pub struct ShapeError(Box<ShapeErrorData>);

/// Boxed, so that a `Result` with this error stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShapeErrorData {
    violation: Violation,
    label: &'static str,
    rule: AnyRule,
    shapes: Vec<Shape>,
    target: Option<Shape>,
}

impl ShapeError {
    /// The error of a failed check, with the requested rule set and the shapes as given.
    pub(crate) fn new(
        refusal: Refusal,
        rule: AnyRule,
        shapes: &[Shape],
        target: Option<&Shape>,
    ) -> Self {
        let Refusal { violation, label } = refusal;
        let (shapes, target) = (shapes.to_vec(), target.cloned());
        ShapeError(Box::new(ShapeErrorData { violation, label, rule, shapes, target }))
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

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        self.0.violation.error_code()
    }

    /// The position of the operand at fault.
    pub fn operand(&self) -> Option<usize> {
        self.0.violation.operand()
    }

    /// The axis at fault, of that operand.
    pub fn axis(&self) -> Option<usize> {
        self.0.violation.axis()
    }

    /// The label of the violated rule, as in [the rules](crate::rules): `N2`, `X7`, `E4`, ...
    ///
    /// Two kinds of labels are indim's own: `XT` for the ternary operations of XLA and StableHLO, and
    /// the letter of a rule set without a number, for a number of operands that the rule set does not define.
    pub fn label(&self) -> &'static str {
        self.0.label
    }
}

impl core::error::Error for ShapeError {}
