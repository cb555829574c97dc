//! Ranges of sorted axes.

use core::fmt;
use core::ops::Range;

/// Maximum number of ranges: those of three quartiles, and the last position, which tells whether a row has
/// NaNs.
const MAX_RANGES: usize = 4;

/// Ranges with up to this many positions between them become one: each range takes a pass over the row.
const MAX_GAP: usize = 64;

/// Positions along a sorted axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortedRange {
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
            SortedRange::FromStart { start, end } => start.min(length)..end.min(length),
            SortedRange::FromEnd { start, end } => {
                length.saturating_sub(start)..length.saturating_sub(end)
            }
        }
    }

    /// The number of positions along an axis that has all of them.
    fn count(self) -> usize {
        match self {
            SortedRange::FromStart { start, end } => end.saturating_sub(start),
            SortedRange::FromEnd { start, end } => start.saturating_sub(end),
        }
    }

    /// The shortest range with the positions of both; `None` if they are counted from different ends.
    fn union(self, other: SortedRange) -> Option<SortedRange> {
        use SortedRange::{FromEnd, FromStart};
        match (self, other) {
            (FromStart { start, end }, FromStart { start: first, end: last }) => {
                Some(FromStart { start: start.min(first), end: end.max(last) })
            }
            (FromEnd { start, end }, FromEnd { start: first, end: last }) => {
                Some(FromEnd { start: start.max(first), end: end.min(last) })
            }
            _ => None,
        }
    }

    /// The union, if few positions are in neither range.
    fn near_union(self, other: SortedRange) -> Option<SortedRange> {
        let union = self.union(other)?;
        (union.count() <= self.count() + other.count() + MAX_GAP).then_some(union)
    }
}

/// The positions along a sorted axis that are read. A sort may leave all others unwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SortedRanges([Option<SortedRange>; MAX_RANGES]);

impl SortedRanges {
    /// All positions.
    pub const WHOLE: SortedRanges = SortedRanges([None; MAX_RANGES]);

    /// The ranges; none if all positions are read.
    pub fn ranges(&self) -> impl Iterator<Item = SortedRange> {
        self.0.into_iter().flatten()
    }

    /// Adds the positions of another range. Returns `None` if there are too many ranges.
    pub(crate) fn add(&mut self, range: SortedRange) -> Option<()> {
        let mut ranges = self.0.iter_mut();
        let near = ranges.find_map(|it| Some((it.as_ref()?.near_union(range)?, it)));
        if let Some((union, near)) = near {
            *near = Some(union);
            return Some(());
        }
        if let Some(free) = self.0.iter_mut().find(|it| it.is_none()) {
            *free = Some(range);
            return Some(());
        }
        let (union, other) =
            self.0.iter_mut().find_map(|it| Some((it.as_ref()?.union(range)?, it)))?;
        *other = Some(union);
        Some(())
    }
}

/// Either nothing, or ` of 0..10`, or ` of 0..10 and 99..100`: the positions to which a sort is limited. `n`
/// is the size of the axis.
impl fmt::Display for SortedRanges {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.ranges().enumerate() {
            let word = if index == 0 { "of" } else { "and" };
            match range {
                SortedRange::FromStart { start, end } => {
                    write!(formatter, " {word} {start}..{end}")?
                }
                SortedRange::FromEnd { start, end: 0 } => {
                    write!(formatter, " {word} n-{start}..n")?
                }
                SortedRange::FromEnd { start, end } => {
                    write!(formatter, " {word} n-{start}..n-{end}")?;
                }
            }
        }
        Ok(())
    }
}
