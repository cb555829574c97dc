//! What can be wrong with a file: typed data, one code each, drawn for people on request.

use core::fmt;
use core::ops::Range;

use indim_graph::GraphError;
use indim_graph::terminal::{mark_line, shown};
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::source::SourceFile;

/// A mistake in a file, or something that it asks for and that is not to be had.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatError {
    /// What is wrong.
    pub kind: FormatErrorKind,
    /// Where.
    pub place: Location,
}

/// A place in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The bytes of the text, if the file is one.
    pub span: Option<Range<usize>>,
    /// What stands there, where that helps to find it: ``layer 12 `Add_3` (Add, opset1)``,
    /// ``node 4 `relu` (Relu)``.
    pub described: Option<String>,
}

/// The kinds of mistakes, without the place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The content is of no format that is known.
    UnknownFormat {
        /// What it is instead, and what makes a file of it that can be read, if that is known.
        advice: Option<&'static str>,
    },
    /// Operations that are not to be had, all of the file at once.
    UnsupportedOperations(Vec<Unsupported>),
    /// An element type, or a type of anything else than arrays, that is not to be had.
    UnsupportedType {
        /// Its name.
        name: String,
    },
    /// Something else that is not to be had, in words: `sparse constants`.
    Unsupported {
        /// What.
        what: String,
    },
    /// The file asks for more than a limit allows.
    Limit {
        /// Of what there is too much: `operations`.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// Something where another thing belongs.
    Unexpected {
        /// What may stand here.
        expected: String,
    },
    /// A name that nothing has: of a value, a function, an alias.
    Undefined {
        /// What it would be the name of: `value`, `function`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An operator that the operator set which the file imports has not yet.
    OperatorTooNew {
        /// Its name.
        name: String,
        /// The operator set that introduced it.
        introduced: i64,
        /// The one that is imported.
        opset: i64,
    },
    /// A name that is given twice.
    Duplicate {
        /// What it is the name of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A function that calls itself, a layer that waits for itself.
    Cycle {
        /// Its name.
        name: String,
    },
    /// An attribute that is absent, or says nothing that is allowed.
    Attribute {
        /// Its name.
        name: String,
        /// What is wrong with it: `is missing`.
        problem: String,
    },
    /// An operation with another number of operands, results or regions.
    Count {
        /// Of what: `operands`.
        what: &'static str,
        /// How many there have to be, in words.
        expected: String,
        /// How many there are.
        given: usize,
    },
    /// A constant whose elements do not fill its type.
    ElementCount {
        /// What is to be filled.
        array_type: ArrayType,
        /// How many elements, or bytes, there are.
        given: String,
    },
    /// The text of an element says none of its type.
    Element {
        /// The element type.
        dtype: indim_ops::DType,
    },
    /// The elements of a constant were left out when the file was written.
    Elided {
        /// What makes a file that holds them, if that is known.
        advice: Option<&'static str>,
    },
    /// The file states another type than the one that follows from the operands.
    TypeMismatch {
        /// What the file says.
        stated: String,
        /// What follows.
        inferred: String,
    },
    /// An operation cannot be made of these operands.
    Graph(Box<GraphError>),
    /// The file is cut or damaged, as the library for its encoding says.
    Damaged {
        /// In its words.
        problem: String,
    },
    /// A file beside this one cannot be read, or is too short.
    Beside {
        /// Its name.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// Sizes that depend on elements which only a run knows.
    DependsOnData {
        /// The values that lead there, the first one first.
        chain: Vec<String>,
    },
    /// The file has several functions that may be meant.
    WhichFunction {
        /// Their names.
        names: Vec<String>,
    },
    /// Another number of inputs than the program has.
    InputCount {
        /// How many it has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An input that has to be given.
    InputMissing {
        /// Its name.
        name: String,
        /// Its type, as the file declares it.
        declared: String,
    },
    /// An input of another type than the file declares.
    InputType {
        /// Its name.
        name: String,
        /// What the file declares.
        declared: String,
        /// What was given.
        given: ArrayType,
    },
    /// An input that says shapes, of which only the type was given.
    InputElements {
        /// Its name.
        name: String,
    },
}

/// An operation that is not to be had.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsupported {
    /// Its name in the file.
    pub name: String,
    /// Why, where there is more to say than that it is not element-wise.
    pub reason: Option<String>,
    /// How often the file has it.
    pub count: usize,
    /// Where it stands first.
    pub place: Location,
}

impl Location {
    /// A piece of the text.
    pub fn text(span: Range<usize>) -> Location {
        Location { span: Some(span), described: None }
    }

    /// Something with a description.
    pub fn described(description: impl Into<String>) -> Location {
        Location { span: None, described: Some(description.into()) }
    }

    /// `file.mlir:14:10`, and what stands there.
    pub fn shown(&self, source: &SourceFile) -> String {
        let name = shown(source.name());
        let place = match &self.span {
            Some(span) => {
                let (line, column) = source.line_and_column(span.start);
                format!("{name}:{line}:{column}")
            }
            None => name,
        };
        match &self.described {
            Some(description) => format!("{place}: {description}"),
            None => place,
        }
    }
}

impl FormatErrorKind {
    /// The mistake at a place.
    pub fn at(self, place: Location) -> FormatError {
        FormatError { kind: self, place }
    }

    /// The mistake in a piece of the text.
    pub fn in_text(self, span: Range<usize>) -> FormatError {
        self.at(Location::text(span))
    }

    /// The mistake of a file as a whole, or of what is asked of it.
    pub fn nowhere(self) -> FormatError {
        self.at(Location::default())
    }

    /// An attribute that says nothing that is allowed.
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
    /// The stable code: `unsupported-op`, `undefined-value`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
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
            FormatErrorKind::Beside { .. } => ErrorCode::FILE_BESIDE,
            FormatErrorKind::DependsOnData { .. } => ErrorCode::DEPENDS_ON_DATA,
            FormatErrorKind::WhichFunction { .. } => ErrorCode::WHICH_FUNCTION,
            FormatErrorKind::InputCount { .. } => ErrorCode::INPUT_COUNT,
            FormatErrorKind::InputMissing { .. } => ErrorCode::INPUT_MISSING,
            FormatErrorKind::InputType { .. } => ErrorCode::INPUT_TYPE,
            FormatErrorKind::InputElements { .. } => ErrorCode::INPUT_ELEMENTS,
        }
    }

    /// Whether the file is sound, but asks for what indim has not.
    pub fn is_out_of_scope(&self) -> bool {
        matches!(
            self.kind,
            FormatErrorKind::UnsupportedOperations(_)
                | FormatErrorKind::UnsupportedType { .. }
                | FormatErrorKind::Unsupported { .. }
                | FormatErrorKind::DependsOnData { .. }
        )
    }

    /// The whole report, with the line of the file that was read from `source`.
    pub fn draw(&self, source: &SourceFile) -> String {
        self.diagnostic(source).to_string()
    }

    /// The same report in its parts.
    pub fn diagnostic(&self, source: &SourceFile) -> Diagnostic {
        let mut diagnostic = match &self.kind {
            FormatErrorKind::Graph(error) => error.diagnostic(),
            _ => Diagnostic::new(self.error_code(), self.to_string()),
        };
        diagnostic.place = Some(self.place.shown(source));
        if let Some(span) = &self.place.span {
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
                for Unsupported { name, reason, count, place } in operations {
                    let times = if *count == 1 { "once" } else { "first" };
                    let why = reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
                    let place = place.shown(source);
                    diagnostic
                        .line(format!("   {} x{count}, {times} at {place}{why}", shown(name)));
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

/// Puts the line of the whole file in place of that of a piece.
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
                [one] => write!(f, "{} is not supported", shown(&one.name)),
                all => write!(f, "{} operations are not supported", all.len()),
            },
            FormatErrorKind::UnsupportedType { name } => {
                write!(f, "the type {} is not supported", shown(name))
            }
            FormatErrorKind::Unsupported { what } => write!(f, "{} not supported", shown(what)),
            FormatErrorKind::Limit { what, limit } => {
                write!(f, "more {what} than the limit of {limit}")
            }
            FormatErrorKind::Unexpected { expected } => write!(f, "expected {}", shown(expected)),
            FormatErrorKind::Undefined { what, name } => {
                write!(f, "no {what} is called {}", shown(name))
            }
            FormatErrorKind::OperatorTooNew { name, introduced, opset } => {
                let name = shown(name);
                write!(
                    f,
                    "{name} came with opset {introduced}, the file is written for opset {opset}"
                )
            }
            FormatErrorKind::Duplicate { what, name } => {
                write!(f, "the {what} {} is already defined", shown(name))
            }
            FormatErrorKind::Cycle { name } => write!(f, "{} depends on itself", shown(name)),
            FormatErrorKind::Attribute { name, problem } => {
                write!(f, "the attribute {} {}", shown(name), shown(problem))
            }
            FormatErrorKind::Count { what, expected, given } => {
                write!(f, "{given} {what} where {} belong", shown(expected))
            }
            FormatErrorKind::ElementCount { array_type, given } => {
                write!(f, "{} do not fill a constant of type {array_type}", shown(given))
            }
            FormatErrorKind::Element { dtype } => write!(f, "this is no element of type {dtype}"),
            FormatErrorKind::Elided { .. } => {
                f.write_str("the elements of this constant are not in the file")
            }
            FormatErrorKind::TypeMismatch { stated, inferred } => {
                write!(f, "the file says {}, the operands give {}", shown(stated), shown(inferred))
            }
            FormatErrorKind::Graph(error) => f.write_str(&error.headline()),
            FormatErrorKind::Damaged { problem } => write!(f, "damaged: {}", shown(problem)),
            FormatErrorKind::Beside { file, problem } => {
                write!(f, "{}: {}", shown(file), shown(problem))
            }
            FormatErrorKind::DependsOnData { .. } => {
                f.write_str("a size depends on elements that only a run knows")
            }
            FormatErrorKind::WhichFunction { names } => {
                let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
                write!(f, "which function is meant? {}", names.join(", "))
            }
            FormatErrorKind::InputCount { expected, given } => {
                write!(f, "the program has {expected} inputs, {given} were given")
            }
            FormatErrorKind::InputMissing { name, declared } => {
                write!(f, "the input {} is not given: {declared}", shown(name))
            }
            FormatErrorKind::InputType { name, declared, given } => {
                write!(f, "the input {} is {declared}, {given} was given", shown(name))
            }
            FormatErrorKind::InputElements { name } => {
                write!(
                    f,
                    "the input {} says a shape: its elements are needed, not only its type",
                    shown(name)
                )
            }
        }
    }
}

impl core::error::Error for FormatError {}
