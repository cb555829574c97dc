//! Graphs of expressions over typed inputs with known or symbolic sizes, and the sizes for which such a graph
//! is valid.

use core::fmt;

use indim_builder::{GraphBuilder, Value};
use indim_graph::terminal::printable;
use indim_graph::{Graph, GraphError, GraphErrorKind, Literal, SymbolicGraph, ValueId};
use indim_ops::{ArrayType, DType};
use indim_shape::{AxisNames, Diagnostic, ErrorCode, RuleChoice, RuleSet, RuleSetName};
use indim_text::{
    Binding, ExprError, ExprErrorKind, Expression, parse_array_type, parse_symbolic_type,
    split_axis_names,
};

/// The type of one input of an expression.
#[derive(Debug, Clone)]
pub struct TypedInput<'n> {
    /// Name of the input.
    pub name: &'n str,
    /// Type of the input.
    pub input_type: InputType,
    /// Names of its axes.
    pub axis_names: Option<AxisNames>,
}

/// The type of an input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum InputType {
    /// An array with known sizes.
    Known(ArrayType),
    /// An array with symbolic sizes.
    Symbolic(DType, Vec<String>),
    /// A number, which adapts to the element type of the other operand.
    Number(Literal),
}

impl<'n> TypedInput<'n> {
    /// Parses the type of an array, with optional names of sizes and axes.
    ///
    /// ```
    /// use indim::explain::{InputType, TypedInput};
    ///
    /// let input = TypedInput::parse("x", "f32[time: n, lat: 721]")?;
    /// assert!(matches!(input.input_type, InputType::Symbolic(_, sizes) if sizes == ["n", "721"]));
    /// assert_eq!(input.axis_names.unwrap().to_string(), "[time, lat]");
    /// # Ok::<(), indim::errors::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `bad-shape`, `unknown-element-type`, `rank-limit`.
    pub fn parse(name: &'n str, text: &str) -> Result<Self, Diagnostic> {
        let (plain, axis_names) = split_axis_names(text)?;
        let input_type = match parse_symbolic_type(&plain) {
            Some((dtype, sizes)) => {
                InputType::Symbolic(dtype, sizes.into_iter().map(str::to_owned).collect())
            }
            None => InputType::Known(parse_array_type(&plain)?),
        };
        Ok(TypedInput { name, input_type, axis_names })
    }
}

/// Fails if an input has axis names, but the rule does not match axes by name. `named` is the option that
/// selects rule `named`, for the message.
///
/// # Errors
/// `axis-names-not-taken`.
pub fn check_axis_names(input: &str, rule: RuleChoice, named: &str) -> Result<(), Diagnostic> {
    if rule == RuleChoice::Named(RuleSetName::Named) {
        return Ok(());
    }
    let message = format!(
        "the axes of `{}` are named, and {rule} matches none by its name",
        printable(input)
    );
    let mut refused = Diagnostic::new(ErrorCode::AXIS_NAMES_NOT_TAKEN, message);
    refused.help(format!(
        "with `{named}` axes of the same name meet; under other rules leave the names out"
    ));
    Err(refused)
}

/// The graph of an expression over typed inputs, and the guards on its sizes.
///
/// ```
/// use indim::explain::{SymbolicExpression, TypedInput};
/// use indim::text::{Expression, ParseLimits};
///
/// let expression = Expression::parse("x + v", &ParseLimits::default())?;
/// let inputs = [("x", "f32[n, 3]"), ("v", "f32[3]")];
/// let inputs = inputs.map(|(name, text)| TypedInput::parse(name, text).unwrap());
/// let symbolic = SymbolicExpression::new(&expression, &inputs, None)?;
/// assert!(symbolic.sizes_text().contains("x: [n, 3], v: [3]; n >= 2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SymbolicExpression {
    /// The graph.
    pub graph: SymbolicGraph,
    /// Axis names of the results as text; empty unless the rule is `named`.
    axes: String,
    /// The number that stands in the graph for each named size.
    stand_ins: Vec<(String, usize)>,
    /// Names that denote the same size.
    equal: EqualNames,
}

