//! Expressions as arguments, and their graphs; for `indim eval` and `indim explain`.

use indim::{
    ArrayType, AxisNames, Binding, DType, Diagnostic, Expression, Graph, GraphBuilder, GraphError,
    Limits, RuleSet, SymbolicGraph, Value,
};
use indim_graph::terminal::shown;

use crate::axis_names::results_text;
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

/// What a name of an expression is bound to.
pub(crate) struct Input<'n> {
    pub(crate) name: &'n str,
    pub(crate) of: InputType,
    /// What its axes are called.
    pub(crate) axis_names: Option<AxisNames>,
}

/// The graph of an expression whose names have these types, and its results; without a rule each operation
/// follows its own attributes.
pub(crate) fn build_graph(
    expression: &Expression,
    inputs: &[Input<'_>],
    rule: Option<&RuleSet>,
) -> Result<(Graph, Vec<Value>), Report> {
    built(expression, &GraphBuilder::new(), inputs, &EqualNames::default(), rule)
}

/// The type of an input.
pub(crate) enum InputType {
    Known(ArrayType),
    /// Some of its sizes have names.
    Symbolic(DType, Vec<String>),
}

/// A graph, for which sizes else it stands, and what there is to say of it.
pub(crate) struct Symbolic {
    pub(crate) graph: SymbolicGraph,
    /// What stands in it for sizes that have names.
    pub(crate) stand_ins: Vec<(String, usize)>,
    /// Which of them have several names.
    pub(crate) equal: EqualNames,
    /// What the axes of the results are called, under a rule that goes by names.
    pub(crate) axes: String,
}

/// As [`build_graph`], with the sizes for which else the graph stands. Where two sizes with names meet, and
/// the rule needs them to be equal, they are: that is a guard of the program, which arrays are held against.
pub(crate) fn build_symbolic(
    expression: &Expression,
    inputs: &[Input<'_>],
    rule: Option<&RuleSet>,
) -> Result<Symbolic, Report> {
    let mut equal = EqualNames::default();
    // Each turn leaves a name less.
    loop {
        let b = GraphBuilder::new();
        let built = built(expression, &b, inputs, &equal, rule);
        let stand_ins = b.stand_ins();
        match built {
            Ok((graph, results)) => {
                let axes = results_text(rule, &graph, &results);
                let graph = SymbolicGraph::new(&graph, &b.size_facts());
                return Ok(Symbolic { graph, stand_ins, equal, axes });
            }
            Err(report) if equal.join(&report, &stand_ins) => {}
            Err(report) => {
                return Err(match stand_ins_text(&stand_ins) {
                    Some(text) => report.with_help(text),
                    None => report,
                });
            }
        }
    }
}

/// Names of sizes that a rule needs to be equal: the one that is kept, and the other one.
#[derive(Debug, Default)]
pub(crate) struct EqualNames(Vec<[String; 2]>);

impl EqualNames {
    /// Notes that the two sizes that an error is about are equal; `false` if they are not two with names.
    fn join(&mut self, report: &Report, stand_ins: &[(String, usize)]) -> bool {
        let name_of = |size| stand_ins.iter().position(|(_, stand_in)| *stand_in == size);
        let places = report.sizes().map(|sizes| sizes.map(name_of));
        let Some([Some(this), Some(other)]) = places else { return false };
        // What comes first is what both are called.
        let [kept, other] = [this.min(other), this.max(other)];
        if kept != other {
            self.0.push([kept, other].map(|place| stand_ins[place].0.clone()));
        }
        kept != other
    }

    /// What a size is called, or the number that it is.
    fn kept<'a>(&'a self, size: &'a str) -> &'a str {
        let mut name = size.trim();
        while let Some([kept, _]) = self.0.iter().find(|[_, other]| other == name) {
            name = kept;
        }
        name
    }

    /// Each pair, in words.
    pub(crate) fn text(&self) -> String {
        let line = |[kept, other]: &[String; 2]| {
            format!("  {} = {}, which a rule needs\n", shown(kept), shown(other))
        };
        self.0.iter().map(line).collect()
    }
}

/// What stands for sizes that have names, in words; `None` where none has.
pub(crate) fn stand_ins_text(stand_ins: &[(String, usize)]) -> Option<String> {
    let each = stand_ins.iter().map(|(name, size)| format!("{size} stands for `{}`", shown(name)));
    (!stand_ins.is_empty()).then(|| each.collect::<Vec<String>>().join(", "))
}

/// A graph of an expression over these inputs, and its results.
fn built(
    expression: &Expression,
    b: &GraphBuilder,
    inputs: &[Input<'_>],
    equal: &EqualNames,
    rule: Option<&RuleSet>,
) -> Result<(Graph, Vec<Value>), Report> {
    let has_names = inputs.iter().any(|input| matches!(input.of, InputType::Symbolic(..)));
    let mut bindings = Vec::with_capacity(inputs.len());
    for input in inputs {
        let value =
            parameter(b, input, equal, has_names, rule).map_err(|error| Report::from(&error))?;
        bindings.push((input.name, Binding::Array(value)));
    }
    let results = expression
        .build_results(b, &bindings, rule)
        .map_err(|error| Report::of_expression(&error, expression.text()))?;
    let graph = b.finish(&results).map_err(|error| Report::from(&error))?;
    Ok((graph, results))
}

/// The parameter of an input; `has_names` says whether some size of some input is a name.
fn parameter(
    b: &GraphBuilder,
    input: &Input<'_>,
    equal: &EqualNames,
    has_names: bool,
    rule: Option<&RuleSet>,
) -> Result<Value, GraphError> {
    let symbolic = |dtype, sizes: &[String]| {
        let sizes: Vec<&str> = sizes.iter().map(|size| equal.kept(size)).collect();
        b.symbolic_parameter(input.name, dtype, &sizes)
    };
    let value = match &input.of {
        InputType::Known(of) if has_names => {
            symbolic(of.dtype, &of.shape.iter().map(usize::to_string).collect::<Vec<String>>())
        }
        InputType::Known(of) => b.parameter(input.name, of.dtype, of.shape.clone()),
        InputType::Symbolic(dtype, sizes) => symbolic(*dtype, sizes),
    }?;
    match &input.axis_names {
        Some(names) => match b.name_axes(&value, names.clone()) {
            // What a file says amiss is no matter of rules that do not go by names.
            Err(_) if !matches!(rule, Some(RuleSet::Named { .. })) => Ok(value),
            named => named,
        },
        None => Ok(value),
    }
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
