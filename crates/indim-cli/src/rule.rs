//! The rules as options of the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indim::{RuleChoice, RuleSetName};

/// Reads any rule set, and lists them all in the help.
pub(crate) fn rule_set() -> impl TypedValueParser<Value = RuleSetName> {
    let names = RuleSetName::ALL.map(RuleChoice::Named);
    listed(names).try_map(|name| name.parse::<RuleSetName>())
}

/// Reads any rule set, or that the attributes say it.
pub(crate) fn any_rule() -> impl TypedValueParser<Value = RuleChoice> {
    listed(RuleChoice::all()).try_map(|name| name.parse::<RuleChoice>())
}

/// Reads a rule for the operations of an expression.
pub(crate) fn rule_of_operations() -> impl TypedValueParser<Value = RuleChoice> {
    listed(RuleChoice::of_operations()).try_map(|name| name.parse::<RuleChoice>())
}

fn listed(choices: impl IntoIterator<Item = RuleChoice>) -> PossibleValuesParser {
    let value = |choice: RuleChoice| PossibleValue::new(choice.as_str()).help(choice.summary());
    PossibleValuesParser::new(choices.into_iter().map(value))
}