impl SymbolicExpression {
    /// Builds the graph; without a rule each operation follows its own attributes. If the rule needs two
    /// named sizes to be equal, they become one size, and a guard of the program checks arrays for it.
    ///
    /// # Errors
    /// A mistake in the expression over these inputs.
    pub fn new(
        expression: &Expression,
        inputs: &[TypedInput<'_>],
        rule: Option<&RuleSet>,
    ) -> Result<Self, InputError> {
        let mut equal = EqualNames::default();
        // Terminates: each iteration merges two names.
        loop {
            let b = GraphBuilder::new();
            let built = build(expression, &b, inputs, &equal, rule);
            let stand_ins = b.placeholder_sizes();
            match built {
                Ok((graph, results)) => {
                    let axes = axes_text(rule, &graph, &results);
                    let graph = SymbolicGraph::new(&graph, &b.size_facts());
                    return Ok(SymbolicExpression { graph, axes, stand_ins, equal });
                }
                Err(error) if equal.merge(&error, &stand_ins) => {}
                Err(InputError { kind, .. }) => {
                    return Err(InputError { kind, stand_ins: stand_ins_text(&stand_ins) });
                }
            }
        }
    }

    /// Whether any size is named.
    pub fn has_names(&self) -> bool {
        !self.stand_ins.is_empty()
    }

    /// Fails if the program needs a named size as a number.
    ///
    /// # Errors
    /// `size-not-free`.
    pub fn check_free(&self) -> Result<(), Diagnostic> {
        let Some((size, name, axis, reason)) = self.graph.guards().fixed_names().next() else {
            return Ok(());
        };
        let (size, name) = (printable(size), printable(name));
        let message =
            format!("the size `{size}` of axis {axis} of `{name}` is needed as a number: {reason}");
        let mut refused = Diagnostic::new(ErrorCode::SIZE_NOT_FREE, message);
        refused.help(format!("write the number in place of `{size}`"));
        Err(refused)
    }

    /// Axis names of the results as text; empty unless the rule is `named`.
    pub fn axes_text(&self) -> &str {
        &self.axes
    }

    /// The guards on the sizes, why some sizes must be numbers, and the numbers that stand for names.
    pub fn sizes_text(&self) -> String {
        let guards = self.graph.guards();
        let mut text = format!("sizes\n  {guards}\n");
        for (name, axis, number, reason) in guards.pinned() {
            text += &format!("  axis {axis} of `{}` is {number}: {reason}\n", printable(name));
        }
        if let Some(stand_ins) = stand_ins_text(&self.stand_ins) {
            text += &format!("{}  above, {stand_ins}\n", self.equal.text());
        }
        text
    }
}

/// An error of an expression over typed inputs.
#[derive(Debug)]
pub struct InputError {
    /// The kind of error.
    pub kind: InputErrorKind,
    /// The numbers that stand for named sizes in the message, as text.
    pub stand_ins: Option<String>,
}

/// The kinds of errors.
#[derive(Debug)]
pub enum InputErrorKind {
    /// An error in the expression.
    Expression(Box<ExprError>),
    /// An error in the inputs or the graph.
    Graph(Box<GraphError>),
}

impl InputError {
    /// The error of the graph, if it is one.
    pub fn graph_error(&self) -> Option<&GraphError> {
        match &self.kind {
            InputErrorKind::Graph(graph) => Some(graph),
            InputErrorKind::Expression(error) => match &error.kind {
                ExprErrorKind::Graph(graph) => Some(graph),
                _ => None,
            },
        }
    }

