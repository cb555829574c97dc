//! Errors of files: typed data, each with a code, drawn on request.

use core::fmt;
use core::ops::Range;

use indim_graph::GraphError;
use indim_graph::terminal::{mark_line, printable};
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::source::SourceFile;

/// An error in a file or in the inputs of its program, or a feature of the file that indim does not support.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatError {
    /// The error.
    pub kind: FormatErrorKind,
    /// Its location in the file.
    pub location: Location,
}

/// A location in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// Byte range in the text, for a text format.
    pub span: Option<Range<usize>>,
    /// Description of the object at this location: ``layer 12 `Add_3` (Add, opset1)``, ``node 4 `relu`
    /// (Relu)``.
    pub described: Option<String>,
}

/// The kinds of errors, without the location.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The content has no known format.
    UnknownFormat {
        /// The actual format of the file and how to convert it, if known.
        advice: Option<&'static str>,
    },
    /// All unsupported operations of the file.
    UnsupportedOperations(Vec<Unsupported>),
    /// An unsupported element type, or a type other than an array.
    UnsupportedType {
        /// Name of the type.
        name: String,
    },
    /// Another unsupported feature.
    Unsupported {
        /// The feature with its verb: `sparse constants are`. The message appends `not supported`.
        what: String,
    },
    /// The file exceeds a limit.
    Limit {
        /// The limited quantity: `operations`.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A token or object in a position where another one is expected.
    Unexpected {
        /// The token or object that belongs here.
        expected: String,
    },
    /// An undefined name, such as that of a value, a function or a resource.
    Undefined {
        /// The kind of object: `value`, `function`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An operator newer than the operator set that the file imports.
    OperatorTooNew {
        /// Name of the operator.
        name: String,
        /// Operator set that introduced it.
        introduced: i64,
        /// Operator set that the file imports.
        opset: i64,
    },
    /// A name defined twice.
    Duplicate {
        /// The kind of object.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A function that calls itself, or a layer that depends on itself.
    Cycle {
        /// Name of the function or layer.
        name: String,
    },
    /// A missing attribute, or an attribute with an invalid value.
    Attribute {
        /// Name of the attribute.
        name: String,
        /// The problem: `is missing`.
        problem: String,
    },
    /// A wrong number of operands, results, regions or other parts.
    Count {
        /// The counted objects: `operands`.
        what: &'static str,
        /// The expected number, as text: `one`, `at least one`, `3`.
        expected: String,
        /// The number in the file.
        given: usize,
    },
    /// A constant whose elements do not fill its type.
    ElementCount {
        /// Type of the constant.
        array_type: ArrayType,
        /// Number of elements, or bytes, in the file.
        given: String,
    },
    /// Text of an element that does not parse as its element type.
    Element {
        /// The element type.
        dtype: indim_ops::DType,
    },
    /// The writer of the file left out the elements of a constant.
    Elided {
        /// How to write the file with its elements, if known.
        advice: Option<&'static str>,
    },
    /// The file states a type other than the inferred one.
    TypeMismatch {
        /// The type in the file.
        stated: String,
        /// The type inferred from the operands.
        inferred: String,
    },
    /// The graph builder rejects an operation with these operands.
    Graph(Box<GraphError>),
    /// A truncated or damaged file.
    Damaged {
        /// The problem, in most cases as the library that decodes the file reports it.
        problem: String,
    },
    /// An external file that the model refers to cannot be read, or is too short.
    ExternalFile {
        /// Name of the external file.
        file: String,
        /// The problem.
        problem: String,
    },
    /// Sizes that depend on elements known only at run time.
    DependsOnData {
        /// The values on the path from the elements to the size.
        chain: Vec<String>,
    },
    /// The file has several functions that can be the program.
    WhichFunction {
        /// Names of the functions.
        names: Vec<String>,
    },
    /// A wrong number of inputs.
    InputCount {
        /// Number of inputs of the program.
        expected: usize,
        /// Number of inputs from the caller.
        given: usize,
    },
    /// A missing input.
    InputMissing {
        /// Name of the input.
        name: String,
        /// Its type as the file declares it.
        declared: String,
    },
    /// An input of another type than the file declares.
    InputType {
        /// Name of the input.
        name: String,
        /// Type in the file.
        declared: String,
        /// Type from the caller.
        given: ArrayType,
    },
    /// An input whose elements determine shapes, but only its type is known.
    InputElements {
        /// Name of the input.
        name: String,
    },
}

/// An unsupported operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsupported {
    /// Its name in the file.
    pub name: String,
    /// The reason; `None` if the operation is unsupported with any operands and attributes.
    pub reason: Option<String>,
    /// Number of occurrences in the file.
    pub count: usize,
    /// Location of the first occurrence.
    pub location: Location,
}

impl Location {
    /// A range of bytes in the text.
    pub fn text(span: Range<usize>) -> Location {
        Location { span: Some(span), described: None }
    }

    /// A location given by a description.
    pub fn described(description: impl Into<String>) -> Location {
        Location { span: None, described: Some(description.into()) }
    }

    /// `file.mlir:14:10`, followed by the description.
    pub fn shown(&self, source: &SourceFile) -> String {
        let name = printable(source.name());
        let location = match &self.span {
            Some(span) => {
                let (line, column) = source.line_and_column(span.start);
                format!("{name}:{line}:{column}")
            }
            None => name,
        };
        match &self.described {
            Some(description) => format!("{location}: {description}"),
            None => location,
        }
    }
}

impl FormatErrorKind {
    /// The error at this location.
    pub fn at(self, location: Location) -> FormatError {
        FormatError { kind: self, location }
    }

    /// The error in a range of the text.
    pub fn in_text(self, span: Range<usize>) -> FormatError {
        self.at(Location::text(span))
    }

    /// The error without a location: it concerns the whole file, or the caller's inputs.
    pub fn without_location(self) -> FormatError {
        self.at(Location::default())
    }

    /// The report without a location, for a node of an outline, which has its own.
    pub fn diagnostic(self) -> Diagnostic {
        let diagnostic = self.without_location().diagnostic(&SourceFile::new("", Vec::new()));
        Diagnostic { location: None, ..diagnostic }
    }

    /// An attribute with an invalid value.
    pub fn attribute(name: impl Into<String>, problem: impl Into<String>) -> Self {
        FormatErrorKind::Attribute { name: name.into(), problem: problem.into() }
    }
}

impl From<GraphError> for FormatErrorKind {
    fn from(error: GraphError) -> Self {
        FormatErrorKind::Graph(Box::new(error))
    }
}

impl FormatError {
    /// The stable code: `unsupported-op`, `undefined`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            FormatErrorKind::UnknownFormat { .. } => ErrorCode::UNKNOWN_FORMAT,
            FormatErrorKind::UnsupportedOperations(_) => ErrorCode::UNSUPPORTED_OP,
            FormatErrorKind::UnsupportedType { .. } => ErrorCode::UNSUPPORTED_TYPE,
            FormatErrorKind::Unsupported { .. } => ErrorCode::UNSUPPORTED,
            FormatErrorKind::Limit { .. } => ErrorCode::LIMIT,
            FormatErrorKind::Unexpected { .. } => ErrorCode::UNEXPECTED,
            FormatErrorKind::Undefined { .. } => ErrorCode::UNDEFINED,
            FormatErrorKind::OperatorTooNew { .. } => ErrorCode::OPERATOR_TOO_NEW,
            FormatErrorKind::Duplicate { .. } => ErrorCode::DUPLICATE,
            FormatErrorKind::Cycle { .. } => ErrorCode::CYCLE,
            FormatErrorKind::Attribute { .. } => ErrorCode::ATTRIBUTE,
            FormatErrorKind::Count { .. } => ErrorCode::WRONG_COUNT,
            FormatErrorKind::ElementCount { .. } => ErrorCode::WRONG_ELEMENT_COUNT,
            FormatErrorKind::Element { .. } => ErrorCode::BAD_ELEMENT,
            FormatErrorKind::Elided { .. } => ErrorCode::ELIDED_ELEMENTS,
            FormatErrorKind::TypeMismatch { .. } => ErrorCode::TYPE_MISMATCH,
            FormatErrorKind::Graph(error) => error.error_code(),
            FormatErrorKind::Damaged { .. } => ErrorCode::DAMAGED,
            FormatErrorKind::ExternalFile { .. } => ErrorCode::FILE_BESIDE,
            FormatErrorKind::DependsOnData { .. } => ErrorCode::DEPENDS_ON_DATA,
            FormatErrorKind::WhichFunction { .. } => ErrorCode::WHICH_FUNCTION,
            FormatErrorKind::InputCount { .. } => ErrorCode::INPUT_COUNT,
            FormatErrorKind::InputMissing { .. } => ErrorCode::INPUT_MISSING,
            FormatErrorKind::InputType { .. } => ErrorCode::INPUT_TYPE,
            FormatErrorKind::InputElements { .. } => ErrorCode::INPUT_ELEMENTS,
        }
    }

    /// Whether the file is valid, but needs a feature that indim does not support.
    pub fn is_out_of_scope(&self) -> bool {
        matches!(
            self.kind,
            FormatErrorKind::UnsupportedOperations(_)
                | FormatErrorKind::UnsupportedType { .. }
                | FormatErrorKind::Unsupported { .. }
                | FormatErrorKind::DependsOnData { .. }
        )
    }

    /// The whole report, with the line of the file; `source` is the file that was read.
    pub fn draw(&self, source: &SourceFile) -> String {
        self.diagnostic(source).to_string()
    }

    /// The report as separate parts.
    pub fn diagnostic(&self, source: &SourceFile) -> Diagnostic {
        let mut diagnostic = match &self.kind {
            FormatErrorKind::Graph(error) => error.diagnostic(),
            _ => Diagnostic::new(self.error_code(), self.to_string()),
        };
        diagnostic.location = Some(self.location.shown(source));
        if let Some(span) = &self.location.span {
            let line = mark_line(source.text(), span).map(|mut line| {
                renumber(&mut line.text, source.line_and_column(span.start).0);
                line
            });
            diagnostic.lines.splice(0..0, line);
        }
        self.remark(&mut diagnostic, source);
        diagnostic
    }

    fn remark(&self, diagnostic: &mut Diagnostic, source: &SourceFile) {
        match &self.kind {
            FormatErrorKind::UnsupportedOperations(operations) => {
                for Unsupported { name, reason, count, location } in operations {
                    let times = if *count == 1 { "once" } else { "first" };
                    let why = reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
                    let location = location.shown(source);
                    diagnostic.line(format!(
                        "   {} x{count}, {times} at {location}{why}",
                        printable(name)
                    ));
                }
            }
            FormatErrorKind::DependsOnData { chain } => {
                chain.iter().for_each(|value| diagnostic.remark("from", value.as_str()));
            }
            FormatErrorKind::UnknownFormat { advice: Some(advice) }
            | FormatErrorKind::Elided { advice: Some(advice) } => diagnostic.help(*advice),
            FormatErrorKind::WhichFunction { .. } => diagnostic.help("name it: --function NAME"),
            _ => {}
        }
    }
}

