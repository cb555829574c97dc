//! The rule sets as options of the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indim::{RuleSet, RuleSetName};

/// Reads any rule set, and lists them all in the help.
pub(crate) fn any_rule() -> impl TypedValueParser<Value = RuleSetName> {
    PossibleValuesParser::new(RuleSetName::ALL.map(RuleSetName::as_str))
        .try_map(|name| name.parse::<RuleSetName>())
}

/// A rule for the operations of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rule {
    /// Right-aligned axes, sizes of 1 expand, types are promoted as in NumPy 2.
    Numpy,
    /// XLA: explicit `dims=[...]`, scalars, and sizes of 1 between equal ranks.
    Xla,
    /// The second operand onto the first, from `axis=` on.
    Pdpd,
    /// Equal shapes only.
    None,
}

impl Rule {
    /// The rule set of operations that state no attributes of their own.
    pub(crate) fn rule_set(self) -> RuleSet {
        match self {
            Rule::Numpy => RuleSet::Numpy,
            Rule::Xla => RuleSet::Xla { dims: Vec::new() },
            Rule::Pdpd => RuleSet::Pdpd { axis: None },
            Rule::None => RuleSet::None,
        }
    }
}
