//! Evaluates an expression over named inputs in one call. `expression_cache.rs` compiles and caches the
//! programs of a text.

use core::fmt;
use core::panic::Location;

use indim_cpu::{Array, CompileError, RunError};
use indim_graph::GraphError;
use indim_shape::{Diagnostic, ErrorCode};
use indim_text::{ExprError, Expression, ParseLimits};

use crate::expression_cache::{BoundExpression, program};
use crate::input::Input;

/// Evaluates an expression over named inputs.
///
/// The language is that of the command line: names, operators, the functions that `indim ops` lists,
/// `dims=` and `axis=` (without them NumPy's rule), and several statements; the last one is the result.
/// The inputs are arrays, or numbers, which take the types of the arrays they meet. Programs are cached
/// by the text, the names, and the element types and ranks of the arrays. From the second shape on, one
/// program serves all sizes that satisfy its [guards](crate::graph::Guards). A number may differ from
/// call to call without another compilation, unless the program depends on its value, as on an exponent.
///
/// ```
/// use indim::{Array, evaluate};
///
/// let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let m = Array::new([3], vec![2.5f32, 3.5, 4.5])?;
/// let s = Array::from_scalar(1.5f32);
/// let result = evaluate("(x - m) / s", [("x", &x), ("m", &m), ("s", &s)])?;
/// assert_eq!(result.into_vec::<f32>().unwrap(), [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
///
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An array of Rust holds values of one type: inputs of several types are written with
/// [`inputs!`](crate::inputs).
///
/// ```
/// use indim::{evaluate, inputs};
///
/// let v = vec![1.0, 2.0];
/// let doubled = evaluate("k * v", inputs![v, k = 2])?;
/// assert_eq!(doubled.elements::<f64>().unwrap(), [2.0, 4.0]);
/// # Ok::<(), indim::EvaluateError>(())
/// ```
///
/// # Errors
/// Mistakes in the expression or its shapes, drawn by `{}`; `unused-input` and `duplicate-input`;
/// `several-results`; [`RunError`].
#[track_caller]
pub fn evaluate<'a, I: Into<Input<'a>>>(
    text: &str,
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Result<Array, EvaluateError> {
    let location = Location::caller();
    let inputs = collect_inputs(inputs);
    let evaluate = || {
        let program = program(text, &inputs)?;
        match program.result_count() {
            1 => Ok(run(&program, &inputs)?.swap_remove(0)),
            _ => Err(several_results(text)),
        }
    };
    evaluate().map_err(|kind| EvaluateError { kind, location })
}

/// Like [`evaluate`], for a text with any number of results, in their order. All results are one program:
/// common values are computed once.
///
/// ```
/// use indim::evaluate_all;
///
/// let text = "m = mean(x); d = x - m; m, sqrt(mean(d * d))";
/// let results = evaluate_all(text, [("x", &[1.0, 2.0, 6.0, 3.0])])?;
/// assert_eq!(results[0].elements::<f64>(), Ok(&[3.0][..]));
/// assert_eq!(results[1].elements::<f64>(), Ok(&[3.5f64.sqrt()][..]));
/// # Ok::<(), indim::EvaluateError>(())
/// ```
///
/// # Errors
/// Like [`evaluate`], but for `several-results`.
#[track_caller]
pub fn evaluate_all<'a, I: Into<Input<'a>>>(
    text: &str,
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Result<Vec<Array>, EvaluateError> {
    let location = Location::caller();
    let inputs = collect_inputs(inputs);
    let evaluate = || run(&program(text, &inputs)?, &inputs);
    evaluate().map_err(|kind| EvaluateError { kind, location })
}

fn collect_inputs<'a, I: Into<Input<'a>>>(
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Vec<(&'a str, Input<'a>)> {
    inputs.into_iter().map(|(name, input)| (name, input.into())).collect()
}

/// The error of a text that gives several results, with its place in the text.
fn several_results(text: &str) -> EvaluateErrorKind {
    let expression = Expression::parse(text, &ParseLimits::default());
    let checked = expression.and_then(|expression| expression.check_single_result());
    let error = checked.expect_err("invariant: a program of one result is of one expression");
    EvaluateErrorKind::Expression { text: text.to_owned(), error: Box::new(error) }
}

fn run(
    program: &BoundExpression,
    inputs: &[(&str, Input<'_>)],
) -> Result<Vec<Array>, EvaluateErrorKind> {
    program.run(inputs).map_err(EvaluateErrorKind::Run)
}

/// An error of [`evaluate`]. `{}` and `{:?}` draw it, with the caller's line.
///
/// ```
/// use indim::evaluate;
///
/// let error = evaluate("x + y", [("x", &[1.0f32])]).unwrap_err();
/// assert_eq!(error.code(), "unknown-name");
/// assert!(error.draw().contains("x + y"));
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct EvaluateError {
    /// The kind of error.
    pub kind: EvaluateErrorKind,
    /// The caller's location.
    pub location: &'static Location<'static>,
}

/// The kinds of errors of [`evaluate`].
///
/// ```
/// use indim::evaluate;
/// use indim::errors::EvaluateErrorKind;
///
/// let error = evaluate("x + 1", [("x", &[1.0f32]), ("y", &[2.0])]).unwrap_err();
/// assert_eq!(error.kind, EvaluateErrorKind::UnusedInput { name: "y".to_owned() });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EvaluateErrorKind {
    /// An error in the expression, or in the types and shapes of its inputs.
    Expression {
        /// The text.
        text: String,
        /// The error.
        error: Box<ExprError>,
    },
    /// An error in the graph.
    Graph(Box<GraphError>),
    /// Compilation fails.
    Compile(CompileError),
    /// The expression does not mention an input.
    UnusedInput {
        /// Its name.
        name: String,
    },
    /// Two inputs have the same name.
    DuplicateInput {
        /// The name.
        name: String,
    },
    /// The run is refused, or stops.
    Run(RunError),
}

impl From<CompileError> for EvaluateErrorKind {
    fn from(error: CompileError) -> Self {
        EvaluateErrorKind::Compile(error)
    }
}

impl From<GraphError> for EvaluateErrorKind {
    fn from(error: GraphError) -> Self {
        EvaluateErrorKind::Graph(Box::new(error))
    }
}

impl EvaluateError {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            EvaluateErrorKind::Expression { error, .. } => error.error_code(),
            EvaluateErrorKind::Graph(error) => error.error_code(),
            EvaluateErrorKind::Compile(error) => error.error_code(),
            EvaluateErrorKind::UnusedInput { .. } => ErrorCode::UNUSED_INPUT,
            EvaluateErrorKind::DuplicateInput { .. } => ErrorCode::DUPLICATE_INPUT,
            EvaluateErrorKind::Run(error) => error.error_code(),
        }
    }

    /// The whole report: headline, the place in the text, the shapes, and repairs.
    pub fn draw(&self) -> String {
        self.diagnostic().to_string()
    }

    /// The report as separate parts, without the place of the call.
    pub fn diagnostic(&self) -> Diagnostic {
        match &self.kind {
            EvaluateErrorKind::Expression { text, error } => error.diagnostic(text),
            EvaluateErrorKind::Graph(error) => error.diagnostic(),
            EvaluateErrorKind::Compile(error) => error.diagnostic(),
            EvaluateErrorKind::Run(error) => error.diagnostic(),
            EvaluateErrorKind::UnusedInput { name } => {
                let message = format!("the expression does not mention the input {name:?}");
                Diagnostic::new(self.error_code(), message)
            }
            EvaluateErrorKind::DuplicateInput { name } => {
                Diagnostic::new(self.error_code(), format!("two inputs are called {name:?}"))
            }
        }
    }
}

/// The drawn error, with the place of the call below the headline. So `?` in `main` shows it, also through
/// `anyhow`.
impl fmt::Display for EvaluateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Some(self.location.to_string());
        formatter.write_str(self.diagnostic().at(place).to_string().trim_end())
    }
}

/// Like [`Display`](fmt::Display).
impl fmt::Debug for EvaluateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for EvaluateError {}
