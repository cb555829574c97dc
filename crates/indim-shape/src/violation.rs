//! Violations of broadcasting rules, as data: one variant per kind, with operands, axes and sizes.
//!
//! The checks of `explicit.rs` return them with the label of the rule. `error.rs` adds the rule set and the
//! shapes, `message.rs` the message.

use crate::ErrorCode;
use crate::shape::Shape;

/// The owner of an axis: an operand, or the result.
///
/// ```
/// use indim_shape::{AxisOwner, Shape, TargetRule};
///
/// let error = TargetRule::Unidirectional.elaborate(&Shape::from([3]), &Shape::from([2])).unwrap_err();
/// let (this, other) = error.violation().clash().unwrap();
/// assert_eq!((this.owner, other.owner), (AxisOwner::Operand(0), AxisOwner::Result)); // here the target
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisOwner {
    /// The operand at this position, from 0.
    Operand(usize),
    /// The result of the explicit form, or the target of a target rule.
    Result,
}

/// An axis with its owner and size.
///
/// ```
/// use indim_shape::{SizedAxis, AxisOwner, RuleSet, Shape};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([4, 3]), Shape::from([2])]).unwrap_err();
/// let (this, other) = error.violation().clash().unwrap();
/// assert_eq!(this, SizedAxis { owner: AxisOwner::Operand(1), axis: 0, size: 2 });
/// assert_eq!(other, SizedAxis { owner: AxisOwner::Operand(0), axis: 1, size: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SizedAxis {
    /// The operand or result that has the axis.
    pub owner: AxisOwner,
    /// The axis, counted from 0.
    pub axis: usize,
    /// The size of that axis.
    pub size: usize,
}

impl SizedAxis {
    pub(crate) fn operand(operand: usize, axis: usize, size: usize) -> Self {
        SizedAxis { owner: AxisOwner::Operand(operand), axis, size }
    }

    pub(crate) fn result(axis: usize, size: usize) -> Self {
        SizedAxis { owner: AxisOwner::Result, axis, size }
    }
}

