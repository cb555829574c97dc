//! Cursor over a text. Each parser defines its own tokens.

use crate::span::Span;

/// A place in a text, up to which it is read; a copy looks ahead.
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

    /// The next character that is not white space, which is passed.
    pub fn peek(&mut self) -> Option<char> {
        self.position = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Reads `character`, if it is the next that is not white space.
    pub fn eat(&mut self, character: char) -> Option<Span> {
        (self.peek() == Some(character)).then(|| self.advance(character.len_utf8()))
    }

    /// Reads a character, white space too.
    pub fn next_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.advance(character.len_utf8());
        Some(character)
    }

    /// Reads, behind white space, all characters up to the first that `belongs` does not accept.
    pub fn run(&mut self, belongs: impl Fn(char) -> bool) -> Span {
        self.peek();
        let rest = self.rest();
        self.advance(rest.find(|character| !belongs(character)).unwrap_or(rest.len()))
    }

    /// Reads so many bytes, which end where a character does.
    pub(crate) fn advance(&mut self, bytes: usize) -> Span {
        let start = self.position;
        self.position += bytes;
        Span::new(start, self.position)
    }
}
