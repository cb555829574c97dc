//! Errors of the text form of graphs.

use core::fmt;
use core::ops::Range;

use indim_graph::VerifyErrorKind;
use indim_graph::terminal::diagnose_text;
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, ErrorCode};

use crate::limits::LimitError;
use crate::shorten::shorten;
use crate::span::Span;

/// An error in the text of a graph.
///
/// ```
/// let text = "graph {\n  %0 = sni %1 : f32[2]\n  return %0\n}";
/// let error = indim_text::parse_graph(text).unwrap_err();
/// assert_eq!((error.code(), error.line, error.column), ("unknown-operation", 2, 8));
/// assert!(error.draw(text).contains("^^^"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    /// The kind of the error.
    pub kind: ParseErrorKind,
    /// The byte range of the text.
    pub span: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

/// The kinds of errors in the text of a graph.
///
/// ```
/// use indim_text::{ParseErrorKind, parse_graph};
///
/// let error = parse_graph("graph {\n  return %0\n}").unwrap_err();
/// assert_eq!(error.kind, ParseErrorKind::UndefinedValue { name: "0".to_owned() });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text exceeds a limit.
    Limit(LimitError),
    /// A token is unexpected.
    Unexpected {
        /// The expected tokens.
        expected: &'static str,
    },
    /// No operation has this name.
    UnknownOperation {
        /// The name.
        name: String,
    },
    /// No element type has this name.
    UnknownElementType {
        /// The name.
        name: String,
    },
    /// A whole number is too large.
    NumberTooLarge,
    /// No earlier line defines the value.
    UndefinedValue {
        /// The value's name, without `%`.
        name: String,
    },
    /// An earlier line defines the value too.
    DuplicateValue {
        /// The value's name, without `%`.
        name: String,
    },
    /// No earlier line defines the region.
    UndefinedRegion {
        /// The region's name, without `@`.
        name: String,
    },
    /// The region is defined twice.
    DuplicateRegion {
        /// The region's name, without `@`.
        name: String,
    },
    /// A text is not an element of the type.
    BadElement {
        /// The element type.
        dtype: DType,
    },
    /// The number of elements of a constant does not match its shape.
    WrongElementCount {
        /// The constant's type.
        array_type: ArrayType,
        /// The number of elements in the list.
        given: usize,
    },
    /// The node breaks an invariant of graphs.
    Verify(VerifyErrorKind),
}

impl ParseError {
    pub(super) fn new(kind: ParseErrorKind, text: &str, span: Span) -> Self {
        let before = &text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        ParseError { kind, span: span.start..span.end, line, column }
    }

    /// The stable code: `unexpected`, `undefined-value`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        match &self.kind {
            ParseErrorKind::Limit(error) => error.error_code(),
            ParseErrorKind::Unexpected { .. } => ErrorCode::UNEXPECTED,
            ParseErrorKind::UnknownOperation { .. } => ErrorCode::UNKNOWN_OPERATION,
            ParseErrorKind::UnknownElementType { .. } => ErrorCode::UNKNOWN_ELEMENT_TYPE,
            ParseErrorKind::NumberTooLarge => ErrorCode::NUMBER_TOO_LARGE,
            ParseErrorKind::UndefinedValue { .. } | ParseErrorKind::UndefinedRegion { .. } => {
                ErrorCode::UNDEFINED_VALUE
            }
            ParseErrorKind::DuplicateValue { .. } | ParseErrorKind::DuplicateRegion { .. } => {
                ErrorCode::DUPLICATE_VALUE
            }
            ParseErrorKind::BadElement { .. } => ErrorCode::BAD_ELEMENT,
            ParseErrorKind::WrongElementCount { .. } => ErrorCode::WRONG_ELEMENT_COUNT,
            ParseErrorKind::Verify(kind) => kind.error_code(),
        }
    }

    /// The drawing: headline, and the line of the parsed `text` with the span marked.
    pub fn draw(&self, text: &str) -> String {
        self.diagnostic(text).to_string()
    }

    /// The diagnostic that [`draw`](Self::draw) prints.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        diagnose_text(self.error_code(), self.to_string(), text, &self.span)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        match &self.kind {
            ParseErrorKind::Limit(error) => error.fmt(f),
            ParseErrorKind::Unexpected { expected } => write!(f, "expected {expected}"),
            ParseErrorKind::UnknownOperation { name } => {
                write!(f, "no operation is called `{}`", shorten(name))
            }
            ParseErrorKind::UnknownElementType { name } => {
                write!(f, "no element type is called `{}`", shorten(name))
            }
            ParseErrorKind::NumberTooLarge => f.write_str("the number does not fit"),
            ParseErrorKind::UndefinedValue { name } => {
                write!(f, "no earlier line defines `%{}`", shorten(name))
            }
            ParseErrorKind::DuplicateValue { name } => {
                write!(f, "`%{}` is already defined", shorten(name))
            }
            ParseErrorKind::UndefinedRegion { name } => {
                write!(f, "no earlier line defines `@{}`", shorten(name))
            }
            ParseErrorKind::DuplicateRegion { name } => {
                write!(f, "`@{}` is already defined", shorten(name))
            }
            ParseErrorKind::BadElement { dtype } => {
                write!(f, "this is not an element of type {dtype}")
            }
            ParseErrorKind::WrongElementCount { array_type, given } => {
                write!(f, "{given} elements do not fill a constant of type {array_type}")
            }
            ParseErrorKind::Verify(kind) => kind.fmt(f),
        }
    }
}

impl core::error::Error for ParseError {}