/// Replaces the line number within a piece by the line number within the whole file.
fn renumber(text: &mut String, line: usize) {
    if let Some((_, shown)) = text.split_once(" | ") {
        *text = format!("{line:>2} | {shown}");
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FormatErrorKind::UnknownFormat { .. } => {
                f.write_str("this is no StableHLO, HLO, OpenVINO IR or ONNX")
            }
            FormatErrorKind::UnsupportedOperations(operations) => match &operations[..] {
                [one] => write!(f, "{} is not supported", printable(&one.name)),
                all => write!(f, "{} operations are not supported", all.len()),
            },
            FormatErrorKind::UnsupportedType { name } => {
                write!(f, "the type {} is not supported", printable(name))
            }
            FormatErrorKind::Unsupported { what } => write!(f, "{} not supported", printable(what)),
            FormatErrorKind::Limit { what, limit } => {
                write!(f, "more {what} than the limit of {limit}")
            }
            FormatErrorKind::Unexpected { expected } => {
                write!(f, "expected {}", printable(expected))
            }
            FormatErrorKind::Undefined { what, name } => {
                write!(f, "no {what} is called {}", printable(name))
            }
            FormatErrorKind::OperatorTooNew { name, introduced, opset } => {
                let name = printable(name);
                write!(
                    f,
                    "{name} came with opset {introduced}, the file is written for opset {opset}"
                )
            }
            FormatErrorKind::Duplicate { what, name } => {
                write!(f, "the {what} {} is already defined", printable(name))
            }
            FormatErrorKind::Cycle { name } => write!(f, "{} depends on itself", printable(name)),
            FormatErrorKind::Attribute { name, problem } => {
                write!(f, "the attribute {} {}", printable(name), printable(problem))
            }
            FormatErrorKind::Count { what, expected, given } => {
                write!(f, "{given} {what} where {} belong", printable(expected))
            }
            FormatErrorKind::ElementCount { array_type, given } => {
                write!(f, "{} do not fill a constant of type {array_type}", printable(given))
            }
            FormatErrorKind::Element { dtype } => {
                write!(f, "this is not an element of type {dtype}")
            }
            FormatErrorKind::Elided { .. } => {
                f.write_str("the elements of this constant are not in the file")
            }
            FormatErrorKind::TypeMismatch { stated, inferred } => {
                write!(
                    f,
                    "the file says {}, the operands give {}",
                    printable(stated),
                    printable(inferred)
                )
            }
            FormatErrorKind::Graph(error) => f.write_str(&error.headline()),
            FormatErrorKind::Damaged { problem } => write!(f, "damaged: {}", printable(problem)),
            FormatErrorKind::ExternalFile { file, problem } => {
                write!(f, "{}: {}", printable(file), printable(problem))
            }
            FormatErrorKind::DependsOnData { .. } => {
                f.write_str("a size depends on elements that only a run knows")
            }
            FormatErrorKind::WhichFunction { names } => {
                let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
                write!(f, "which function is meant? {}", names.join(", "))
            }
            FormatErrorKind::InputCount { expected, given } => {
                write!(f, "the program has {expected} inputs, {given} were given")
            }
            FormatErrorKind::InputMissing { name, declared } => {
                write!(f, "the input {} is not given: {declared}", printable(name))
            }
            FormatErrorKind::InputType { name, declared, given } => {
                write!(f, "the input {} is {declared}, {given} was given", printable(name))
            }
            FormatErrorKind::InputElements { name } => {
                write!(
                    f,
                    "the input {} says a shape: its elements are needed, not only its type",
                    printable(name)
                )
            }
        }
    }
}

impl core::error::Error for FormatError {}
