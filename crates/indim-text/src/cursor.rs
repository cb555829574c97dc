//! Cursor over a text. Each parser defines its own tokens.

use crate::span::Span;

/// A position in a text. A copy serves as lookahead.
///
/// ```
/// use indim_text::Cursor;
///
/// let text = "f32[4]";
/// let mut cursor = Cursor::new(text);
/// assert_eq!(cursor.run(char::is_alphanumeric).of(text), "f32");
/// assert!(cursor.eat('[').is_some());
/// assert_eq!((cursor.peek(), cursor.rest()), (Some('4'), "4]"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Cursor<'t> {
    /// The beginning of a text.
    pub const fn new(text: &'t str) -> Self {
        Cursor { text, position: 0 }
    }

    /// The unread rest of the text.
    pub fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Span of the next, unread character; empty at the end of the text.
    pub fn here(&self) -> Span {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Span::new(self.position, self.position + length)
    }

    /// Span from the beginning of `start` to the cursor.
    pub const fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.position)
    }

    /// Skips white space and returns the next character without reading it.
    pub fn peek(&mut self) -> Option<char> {
        self.position = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Skips white space and reads `character`, if it is next.
    pub fn eat(&mut self, character: char) -> Option<Span> {
        (self.peek() == Some(character)).then(|| self.advance(character.len_utf8()))
    }

    /// Reads the next character, including white space.
    pub fn next_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.advance(character.len_utf8());
        Some(character)
    }

    /// Skips white space and reads characters as long as `belongs` accepts them.
    pub fn run(&mut self, belongs: impl Fn(char) -> bool) -> Span {
        self.peek();
        let rest = self.rest();
        self.advance(rest.find(|character| !belongs(character)).unwrap_or(rest.len()))
    }

    /// Reads `bytes` bytes, which must end at a character boundary.
    pub(crate) fn advance(&mut self, bytes: usize) -> Span {
        let start = self.position;
        self.position += bytes;
        Span::new(start, self.position)
    }
}
