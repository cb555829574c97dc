//! The names of the rule sets, as people write them. Their attributes and meaning are in `rule_set.rs`
//! and `target_rule.rs`; called by `convert.rs` and by front ends.

use core::fmt;
use core::str::FromStr;

/// The rule sets without their attributes: first those of element-wise operations, then those that
/// broadcast one operand to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleSetName {
    /// [`crate::RuleSet::None`].
    None,
    /// [`crate::RuleSet::Numpy`].
    Numpy,
    /// [`crate::RuleSet::Xla`].
    Xla,
    /// [`crate::RuleSet::StableHlo`].
    StableHlo,
    /// [`crate::RuleSet::Pdpd`].
    Pdpd,
    /// [`crate::RuleSet::OnnxLegacy`].
    OnnxLegacy,
    /// [`crate::TargetRule::Unidirectional`].
    Unidirectional,
    /// [`crate::TargetRule::Bidirectional`].
    Bidirectional,
    /// [`crate::TargetRule::Explicit`].
    Explicit,
    /// [`crate::TargetRule::Pdpd`].
    PdpdBroadcast,
    /// [`crate::TargetRule::XlaBroadcast`].
    XlaBroadcast,
    /// [`crate::TargetRule::XlaBroadcastInDim`].
    XlaBroadcastInDim,
    /// [`crate::TargetRule::StableHloBroadcastInDim`].
    StableHloBroadcastInDim,
    /// [`crate::TargetRule::HloBroadcast`].
    HloBroadcast,
}

impl RuleSetName {
    /// Every rule set.
    pub const ALL: [RuleSetName; 14] = [
        RuleSetName::None,
        RuleSetName::Numpy,
        RuleSetName::Xla,
        RuleSetName::StableHlo,
        RuleSetName::Pdpd,
        RuleSetName::OnnxLegacy,
        RuleSetName::Unidirectional,
        RuleSetName::Bidirectional,
        RuleSetName::Explicit,
        RuleSetName::PdpdBroadcast,
        RuleSetName::XlaBroadcast,
        RuleSetName::XlaBroadcastInDim,
        RuleSetName::StableHloBroadcastInDim,
        RuleSetName::HloBroadcast,
    ];

    /// The name as it is read and printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            RuleSetName::None => "none",
            RuleSetName::Numpy => "numpy",
            RuleSetName::Xla => "xla",
            RuleSetName::StableHlo => "stablehlo",
            RuleSetName::Pdpd => "pdpd",
            RuleSetName::OnnxLegacy => "onnx-legacy",
            RuleSetName::Unidirectional => "unidirectional",
            RuleSetName::Bidirectional => "bidirectional",
            RuleSetName::Explicit => "explicit",
            RuleSetName::PdpdBroadcast => "pdpd-broadcast",
            RuleSetName::XlaBroadcast => "xla-broadcast",
            RuleSetName::XlaBroadcastInDim => "xla-broadcast-in-dim",
            RuleSetName::StableHloBroadcastInDim => "stablehlo-broadcast-in-dim",
            RuleSetName::HloBroadcast => "hlo-broadcast",
        }
    }

    /// Whether it broadcasts one operand to a target shape.
    pub const fn is_target_rule(self) -> bool {
        !matches!(
            self,
            RuleSetName::None
                | RuleSetName::Numpy
                | RuleSetName::Xla
                | RuleSetName::StableHlo
                | RuleSetName::Pdpd
                | RuleSetName::OnnxLegacy
        )
    }
}

impl fmt::Display for RuleSetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A text that names no rule set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownRuleSet;

impl fmt::Display for UnknownRuleSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no such rule set; there are")?;
        for (position, name) in RuleSetName::ALL.iter().enumerate() {
            write!(formatter, "{} {name}", if position == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownRuleSet {}

impl FromStr for RuleSetName {
    type Err = UnknownRuleSet;
    fn from_str(text: &str) -> Result<Self, UnknownRuleSet> {
        RuleSetName::ALL.into_iter().find(|name| name.as_str() == text).ok_or(UnknownRuleSet)
    }
}
