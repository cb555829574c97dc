//! Span: a byte range of a text.

/// A byte range of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` to `end`, exclusive.
    pub const fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// The span from the start of this one to the end of `last`.
    pub const fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// The text of the span.
    ///
    /// # Panics
    /// If the span is not within `text`, or does not begin and end at character boundaries.
    pub fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}
