//! Limits of parsed texts, shared by all text forms.

use core::fmt;

use indim_shape::{ErrorCode, MAX_RANK, RankLimitError};

/// Limits of a text. A parser refuses texts that exceed one.
///
/// ```
/// use indim_text::{Expression, ParseLimits};
///
/// let limits = ParseLimits::new().nodes(3);
/// assert!(Expression::parse("x + y", &limits).is_ok());
/// assert_eq!(Expression::parse("x + y + z", &limits).unwrap_err().code(), "too-many-nodes");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseLimits {
    /// Maximum length of the text in bytes.
    pub text_bytes: usize,
    /// Maximum nesting depth of parentheses, calls, indices and incomplete operators.
    pub depth: usize,
    /// Maximum number of operands and operations.
    pub nodes: usize,
    /// Maximum rank of each array.
    pub rank: usize,
}

impl Default for ParseLimits {
    /// The default limits: larger than expressions that people write or programs generate, but cheap for a
    /// server.
    fn default() -> Self {
        Self::new()
    }
}

impl ParseLimits {
    /// The default limits.
    pub const fn new() -> Self {
        ParseLimits { text_bytes: 1 << 20, depth: 1000, nodes: 100_000, rank: MAX_RANK }
    }

    /// These limits with another maximum length of the text, in bytes.
    pub const fn text_bytes(self, text_bytes: usize) -> Self {
        ParseLimits { text_bytes, ..self }
    }

    /// These limits with another maximum nesting depth of parentheses, calls, indices and incomplete
    /// operators.
    pub const fn depth(self, depth: usize) -> Self {
        ParseLimits { depth, ..self }
    }

    /// These limits with another maximum number of operands and operations.
    pub const fn nodes(self, nodes: usize) -> Self {
        ParseLimits { nodes, ..self }
    }

    /// These limits with another maximum rank of each array.
    pub const fn rank(self, rank: usize) -> Self {
        ParseLimits { rank, ..self }
    }
}

/// The error for a text that exceeds a limit.
///
/// ```
/// use indim_text::{ExprErrorKind, Expression, LimitError, ParseLimits};
///
/// let limits = ParseLimits::new().depth(1);
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
    /// Parentheses, calls, indices and operators are nested deeper than this limit.
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

    /// The code as its registry entry.
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
