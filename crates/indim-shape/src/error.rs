//! What can be wrong with shapes: typed data with a stable code and the label of the rule.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::rule_set::RuleSet;
use crate::shape::Shape;
use crate::target_rule::TargetRule;

/// The rule set under which a mistake was made, with its attributes as given.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Which rule was broken, by which operand and axis, with the sizes.
///
/// `operand` counts the operands from 0, `axis` the axes of that operand. Where a rule of XLA
/// speaks of the smaller operand, that is the operand named.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by the words above")]
pub enum Violation {
    /// E1: there is not one map per operand.
    MapCount { maps: usize },
    /// E1, X3, X5, T3: not one entry per axis of the operand.
    DimsLength { operand: usize, rank: usize, length: usize },
    /// E2, T3: an entry names no axis of the result.
    DimOutOfRange { operand: usize, axis: usize, dim: i64, rank: usize },
    /// E3: two axes land on the same axis of the result.
    DimsNotUnique { operand: usize, axis: usize, dim: usize },
    /// E4 and the target rules: the size is neither 1 nor the result's.
    ExplicitSize {
        operand: usize,
        axis: usize,
        size: usize,
        result_axis: usize,
        result_size: usize,
    },
    /// E5: the number of elements or bytes does not fit `isize`.
    TooLarge { element_size: usize },
    /// O1: shapes differ, first at `axis` (`None` when the ranks differ).
    ShapesDiffer { operand: usize, axis: Option<usize> },
    /// N2, T2, P5 and ONNX's legacy rule: two sizes on one axis do not go together.
    SizeMismatch {
        operand: usize,
        axis: usize,
        size: usize,
        other_operand: usize,
        other_axis: usize,
        other_size: usize,
    },
    /// X2: equal ranks, but the list is neither empty nor the identity.
    SameRankDimsNotIdentity { rank: usize },
    /// X4: ranks differ and there is no list.
    RankMismatchWithoutDims { smaller: usize },
    /// X6: an entry is negative.
    DimNegative { operand: usize, axis: usize, dim: i64 },
    /// X6: an entry is not below the larger rank.
    DimTooLarge { operand: usize, axis: usize, dim: i64, rank: usize },
    /// X7: an axis of the smaller operand does not fit the axis it is mapped to.
    DimSizeMismatch {
        operand: usize,
        axis: usize,
        size: usize,
        other_axis: usize,
        other_size: usize,
    },
    /// X8, T3: an entry is not above the one before.
    DimsNotStrictlyIncreasing { operand: usize, axis: usize, dim: i64, previous: i64 },
    /// X9: after placing, two sizes on one axis differ and neither is 1.
    DegenerateIncompatible {
        operand: usize,
        axis: usize,
        size: usize,
        other_axis: usize,
        other_size: usize,
    },
    /// XLA's ternary operations: an operand is neither a scalar nor of the others' shape, or a list is given.
    ImplicitBroadcastUnsupported { operand: usize },
    /// P1, T1, L: the operand has more axes than what it is broadcast onto.
    RankTooLarge { operand: usize, rank: usize, onto: usize },
    /// P2, P4: the axis does not exist, or the operand does not fit behind it.
    AxisOutOfRange { operand: usize, axis: i64, rank: usize, onto: usize },
    /// The rule speaks of two operands, or of three.
    OperandCount { given: usize },
}

/// Shapes that a rule refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(Box<Report>);

/// The data of an error, boxed because results that carry it are returned everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Report {
    violation: Violation,
    rule: AnyRule,
    shapes: Vec<Shape>,
    target: Option<Shape>,
}

impl ShapeError {
    /// A mistake against the explicit form.
    pub(crate) fn new(violation: Violation, shapes: Vec<Shape>) -> Self {
        ShapeError(Box::new(Report {
            violation,
            rule: AnyRule::ExplicitForm,
            shapes,
            target: None,
        }))
    }

    pub(crate) fn with_rule(mut self, rule: AnyRule) -> Self {
        self.0.rule = rule;
        self
    }

    pub(crate) fn with_target(mut self, target: Shape) -> Self {
        self.0.target = Some(target);
        self
    }

    /// The error of a result's size, as one of the operands' broadcast.
    pub(crate) fn with_operands(mut self, shapes: &[Shape]) -> Self {
        let result = self.0.shapes.first().cloned();
        self.0.target = self.0.target.or(result);
        self.0.shapes = shapes.to_vec();
        self
    }

    /// Which rule was broken, with the sizes.
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

