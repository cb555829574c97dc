//! Broadcasting rules with their attributes, as data.
//!
//! `rule_set_name.rs` has their names. `rule_set.rs` and `target_rule.rs` compute the axis maps of each rule,
//! `explicit.rs` checks legality.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::axis_names::AxisNames;
use crate::rule_set_name::RuleSetName;

/// A rule by which the operands of an element-wise operation are broadcast, with its attributes.
///
/// The labels are those of [the rules](crate::rules).
///
/// ```
/// use indim_shape::{RuleSet, RuleSetName, Shape};
///
/// let rule = RuleSet::Pdpd { axis: Some(1) };
/// assert_eq!((rule.name(), rule.to_string().as_str()), (RuleSetName::Pdpd, "pdpd axis=1"));
/// let form = rule.elaborate(&[Shape::from([2, 3, 4]), Shape::from([3])])?;
/// assert_eq!((form.result(), &form.maps()[1][..]), (&Shape::from([2, 3, 4]), &[1][..]));
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleSet {
    /// [O1](crate::rules#none-o): all shapes are equal. Plain HLO, and OpenVINO's `auto_broadcast = none`.
    None,
    /// [N1, N2](crate::rules#numpy-n): right-aligned axes unify. NumPy, the array API, ONNX, OpenVINO's
    /// `numpy`.
    Numpy,
    /// [X2 to X9](crate::rules#xla-x): XlaBuilder's binary operations; a ternary operation takes scalars and
    /// equal shapes.
    Xla {
        /// `broadcast_dimensions`: for each axis of the smaller operand the axis of the larger one; empty if
        /// not given.
        dims: Vec<i64>,
    },
    /// [S](crate::rules#stablehlo-s): StableHLO's binary operations, O1. With three operands (`clamp`) the
    /// outer ones may be scalars.
    StableHlo,
    /// [S](crate::rules#stablehlo-s): StableHLO's `select`. The predicate may be a scalar, the branches have
    /// equal shapes.
    StableHloSelect,
    /// [P1 to P5](crate::rules#pdpd-p): the second operand is broadcast onto the first, from `axis` on. With
    /// three operands, the first and third are broadcast onto the second.
    Pdpd {
        /// The first result axis of a broadcast operand. `None` and -1 mean that the operand is a suffix:
        /// its axes map to the last ones.
        axis: Option<i64>,
    },
    /// [L](crate::rules#onnx-before-opset-7-l): ONNX before opset 7.
    OnnxLegacy {
        /// The attribute `broadcast`. If false, the shapes must be equal.
        broadcast: bool,
        /// The first result axis of the second operand. `None` means that the operand is a suffix.
        axis: Option<i64>,
    },
    /// [D1 to D4](crate::rules#named-d): axes of the same name meet, in any order.
    /// xarray, Penzai.
    Named {
        /// The axis names of each operand; an operand without an entry has none. If the list is empty, a
        /// graph builder uses the names of its values.
        names: Vec<AxisNames>,
    },
}

impl RuleSet {
    /// The name of the rule set, without attributes.
    pub const fn name(&self) -> RuleSetName {
        match self {
            RuleSet::None => RuleSetName::None,
            RuleSet::Numpy => RuleSetName::Numpy,
            RuleSet::Xla { .. } => RuleSetName::Xla,
            RuleSet::StableHlo | RuleSet::StableHloSelect => RuleSetName::StableHlo,
            RuleSet::Pdpd { .. } => RuleSetName::Pdpd,
            RuleSet::OnnxLegacy { .. } => RuleSetName::OnnxLegacy,
            RuleSet::Named { .. } => RuleSetName::Named,
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name())?;
        match self {
            RuleSet::Xla { dims } if !dims.is_empty() => {
                write!(formatter, " broadcast_dimensions={dims:?}")
            }
            RuleSet::Pdpd { axis: Some(axis) } => write!(formatter, " axis={axis}"),
            RuleSet::OnnxLegacy { broadcast, axis } => {
                write!(formatter, " broadcast={}", u8::from(*broadcast))?;
                axis.map_or(Ok(()), |axis| write!(formatter, " axis={axis}"))
            }
            RuleSet::Named { names } if !names.is_empty() => {
                let names: Vec<String> = names.iter().map(AxisNames::to_string).collect();
                write!(formatter, " names=[{}]", names.join(", "))
            }
            _ => Ok(()),
        }
    }
}

