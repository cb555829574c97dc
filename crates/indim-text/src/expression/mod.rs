//! The expression language.
//!
//! An expression is read in three steps: `lexer.rs` and `parser.rs` (`call.rs` for calls, `statement.rs`
//! for what is assigned) make a syntax tree (`syntax.rs`), with the functions of `function.rs`; which of
//! its values are given, `results.rs` says; `elaborate.rs` turns it into nodes of a graph through the
//! builder (`elementwise.rs` for the operations of the table, `composition.rs` for compositions,
//! `structure.rs` for reshapes and the like, `views.rs` for indices), in the element types that
//! `typing.rs`, `folding.rs` and `promote.rs` decide; numbers that are inputs are in `numbers.rs`.
//! `draw.rs` draws an error at its place. The language
//! is described for users in `docs/expressions.md`.
//!
//! - `along.rs`: functions along axes: their arguments, and the nodes they become;
//! - `complex_parts.rs`: functions of complex numbers that NumPy has and the table has for real ones alone,
//!   as compositions: the parts are computed one by one;
//! - `error.rs`: errors of expressions: typed data, a stable code, the span in the text;
//! - `foreign.rs`: spellings of NumPy, PyTorch and C, with their equivalents here;
//! - `index.rs`: from tokens to the syntax tree, between brackets: Python's index syntax behind an operand,
//!   `x[1:, None]`, and the list of operands in `concatenate([x, y])`;
//! - `recorded.rs`: expressions of one operation that nobody wrote: what a tracer records, without a text
//!   to be read;
//! - `statement_error.rs`: errors of statements: assigned names and number of results;
//! - `view_function.rs`: the functions that show arrays otherwise or put them together, in one table: what
//!   a call of each takes, and what it means.

mod along;
mod call;
mod complex_parts;
mod composition;
mod draw;
mod elaborate;
mod elementwise;
mod error;
mod folding;
mod foreign;
mod function;
mod index;
mod lexer;
mod numbers;
mod parser;
mod promote;
mod recorded;
mod results;
mod statement;
mod statement_error;
mod structure;
mod syntax;
mod typing;
mod view_function;
mod views;

use indim_shape::RuleSet;

pub use error::{ExprError, ExprErrorKind};
pub(crate) use function::other_names;
pub use numbers::{Number, NumberProgram, Numbers};
pub use promote::promote;
pub use recorded::{CallAttribute, CallOperand, RecordedCall};
pub use statement_error::StatementError;
pub(crate) use view_function::{VIEWS, View};

use indim_builder::{GraphBuilder, Value};
use indim_graph::Literal;

use crate::limits::ParseLimits;

/// Binding of a name of an expression.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::Literal;
/// use indim_ops::DType;
/// use indim_text::{Binding, Expression, ParseLimits};
///
/// let b = GraphBuilder::new();
/// let x = Binding::Array(b.parameter("x", DType::F16, [3])?);
/// let expression = Expression::parse("k * x", &ParseLimits::default())?;
/// let bindings = [("x", x), ("k", Binding::Number(Literal::Float(0.5)))];
/// let result = expression.build_bound(&b, &bindings, None)?;
/// assert_eq!(result.array_type()?.to_string(), "f16[3]"); // a number adapts
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Binding {
    /// A value of the graph.
    Array(Value),
    /// A number that adapts to what it meets, as one written in the text does.
    Number(Literal),
    /// Such a number as an input of the program, which is not made for its value.
    Input(Number),
}

/// A parsed expression, or several statements, which can be built into any graph.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::{Array, evaluate};
/// use indim_ops::DType;
/// use indim_text::{Expression, ParseLimits};
///
/// let expression = Expression::parse("add(x, v, dims=[1]) * 2", &ParseLimits::default())?;
/// assert_eq!(expression.names(), ["x", "v"]);
/// assert!(expression.mentions("v") && expression.constants().is_empty());
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let result = expression.build(&b, &[("x", x), ("v", v)], None)?;
/// assert_eq!(result.array_type()?.to_string(), "f32[2, 3]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    nodes: Vec<syntax::Node>,
    names: Vec<String>,
    assigned: Vec<statement::Assigned>,
    outputs: Vec<statement::Output>,
    /// The most axes of any array in it.
    maximum_rank: usize,
}

