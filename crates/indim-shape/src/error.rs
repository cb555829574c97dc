//! The error of this crate: a violation, the rule set with its attributes, and the shapes as given.
//!
//! The kinds of mistakes are in `violation.rs`, the words in `message.rs`, the drawing in
//! `picture.rs`, what would work instead in `repair.rs`.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::message::{Names, sentence, write_message};
use crate::repair::{Repair, find_repairs};
use crate::rule_set::RuleSet;
use crate::shape::Shape;
use crate::target_rule::TargetRule;
use crate::violation::Violation;

/// The rule set of a mistake, a repair or a conversion, with its attributes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnyRule {
    /// The explicit form itself.
    ExplicitForm,
    /// A rule of element-wise operations.
    Elementwise(RuleSet),
    /// A rule of broadcasts to a target shape.
    Target(TargetRule),
}

impl fmt::Display for AnyRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyRule::ExplicitForm => formatter.write_str("the explicit form"),
            AnyRule::Elementwise(rule) => write!(formatter, "rule {rule}"),
            AnyRule::Target(rule) => write!(formatter, "rule {rule}"),
        }
    }
}

/// Shapes that a rule refuses.
///
/// ```
/// use indim_shape::{RuleSet, Shape};
///
/// let shapes = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
/// let error = RuleSet::Numpy.elaborate(&shapes).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "N2"));
/// assert_eq!((error.operand(), error.axis()), (Some(1), Some(0)));
/// assert_eq!(
///     error.repairs()[0].to_string(),
///     "broadcast_dimensions=[1] gives [1, 3, 224, 224] (the only axis of operand 0 of size 3)",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(Box<Details>);

/// Boxed so that results which carry the error stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    violation: Violation,
    rule: AnyRule,
    shapes: Vec<Shape>,
    target: Option<Shape>,
}

impl ShapeError {
    /// A mistake against the explicit form.
    pub(crate) fn new(violation: Violation, shapes: Vec<Shape>) -> Self {
        let rule = AnyRule::ExplicitForm;
        ShapeError(Box::new(Details { violation, rule, shapes, target: None }))
    }

    /// The same mistake under the rule set that was asked for. Only target rules and the explicit
    /// form have a target.
    pub(crate) fn with_rule(mut self, rule: AnyRule) -> Self {
        if matches!(rule, AnyRule::Elementwise(_)) {
            self.0.target = None;
        }
        self.0.rule = rule;
        self
    }

    pub(crate) fn with_target(mut self, target: Shape) -> Self {
        self.0.target = Some(target);
        self
    }

    pub(crate) fn with_shapes(mut self, shapes: &[Shape]) -> Self {
        self.0.shapes = shapes.to_vec();
        self
    }

    /// What is wrong, with the operands, axes and sizes.
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
        self.0.violation.code()
    }

    /// The position of the guilty operand.
    pub fn operand(&self) -> Option<usize> {
        self.0.violation.operand()
    }

    /// The guilty axis of the guilty operand.
    pub fn axis(&self) -> Option<usize> {
        self.0.violation.axis()
    }

    /// The label of the rule that was broken: `N2`, `X7`, `E4`, ...
    ///
    /// Two labels are not of the rules: `XT` stands for the ternary operations of XLA and StableHLO, and
    /// the letter of a rule set alone for a number of operands that it does not speak of.
    pub fn label(&self) -> &'static str {
        match (&self.0.violation, &self.0.rule) {
            (Violation::TooLarge { .. }, _) => "E5",
            (Violation::ShapesDiffer { .. }, _) => "O1",
            (Violation::SameRankDimsNotIdentity { .. }, _) => "X2",
            (Violation::RankMismatchWithoutDims { .. }, _) => "X4",
            (Violation::DimNegative { .. } | Violation::DimTooLarge { .. }, _) => "X6",
            (Violation::DimSizeMismatch { .. }, _) => "X7",
            (Violation::DegenerateIncompatible { .. }, _) => "X9",
            (Violation::ImplicitBroadcastUnsupported { .. }, _) => "XT",
            (Violation::DimsNotTaken { .. }, _) => "XT",
            (Violation::OperandCount { .. }, rule) => letter(rule),
            (violation, AnyRule::Elementwise(rule)) => elementwise_label(violation, rule),
            (violation, AnyRule::Target(rule)) => target_label(violation, rule),
            (violation, AnyRule::ExplicitForm) => explicit_label(violation),
        }
    }

    /// What would work instead, the likeliest first; each was tried and is legal.
    ///
    /// The search is bounded, so of operands with many axes only the first finds are here.
    pub fn repairs(&self) -> Vec<Repair> {
        find_repairs(self)
    }
}

fn letter(rule: &AnyRule) -> &'static str {
    match rule {
        AnyRule::Elementwise(RuleSet::None) => "O",
        AnyRule::Elementwise(RuleSet::Numpy) => "N",
        AnyRule::Elementwise(RuleSet::Xla { .. }) => "X",
        AnyRule::Elementwise(RuleSet::StableHlo | RuleSet::StableHloSelect) => "S",
        AnyRule::Elementwise(RuleSet::Pdpd { .. }) => "P",
        AnyRule::Elementwise(RuleSet::OnnxLegacy { .. }) => "L",
        AnyRule::Target(_) => "T",
        AnyRule::ExplicitForm => "E",
    }
}

fn explicit_label(violation: &Violation) -> &'static str {
    match violation {
        Violation::DimOutOfRange { .. } => "E2",
        Violation::DimsNotUnique { .. } => "E3",
        Violation::SizeMismatch { .. } => "E4",
        Violation::DimsNotStrictlyIncreasing { .. } => "X8",
        _ => "E1",
    }
}

fn elementwise_label(violation: &Violation, rule: &RuleSet) -> &'static str {
    match (rule, violation) {
        (RuleSet::Numpy, _) => "N2",
        (RuleSet::Xla { .. }, Violation::DimsLength { rank: 0, .. }) => "X3",
        (RuleSet::Xla { .. }, Violation::DimsLength { .. }) => "X5",
        (RuleSet::Xla { .. }, _) => "X8",
        (RuleSet::Pdpd { .. }, _) => pdpd_label(violation),
        (RuleSet::OnnxLegacy { .. }, _) => "L",
        (RuleSet::None | RuleSet::StableHlo | RuleSet::StableHloSelect, _) => {
            explicit_label(violation)
        }
    }
}

fn target_label(violation: &Violation, rule: &TargetRule) -> &'static str {
    match rule {
        TargetRule::Unidirectional => "T1",
        TargetRule::Bidirectional => "T2",
        TargetRule::Explicit { .. } => "T3",
        TargetRule::Pdpd { .. } => pdpd_label(violation),
        TargetRule::XlaBroadcast
        | TargetRule::XlaBroadcastInDim { .. }
        | TargetRule::StableHloBroadcastInDim { .. }
        | TargetRule::HloBroadcast { .. } => explicit_label(violation),
    }
}

fn pdpd_label(violation: &Violation) -> &'static str {
    match *violation {
        Violation::RankTooLarge { .. } => "P1",
        Violation::AxisOutOfRange { axis, onto, .. } if axis < -1 || axis > onto as i64 => "P2",
        Violation::AxisOutOfRange { .. } => "P4",
        _ => "P5",
    }
}

impl fmt::Display for ShapeError {
    /// One line: what is wrong, the label, and what the rule asks for.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message(formatter, self, &Names::by_position(self.rule()))?;
        write!(formatter, " ({}: {})", self.label(), sentence(self))
    }
}

impl core::error::Error for ShapeError {}
