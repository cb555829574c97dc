//! Expressions as arguments, and their graphs; for `indim eval` and `indim explain`.

use indim::{
    ArrayType, Binding, DType, Diagnostic, Expression, Graph, GraphBuilder, GraphError, Limits,
    RuleSet, SymbolicGraph,
};
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

/// Reads the expression of an argument.
pub(crate) fn parse_expression(text: &str) -> Result<Expression, Report> {
    Expression::parse(text, &Limits::default()).map_err(|error| Report::of_expression(&error, text))
}

/// Refuses names that are bound twice, or that the expression does not use.
pub(crate) fn check_names(expression: &Expression, names: &[&str]) -> Result<(), Diagnostic> {
    // With a name unbound, one that is not used may be its misspelling: the expression says so itself.
    let are_all_bound = expression.names().iter().all(|name| names.contains(name));
    for (index, name) in names.iter().enumerate() {
        if are_all_bound && !expression.mentions(name) && !expression.assigns(name) {
            return Err(unused_name(name, expression));
        }
        if names[..index].contains(name) {
            let message = format!("`{}` is bound twice", shown(name));
            return Err(Diagnostic::new("duplicate-name", message));
        }
    }
    Ok(())
}

/// The graph of an expression whose names have these types; without a rule each operation follows its own
/// attributes.
pub(crate) fn build_graph(
    expression: &Expression,
    types: &[(&str, ArrayType)],
    rule: Option<&RuleSet>,
) -> Result<Graph, Report> {
    Ok(built(expression, types, rule)?.1)
}

/// The type of an input.
pub(crate) enum InputType<'t> {
    Known(ArrayType),
    /// Some of its sizes have names.
    Symbolic(DType, Vec<&'t str>),
}

/// As [`build_graph`], with the sizes for which else the graph stands, and what stands in it for sizes that
/// have names.
pub(crate) fn build_symbolic(
    expression: &Expression,
    types: &[(&str, InputType<'_>)],
    rule: Option<&RuleSet>,
) -> Result<(SymbolicGraph, Vec<(String, usize)>), Report> {
    let b = GraphBuilder::new();
    let has_names = types.iter().any(|(_, of)| matches!(of, InputType::Symbolic(..)));
    let parameter = |(name, of): &(&str, InputType<'_>)| match of {
        InputType::Known(of) if has_names => {
            let sizes: Vec<String> = of.shape.iter().map(usize::to_string).collect();
            let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
            b.symbolic_parameter(name, of.dtype, &sizes)
        }
        InputType::Known(of) => b.parameter(name, of.dtype, of.shape.clone()),
        InputType::Symbolic(dtype, sizes) => b.symbolic_parameter(name, *dtype, sizes),
    };
    let built = types
        .iter()
        .map(|input| Ok((input.0, Binding::Array(parameter(input)?))))
        .collect::<Result<Vec<_>, GraphError>>()
        .map_err(|error| Report::from(&error))
        .and_then(|bindings| finished(expression, &b, &bindings, rule));
    let stand_ins = b.stand_ins();
    match built {
        Ok(graph) => Ok((SymbolicGraph::new(&graph, &b.size_facts()), stand_ins)),
        Err(report) => Err(match stand_ins_text(&stand_ins) {
            Some(text) => report.with_help(text),
            None => report,
        }),
    }
}

/// What stands for sizes that have names, in words; `None` where none has.
pub(crate) fn stand_ins_text(stand_ins: &[(String, usize)]) -> Option<String> {
    let each = stand_ins.iter().map(|(name, size)| format!("{size} stands for `{}`", shown(name)));
    (!stand_ins.is_empty()).then(|| each.collect::<Vec<String>>().join(", "))
}

/// A graph of an expression whose names have these types.
fn built(
    expression: &Expression,
    types: &[(&str, ArrayType)],
    rule: Option<&RuleSet>,
) -> Result<(GraphBuilder, Graph), Report> {
    let b = GraphBuilder::new();
    let mut bindings: Vec<(&str, Binding)> = Vec::with_capacity(types.len());
    for (name, array_type) in types {
        let value = b
            .parameter(name, array_type.dtype, array_type.shape.clone())
            .map_err(|error| Report::from(&error))?;
        bindings.push((*name, Binding::Array(value)));
    }
    let graph = finished(expression, &b, &bindings, rule)?;
    Ok((b, graph))
}

fn finished(
    expression: &Expression,
    b: &GraphBuilder,
    bindings: &[(&str, Binding)],
    rule: Option<&RuleSet>,
) -> Result<Graph, Report> {
    let results = expression
        .build_results(b, bindings, rule)
        .map_err(|error| Report::of_expression(&error, expression.text()))?;
    b.finish(&results).map_err(|error| Report::from(&error))
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
