//! The lexer of MLIR text.

use indim_text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `%x`, `%0#1`.
    Value,
    /// `@main`, `@"any name"`.
    Symbol,
    /// `^bb0`.
    Block,
    /// `#name`: an alias of an attribute, or a dialect attribute.
    Hash,
    /// `!name`: an alias of a type, or a dialect type.
    Bang,
    /// A bare identifier; it can contain dots.
    Word,
    /// Decimal digits, or `0x` and hexadecimal digits.
    Integer,
    /// Digits with a dot, and an exponent if one follows.
    Float,
    /// A string with its quotes.
    String,
    /// `->`.
    Arrow,
    /// `{-#`.
    ResourcesBegin,
    /// `#-}`.
    ResourcesEnd,
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

    fn bytes(&self) -> &'t [u8] {
        &self.text.as_bytes()[..self.end]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    /// Skips white space and comments; returns whether a line began.
    fn skip_blanks(&mut self) -> bool {
        let mut begins_line = self.position == 0;
        loop {
            match self.byte(0) {
                b'\n' => begins_line = true,
                b' ' | b'\t' | b'\r' => {}
                b'/' if self.byte(1) == b'/' => {
                    let rest = &self.bytes()[self.position..];
                    let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                    self.position += length;
                    continue;
                }
                _ => return begins_line,
            }
            self.position += 1;
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
        match first {
            b'%' => self.name(TokenKind::Value, is_of_value),
            b'@' if self.byte(1) == b'"' => {
                self.position += 1;
                match self.string() {
                    TokenKind::String => TokenKind::Symbol,
                    other => other,
                }
            }
            b'@' => self.name(TokenKind::Symbol, is_of_value),
            b'^' => self.name(TokenKind::Block, is_of_value),
            b'!' => self.name(TokenKind::Bang, is_of_value),
            b'#' if self.bytes()[self.position..].starts_with(b"#-}") => {
                self.pass(3, TokenKind::ResourcesEnd)
            }
            b'#' => self.name(TokenKind::Hash, is_of_value),
            b'{' if self.bytes()[self.position..].starts_with(b"{-#") => {
                self.pass(3, TokenKind::ResourcesBegin)
            }
            b'-' if self.byte(1) == b'>' => self.pass(2, TokenKind::Arrow),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.run(is_of_word);
                TokenKind::Word
            }
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'-'
            | b'+' | b'*' | b'?' | b'/' | b'|' => self.pass(1, TokenKind::Mark(first)),
            _ => {
                let rest = &self.text[self.position..];
                let length = rest.chars().next().map_or(1, char::len_utf8);
                self.pass(length, TokenKind::Bad)
            }
        }
    }

    fn pass(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.position += bytes;
        kind
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = &self.bytes()[self.position..];
        let length = rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        self.position += length;
        length
    }

    /// A sigil and a name; for a value also the index of the result.
    fn name(&mut self, kind: TokenKind, belongs: impl Fn(u8) -> bool) -> TokenKind {
        self.position += 1;
        let mut length = self.run(&belongs);
        // A name can end in a dash, but not in the first half of an arrow.
        if length > 0 && self.byte(0) == b'>' && self.bytes()[self.position - 1] == b'-' {
            self.position -= 1;
            length -= 1;
        }
        if kind == TokenKind::Value && self.byte(0) == b'#' && self.byte(1).is_ascii_digit() {
            self.position += 1;
            self.run(|byte| byte.is_ascii_digit());
        }
        if length == 0 { TokenKind::Bad } else { kind }
    }

    fn string(&mut self) -> TokenKind {
        self.position += 1;
        loop {
            match self.byte(0) {
                b'"' => return self.pass(1, TokenKind::String),
                b'\n' => return TokenKind::Bad,
                0 if self.position >= self.end => return TokenKind::Bad,
                b'\\' if self.byte(1) != b'\n' && self.position + 1 < self.end => {
                    self.position += 1;
                    self.pass_character();
                }
                _ => self.pass_character(),
            }
        }
    }

    fn pass_character(&mut self) {
        self.position += 1;
        while self.position < self.end && !self.text.is_char_boundary(self.position) {
            self.position += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            self.position += 2;
            self.run(|byte| byte.is_ascii_hexdigit());
            return TokenKind::Integer;
        }
        self.run(|byte| byte.is_ascii_digit());
        if self.byte(0) != b'.' {
            return TokenKind::Integer;
        }
        self.position += 1;
        self.run(|byte| byte.is_ascii_digit());
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + sign).is_ascii_digit() {
            self.position += 1 + sign;
            self.run(|byte| byte.is_ascii_digit());
        }
        TokenKind::Float
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn is_of_value(byte: u8) -> bool {
    is_of_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(text, Span::new(0, text.len()));
        let mut tokens = Vec::new();
        loop {
            let token = lexer.token();
            if token.kind == TokenKind::End {
                return tokens;
            }
            tokens.push((token.kind, token.span.of(text)));
        }
    }

    #[test]
    fn names_keep_their_marks() {
        use TokenKind::*;
        assert_eq!(
            tokens(r#"%cst$1-x#2 @"a b" @f.0 ^bb0 #loc1 !row %a->b"#),
            [
                (Value, "%cst$1-x#2"),
                (Symbol, "@\"a b\""),
                (Symbol, "@f.0"),
                (Block, "^bb0"),
                (Hash, "#loc1"),
                (Bang, "!row"),
                (Value, "%a"),
                (Arrow, "->"),
                (Word, "b"),
            ]
        );
    }

    #[test]
    fn a_float_has_a_dot() {
        use TokenKind::*;
        assert_eq!(
            tokens("1.e 1.5E+3 1e3 0x1F 0xg 1."),
            [
                (Float, "1."),
                (Word, "e"),
                (Float, "1.5E+3"),
                (Integer, "1"),
                (Word, "e3"),
                (Integer, "0x1F"),
                (Integer, "0"),
                (Word, "xg"),
                (Float, "1."),
            ]
        );
    }

    #[test]
    fn strings_end_with_their_line() {
        use TokenKind::*;
        assert_eq!(tokens("\"a\\\"}\" // \"\nb"), [(String, "\"a\\\"}\""), (Word, "b")]);
        assert_eq!(tokens("\"ab\nc"), [(Bad, "\"ab"), (Word, "c")]);
        assert_eq!(tokens("\"é\\é\" é"), [(String, "\"é\\é\""), (Bad, "é")]);
    }
}
