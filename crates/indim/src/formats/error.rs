//! Errors of loading, compiling and running models.

use core::fmt;

use indim_cpu::{CompileError, RunError};
use indim_graph::terminal::printable;
use indim_model::outline::ValueType;
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
    context: Box<ErrorContext>,
}

/// The file of an error, the values that a caller can provide to make its program run, and the values at
/// which stages of the program end.
#[derive(Clone)]
struct ErrorContext {
    source: SourceFile,
    to_provide: Vec<(String, ValueType)>,
    stage_ends: Vec<String>,
}

/// Maximum values that a note lists; more do not help the reader.
const MAX_LISTED: usize = 8;

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
        let (to_provide, stage_ends) = (Vec::new(), Vec::new());
        let context = ErrorContext { source: source.clone(), to_provide, stage_ends };
        LoadError { kind: kind.into(), context: Box::new(context) }
    }

    /// This error with the values that make the program run.
    pub(super) fn providing(mut self, to_provide: Vec<(String, ValueType)>) -> Self {
        self.context.to_provide = to_provide;
        self
    }

    /// This error with the values at which the stages of the program end.
    pub(super) fn between_stages(mut self, ends: Vec<String>) -> Self {
        self.context.stage_ends = ends;
        self
    }

    /// The fewest values, with their types, that a caller must provide to run a program with unsupported
    /// operations: as [`ProgramPart::from`](super::ProgramPart::from) they replace the results of these
    /// operations. Empty for other errors, if all these values are outputs, and if the program would not
    /// run with them.
    ///
    /// ```
    /// use indim::formats::LoadedModel;
    ///
    /// let text = "
    /// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    ///   %0 = stablehlo.custom_call @foreign(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ///   %1 = stablehlo.add %0, %0 : tensor<4xf32>
    ///   return %1 : tensor<4xf32>
    /// }";
    /// let error = LoadedModel::from_bytes("foreign.mlir", text).unwrap_err();
    /// let (name, value_type) = &error.values_to_provide()[0];
    /// assert_eq!((&name[..], value_type.to_string()), ("0", "f32[4]".to_owned()));
    /// ```
    pub fn values_to_provide(&self) -> &[(String, ValueType)] {
        &self.context.to_provide
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
        let place = Some(indim_graph::terminal::printable(self.context.source.name()));
        match &self.kind {
            LoadErrorKind::Io(problem) => {
                Diagnostic::new(ErrorCode::IO, problem.as_str()).at(place)
            }
            LoadErrorKind::Format(error) => self.with_note(error.diagnostic(&self.context.source)),
            LoadErrorKind::Compile(error) => error.diagnostic().at(place),
            LoadErrorKind::Run(error) => error.diagnostic().at(place),
        }
    }
}

impl LoadError {
    /// Notes the stages of the program, or the values that make it run.
    fn with_note(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let ErrorContext { to_provide, stage_ends, .. } = &*self.context;
        let ends = listed(stage_ends, |name| printable(name));
        if let Some(ends) = ends {
            diagnostic.remark("note", "sizes depend on data, so the program runs in stages");
            diagnostic.remark("note", format!("its stages end at {ends}, and at the outputs"));
            diagnostic.help("write each stage alone: load the part between these values");
            return diagnostic;
        }
        let provided =
            listed(to_provide, |(name, value_type)| format!("{}: {value_type}", printable(name)));
        if let Some(provided) = provided {
            diagnostic.remark("note", format!("the program runs if given {provided}"));
        }
        diagnostic
    }
}

/// The first items as a list, and the number of further ones; `None` without items.
fn listed<T>(items: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    let mut listed: Vec<String> = items.iter().take(MAX_LISTED).map(text).collect();
    if items.len() > MAX_LISTED {
        listed.push(format!("{} more", items.len() - MAX_LISTED));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
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
