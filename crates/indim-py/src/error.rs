//! Errors as Python exceptions; their classes are in `indim/_errors.py`.

use indim::array::RankLimitError;
use indim::errors::{Diagnostic, OperandLabel, ShapeError, draw_error};
use indim::explain::{InputError, InputErrorKind};
use indim::formats::{FormatError, LoadError, LoadErrorKind, SourceFile};
use indim::graph::GraphErrorKind;
use indim::text::{ExprError, ExprErrorKind};
use indim::{CompileError, GraphError, RunError};
use indim_graph::terminal::printable;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

/// A mistake in a computation, with the text of its definition.
#[derive(Debug)]
pub(crate) enum ComputationError {
    /// An error in a definition.
    Definition { text: String, error: Box<ExprError> },
    /// An error of the graph outside of the definitions.
    Graph(Box<GraphError>),
    /// An error of compilation.
    Compile(CompileError),
    /// An exception: a signal handler raised one, or the environment names an unknown executor.
    Exception(PyErr),
}

impl From<CompileError> for ComputationError {
    fn from(error: CompileError) -> Self {
        ComputationError::Compile(error)
    }
}

impl From<GraphError> for ComputationError {
    fn from(error: GraphError) -> Self {
        ComputationError::Graph(Box::new(error))
    }
}

/// The fields of an exception, without its class.
#[derive(Default)]
struct Report<'a> {
    message: String,
    code: &'a str,
    rule: Option<&'a str>,
    operand: Option<usize>,
    axis: Option<usize>,
    text: Option<&'a str>,
    span: Option<(usize, usize)>,
}

impl Report<'_> {
    /// The exception of class `name`, or the error of its construction.
    fn raise(self, py: Python<'_>, name: &str) -> PyErr {
        let make = || -> PyResult<PyErr> {
            let class = py.import("indim._errors")?.getattr(name)?;
            let Report { message, code, rule, operand, axis, text, span } = self;
            let message = message.trim_end().to_owned();
            let exception = class.call1((message, code, rule, operand, axis, text, span))?;
            Ok(PyErr::from_value(exception))
        };
        make().unwrap_or_else(|error| error)
    }
}

/// The exception for a mistake in a computation.
pub(crate) fn computation_error(py: Python<'_>, error: &ComputationError) -> PyErr {
    match error {
        ComputationError::Definition { text, error } => expression_error(py, text, error, None),
        ComputationError::Graph(error) => graph_error(py, error),
        ComputationError::Compile(error) => compile_error(*error),
        ComputationError::Exception(error) => error.clone_ref(py),
    }
}

/// Maximum number of values that a message lists; more do not help the reader.
const MAX_LISTED: usize = 8;

/// The exception for a file without a usable program, or for inputs that do not fit it.
pub(crate) fn load_error(py: Python<'_>, error: &LoadError) -> PyErr {
    match &error.kind {
        LoadErrorKind::Compile(error) => compile_error(*error),
        LoadErrorKind::Run(RunError::Memory(_) | RunError::MemoryLimit { .. }) => {
            PyMemoryError::new_err(load_diagnostic(error).to_string())
        }
        LoadErrorKind::Run(RunError::IndexOutOfRange { .. }) => {
            PyIndexError::new_err(load_diagnostic(error).to_string())
        }
        _ => Report {
            message: load_diagnostic(error).to_string(),
            code: error.code(),
            ..Report::default()
        }
        .raise(py, "FormatError"),
    }
}

/// The drawn error. For a program with unsupported operations the help states the `inputs` that load the
/// rest of the program.
fn load_diagnostic(error: &LoadError) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    let names = error.values_to_provide().iter().map(|(name, _)| format!("{:?}", printable(name)));
    let names: Vec<String> = names.take(MAX_LISTED).collect();
    if !names.is_empty() {
        diagnostic.help(format!(
            "load(..., inputs=[{}]) computes the rest from these arrays",
            names.join(", ")
        ));
    }
    diagnostic
}

