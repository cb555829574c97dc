//! How many axes a shape may have that comes from a text, a file or Python.

use core::fmt;

/// The most axes of a shape that comes from a text, a file or Python: as many as NumPy has.
///
/// Callers in Rust may choose another limit where they read texts, and make shapes of any rank.
pub const MAXIMUM_RANK: usize = 64;

/// A shape of more axes than it may have.
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
        "rank-limit"
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
