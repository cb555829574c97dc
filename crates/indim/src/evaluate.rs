//! One call: an expression over named arrays, compiled once for each text and the types of its inputs.

use core::fmt;
use core::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, Buffer, CompileError, CompileOptions, Executable, RunError, compile};
use indim_graph::{GraphError, Literal};
use indim_ops::ArrayType;
use indim_shape::Diagnostic;
use indim_text::{Binding, ExprError, Expression, Limits};

use crate::input::Input;

/// So many compiled expressions are kept, those that were used last.
const KEPT: usize = 64;

/// The text of an expression that is kept is no longer: its program would take much memory.
const LONGEST_KEPT: usize = 4096;

/// Evaluates an expression over named inputs.
///
/// The language is that of the command: names, operators, the functions of the table, `dims=` and `axis=`;
/// where neither is given, NumPy's rule; several statements, of which the last gives the result. The inputs
/// are arrays, or numbers, which adapt to what they meet. What is compiled is kept, by the text, the names,
/// the types and shapes of the arrays, and the numbers: a number that differs from call to call is better
/// given as an array without axes.
///
/// ```
/// use indim::{Array, Input, evaluate};
///
/// let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let m = Array::new([3], vec![2.5f32, 3.5, 4.5])?;
/// let s = Array::scalar(1.5f32);
/// let result = evaluate("(x - m) / s", [("x", &x), ("m", &m), ("s", &s)])?;
/// assert_eq!(result.into_vec::<f32>().unwrap(), [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
///
/// let doubled = evaluate("k * v", [("v", Input::from(&[1.0, 2.0])), ("k", Input::from(2))])?;
/// assert_eq!(doubled.elements::<f64>().unwrap(), [2.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What is wrong with the expression or its shapes, drawn by `{:?}`; `unused-input` and `duplicate-input`;
/// `several-results`; [`RunError`].
#[track_caller]
pub fn evaluate<'a, I: Into<Input<'a>>>(
    text: &str,
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Result<Buffer, EvaluateError> {
    let location = Location::caller();
    let inputs = collected(inputs);
    let evaluate = || {
        let executable = kept(text, &inputs)?;
        match executable.outputs().len() {
            1 => Ok(run(&executable, &inputs)?.swap_remove(0)),
            _ => Err(several_results(text)),
        }
    };
    evaluate().map_err(|kind| EvaluateError { kind, location })
}

/// As [`evaluate`], of a text with any number of results, which come in their order. All of them are one
/// program: what they share is computed once.
///
/// ```
/// use indim::evaluate_all;
///
/// let text = "m = mean(x); d = x - m; m, sqrt(mean(d * d))";
/// let results = evaluate_all(text, [("x", &[1.0, 2.0, 6.0, 3.0])])?;
/// assert_eq!(results[0].elements::<f64>(), Some(&[3.0][..]));
/// assert_eq!(results[1].elements::<f64>(), Some(&[3.5f64.sqrt()][..]));
/// # Ok::<(), indim::EvaluateError>(())
/// ```
///
/// # Errors
/// As [`evaluate`], but for `several-results`.
#[track_caller]
pub fn evaluate_all<'a, I: Into<Input<'a>>>(
    text: &str,
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Result<Vec<Buffer>, EvaluateError> {
    let location = Location::caller();
    let inputs = collected(inputs);
    let evaluate = || run(&*kept(text, &inputs)?, &inputs);
    evaluate().map_err(|kind| EvaluateError { kind, location })
}

fn collected<'a, I: Into<Input<'a>>>(
    inputs: impl IntoIterator<Item = (&'a str, I)>,
) -> Vec<(&'a str, Input<'a>)> {
    inputs.into_iter().map(|(name, input)| (name, input.into())).collect()
}

/// The error of a text that gives several results, with its place.
fn several_results(text: &str) -> EvaluateErrorKind {
    let expression = Expression::parse(text, &Limits::default());
    let checked = expression.and_then(|expression| expression.check_single_result());
    let error = checked.expect_err("invariant: a program of one result is of one expression");
    EvaluateErrorKind::Expression { text: text.to_owned(), error: Box::new(error) }
}

fn run(
    executable: &Executable,
    inputs: &[(&str, Input<'_>)],
) -> Result<Vec<Buffer>, EvaluateErrorKind> {
    let arrays = inputs.iter().filter_map(|(_, input)| match input {
        Input::Array(view) => Some(view.clone()),
        Input::Number(_) => None,
    });
    let arrays: Vec<ArrayView<'_>> = arrays.collect();
    executable.run(&arrays).map_err(EvaluateErrorKind::Run)
}

/// What a compiled expression holds for.
#[derive(PartialEq)]
enum InputType {
    Array(ArrayType),
    Number(Literal),
}

impl InputType {
    fn of(input: &Input<'_>) -> Self {
        match input {
            Input::Array(view) => InputType::Array(view.array_type().clone()),
            Input::Number(number) => InputType::Number(*number),
        }
    }

    fn is_that_of(&self, input: &Input<'_>) -> bool {
        match (self, input) {
            (InputType::Array(array_type), Input::Array(view)) => array_type == view.array_type(),
            // By their bits: -0 and 0 are different numbers, and a NaN is the same as itself.
            (InputType::Number(Literal::Float(x)), Input::Number(Literal::Float(y))) => {
                x.to_bits() == y.to_bits()
            }
            (InputType::Number(x), Input::Number(y)) => x == y,
            _ => false,
        }
    }
}

struct Kept {
    text: String,
    inputs: Vec<(String, InputType)>,
    executable: Arc<Executable>,
}

impl Kept {
    fn is_for(&self, text: &str, inputs: &[(&str, Input<'_>)]) -> bool {
        self.text == text
            && self.inputs.len() == inputs.len()
            && self
                .inputs
                .iter()
                .zip(inputs)
                .all(|((name, kept), (given, input))| name == given && kept.is_that_of(input))
    }
}

/// The last used is at the end.
static CACHE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The executable for the text and these inputs, compiled if it is not kept.
fn kept(text: &str, inputs: &[(&str, Input<'_>)]) -> Result<Arc<Executable>, EvaluateErrorKind> {
    // A panic leaves the list whole.
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut cache = cache();
        if let Some(found) = cache.iter().rposition(|kept| kept.is_for(text, inputs)) {
            cache[found..].rotate_left(1);
            return Ok(Arc::clone(&cache[cache.len() - 1].executable));
        }
    }
    let executable = Arc::new(compiled(text, inputs)?);
    if text.len() <= LONGEST_KEPT {
        let types = inputs.iter().map(|(name, input)| ((*name).to_owned(), InputType::of(input)));
        let kept = Kept {
            text: text.to_owned(),
            inputs: types.collect(),
            executable: Arc::clone(&executable),
        };
        let mut cache = cache();
        let is_full = cache.len() >= KEPT;
        let oldest = is_full.then(|| cache.remove(0));
        cache.push(kept);
        drop(cache);
        // What may take long to free is freed after the lock.
        drop(oldest);
    }
    Ok(executable)
}

fn compiled(text: &str, inputs: &[(&str, Input<'_>)]) -> Result<Executable, EvaluateErrorKind> {
    let refuse = |error| EvaluateErrorKind::Expression { text: text.to_owned(), error };
    let expression =
        Expression::parse(text, &Limits::default()).map_err(|e| refuse(Box::new(e)))?;
    let b = GraphBuilder::new();
    let mut bindings = Vec::with_capacity(inputs.len());
    for (index, (name, input)) in inputs.iter().enumerate() {
        if !expression.mentions(name) && !expression.assigns(name) {
            return Err(EvaluateErrorKind::UnusedInput { name: (*name).to_owned() });
        }
        if inputs[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(EvaluateErrorKind::DuplicateInput { name: (*name).to_owned() });
        }
        let binding = match input {
            Input::Number(number) => Binding::Number(*number),
            Input::Array(view) => {
                let ArrayType { dtype, shape } = view.array_type().clone();
                Binding::Array(b.parameter(name, dtype, shape)?)
            }
        };
        bindings.push((*name, binding));
    }
    let results = expression.build_results(&b, &bindings, None).map_err(|e| refuse(Box::new(e)))?;
    Ok(compile(&b.finish(&results)?, &CompileOptions::default())?)
}

/// Why [`evaluate`] refuses. `{:?}` shows it drawn, with the caller's line.
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
    /// What is wrong.
    pub kind: EvaluateErrorKind,
    /// Where [`evaluate`] was called.
    pub location: &'static Location<'static>,
}

/// The kinds of mistakes in a call of [`evaluate`].
///
/// ```
/// use indim::{EvaluateErrorKind, evaluate};
///
/// let error = evaluate("x + 1", [("x", &[1.0f32]), ("y", &[2.0])]).unwrap_err();
/// assert_eq!(error.kind, EvaluateErrorKind::UnusedInput { name: "y".to_owned() });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EvaluateErrorKind {
    /// In the expression, or in the types and shapes that it meets.
    Expression {
        /// The text.
        text: String,
        /// What is wrong.
        error: Box<ExprError>,
    },
    /// In what the graph is made of.
    Graph(Box<GraphError>),
    /// The graph is not compiled.
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
    /// The run does not start, or stops.
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
        match &self.kind {
            EvaluateErrorKind::Expression { error, .. } => error.code(),
            EvaluateErrorKind::Graph(error) => error.code(),
            EvaluateErrorKind::Compile(error) => error.code(),
            EvaluateErrorKind::UnusedInput { .. } => "unused-input",
            EvaluateErrorKind::DuplicateInput { .. } => "duplicate-input",
            EvaluateErrorKind::Run(error) => error.code(),
        }
    }

    /// The whole report for people: headline, the place in the text, the shapes, and what would work.
    pub fn draw(&self) -> String {
        self.diagnostic().to_string()
    }

    /// The same report in its parts, without the place of the call.
    pub fn diagnostic(&self) -> Diagnostic {
        match &self.kind {
            EvaluateErrorKind::Expression { text, error } => error.diagnostic(text),
            EvaluateErrorKind::Graph(error) => error.diagnostic(),
            EvaluateErrorKind::Compile(error) => error.diagnostic(),
            EvaluateErrorKind::Run(error) => error.diagnostic(),
            _ => Diagnostic::new(self.code(), self.to_string()),
        }
    }
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EvaluateErrorKind::Expression { error, .. } => error.fmt(formatter),
            EvaluateErrorKind::Graph(error) => error.fmt(formatter),
            EvaluateErrorKind::Compile(error) => error.fmt(formatter),
            EvaluateErrorKind::UnusedInput { name } => {
                write!(formatter, "the expression does not mention the input {name:?}")
            }
            EvaluateErrorKind::DuplicateInput { name } => {
                write!(formatter, "two inputs are called {name:?}")
            }
            EvaluateErrorKind::Run(error) => error.fmt(formatter),
        }
    }
}

/// As it is drawn, with the place of the call below the headline.
impl fmt::Debug for EvaluateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Some(self.location.to_string());
        formatter.write_str(self.diagnostic().at(place).to_string().trim_end())
    }
}

impl core::error::Error for EvaluateError {}