/// The exception for a graph that another system's format cannot hold.
pub(crate) fn format_error(py: Python<'_>, error: &FormatError) -> PyErr {
    let message = error.draw(&SourceFile::new("the function", Vec::new()));
    Report { message, code: error.code(), ..Report::default() }.raise(py, "FormatError")
}

/// The exception for a computation that is not compiled.
pub(crate) fn compile_error(error: CompileError) -> PyErr {
    match error {
        CompileError::MemoryLimit { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The exception of class `name` for a diagnostic.
pub(crate) fn diagnostic_error(py: Python<'_>, error: &Diagnostic, name: &str) -> PyErr {
    Report { message: error.to_string(), code: error.code.as_str(), ..Report::default() }
        .raise(py, name)
}

/// The exception for a mistake in an expression over typed inputs.
pub(crate) fn input_error(py: Python<'_>, text: &str, error: InputError) -> PyErr {
    match error.kind {
        InputErrorKind::Expression(kind) => {
            expression_error(py, text, &kind, error.stand_ins.as_deref())
        }
        InputErrorKind::Graph(kind) => graph_error(py, &kind),
    }
}

/// The exception for a mistake in an expression; `help` is added to the error's own help.
fn expression_error(py: Python<'_>, text: &str, error: &ExprError, help: Option<&str>) -> PyErr {
    let mut diagnostic = error.diagnostic(text);
    if let Some(help) = help {
        diagnostic.help(help.to_owned());
    }
    let mut report = Report {
        message: diagnostic.to_string(),
        code: error.code(),
        text: Some(text),
        span: Some(character_span(text, error)),
        ..Report::default()
    };
    match &error.kind {
        ExprErrorKind::Graph(graph) => {
            let name = fill_report(graph, &mut report);
            report.raise(py, name)
        }
        ExprErrorKind::UnknownName { .. } => report.raise(py, "UnknownNameError"),
        _ => report.raise(py, "ExprError"),
    }
}

/// The span of an error counted in characters, as Python counts.
fn character_span(text: &str, error: &ExprError) -> (usize, usize) {
    let count = |end: usize| text.get(..end).map_or(text.len(), |text| text.chars().count());
    (count(error.span.start), count(error.span.end))
}

/// The exception for a mistake in a graph.
pub(crate) fn graph_error(py: Python<'_>, error: &GraphError) -> PyErr {
    let mut report = Report { message: error.draw(), ..Report::default() };
    let name = fill_report(error, &mut report);
    report.raise(py, name)
}

/// Fills in the fields of the error; returns the class of the exception.
fn fill_report<'a>(error: &'a GraphError, report: &mut Report<'a>) -> &'static str {
    report.code = error.code();
    report.rule = error.label();
    report.operand = error.operand();
    match &error.kind {
        GraphErrorKind::Shape(error) => {
            report.axis = error.axis();
            "ShapeError"
        }
        GraphErrorKind::ElementTypeNotAllowed { .. }
        | GraphErrorKind::ElementTypeMismatch { .. }
        | GraphErrorKind::NotDifferentiable
        | GraphErrorKind::ParameterNotDifferentiable => "ElementTypeError",
        _ => "ShapeError",
    }
}

/// The exception for a shape of too many axes.
pub(crate) fn rank_limit_error(py: Python<'_>, error: RankLimitError) -> PyErr {
    let message = format!("error[{}]: {error}", error.code());
    Report { message, code: error.code(), ..Report::default() }.raise(py, "ShapeError")
}

/// The exception for shapes that do not broadcast.
pub(crate) fn shape_error(py: Python<'_>, error: &ShapeError, operation: &str) -> PyErr {
    let names: Vec<String> =
        (0..error.shapes().len()).map(|index| format!("operand {index}")).collect();
    let labels: Vec<OperandLabel<'_>> =
        names.iter().map(|name| OperandLabel::new(name, "")).collect();
    let report = Report {
        message: draw_error(error, operation, &labels),
        code: error.code(),
        rule: Some(error.label()),
        operand: error.operand(),
        axis: error.axis(),
        ..Report::default()
    };
    report.raise(py, "ShapeError")
}
