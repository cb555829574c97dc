//! Errors of statements: assigned names and number of results.

use core::fmt;
use indim_shape::ErrorCode;

use crate::shorten::shorten;

/// An error in the statements of a text.
///
/// ```
/// use indim_text::{ExprErrorKind, Expression, ParseLimits, StatementError};
///
/// let error = Expression::parse("m = 2 * x; m = m + 1", &ParseLimits::default()).unwrap_err();
/// let kind = StatementError::AssignedTwice { name: "m".to_owned() };
/// assert_eq!((error.code(), error.kind), ("assigned-twice", ExprErrorKind::Statement(kind)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatementError {
    /// A name is assigned twice.
    AssignedTwice {
        /// The name.
        name: String,
    },
    /// An assigned name is an input: a value is bound to it, or an earlier statement uses it.
    AssignedInput {
        /// The name.
        name: String,
    },
    /// An assigned name is the name of a function.
    AssignedFunction {
        /// The name.
        name: String,
    },
    /// A statement before the last assigns no name, so nothing can use its value.
    Unnamed,
    /// The numbers of names and values of a statement differ.
    WrongValueCount {
        /// The number of names.
        names: usize,
        /// The number of values.
        values: usize,
    },
    /// The text has several results, and the caller takes one.
    SeveralResults {
        /// The number of results.
        count: usize,
    },
    /// No statement assigns the name of a requested result.
    UnknownResult {
        /// The requested name.
        name: String,
        /// A similar name.
        suggestion: Option<String>,
    },
}

impl StatementError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub const fn error_code(&self) -> ErrorCode {
        match self {
            StatementError::AssignedTwice { .. } => ErrorCode::ASSIGNED_TWICE,
            StatementError::AssignedInput { .. } => ErrorCode::ASSIGNED_INPUT,
            StatementError::AssignedFunction { .. } => ErrorCode::ASSIGNED_FUNCTION,
            StatementError::Unnamed => ErrorCode::UNNAMED_STATEMENT,
            StatementError::WrongValueCount { .. } => ErrorCode::WRONG_VALUE_COUNT,
            StatementError::SeveralResults { .. } => ErrorCode::SEVERAL_RESULTS,
            StatementError::UnknownResult { .. } => ErrorCode::UNKNOWN_RESULT,
        }
    }

    /// The help text.
    pub(super) fn help(&self) -> String {
        match self {
            StatementError::AssignedTwice { name } => {
                format!(
                    "a name means one value throughout: give this one another, as in {}_2 = ...",
                    shorten(name)
                )
            }
            StatementError::AssignedInput { name } => format!(
                "a name means one value throughout, and is assigned before it is used: give this value \
                 another, as in new_{} = ...",
                shorten(name)
            ),
            StatementError::AssignedFunction { name } => {
                format!("give the value a name of its own, as in {}_x = ...", shorten(name))
            }
            StatementError::Unnamed => {
                "give its value a name, as in m = mean(x); an expression of several lines stands in \
                 parentheses"
                    .to_owned()
            }
            StatementError::WrongValueCount { .. } => {
                "write as many values as names, as in a, b = mean(x), std(x): an array is not taken apart"
                    .to_owned()
            }
            StatementError::SeveralResults { .. } => {
                "end with one of them, or take them all: `evaluate_all`, `Expression::build_results`"
                    .to_owned()
            }
            StatementError::UnknownResult { suggestion: Some(name), .. } => {
                format!("did you mean `{}`?", shorten(name))
            }
            StatementError::UnknownResult { name, suggestion: None } => {
                format!("give the value that is meant this name: {} = ...", shorten(name))
            }
        }
    }
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatementError::AssignedTwice { name } => {
                write!(f, "`{}` is assigned twice", shorten(name))
            }
            StatementError::AssignedInput { name } => {
                write!(f, "`{}` is assigned, but stands for an input", shorten(name))
            }
            StatementError::AssignedFunction { name } => {
                write!(f, "`{}` is assigned, but is a function", shorten(name))
            }
            StatementError::Unnamed => {
                f.write_str("nothing can use the value of this statement, which is not the last")
            }
            StatementError::WrongValueCount { names, values } => {
                let plural = |count| if count == 1 { "" } else { "s" };
                let (of_names, of_values) = (plural(*names), plural(*values));
                write!(f, "{names} name{of_names} cannot take {values} value{of_values}")
            }
            StatementError::SeveralResults { count } => {
                write!(f, "there are {count} results where one is taken")
            }
            StatementError::UnknownResult { name, .. } => {
                write!(f, "no statement gives a result `{}`", shorten(name))
            }
        }
    }
}

impl core::error::Error for StatementError {}
