//! The expression language: from a text to the nodes of a graph.
//!
//! `docs/expressions.md` describes the language for users. The stages are:
//!
//! 1. `lexer.rs` splits the text into tokens. `parser.rs` (`call.rs` for calls, `index.rs` for brackets,
//!    `statement.rs` for assignments) parses them into a syntax tree (`syntax.rs`) with the functions of
//!    `function.rs`.
//! 2. `results.rs` selects the results.
//! 3. `elaborate.rs` adds nodes to a graph through the builder: `elementwise.rs` operations,
//!    `composition.rs` compositions, `reduction.rs` reductions, `product.rs` products, `random.rs` random
//!    numbers, `fourier.rs` Fourier transforms, `structure.rs` reshapes and conversions, `data_movement.rs`
//!    indices and functions that rearrange, join or sort arrays. `typing.rs` and `folding.rs` determine
//!    element types and fold literals. `numbers.rs` handles numbers that are inputs.
//!
//! The other files:
//!
//! - `complex_folding.rs`: arithmetic of complex numbers;
//! - `complex_parts.rs`: functions of complex numbers that are computed from real and imaginary parts;
//! - `data_movement_function.rs`: the table of functions that rearrange, join or sort arrays;
//! - `draw.rs`: the drawing of an error below the text;
//! - `dynamic_slice.rs`: slices whose starts are elements of arrays;
//! - `error.rs`: errors of expressions: typed data, a stable code, the span in the text;
//! - `foreign.rs`: syntax and functions of NumPy, PyTorch and C, with their replacements;
//! - `parameter.rs`: the parameters of functions;
//! - `product_function.rs`: the table of products of arrays;
//! - `random_function.rs`: the table of random numbers;
//! - `recorded.rs`: expressions of one operation that a tracer records;
//! - `statement_error.rs`: errors of statements: assigned names and number of results.

mod call;
mod complex_folding;
mod complex_parts;
mod composition;
mod data_movement;
mod data_movement_function;
mod draw;
mod dynamic_slice;
mod elaborate;
mod elementwise;
mod error;
mod folding;
mod foreign;
mod fourier;
mod function;
mod index;
mod lexer;
mod numbers;
mod parameter;
mod parser;
mod product;
mod product_function;
mod random;
mod random_function;
mod recorded;
mod reduction;
mod results;
mod statement;
mod statement_error;
mod structure;
mod syntax;
mod typing;

use indim_shape::RuleSet;

pub(crate) use data_movement_function::{DATA_MOVEMENT, DataMovementRow};
pub use error::{ExprError, ExprErrorKind};
pub(crate) use function::other_names;
pub use numbers::{Number, NumberProgram, Numbers};
pub(crate) use product_function::{PRODUCT_OPERANDS, PRODUCTS, ProductRow};
pub(crate) use random_function::{RANDOM, RandomRow};
pub use recorded::{CallAttribute, CallOperand, RecordedCall};
pub use statement_error::StatementError;

use indim_builder::{GraphBuilder, Value};
use indim_graph::Literal;

use crate::limits::ParseLimits;

/// The binding of a name in an expression.
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
    /// A number that adapts to the types of the operands, like a literal in the text.
    Number(Literal),
    /// A number that is an input of the program: the program is valid for other values too.
    Input(Number),
}

/// A parsed expression, or several statements, which can be added to any graph.
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
    nodes: Vec<syntax::SyntaxNode>,
    names: Vec<String>,
    assignments: Vec<statement::Assignment>,
    outputs: Vec<statement::Output>,
    /// The maximum rank of its arrays, from the limits of the parser.
    max_rank: usize,
}

impl Expression {
    /// Parses an expression, or statements; the last one states the results. Does not recurse or panic.
    ///
    /// # Errors
    /// Exceeded limits, each with its own code; syntax errors; calls of unknown functions or with wrong
    /// arguments; assignments to a name that is already assigned, an input or a function.
    pub fn parse(text: &str, limits: &ParseLimits) -> Result<Self, ExprError> {
        let parser::SyntaxTree { nodes, names, assignments, outputs } =
            parser::parse(text, limits)?;
        let (text, max_rank) = (text.to_owned(), limits.rank);
        Ok(Expression { text, nodes, names, assignments, outputs, max_rank })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that need a binding, in the order of their first use. `pi`, `inf`, `nan`, `True`, `true`,
    /// `False` and `false` are [`constants`](Self::constants).
    pub fn names(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| Literal::constant(name).is_none()).collect()
    }

    /// The names of constants that the text uses; a binding replaces a constant. See [`Literal::constant`].
    pub fn constants(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| Literal::constant(name).is_some()).collect()
    }

    /// Whether the text uses `name` as an input or a constant.
    pub fn mentions(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether a call names axes, as in `mean(x, axis=time)`.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    /// let names_axes = |text| Expression::parse(text, &ParseLimits::default()).unwrap().names_axes();
    /// assert!(names_axes("x - mean(x, axis=time)") && !names_axes("x - mean(x, axis=0)"));
    /// ```
    pub fn names_axes(&self) -> bool {
        let is_by_name = |given: &syntax::NamedAttribute| {
            matches!(given.value, syntax::AttributeValue::Names(_))
        };
        self.nodes.iter().any(|node| match &node.kind {
            syntax::SyntaxNodeKind::Call { attributes, .. } => attributes.iter().any(is_by_name),
            _ => false,
        })
    }

    /// Adds the expression to a graph.
    ///
    /// Without a `rule`, an operation with `dims=` follows xla, one with `axis=` pdpd, and every other one
    /// numpy. Under numpy and named, operands of different element types are promoted like in NumPy 2;
    /// under every other rule such operands are an error.
    ///
    /// # Errors
    /// Unbound names; attributes of another rule set; literals that do not fit; `rank-limit`; errors of
    /// the builder; `several-results`.
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

    /// Like [`build`](Self::build), with names that may also be bound to numbers.
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
