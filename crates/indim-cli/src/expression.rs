//! Expressions as arguments, and their graphs; for `indim eval` and `indim explain`.

use indim::errors::{Diagnostic, ErrorCode};
use indim::explain::{InputError, InputErrorKind};
use indim::text::{Expression, ParseLimits};
use indim_graph::terminal::printable;

use crate::report::Report;

/// Parses an argument that may begin with a minus, but not a misspelt option.
pub(crate) fn not_an_option(text: &str) -> Result<String, String> {
    match text.strip_prefix("--") {
        Some(option) if option.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Err("no option has this name".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

/// Reads the expression of an argument.
pub(crate) fn parse_expression(text: &str) -> Result<Expression, Report> {
    Expression::parse(text, &ParseLimits::default())
        .map_err(|error| Report::of_expression(&error, text))
}

/// Refuses names that are bound twice, or that the expression does not use.
pub(crate) fn check_names(expression: &Expression, names: &[&str]) -> Result<(), Diagnostic> {
    // An unused name may be a misspelling of an unbound one; the error of the expression reports that.
    let are_all_bound = expression.names().iter().all(|name| names.contains(name));
    for (index, name) in names.iter().enumerate() {
        if are_all_bound && !expression.mentions(name) && !expression.assigns(name) {
            return Err(unused_name(name, expression));
        }
        if names[..index].contains(name) {
            let message = format!("`{}` is bound twice", printable(name));
            return Err(Diagnostic::new(ErrorCode::DUPLICATE_NAME, message));
        }
    }
    Ok(())
}

/// The report of an error in an expression over typed inputs.
pub(crate) fn input_error_report(error: &InputError, expression: &Expression) -> Report {
    let report = match &error.kind {
        InputErrorKind::Expression(error) => Report::of_expression(error, expression.text()),
        InputErrorKind::Graph(error) => Report::from(&**error),
    };
    match &error.stand_ins {
        Some(text) => report.with_help(text.clone()),
        None => report,
    }
}

fn unused_name(name: &str, expression: &Expression) -> Diagnostic {
    let names: Vec<String> =
        expression.names().iter().map(|name| format!("`{}`", printable(name))).collect();
    let message = format!("`{}` does not occur in the expression", printable(name));
    let mut unused = Diagnostic::new(ErrorCode::UNUSED_NAME, message);
    unused.help(match names.is_empty() {
        true => "it has no names".to_owned(),
        false => format!("its names are {}", names.join(", ")),
    });
    unused
}