    /// The target or result shape as given, where there was one.
    pub fn target(&self) -> Option<&Shape> {
        self.0.target.as_ref()
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self.0.violation {
            Violation::MapCount { .. } | Violation::DimsLength { .. } => "dims-length-mismatch",
            Violation::DimOutOfRange { .. } => "dim-out-of-range",
            Violation::DimsNotUnique { .. } => "dims-not-unique",
            Violation::ExplicitSize { .. } | Violation::SizeMismatch { .. } => "size-mismatch",
            Violation::TooLarge { .. } => "too-large",
            Violation::ShapesDiffer { .. } => "shapes-differ",
            Violation::SameRankDimsNotIdentity { .. } => "same-rank-dims-not-identity",
            Violation::RankMismatchWithoutDims { .. } => "rank-mismatch-without-dims",
            Violation::DimNegative { .. } => "dim-negative",
            Violation::DimTooLarge { .. } => "dim-too-large",
            Violation::DimSizeMismatch { .. } => "dim-size-mismatch",
            Violation::DimsNotStrictlyIncreasing { .. } => "dims-not-strictly-increasing",
            Violation::DegenerateIncompatible { .. } => "degenerate-incompatible",
            Violation::ImplicitBroadcastUnsupported { .. } => "implicit-broadcast-unsupported",
            Violation::RankTooLarge { .. } => "rank-too-large",
            Violation::AxisOutOfRange { .. } => "axis-out-of-range",
            Violation::OperandCount { .. } => "wrong-operand-count",
        }
    }
}

impl ShapeError {
    /// The label of the rule that was broken, as the documents name it.
    pub fn label(&self) -> &'static str {
        use Violation as V;
        match (&self.0.violation, &self.0.rule) {
            (V::TooLarge { .. }, _) => "E5",
            (V::ShapesDiffer { .. }, _) => "O1",
            (V::SameRankDimsNotIdentity { .. }, _) => "X2",
            (V::RankMismatchWithoutDims { .. }, _) => "X4",
            (V::DimNegative { .. } | V::DimTooLarge { .. }, _) => "X6",
            (V::DimSizeMismatch { .. }, _) => "X7",
            (V::DegenerateIncompatible { .. }, _) => "X9",
            (V::ImplicitBroadcastUnsupported { .. }, _) => "XT",
            (V::OperandCount { .. }, _) => "E1",
            (violation, AnyRule::Elementwise(rule)) => rule_label(violation, rule),
            (violation, AnyRule::Target(rule)) => target_label(violation, rule),
            (violation, AnyRule::ExplicitForm) => explicit_label(violation),
        }
    }

    /// The position of the guilty operand.
    pub fn operand(&self) -> Option<usize> {
        use Violation as V;
        match self.0.violation {
            V::DimsLength { operand, .. }
            | V::DimOutOfRange { operand, .. }
            | V::DimsNotUnique { operand, .. }
            | V::ExplicitSize { operand, .. }
            | V::ShapesDiffer { operand, .. }
            | V::SizeMismatch { operand, .. }
            | V::DimNegative { operand, .. }
            | V::DimTooLarge { operand, .. }
            | V::DimSizeMismatch { operand, .. }
            | V::DimsNotStrictlyIncreasing { operand, .. }
            | V::DegenerateIncompatible { operand, .. }
            | V::ImplicitBroadcastUnsupported { operand }
            | V::RankTooLarge { operand, .. }
            | V::AxisOutOfRange { operand, .. } => Some(operand),
            V::RankMismatchWithoutDims { smaller } => Some(smaller),
            V::MapCount { .. }
            | V::TooLarge { .. }
            | V::SameRankDimsNotIdentity { .. }
            | V::OperandCount { .. } => None,
        }
    }

    /// The guilty axis of the guilty operand.
    pub fn axis(&self) -> Option<usize> {
        use Violation as V;
        match self.0.violation {
            V::DimOutOfRange { axis, .. }
            | V::DimsNotUnique { axis, .. }
            | V::ExplicitSize { axis, .. }
            | V::SizeMismatch { axis, .. }
            | V::DimNegative { axis, .. }
            | V::DimTooLarge { axis, .. }
            | V::DimSizeMismatch { axis, .. }
            | V::DimsNotStrictlyIncreasing { axis, .. }
            | V::DegenerateIncompatible { axis, .. } => Some(axis),
            V::ShapesDiffer { axis, .. } => axis,
            _ => None,
        }
    }
}

fn explicit_label(violation: &Violation) -> &'static str {
    match violation {
        Violation::DimOutOfRange { .. } => "E2",
        Violation::DimsNotUnique { .. } => "E3",
        Violation::ExplicitSize { .. } | Violation::SizeMismatch { .. } => "E4",
        Violation::DimsNotStrictlyIncreasing { .. } => "X8",
        _ => "E1",
    }
}

fn pdpd_label(violation: &Violation) -> &'static str {
    match violation {
        Violation::RankTooLarge { .. } => "P1",
        Violation::AxisOutOfRange { axis, onto, .. } => {
            if *axis < -1 || *axis > *onto as i64 {
                "P2"
            } else {
                "P4"
            }
        }
        _ => "P5",
    }
}

