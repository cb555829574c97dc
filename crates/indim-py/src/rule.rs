//! The rules by their names in Python.

use core::str::FromStr;

use indim::{AttributeError, RuleChoice, RuleSet, UnknownRuleSet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A rule, or a choice of one, by its name.
pub(crate) fn parse_rule<R: FromStr<Err = UnknownRuleSet>>(text: &str) -> PyResult<R> {
    text.parse().map_err(|error| PyValueError::new_err(format!("rule {text:?}: {error}")))
}

/// The rule of every operation of an expression, or of a recorded one; none as written, where each follows
/// its own attributes.
pub(crate) fn rule_of_operations(text: &str) -> PyResult<Option<RuleSet>> {
    parse_rule::<RuleChoice>(text)?.of_expression().map_err(attribute_error)
}

/// Attributes that do not belong.
pub(crate) fn attribute_error(error: AttributeError) -> PyErr {
    PyValueError::new_err(format!("error[{}]: {error}; {}", error.code(), error.advice()))
}
