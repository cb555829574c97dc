//! Limits of parsed texts, common to all text forms.

use core::fmt;

use indim_shape::{ErrorCode, MAX_RANK, RankLimitError};

/// Limits of a text; a parser refuses texts above them.
///
/// ```
/// use indim_text::{Expression, ParseLimits};
///
/// let limits = ParseLimits { nodes: 3, ..ParseLimits::default() };
/// assert!(Expression::parse("x + y", &limits).is_ok());
/// assert_eq!(Expression::parse("x + y + z", &limits).unwrap_err().code(), "too-many-nodes");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// The length of the text in bytes.
    pub text_bytes: usize,
    /// How deep parentheses, calls and waiting operators may be nested.
    pub depth: usize,
    /// The number of operands and operations.
    pub nodes: usize,
    /// The number of axes of any array in it.
    pub rank: usize,
}

impl Default for ParseLimits {
    /// Generous for what people and generators of expressions write, small for a server.
    fn default() -> Self {
        ParseLimits { text_bytes: 1 << 20, depth: 1000, nodes: 100_000, rank: MAX_RANK }
    }
}

/// A text that asks for more than a limit allows.
///
/// ```
/// use indim_text::{ExprErrorKind, Expression, LimitError, ParseLimits};
///
/// let limits = ParseLimits { depth: 1, ..ParseLimits::default() };
/// let error = Expression::parse("((x))", &limits).unwrap_err();
/// assert_eq!(error.kind, ExprErrorKind::Limit(LimitError::TooDeep(1)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// The text is too long.
    TextTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Parentheses, calls and operators are nested deeper than this limit.
    TooDeep(usize),
    /// The text has more operands and operations than this limit.
    TooManyNodes(usize),
    /// An array has too many axes.
    Rank(RankLimitError),
}

impl LimitError {
    /// Refuses a text of more than `limit` bytes.
    ///
    /// # Errors
    /// `text-too-long`.
    pub fn check_length(text: &str, limit: usize) -> Result<(), LimitError> {
        let bytes = text.len();
        if bytes <= limit { Ok(()) } else { Err(LimitError::TextTooLong { bytes, limit }) }
    }

    /// The stable code.
    pub const fn code(self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub const fn error_code(self) -> ErrorCode {
        match self {
            LimitError::TextTooLong { .. } => ErrorCode::TEXT_TOO_LONG,
            LimitError::TooDeep(_) => ErrorCode::TOO_DEEP,
            LimitError::TooManyNodes(_) => ErrorCode::TOO_MANY_NODES,
            LimitError::Rank(error) => error.error_code(),
        }
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::TextTooLong { bytes, limit } => {
                write!(f, "the text has {bytes} bytes, more than the limit of {limit}")
            }
            LimitError::TooDeep(limit) => write!(f, "nested deeper than the limit of {limit}"),
            LimitError::TooManyNodes(limit) => {
                write!(f, "more operands and operations than the limit of {limit}")
            }
            LimitError::Rank(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LimitError {}
