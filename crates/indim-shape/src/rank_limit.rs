//! The maximal rank of a shape from a text, a file or Python.

use crate::ErrorCode;
use alloc::string::ToString;
use core::fmt;

use crate::Diagnostic;

/// The maximal rank of a shape that comes from a text, a file or Python: NumPy's limit.
///
/// Rust callers may set another limit for texts, and may make shapes of any rank.
///
/// ```
/// use indim_shape::{MAX_RANK, Shape};
///
/// let deep = Shape::from(vec![1; MAX_RANK + 1]); // Rust may; a text, a file or Python may not
/// assert_eq!(deep.rank(), 65);
/// ```
pub const MAX_RANK: usize = 64;

/// The error for a shape with more axes than the limit.
///
/// ```
/// use indim_shape::RankLimitError;
///
/// let error = RankLimitError::check(3, 2).unwrap_err();
/// assert_eq!((error.limit, error.code()), (2, "rank-limit"));
/// assert_eq!(error.diagnostic().to_string(), format!("error[rank-limit]: {error}\n"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankLimitError {
    /// The maximal number of axes.
    pub limit: usize,
}

impl RankLimitError {
    /// Refuses a shape, or a list with an entry for each axis, if its rank exceeds `limit`.
    ///
    /// ```
    /// use indim_shape::{MAX_RANK, RankLimitError};
    /// assert!(RankLimitError::check(64, MAX_RANK).is_ok());
    /// assert_eq!(RankLimitError::check(65, MAX_RANK).unwrap_err().code(), "rank-limit");
    /// ```
    ///
    /// # Errors
    /// `rank-limit`.
    pub fn check(rank: usize, limit: usize) -> Result<(), RankLimitError> {
        if rank <= limit { Ok(()) } else { Err(RankLimitError { limit }) }
    }

    /// The stable code.
    pub const fn code(self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub const fn error_code(self) -> ErrorCode {
        ErrorCode::RANK_LIMIT
    }

    /// The diagnostic of this error.
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl fmt::Display for RankLimitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "an array has at most {} axes: merge axes, or remove axes of size 1",
            self.limit
        )
    }
}

impl core::error::Error for RankLimitError {}
