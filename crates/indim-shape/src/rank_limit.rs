//! The maximal rank of a shape from a text, a file or Python.

use crate::ErrorCode;
use alloc::string::ToString;
use core::fmt;

use crate::diagnostic::Diagnostic;

/// The most axes of a shape that comes from a text, a file or Python: as many as NumPy has.
///
/// Callers in Rust may choose another limit where they read texts, and make shapes of any rank.
///
/// ```
/// use indim_shape::{MAXIMUM_RANK, Shape};
///
/// let deep = Shape::from(vec![1; MAXIMUM_RANK + 1]); // Rust may; a text, a file or Python may not
/// assert_eq!(deep.rank(), 65);
/// ```
pub const MAXIMUM_RANK: usize = 64;

/// A shape of more axes than it may have.
///
/// ```
/// use indim_shape::RankLimit;
///
/// let error = RankLimit::check(3, 2).unwrap_err();
/// assert_eq!((error.limit, error.code()), (2, "rank-limit"));
/// assert_eq!(error.diagnostic().to_string(), format!("error[rank-limit]: {error}\n"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankLimit {
    /// The most axes it may have.
    pub limit: usize,
}

impl RankLimit {
    /// Refuses a shape, or a list with an entry for each axis, of more axes than `limit`.
    ///
    /// ```
    /// use indim_shape::{MAXIMUM_RANK, RankLimit};
    /// assert!(RankLimit::check(64, MAXIMUM_RANK).is_ok());
    /// assert_eq!(RankLimit::check(65, MAXIMUM_RANK).unwrap_err().code(), "rank-limit");
    /// ```
    ///
    /// # Errors
    /// `rank-limit`.
    pub fn check(rank: usize, limit: usize) -> Result<(), RankLimit> {
        if rank <= limit { Ok(()) } else { Err(RankLimit { limit }) }
    }

    /// The stable code.
    pub const fn code(self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub const fn error_code(self) -> ErrorCode {
        ErrorCode::RANK_LIMIT
    }

    /// The diagnostic of this error.
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl fmt::Display for RankLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "an array has at most {} axes: merge some, or leave out those of size 1",
            self.limit
        )
    }
}

impl core::error::Error for RankLimit {}
