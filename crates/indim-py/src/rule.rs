//! Rules by their names in Python.

use core::str::FromStr;

use indim::RuleSet;
use indim::broadcast::{AttributeError, RuleChoice, UnknownRuleSet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A rule, or a choice of one, by its name.
pub(crate) fn parse_rule<R: FromStr<Err = UnknownRuleSet>>(text: &str) -> PyResult<R> {
    text.parse().map_err(|error| PyValueError::new_err(format!("rule {text:?}: {error}")))
}

/// The rule of every operation of an expression. `None` for `as-written`: each operation follows its own
/// attributes.
pub(crate) fn rule_of_operations(text: &str) -> PyResult<Option<RuleSet>> {
    parse_rule::<RuleChoice>(text)?.of_expression().map_err(attribute_error)
}

/// The error of attributes that the rule does not have. Python calls `dims` by its long name.
pub(crate) fn attribute_error(error: AttributeError) -> PyErr {
    let message = format!("error[{}]: {error}; {}", error.code(), error.advice());
    PyValueError::new_err(message.replace("`dims`", "`broadcast_dimensions`"))
}