/// A rule by which data is broadcast to a target shape, with its attributes.
///
/// The labels are those of [the rules](crate::rules#onto-a-target-shape-t).
///
/// ```
/// use indim_shape::{Shape, TargetRule};
///
/// let rule = TargetRule::Explicit { axes: vec![1] };
/// assert_eq!(rule.to_string(), "explicit axes_mapping=[1]");
/// let form = rule.elaborate(&Shape::from([3]), &Shape::from([2, 3, 4]))?;
/// assert_eq!(&form.maps()[0][..], [1]);
/// let error = TargetRule::Unidirectional.elaborate(&Shape::from([3]), &Shape::from([3, 1])).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "T1"));
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetRule {
    /// [T1](crate::rules#onto-a-target-shape-t): right-aligned, only the data expands. `broadcast_to`,
    /// OpenVINO's `numpy` mode of Broadcast.
    Unidirectional,
    /// [T2](crate::rules#onto-a-target-shape-t): NumPy's rule between data and target; the result may differ
    /// from the target. ONNX Expand.
    Bidirectional,
    /// [T3](crate::rules#onto-a-target-shape-t): OpenVINO's `explicit` mode.
    Explicit {
        /// `axes_mapping`: the target axis of each axis of the data, strictly increasing.
        axes: Vec<i64>,
    },
    /// [P1 to P5](crate::rules#onto-a-target-shape-t): the PDPD rule with the target as the first operand.
    Pdpd {
        /// The first target axis of the data. `None` and -1 mean that the data is a suffix.
        axis: Option<i64>,
    },
    /// [XLA's `Broadcast`](crate::rules#xla-x): prepends the target's sizes to the data's.
    XlaBroadcast,
    /// [XLA's `BroadcastInDim`](crate::rules#xla-x): E1, E2, E4, and strictly increasing.
    XlaBroadcastInDim {
        /// The result axis of each axis of the data.
        dims: Vec<i64>,
    },
    /// [StableHLO's `broadcast_in_dim`](crate::rules#stablehlo-s): E1 to E4; the map may permute axes.
    StableHloBroadcastInDim {
        /// The result axis of each axis of the data.
        dims: Vec<i64>,
    },
    /// `broadcast` in HLO text: E1 to E3 and equal sizes; the map may permute axes.
    HloBroadcast {
        /// The result axis of each axis of the data.
        dims: Vec<i64>,
    },
}

impl TargetRule {
    /// The name of the rule, without attributes.
    pub const fn name(&self) -> RuleSetName {
        match self {
            TargetRule::Unidirectional => RuleSetName::Unidirectional,
            TargetRule::Bidirectional => RuleSetName::Bidirectional,
            TargetRule::Explicit { .. } => RuleSetName::Explicit,
            TargetRule::Pdpd { .. } => RuleSetName::PdpdBroadcast,
            TargetRule::XlaBroadcast => RuleSetName::XlaBroadcast,
            TargetRule::XlaBroadcastInDim { .. } => RuleSetName::XlaBroadcastInDim,
            TargetRule::StableHloBroadcastInDim { .. } => RuleSetName::StableHloBroadcastInDim,
            TargetRule::HloBroadcast { .. } => RuleSetName::HloBroadcast,
        }
    }
}

impl fmt::Display for TargetRule {
    /// In the system's notation: the rule set, then its name of the operation.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetRule::Unidirectional | TargetRule::Bidirectional => {
                write!(formatter, "{}", self.name())
            }
            TargetRule::Explicit { axes } => write!(formatter, "explicit axes_mapping={axes:?}"),
            TargetRule::Pdpd { axis: None } => write!(formatter, "pdpd"),
            TargetRule::Pdpd { axis: Some(axis) } => write!(formatter, "pdpd axis={axis}"),
            TargetRule::XlaBroadcast => write!(formatter, "xla broadcast"),
            TargetRule::XlaBroadcastInDim { dims } => {
                write!(formatter, "xla broadcast_in_dim dims={dims:?}")
            }
            TargetRule::StableHloBroadcastInDim { dims } => {
                write!(formatter, "stablehlo broadcast_in_dim dims={dims:?}")
            }
            TargetRule::HloBroadcast { dims } => write!(formatter, "hlo broadcast dims={dims:?}"),
        }
    }
}

/// A rule of either kind with its attributes.
///
/// ```
/// use indim_shape::{AnyRule, RuleSet, RuleSetName, Shape, TargetRule};
///
/// let rules = [AnyRule::from(RuleSet::Numpy), AnyRule::from(TargetRule::Unidirectional)];
/// assert_eq!(rules.each_ref().map(|rule| rule.to_string()), ["rule numpy", "rule unidirectional"]);
/// assert_eq!((rules[0].name(), AnyRule::ExplicitForm.name()), (Some(RuleSetName::Numpy), None));
/// let (data, target) = (Shape::from([3]), Shape::from([2, 3]));
/// assert_eq!(rules[1].elaborate(&[data], Some(&target))?.result(), &target);
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
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

impl AnyRule {
    /// The name of the rule, without attributes; the explicit form has none.
    pub const fn name(&self) -> Option<RuleSetName> {
        match self {
            AnyRule::ExplicitForm => None,
            AnyRule::Elementwise(rule) => Some(rule.name()),
            AnyRule::Target(rule) => Some(rule.name()),
        }
    }

    /// The label of errors that no numbered rule covers: the prefix alone.
    pub(crate) fn label_prefix(&self) -> &'static str {
        self.name().map_or("E", RuleSetName::label_prefix)
    }
}

impl From<RuleSet> for AnyRule {
    fn from(rule: RuleSet) -> Self {
        AnyRule::Elementwise(rule)
    }
}

impl From<TargetRule> for AnyRule {
    fn from(rule: TargetRule) -> Self {
        AnyRule::Target(rule)
    }
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
