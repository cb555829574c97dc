//! Errors of loading, compiling and running models.

use core::fmt;

use indim_cpu::{CompileError, RunError};
use indim_model::{FormatError, SourceFile};
use indim_shape::{Diagnostic, ErrorCode};

/// An error of loading, compiling or running a model. `{}` and `{:?}` draw it.
///
/// ```
/// use indim::formats::LoadedModel;
///
/// let error = LoadedModel::from_bytes("x.npy", "\u{93}NUMPY").unwrap_err();
/// assert_eq!(error.code(), "unknown-format");
/// assert!(error.draw().contains("--> x.npy"));
/// ```
#[derive(Clone)]
pub struct LoadError {
    /// The kind of error.
    pub kind: LoadErrorKind,
    source: Box<SourceFile>,
}

/// The kinds of errors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file cannot be read.
    Io(String),
    /// An error in the file, or in its inputs.
    Format(Box<FormatError>),
    /// Compilation fails.
    Compile(CompileError),
    /// The run fails.
    Run(RunError),
}

impl LoadError {
    pub(super) fn new(kind: impl Into<LoadErrorKind>, source: &SourceFile) -> Self {
        LoadError { kind: kind.into(), source: Box::new(source.clone()) }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            LoadErrorKind::Io(_) => ErrorCode::IO,
            LoadErrorKind::Format(error) => error.error_code(),
            LoadErrorKind::Compile(error) => error.error_code(),
            LoadErrorKind::Run(error) => error.error_code(),
        }
    }

    /// Whether the file is valid, but needs a feature that indim does not support.
    pub fn is_out_of_scope(&self) -> bool {
        matches!(&self.kind, LoadErrorKind::Format(error) if error.is_out_of_scope())
    }

    /// The whole report: headline, place, line of the file, and repairs.
    pub fn draw(&self) -> String {
        self.diagnostic().to_string()
    }

    /// The report as separate parts.
    pub fn diagnostic(&self) -> Diagnostic {
        let place = Some(indim_graph::terminal::shown(self.source.name()));
        match &self.kind {
            LoadErrorKind::Io(problem) => {
                Diagnostic::new(ErrorCode::IO, problem.as_str()).at(place)
            }
            LoadErrorKind::Format(error) => error.diagnostic(&self.source),
            LoadErrorKind::Compile(error) => error.diagnostic().at(place),
            LoadErrorKind::Run(error) => error.diagnostic().at(place),
        }
    }
}

macro_rules! kinds {
    ($($variant:ident $error:ty;)*) => {$(
        impl From<$error> for LoadErrorKind {
            fn from(error: $error) -> Self {
                LoadErrorKind::$variant(error)
            }
        }
    )*};
}

impl From<FormatError> for LoadErrorKind {
    fn from(error: FormatError) -> Self {
        LoadErrorKind::Format(Box::new(error))
    }
}

kinds! { Compile CompileError; Run RunError; }

impl From<std::io::Error> for LoadErrorKind {
    fn from(error: std::io::Error) -> Self {
        LoadErrorKind::Io(error.to_string())
    }
}

/// The drawn report.
impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.draw().trim_end())
    }
}

/// Like [`Display`](fmt::Display).
impl fmt::Debug for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for LoadError {}
