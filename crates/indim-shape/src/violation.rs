//! Violations of broadcasting rules, as data: one variant per kind, with operands, axes and sizes.
//!
//! Made by the checks of `explicit.rs`, together with the label of the rule; the rule set and the shapes as
//! given are added in `error.rs`. The words are in `message.rs`.

use crate::ErrorCode;
use crate::shape::Shape;

/// Whose axis is spoken of.
///
/// ```
/// use indim_shape::{Party, Shape, TargetRule};
///
/// let error = TargetRule::Unidirectional.elaborate(&Shape::from([3]), &Shape::from([2])).unwrap_err();
/// let (this, other) = error.violation().clash().unwrap();
/// assert_eq!((this.party, other.party), (Party::Operand(0), Party::Result)); // of a target rule: the target
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Party {
    /// The operand at this position, from 0.
    Operand(usize),
    /// The result of the explicit form, or the target of a target rule.
    Result,
}

/// One axis and its size.
///
/// ```
/// use indim_shape::{AxisOf, Party, RuleSet, Shape};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([4, 3]), Shape::from([2])]).unwrap_err();
/// let (this, other) = error.violation().clash().unwrap();
/// assert_eq!(this, AxisOf { party: Party::Operand(1), axis: 0, size: 2 });
/// assert_eq!(other, AxisOf { party: Party::Operand(0), axis: 1, size: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisOf {
    /// Whose axis it is.
    pub party: Party,
    /// The axis of the operand, from 0.
    pub axis: usize,
    /// The size of that axis.
    pub size: usize,
}

impl AxisOf {
    pub(crate) fn operand(operand: usize, axis: usize, size: usize) -> Self {
        AxisOf { party: Party::Operand(operand), axis, size }
    }

    pub(crate) fn result(axis: usize, size: usize) -> Self {
        AxisOf { party: Party::Result, axis, size }
    }
}

/// A broken rule, with the guilty operand and axis and the sizes.
///
/// `operand` counts the operands from 0, `axis` the axes of that operand. If a rule of XLA
/// speaks of the smaller operand, that is the operand named. The labels are those of
/// [the rules](crate::rules).
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
    /// E1: the maps are not one per operand. D4: more lists of names than operands.
    MapCount {
        /// The number of maps, or lists.
        maps: usize,
    },
    /// E1, X3, X5, T3, D4: not one entry per axis of the operand.
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
    /// E3: two axes of one operand land on the same axis of the result.
    DimsNotUnique {
        /// The operand whose axis is mapped.
        operand: usize,
        /// The second axis that lands there.
        axis: usize,
        /// The axis of the result that is named twice.
        dim: usize,
    },
    /// D4: an axis has no name by which it could meet another one.
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
        /// The second axis of the name.
        axis: usize,
        /// The first one.
        first: usize,
    },
    /// E4, N2, D3, P5, T1, T2, T3, L: two sizes on one axis do not go together.
    SizeMismatch {
        /// The guilty axis.
        this: AxisOf,
        /// The axis that it meets, which set the size.
        other: AxisOf,
    },
    /// E5: the number of elements, or of bytes, does not fit `isize`.
    TooLarge {
        /// The shape that is too large.
        shape: Shape,
        /// The bytes of one element; 1 where elements are counted.
        element_size: usize,
    },
    /// O1: the shape is not that of the first operand.
    ShapesDiffer {
        /// The first operand that differs.
        operand: usize,
        /// Its first axis that differs; `None` when the ranks differ.
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
    /// X6: an entry is not below the larger rank.
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
    /// X7: an axis of the smaller operand does not fit the axis it is mapped to.
    DimSizeMismatch {
        /// The axis of the smaller operand.
        this: AxisOf,
        /// The axis of the larger operand it is mapped to.
        other: AxisOf,
    },
    /// X8, T3: an entry is not above the one before.
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
    /// X9: on one axis of equal ranks the sizes differ and neither is 1.
    DegenerateIncompatible {
        /// The axis of the second operand.
        this: AxisOf,
        /// The axis of the first.
        other: AxisOf,
    },
    /// XT, of XLA's and StableHLO's ternary operations: neither a scalar nor of the others' shape.
    ImplicitBroadcastUnsupported {
        /// The operand that differs.
        operand: usize,
    },
    /// XT: `broadcast_dimensions` was given to an operation that takes none.
    DimsNotTaken {
        /// The number of entries.
        length: usize,
    },
    /// P1, T1, L: the operand has more axes than what it is broadcast onto.
    RankTooLarge {
        /// The operand.
        operand: usize,
        /// Its number of axes.
        rank: usize,
        /// The number of axes it is broadcast onto.
        onto: usize,
    },
    /// P2, P4, L: the axis does not exist, or the operand does not fit behind it.
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
    /// The rule says nothing about this number of operands.
    OperandCount {
        /// The number given.
        given: usize,
    },
}

/// A check that failed: what is wrong, and the label of the rule that says so.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) violation: Violation,
    pub(crate) label: &'static str,
}

impl Violation {
    /// The refusal of this under the rule with the label.
    pub(crate) fn breaks(self, label: &'static str) -> Refusal {
        Refusal { violation: self, label }
    }

    /// The stable code, as in the rules.
    pub const fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
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

    /// The two axes whose sizes clash, the guilty one first.
    pub const fn clash(&self) -> Option<(AxisOf, AxisOf)> {
        match *self {
            Violation::SizeMismatch { this, other }
            | Violation::DimSizeMismatch { this, other }
            | Violation::DegenerateIncompatible { this, other } => Some((this, other)),
            _ => None,
        }
    }

    /// The position of the guilty operand.
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
                Some((AxisOf { party: Party::Operand(operand), .. }, _)) => Some(operand),
                _ => None,
            },
        }
    }

    /// The guilty axis of the guilty operand.
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
