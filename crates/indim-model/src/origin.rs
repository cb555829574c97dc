//! Where the values of a program come from, and the rule by which its file has operands broadcast.

use core::fmt;
use std::cell::RefCell;

use indim_graph::ValueId;
use indim_shape::{RuleSet, TargetRule};

/// What values come from: an operation of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceOperation {
    /// The first of the values; the last comes before the next origin's first.
    pub first: ValueId,
    /// What [`Model::place`](crate::Model::place) knows the place in the file by.
    pub number: usize,
    /// The rule by which it has operands broadcast, if it has any.
    pub rule: Option<BroadcastRule>,
}

/// A rule by which a file has operands broadcast.
///
/// ```
/// use indim_model::BroadcastRule;
/// use indim_shape::RuleSet;
///
/// let rule = BroadcastRule::from(RuleSet::Pdpd { axis: Some(1) });
/// assert_eq!(rule.to_string(), "pdpd axis=1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BroadcastRule {
    /// Operands that meet.
    Operands(RuleSet),
    /// One operand, onto a shape.
    Onto(TargetRule),
}

impl From<RuleSet> for BroadcastRule {
    fn from(rule: RuleSet) -> Self {
        BroadcastRule::Operands(rule)
    }
}

impl From<TargetRule> for BroadcastRule {
    fn from(rule: TargetRule) -> Self {
        BroadcastRule::Onto(rule)
    }
}

impl fmt::Display for BroadcastRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BroadcastRule::Operands(rule) => rule.fmt(formatter),
            BroadcastRule::Onto(rule) => rule.fmt(formatter),
        }
    }
}

/// The rule that an operation asks for, noted where its attributes are read.
#[derive(Debug, Default)]
pub struct RuleNote(RefCell<Option<BroadcastRule>>);

impl RuleNote {
    /// This rule, which is noted.
    pub fn of<R: Clone + Into<BroadcastRule>>(&self, rule: R) -> R {
        self.0.replace(Some(rule.clone().into()));
        rule
    }

    /// What was noted last.
    pub fn take(&self) -> Option<BroadcastRule> {
        self.0.take()
    }
}
