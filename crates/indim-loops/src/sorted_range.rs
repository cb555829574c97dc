//! Ranges of sorted axes.

use core::fmt;
use core::ops::Range;

/// The positions along a sorted axis that are read. A sort may leave all others unwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortedRange {
    /// All positions.
    Whole,
    /// Positions counted from the start of the axis: those from `start` to before `end`.
    FromStart {
        /// The first position.
        start: usize,
        /// The position after the last one.
        end: usize,
    },
    /// Positions counted back from the end of an axis of any size, where the last position is 1: those from
    /// `start` down to after `end`.
    FromEnd {
        /// The distance of the first position from the end of the axis.
        start: usize,
        /// The distance from the end of the axis of the position after the last one.
        end: usize,
    },
}

impl SortedRange {
    /// The positions along an axis of `length` elements.
    pub fn positions(self, length: usize) -> Range<usize> {
        match self {
            SortedRange::Whole => 0..length,
            SortedRange::FromStart { start, end } => start.min(length)..end.min(length),
            SortedRange::FromEnd { start, end } => {
                length.saturating_sub(start)..length.saturating_sub(end)
            }
        }
    }

    /// The shortest range with the positions of both.
    pub(crate) fn union(self, other: SortedRange) -> SortedRange {
        use SortedRange::{FromEnd, FromStart, Whole};
        match (self, other) {
            (FromStart { start, end }, FromStart { start: first, end: last }) => {
                FromStart { start: start.min(first), end: end.max(last) }
            }
            (FromEnd { start, end }, FromEnd { start: first, end: last }) => {
                FromEnd { start: start.max(first), end: end.min(last) }
            }
            _ => Whole,
        }
    }
}

/// Either nothing, or ` of 0..10`: the positions to which a sort is limited. `n` is the size of the axis.
impl fmt::Display for SortedRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SortedRange::Whole => Ok(()),
            SortedRange::FromStart { start, end } => write!(formatter, " of {start}..{end}"),
            SortedRange::FromEnd { start, end: 0 } => write!(formatter, " of n-{start}..n"),
            SortedRange::FromEnd { start, end } => write!(formatter, " of n-{start}..n-{end}"),
        }
    }
}
