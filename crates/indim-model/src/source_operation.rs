//! The source operation of each value, and the broadcast rule of its operands.

use core::fmt;
use std::cell::RefCell;

use indim_graph::ValueId;
use indim_shape::{ContractionRule, Einsum, RuleSet, TargetRule};

/// An operation of the file, as the source of values of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceOperation {
    /// First value of the operation; its values end before the first of the next operation.
    pub first: ValueId,
    /// Key for [`Model::location`](crate::Model::location).
    pub number: usize,
    /// Broadcast rule of its operands, if any.
    pub rule: Option<BroadcastRule>,
}

/// A broadcast rule of an operation in a file.
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
    /// A rule for several operands.
    Operands(RuleSet),
    /// A rule that broadcasts one operand to a shape.
    Onto(TargetRule),
    /// The rule of a product, which broadcasts both operands to the axes of the result and the summed ones.
    Product(ContractionRule),
    /// The equation of an `einsum`.
    Einsum(Einsum),
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

impl From<ContractionRule> for BroadcastRule {
    fn from(rule: ContractionRule) -> Self {
        BroadcastRule::Product(rule)
    }
}

impl From<Einsum> for BroadcastRule {
    fn from(equation: Einsum) -> Self {
        BroadcastRule::Einsum(equation)
    }
}

impl fmt::Display for BroadcastRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BroadcastRule::Operands(rule) => rule.fmt(formatter),
            BroadcastRule::Onto(rule) => rule.fmt(formatter),
            BroadcastRule::Product(rule) => rule.fmt(formatter),
            BroadcastRule::Einsum(equation) => write!(formatter, "einsum {equation}"),
        }
    }
}

/// A cell that records the broadcast rule of an operation while its attributes are read.
#[derive(Debug, Default)]
pub struct RuleNote(RefCell<Option<BroadcastRule>>);

impl RuleNote {
    /// Records the rule and returns it.
    pub fn of<R: Clone + Into<BroadcastRule>>(&self, rule: R) -> R {
        self.0.replace(Some(rule.clone().into()));
        rule
    }

    /// Takes the last recorded rule.
    pub fn take(&self) -> Option<BroadcastRule> {
        self.0.take()
    }
}
