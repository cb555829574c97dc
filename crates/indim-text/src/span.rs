//! Span: a byte range of a text.

/// Bytes of a text from `start` up to `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
}

impl Span {
    /// From `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// From where this begins to where `last` ends.
    pub const fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// The piece of `text` that stands there.
    ///
    /// # Panics
    /// When it is not a place in `text`.
    pub fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}
