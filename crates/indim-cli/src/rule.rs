//! The rules as options of the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indim::broadcast::{RuleChoice, RuleSetName};
use indim::formats::ModelFormat;

/// Parses the name of a rule set or of a model format; `stablehlo` is the name of both.
pub(crate) fn rule_set_or_format() -> PossibleValuesParser {
    let rules = RuleSetName::ALL.map(RuleChoice::Named);
    let formats = ModelFormat::ALL.map(ModelFormat::name);
    let formats = formats.into_iter().filter(|name| name.parse::<RuleSetName>().is_err());
    let formats = formats.map(|name| PossibleValue::new(name).help("A format of model files"));
    PossibleValuesParser::new(
        rules.into_iter().map(possible_value).chain(formats).collect::<Vec<_>>(),
    )
}

/// Reads the name of a rule set, or `as-written`.
pub(crate) fn any_rule() -> impl TypedValueParser<Value = RuleChoice> {
    rule_parser(RuleChoice::all()).try_map(|name| name.parse::<RuleChoice>())
}

/// Reads the name of a rule set.
pub(crate) fn rule_set() -> impl TypedValueParser<Value = RuleSetName> {
    rule_parser(RuleSetName::ALL.map(RuleChoice::Named)).try_map(|name| name.parse::<RuleSetName>())
}

/// Reads a rule for the operations of an expression.
pub(crate) fn rule_of_operations() -> impl TypedValueParser<Value = RuleChoice> {
    rule_parser(RuleChoice::of_operations()).try_map(|name| name.parse::<RuleChoice>())
}

fn rule_parser(choices: impl IntoIterator<Item = RuleChoice>) -> PossibleValuesParser {
    PossibleValuesParser::new(choices.into_iter().map(possible_value))
}

fn possible_value(choice: RuleChoice) -> PossibleValue {
    PossibleValue::new(choice.as_str()).help(choice.summary())
}