impl Expression {
    /// Parses an expression, or statements; the last statement states the results.
    ///
    /// # Errors
    /// The limits, each with its own code; syntax errors; calls of unknown
    /// functions or with wrong arguments; names that are assigned twice, or stand for something else.
    /// Never a panic, and never recursion.
    pub fn parse(text: &str, limits: &ParseLimits) -> Result<Self, ExprError> {
        let parser::Parsed { nodes, names, assigned, outputs } = parser::parse(text, limits)?;
        let (text, maximum_rank) = (text.to_owned(), limits.rank);
        Ok(Expression { text, nodes, names, assigned, outputs, maximum_rank })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that need a binding, in the order of their first use.
    ///
    /// `pi`, `inf`, `nan`, `True` and `False` are not among them; see [`constants`](Self::constants).
    pub fn names(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| Literal::constant(name).is_none()).collect()
    }

    /// The names that mean a number unless something is bound to them: see [`Literal::constant`].
    pub fn constants(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| Literal::constant(name).is_some()).collect()
    }

    /// Whether the text uses `name` as a value: also a constant, which a binding replaces.
    pub fn mentions(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether it calls axes by their names, as `mean(x, axis=time)` does.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    /// let names_axes = |text| Expression::parse(text, &ParseLimits::default()).unwrap().names_axes();
    /// assert!(names_axes("x - mean(x, axis=time)") && !names_axes("x - mean(x, axis=0)"));
    /// ```
    pub fn names_axes(&self) -> bool {
        let is_by_name = |given: &syntax::GivenAttribute| {
            matches!(given.value, syntax::AttributeValue::Names(_))
        };
        self.nodes.iter().any(|node| match &node.kind {
            syntax::NodeKind::Call { attributes, .. } => attributes.iter().any(is_by_name),
            _ => false,
        })
    }

    /// Adds the expression to a graph.
    ///
    /// Without a `rule`, an operation with `dims=` follows xla, one with `axis=` pdpd, and every
    /// other one numpy. Under numpy, operands of different element types are converted as NumPy 2
    /// promotes them; under every other rule that is an error.
    ///
    /// # Errors
    /// Unbound names; attributes that the rule does not have; literals that do not fit; `rank-limit` for
    /// arrays of more axes than the limit; errors of the builder; `several-results`.
    pub fn build(
        &self,
        builder: &GraphBuilder,
        bindings: &[(&str, Value)],
        rule: Option<&RuleSet>,
    ) -> Result<Value, ExprError> {
        let bindings: Vec<(&str, Binding)> =
            bindings.iter().map(|(name, value)| (*name, Binding::Array(value.clone()))).collect();
        self.build_bound(builder, &bindings, rule)
    }

    /// Like [`build`](Self::build), where names may also stand for numbers that adapt.
    ///
    /// ```
    /// use indim_text::{Binding, Expression, ParseLimits};
    /// use indim_ops::DType;
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::Literal;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let bindings = [("x", Binding::Array(x)), ("k", Binding::Number(Literal::Float(0.5)))];
    /// let result = Expression::parse("x * k", &ParseLimits::default())?.build_bound(&b, &bindings, None)?;
    /// assert_eq!(result.array_type()?.to_string(), "f32[3]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`build`](Self::build).
    pub fn build_bound(
        &self,
        builder: &GraphBuilder,
        bindings: &[(&str, Binding)],
        rule: Option<&RuleSet>,
    ) -> Result<Value, ExprError> {
        self.check_single_result()?;
        let mut results = self.build_results(builder, bindings, rule)?;
        Ok(results.swap_remove(0))
    }
}
