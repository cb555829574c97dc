//! Expressions as arguments, and their graphs; for `indim eval` and `indim explain`.

use indim::{ArrayType, Diagnostic, Expression, GraphBuilder, Limits, RuleSet, Value};
use indim_graph::terminal::shown;

use crate::report::Report;

/// An argument that may begin with a minus, but is no misspelt option.
pub(crate) fn no_misspelt_option(text: &str) -> Result<String, String> {
    match text.strip_prefix("--") {
        Some(option) if option.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Err("there is no such option".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

/// The graph of an expression whose names have these types; without a rule each operation follows its own
/// attributes.
pub(crate) fn build_graph(
    expression: &str,
    types: &[(&str, ArrayType)],
    rule: Option<&RuleSet>,
) -> Result<indim::Graph, Report> {
    let parsed = Expression::parse(expression, &Limits::default())
        .map_err(|error| Report::of_expression(&error, expression))?;
    let b = GraphBuilder::new();
    let mut bindings: Vec<(&str, Value)> = Vec::with_capacity(types.len());
    // With a name unbound, one that is not used may be its misspelling: the expression says so itself.
    let is_bound = |name: &&str| types.iter().any(|(bound, _)| bound == name);
    let are_all_bound = parsed.names().iter().all(is_bound);
    for (index, (name, array_type)) in types.iter().enumerate() {
        if are_all_bound && !parsed.mentions(name) {
            return Err(unused_name(name, &parsed).into());
        }
        if types[..index].iter().any(|(earlier, _)| earlier == name) {
            let message = format!("`{}` is bound twice", shown(name));
            return Err(Diagnostic::new("duplicate-name", message).into());
        }
        let value = b
            .parameter(name, array_type.dtype, array_type.shape.clone())
            .map_err(|error| Report::from(&error))?;
        bindings.push((*name, value));
    }
    let result = parsed
        .build(&b, &bindings, rule)
        .map_err(|error| Report::of_expression(&error, expression))?;
    b.finish(&[result]).map_err(|error| Report::from(&error))
}

fn unused_name(name: &str, expression: &Expression) -> Diagnostic {
    let names: Vec<String> =
        expression.names().iter().map(|name| format!("`{}`", shown(name))).collect();
    let message = format!("`{}` does not occur in the expression", shown(name));
    let mut unused = Diagnostic::new("unused-name", message);
    unused.help(match names.is_empty() {
        true => "it has no names".to_owned(),
        false => format!("its names are {}", names.join(", ")),
    });
    unused
}