    /// The two sizes that clash, for a size mismatch.
    fn sizes(&self) -> Option<[usize; 2]> {
        let GraphErrorKind::Shape(shape) = &self.graph_error()?.kind else { return None };
        let (this, other) = shape.violation().clash()?;
        Some([this.size, other.size])
    }
}

impl From<GraphError> for InputError {
    fn from(error: GraphError) -> Self {
        InputError { kind: InputErrorKind::Graph(Box::new(error)), stand_ins: None }
    }
}

impl From<ExprError> for InputError {
    fn from(error: ExprError) -> Self {
        InputError { kind: InputErrorKind::Expression(Box::new(error)), stand_ins: None }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            InputErrorKind::Expression(error) => write!(formatter, "{error}")?,
            InputErrorKind::Graph(error) => formatter.write_str(&error.headline())?,
        }
        match &self.stand_ins {
            Some(text) => write!(formatter, "; {text}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for InputError {}

/// Builds the graph of an expression over inputs, and its results. Without a rule each operation follows its
/// own attributes.
///
/// # Errors
/// A mistake in the expression over these inputs.
pub fn build_typed(
    expression: &Expression,
    inputs: &[TypedInput<'_>],
    rule: Option<&RuleSet>,
) -> Result<(Graph, Vec<Value>), InputError> {
    build(expression, &GraphBuilder::new(), inputs, &EqualNames::default(), rule)
}

/// Pairs of names of sizes that a rule requires to be equal. The first name represents both.
#[derive(Debug, Default)]
struct EqualNames(Vec<[String; 2]>);

impl EqualNames {
    /// Merges the two sizes of a mismatch; `false` unless they are two different named sizes.
    fn merge(&mut self, error: &InputError, stand_ins: &[(String, usize)]) -> bool {
        let name_of = |size| stand_ins.iter().position(|(_, stand_in)| *stand_in == size);
        let places = error.sizes().map(|sizes| sizes.map(name_of));
        let Some([Some(one), Some(other)]) = places else { return false };
        let [first, second] = [one.min(other), one.max(other)];
        if first != second {
            self.0.push([first, second].map(|place| stand_ins[place].0.clone()));
        }
        first != second
    }

    /// The representative of a named size, or the size itself if it is a number.
    fn representative<'a>(&'a self, size: &'a str) -> &'a str {
        let mut name = size.trim();
        while let Some([first, _]) = self.0.iter().find(|[_, second]| second == name) {
            name = first;
        }
        name
    }

    /// The pairs as text.
    fn text(&self) -> String {
        let line = |[first, second]: &[String; 2]| {
            format!("  {} = {}, which a rule needs\n", printable(first), printable(second))
        };
        self.0.iter().map(line).collect()
    }
}

/// Axis names of the results as text; empty unless the rule is `named`.
fn axes_text(rule: Option<&RuleSet>, graph: &Graph, results: &[Value]) -> String {
    if !matches!(rule, Some(RuleSet::Named { .. })) {
        return String::new();
    }
    let line = |(&output, value): (&ValueId, &Value)| {
        format!("  {} {}\n", printable(&graph.value_name(output)), value.axis_names())
    };
    let lines: String = graph.outputs().iter().zip(results).map(line).collect();
    format!("axes of the results\n{lines}")
}

/// The numbers that stand for named sizes as text; `None` without named sizes.
fn stand_ins_text(stand_ins: &[(String, usize)]) -> Option<String> {
    let each =
        stand_ins.iter().map(|(name, size)| format!("{size} stands for `{}`", printable(name)));
    (!stand_ins.is_empty()).then(|| each.collect::<Vec<String>>().join(", "))
}

/// Builds the graph of an expression over these inputs, and its results.
fn build(
    expression: &Expression,
    b: &GraphBuilder,
    inputs: &[TypedInput<'_>],
    equal: &EqualNames,
    rule: Option<&RuleSet>,
) -> Result<(Graph, Vec<Value>), InputError> {
    let has_names = inputs.iter().any(|input| matches!(input.input_type, InputType::Symbolic(..)));
    let mut bindings = Vec::with_capacity(inputs.len());
    for input in inputs {
        bindings.push((input.name, binding(b, input, equal, has_names, rule)?));
    }
    let results = expression.build_results(b, &bindings, rule)?;
    let graph = b.finish(&results)?;
    Ok((graph, results))
}

/// The binding of an input. `has_names` is whether any size of any input is named: then known sizes
/// become symbolic parameters too.
fn binding(
    b: &GraphBuilder,
    input: &TypedInput<'_>,
    equal: &EqualNames,
    has_names: bool,
    rule: Option<&RuleSet>,
) -> Result<Binding, GraphError> {
    let symbolic = |dtype, sizes: &[String]| {
        let sizes: Vec<&str> = sizes.iter().map(|size| equal.representative(size)).collect();
        b.symbolic_parameter(input.name, dtype, &sizes)
    };
    let value = match &input.input_type {
        InputType::Number(number) => return Ok(Binding::Number(*number)),
        InputType::Known(array_type) if has_names => symbolic(
            array_type.dtype,
            &array_type.shape.iter().map(usize::to_string).collect::<Vec<String>>(),
        ),
        InputType::Known(array_type) => {
            b.parameter(input.name, array_type.dtype, array_type.shape.clone())
        }
        InputType::Symbolic(dtype, sizes) => symbolic(*dtype, sizes),
    }?;
    match &input.axis_names {
        Some(names) => match b.name_axes(&value, names.clone()) {
            // Invalid axis names in a file matter only under rule `named`.
            Err(_) if !matches!(rule, Some(RuleSet::Named { .. })) => Ok(Binding::Array(value)),
            named => named.map(Binding::Array),
        },
        None => Ok(Binding::Array(value)),
    }
}