/// The violation of a rule, with the operand and axis at fault and the sizes.
///
/// `operand` counts operands from 0, `axis` the axes of that operand. XLA's rules on `broadcast_dimensions`
/// name the operand of smaller rank. The labels are those of [the rules](crate::rules).
///
/// ```
/// use indim_shape::{RuleSet, Shape, Violation};
///
/// let rule = RuleSet::Xla { dims: vec![2] };
/// let error = rule.elaborate(&[Shape::from([2, 3]), Shape::from([3])]).unwrap_err();
/// let violation = error.violation();
/// assert!(matches!(violation, Violation::DimTooLarge { operand: 1, axis: 0, dim: 2, .. }));
/// assert_eq!((violation.code(), error.label()), ("dim-too-large", "X6"));
/// assert_eq!((violation.operand(), violation.axis(), violation.clash()), (Some(1), Some(0), None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// E1: the number of maps is not the number of operands. D4: more lists of names than operands.
    MapCount {
        /// The number of maps, or lists.
        maps: usize,
    },
    /// E1, X3, X5, T3, D4: the number of entries is not the operand's rank.
    DimsLength {
        /// The operand whose axes are mapped.
        operand: usize,
        /// Its number of axes.
        rank: usize,
        /// The number of entries.
        length: usize,
    },
    /// E2, T3: an entry names no axis of the result.
    DimOutOfRange {
        /// The operand whose axis is mapped.
        operand: usize,
        /// The axis that is mapped.
        axis: usize,
        /// The entry as given.
        dim: i64,
        /// The number of axes of the result.
        rank: usize,
    },
    /// E3: two axes of one operand map to the same axis of the result.
    DimsNotUnique {
        /// The operand whose axis is mapped.
        operand: usize,
        /// The second axis with this entry.
        axis: usize,
        /// The repeated entry.
        dim: usize,
    },
    /// D4: an axis has no name.
    AxisNameMissing {
        /// The operand.
        operand: usize,
        /// Its first axis without a name.
        axis: usize,
    },
    /// D1: two axes of one operand have the same name.
    AxisNameRepeated {
        /// The operand.
        operand: usize,
        /// The second axis with the name.
        axis: usize,
        /// The first axis with the name.
        first: usize,
    },
    /// E4, N2, D3, P5, T1, T2, T3, L: two sizes that meet on one result axis differ, and the rule does not
    /// expand one to the other.
    SizeMismatch {
        /// The axis at fault.
        this: SizedAxis,
        /// The axis that set the size.
        other: SizedAxis,
    },
    /// E5: the number of elements, or of bytes, does not fit `isize`.
    TooLarge {
        /// The shape that is too large.
        shape: Shape,
        /// The bytes of one element; 1 for a count of elements.
        element_size: usize,
    },
    /// O1: a shape differs from that of the first operand.
    ShapesDiffer {
        /// The first operand that differs.
        operand: usize,
        /// Its first axis that differs; `None` if the ranks differ.
        axis: Option<usize>,
    },
    /// X2: equal ranks, but the list is neither empty nor 0, 1, ..., rank - 1.
    SameRankDimsNotIdentity {
        /// The rank of both operands.
        rank: usize,
    },
    /// X4: ranks differ, and no list was given.
    RankMismatchWithoutDims {
        /// The operand of smaller rank.
        smaller: usize,
    },
    /// X6: an entry is negative.
    DimNegative {
        /// The operand of smaller rank.
        operand: usize,
        /// The axis that is mapped.
        axis: usize,
        /// The entry as given.
        dim: i64,
    },
    /// X6: an entry is not less than the larger rank.
    DimTooLarge {
        /// The operand of smaller rank.
        operand: usize,
        /// The axis that is mapped.
        axis: usize,
        /// The entry as given.
        dim: i64,
        /// The larger rank.
        rank: usize,
    },
    /// X7: the sizes of an axis of the smaller operand and of the axis it is mapped to do not unify.
    DimSizeMismatch {
        /// The axis of the smaller operand.
        this: SizedAxis,
        /// The axis of the larger operand it is mapped to.
        other: SizedAxis,
    },
    /// X8, T3: an entry is not greater than the one before.
    DimsNotStrictlyIncreasing {
        /// The operand whose axes are mapped.
        operand: usize,
        /// The axis that is mapped.
        axis: usize,
        /// The entry as given.
        dim: i64,
        /// The entry before.
        previous: i64,
    },
    /// X9: between equal ranks, sizes differ on one axis and neither is 1.
    DegenerateIncompatible {
        /// The axis of the second operand.
        this: SizedAxis,
        /// The axis of the first.
        other: SizedAxis,
    },
    /// XT, ternary operations of XLA and StableHLO: an operand is neither a scalar nor of the others' shape.
    ImplicitBroadcastUnsupported {
        /// The operand that differs.
        operand: usize,
    },
    /// XT: an operation that takes no `broadcast_dimensions` got one.
    DimsNotTaken {
        /// The number of entries.
        length: usize,
    },
    /// P1, T1, L: the operand has a larger rank than the shape it is broadcast onto.
    RankTooLarge {
        /// The operand.
        operand: usize,
        /// Its number of axes.
        rank: usize,
        /// The number of axes it is broadcast onto.
        onto: usize,
    },
    /// P2, P4, L: `axis` is out of range, or the operand does not fit after it.
    AxisOutOfRange {
        /// The operand that is broadcast.
        operand: usize,
        /// The attribute as given.
        axis: i64,
        /// The operand's number of axes.
        rank: usize,
        /// The number of axes it is broadcast onto.
        onto: usize,
    },
    /// The rule does not define this number of operands.
    OperandCount {
        /// The number of operands.
        given: usize,
    },
}

/// A failed check: the violation, and the label of the violated rule.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) violation: Violation,
    pub(crate) label: &'static str,
}

impl Violation {
    /// This violation with the label of the violated rule.
    pub(crate) fn of_rule(self, label: &'static str) -> Refusal {
        Refusal { violation: self, label }
    }