fn rule_label(violation: &Violation, rule: &RuleSet) -> &'static str {
    match (rule, violation) {
        (RuleSet::Numpy, _) => "N2",
        (RuleSet::Xla { .. }, Violation::DimsLength { rank: 0, .. }) => "X3",
        (RuleSet::Xla { .. }, Violation::DimsLength { .. }) => "X5",
        (RuleSet::Xla { .. }, _) => "X8",
        (RuleSet::Pdpd { .. }, _) => pdpd_label(violation),
        (RuleSet::OnnxLegacy { .. }, _) => "L",
        (RuleSet::None | RuleSet::StableHlo, _) => explicit_label(violation),
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

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Violation as V;
        match &self.0.violation {
            V::MapCount { maps } => {
                write!(formatter, "{maps} maps were given for {} operands", self.0.shapes.len())
            }
            V::DimsLength { operand, rank, length } => write!(
                formatter,
                "operand {operand} has {rank} axes, but the list of dimensions has {length} entries"
            ),
            V::DimOutOfRange { operand, axis, dim, rank } => write!(
                formatter,
                "axis {axis} of operand {operand} is mapped to axis {dim}, which does not exist in a result of rank {rank}"
            ),
            V::DimsNotUnique { operand, axis, dim } => write!(
                formatter,
                "axis {axis} of operand {operand} is mapped to axis {dim}, where another axis of it lands already"
            ),
            V::ExplicitSize { operand, axis, size, result_axis, result_size } => write!(
                formatter,
                "axis {axis} of operand {operand} has size {size}, which is neither 1 nor {result_size}, the size of axis {result_axis} of the result"
            ),
            V::TooLarge { element_size } => write!(
                formatter,
                "an array of shape {} with elements of {element_size} bytes does not fit the address space",
                self.0.target.as_ref().or(self.0.shapes.first()).unwrap_or(&Shape::scalar())
            ),
            V::ShapesDiffer { operand, .. } => write!(
                formatter,
                "operand {operand} has shape {}, operand 0 has {}, and they must be equal",
                self.0.shapes[*operand], self.0.shapes[0]
            ),
            V::SizeMismatch { operand, axis, size, other_operand, other_axis, other_size } => {
                let other = OtherOperand { index: *other_operand, error: self };
                write!(
                    formatter,
                    "axis {axis} of operand {operand} has size {size}, axis {other_axis} of {other} has {other_size}"
                )
            }
            V::SameRankDimsNotIdentity { rank } => write!(
                formatter,
                "operands of equal rank {rank} take no list of dimensions, or every axis in order"
            ),
            V::RankMismatchWithoutDims { smaller } => write!(
                formatter,
                "operand {smaller} has fewer axes, and nothing says on which axes they land"
            ),
            V::DimNegative { operand, axis, dim } => write!(
                formatter,
                "axis {axis} of operand {operand} is mapped to axis {dim}; axes count from 0"
            ),
            V::DimTooLarge { operand, axis, dim, rank } => write!(
                formatter,
                "axis {axis} of operand {operand} is mapped to axis {dim}, but the other operand has {rank} axes"
            ),
            V::DimSizeMismatch { operand, axis, size, other_axis, other_size }
            | V::DegenerateIncompatible { operand, axis, size, other_axis, other_size } => write!(
                formatter,
                "axis {axis} of operand {operand} has size {size}, axis {other_axis} of the other operand has {other_size}"
            ),
            V::DimsNotStrictlyIncreasing { axis, dim, previous, .. } => write!(
                formatter,
                "entry {axis} of the list of dimensions is {dim}, which is not above {previous}, the one before"
            ),
            V::ImplicitBroadcastUnsupported { operand } => write!(
                formatter,
                "operand {operand} is neither a scalar nor of the others' shape, or a list of dimensions is given"
            ),
            V::RankTooLarge { operand, rank, onto } => write!(
                formatter,
                "operand {operand} has {rank} axes, more than the {onto} it is broadcast onto"
            ),
            V::AxisOutOfRange { operand, axis, rank, onto } => write!(
                formatter,
                "operand {operand} of rank {rank} does not fit behind axis {axis} of a shape of rank {onto}"
            ),
            V::OperandCount { given } => {
                write!(formatter, "the rule does not speak of {given} operands")
            }
        }
    }
}

/// The other side of a mismatch: an operand, or the target shape.
struct OtherOperand<'a> {
    index: usize,
    error: &'a ShapeError,
}

impl fmt::Display for OtherOperand<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index < self.error.0.shapes.len() {
            true => write!(formatter, "operand {}", self.index),
            false => formatter.write_str("the target"),
        }
    }
}

impl core::error::Error for ShapeError {}
