//! The slice of one axis: start, count and step.

use core::fmt;

use super::symbolic_start::SymbolicStart;
use crate::error::GraphErrorKind;

/// A slice of one axis: `count` elements, at `start`, `start + step`, ... A negative step goes backwards.
///
/// ```
/// use indim_graph::AxisSlice;
///
/// let backwards = AxisSlice::python(None, None, Some(-2), 5)?; // [::-2] of five elements
/// assert_eq!((0..backwards.count()).map(|k| backwards.index(k)).collect::<Vec<_>>(), [4, 2, 0]);
/// assert_eq!(backwards.to_string(), "4::-2");
/// assert_eq!(AxisSlice::new(1, 3, 1).to_string(), "1:4");
/// # Ok::<(), indim_graph::GraphErrorKind>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisSlice {
    start: usize,
    count: usize,
    step: isize,
    /// The first index for all sizes of the symbols, if it depends on them; otherwise
    /// [`SymbolicStart::FIXED`]. An option would make errors that name a slice large.
    symbolic_start: SymbolicStart,
}

impl AxisSlice {
    /// `count` elements from `start` on, `step` apart. Slices of the same elements are equal values: a
    /// slice of one element gets step 1, an empty slice start 0 and step 1. A step of 0 is kept, so that
    /// the check can refuse it.
    pub const fn new(start: usize, count: usize, step: isize) -> Self {
        let (start, step) = match count {
            0 if step != 0 => (0, 1),
            1 if step != 0 => (start, 1),
            _ => (start, step),
        };
        AxisSlice { start, count, step, symbolic_start: SymbolicStart::FIXED }
    }

    /// The same slice, whose first index depends on symbolic sizes. It differs from a slice with a fixed
    /// first index.
    #[must_use]
    pub fn with_symbolic_start(self, start: SymbolicStart) -> Self {
        match start.has_symbols() {
            true => AxisSlice { symbolic_start: start, ..self },
            false => AxisSlice { symbolic_start: SymbolicStart::FIXED, ..self },
        }
    }

    /// The first index for all sizes of the symbols; `None` if it depends on none.
    pub fn symbolic_start(&self) -> Option<&SymbolicStart> {
        self.symbolic_start.has_symbols().then_some(&self.symbolic_start)
    }

    /// The whole axis of this size.
    pub const fn whole(size: usize) -> Self {
        AxisSlice::new(0, size, 1)
    }

    /// The whole axis of this size, the last element first.
    pub const fn reversed(size: usize) -> Self {
        AxisSlice::new(size.saturating_sub(1), size, -1)
    }

    /// Python's `start:stop:step` of an axis of this size; bounds are clamped like in Python.
    ///
    /// # Errors
    /// `zero-step`.
    pub fn python(
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
        size: usize,
    ) -> Result<Self, GraphErrorKind> {
        let step = i128::from(step.unwrap_or(1));
        let size = size as i128;
        // For a negative step, bounds are clamped to -1 and the last index.
        let (lowest, highest) = match step {
            0 => return Err(GraphErrorKind::ZeroStep),
            1.. => (0, size),
            _ => (-1, size - 1),
        };
        let place = |given: i64| {
            let given = i128::from(given);
            (if given < 0 { given + size } else { given }).clamp(lowest, highest)
        };
        let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let start = start.map_or(first, place);
        let stop = stop.map_or(end, place);
        let span = if step > 0 { stop - start } else { start - stop };
        let distance = step.abs();
        let count = if span <= 0 { 0 } else { (span + distance - 1) / distance };
        // A step that does not fit selects at most one element, so its value is irrelevant.
        let step = isize::try_from(step).unwrap_or(1);
        Ok(AxisSlice::new(start.max(0) as usize, count as usize, step))
    }

    /// The index of the first element.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The number of elements.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The distance from one element to the next.
    pub const fn step(&self) -> isize {
        self.step
    }

    /// Whether the slice is the whole axis of this size, in order.
    pub fn is_whole(&self, size: usize) -> bool {
        *self == AxisSlice::whole(size)
    }

    /// The index of element `position` of the slice; `position` is less than the count.
    pub const fn index(&self, position: usize) -> usize {
        self.start.wrapping_add_signed(self.step.wrapping_mul(position as isize))
    }

    /// The slice `later` of the result of this slice, as one slice; `None` if its first index depends on too
    /// many symbolic sizes. Both must be in range of their axes.
    #[must_use]
    pub fn then(&self, later: &AxisSlice) -> Option<AxisSlice> {
        let step = self.step.wrapping_mul(later.step);
        let slice = AxisSlice::new(self.index(later.start), later.count, step);
        if self.symbolic_start().is_none() && later.symbolic_start().is_none() {
            return Some(slice);
        }
        let fixed = |slice: &AxisSlice| SymbolicStart::new(slice.start as isize, []);
        let start = |slice: &AxisSlice| slice.symbolic_start().copied().or_else(|| fixed(slice));
        let start = start(self)?.then(self.step, &start(later)?)?;
        Some(slice.with_symbolic_start(start))
    }

    /// Checks that the slice is in range of an axis of this size.
    ///
    /// # Errors
    /// `zero-step`, `slice-out-of-range`.
    pub(crate) fn check(&self, axis: usize, size: usize) -> Result<(), GraphErrorKind> {
        if self.step == 0 {
            return Err(GraphErrorKind::ZeroStep);
        }
        let Some(last) = self.count.checked_sub(1) else { return Ok(()) };
        let last = self.start as i128 + last as i128 * self.step as i128;
        match self.start < size && (0..size as i128).contains(&last) {
            true => Ok(()),
            false => Err(GraphErrorKind::SliceOutOfRange { axis, slice: *self, size }),
        }
    }
}

/// Python's notation: `1:4`, `4::-2`.
impl fmt::Display for AxisSlice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &AxisSlice { start, count, step, .. } = self;
        write!(formatter, "{start}:")?;
        let last = start as i128 + (count as i128 - 1) * step as i128;
        let stop = if count == 0 { start as i128 } else { last + step.signum() as i128 };
        if stop >= 0 {
            write!(formatter, "{stop}")?;
        }
        if step != 1 {
            write!(formatter, ":{step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/axis_slice.rs"]
mod tests;