    /// The stable code, as in the rules.
    pub const fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub const fn error_code(&self) -> ErrorCode {
        match self {
            Violation::MapCount { .. } | Violation::DimsLength { .. } => {
                ErrorCode::DIMS_LENGTH_MISMATCH
            }
            Violation::AxisNameMissing { .. } => ErrorCode::AXIS_NAME_MISSING,
            Violation::AxisNameRepeated { .. } => ErrorCode::AXIS_NAME_REPEATED,
            Violation::DimOutOfRange { .. } => ErrorCode::DIM_OUT_OF_RANGE,
            Violation::DimsNotUnique { .. } => ErrorCode::DIMS_NOT_UNIQUE,
            Violation::SizeMismatch { .. } => ErrorCode::SIZE_MISMATCH,
            Violation::TooLarge { .. } => ErrorCode::TOO_LARGE,
            Violation::ShapesDiffer { .. } => ErrorCode::SHAPES_DIFFER,
            Violation::SameRankDimsNotIdentity { .. } => ErrorCode::SAME_RANK_DIMS_NOT_IDENTITY,
            Violation::RankMismatchWithoutDims { .. } => ErrorCode::RANK_MISMATCH_WITHOUT_DIMS,
            Violation::DimNegative { .. } => ErrorCode::DIM_NEGATIVE,
            Violation::DimTooLarge { .. } => ErrorCode::DIM_TOO_LARGE,
            Violation::DimSizeMismatch { .. } => ErrorCode::DIM_SIZE_MISMATCH,
            Violation::DimsNotStrictlyIncreasing { .. } => ErrorCode::DIMS_NOT_STRICTLY_INCREASING,
            Violation::DegenerateIncompatible { .. } => ErrorCode::DEGENERATE_INCOMPATIBLE,
            Violation::ImplicitBroadcastUnsupported { .. } | Violation::DimsNotTaken { .. } => {
                ErrorCode::IMPLICIT_BROADCAST_UNSUPPORTED
            }
            Violation::RankTooLarge { .. } => ErrorCode::RANK_TOO_LARGE,
            Violation::AxisOutOfRange { .. } => ErrorCode::AXIS_OUT_OF_RANGE,
            Violation::OperandCount { .. } => ErrorCode::WRONG_OPERAND_COUNT,
        }
    }

    /// The two axes whose sizes clash, the one at fault first.
    pub const fn clash(&self) -> Option<(SizedAxis, SizedAxis)> {
        match *self {
            Violation::SizeMismatch { this, other }
            | Violation::DimSizeMismatch { this, other }
            | Violation::DegenerateIncompatible { this, other } => Some((this, other)),
            _ => None,
        }
    }

    /// The position of the operand at fault.
    pub const fn operand(&self) -> Option<usize> {
        match *self {
            Violation::DimsLength { operand, .. }
            | Violation::DimOutOfRange { operand, .. }
            | Violation::DimsNotUnique { operand, .. }
            | Violation::ShapesDiffer { operand, .. }
            | Violation::RankMismatchWithoutDims { smaller: operand }
            | Violation::DimNegative { operand, .. }
            | Violation::DimTooLarge { operand, .. }
            | Violation::DimsNotStrictlyIncreasing { operand, .. }
            | Violation::ImplicitBroadcastUnsupported { operand }
            | Violation::RankTooLarge { operand, .. }
            | Violation::AxisNameMissing { operand, .. }
            | Violation::AxisNameRepeated { operand, .. }
            | Violation::AxisOutOfRange { operand, .. } => Some(operand),
            _ => match self.clash() {
                Some((SizedAxis { owner: AxisOwner::Operand(operand), .. }, _)) => Some(operand),
                _ => None,
            },
        }
    }

    /// The axis at fault, of that operand.
    pub const fn axis(&self) -> Option<usize> {
        match *self {
            Violation::DimOutOfRange { axis, .. }
            | Violation::DimsNotUnique { axis, .. }
            | Violation::AxisNameMissing { axis, .. }
            | Violation::AxisNameRepeated { axis, .. }
            | Violation::DimNegative { axis, .. }
            | Violation::DimTooLarge { axis, .. }
            | Violation::DimsNotStrictlyIncreasing { axis, .. } => Some(axis),
            Violation::ShapesDiffer { axis, .. } => axis,
            _ => match self.clash() {
                Some((this, _)) => Some(this.axis),
                None => None,
            },
        }
    }
}
