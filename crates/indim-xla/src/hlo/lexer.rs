//! The lexer of HLO text.

use indim_text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, with or without `%`, or a number: `%add.1`, `-1.5e+10`, `1_0x-1_0`, `e5m10`.
    Word,
    /// A string with its quotes.
    String,
    /// `->`.
    Arrow,
    /// Any other punctuation character.
    Mark(u8),
    /// An invalid token.
    Bad,
    /// The end of the text.
    End,
}

/// A token with its span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// Whether it is the first of its line.
    pub(super) begins_line: bool,
}

/// The lexer; a copy is a lookahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
    end: usize,
}

impl<'t> Lexer<'t> {
    /// The tokens of a range of the text; spans are relative to the whole text.
    pub(super) fn new(text: &'t str, piece: Span) -> Self {
        Lexer { text, position: piece.start, end: piece.end }
    }

    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.position..self.end]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.rest().get(ahead).copied().unwrap_or(0)
    }

    /// Skips white space and comments; returns whether a line began.
    fn skip_blanks(&mut self) -> bool {
        let mut begins_line = self.position == 0;
        loop {
            let length = match self.byte(0) {
                b'\n' => {
                    begins_line = true;
                    1
                }
                b' ' | b'\t' | b'\r' => 1,
                b'/' if self.byte(1) == b'/' => {
                    let rest = self.rest();
                    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
                }
                // An unterminated comment is no comment: its `/` and `*` are marks.
                b'/' if self.byte(1) == b'*' => {
                    let rest = &self.rest()[2..];
                    match rest.windows(2).position(|pair| pair == b"*/") {
                        Some(length) => length + 4,
                        None => return begins_line,
                    }
                }
                _ => return begins_line,
            };
            self.position += length;
        }
    }

    /// The next token.
    pub(super) fn token(&mut self) -> Token {
        let begins_line = self.skip_blanks();
        let start = self.position;
        let kind = if start >= self.end { TokenKind::End } else { self.read() };
        Token { kind, span: Span::new(start, self.position), begins_line }
    }

    fn read(&mut self) -> TokenKind {
        let first = self.byte(0);
        let (length, kind) = match first {
            b'-' if self.byte(1) == b'>' => (2, TokenKind::Arrow),
            b'"' => return self.string(),
            b'%' if is_of_word(self.byte(1)) => (1 + self.word(1), TokenKind::Word),
            byte if is_of_word(byte) => (self.word(0), TokenKind::Word),
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'?'
            | b'*' | b'@' | b'#' | b'|' | b';' | b'!' | b'/' => (1, TokenKind::Mark(first)),
            _ => {
                let character = self.text[self.position..].chars().next();
                (character.map_or(1, char::len_utf8), TokenKind::Bad)
            }
        };
        self.position += length;
        kind
    }

    /// The length of the word that begins `ahead` bytes ahead. A `-` that begins an arrow does not
    /// belong to it.
    fn word(&self, ahead: usize) -> usize {
        let rest = &self.rest()[ahead..];
        let length = rest.iter().position(|&byte| !is_of_word(byte)).unwrap_or(rest.len());
        let ends_in_arrow =
            length > 1 && rest[length - 1] == b'-' && rest.get(length) == Some(&b'>');
        length - usize::from(ends_in_arrow)
    }

    fn string(&mut self) -> TokenKind {
        let rest = self.rest();
        let mut length = 1;
        while length < rest.len() {
            match rest[length] {
                b'"' => {
                    self.position += length + 1;
                    return TokenKind::String;
                }
                b'\\' => length += 2,
                _ => length += 1,
            }
        }
        self.position = self.end;
        TokenKind::Bad
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_and_numbers() {
        let text = "%a.1 = f32[2]{0} add-x(-1.5e+10)->b /* %c */ // d\n\"}\\\"\" é";
        let mut lexer = Lexer::new(text, Span::new(0, text.len()));
        let mut words = Vec::new();
        loop {
            let token = lexer.token();
            match token.kind {
                TokenKind::End => break,
                _ => words.push(token.span.of(text)),
            }
        }
        let expected = "%a.1 = f32 [ 2 ] { 0 } add-x ( -1.5e+10 ) -> b \"}\\\"\" é";
        assert_eq!(words.join(" "), expected);
    }
}
