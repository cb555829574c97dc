//! Skips text. Of attributes and locations the parser keeps only the span, of unsupported operations nothing.
//! It works on tokens, so brackets in strings do not count.

use indim_model::FormatErrorKind;
use indim_text::Span;

use super::{ParseResult, Parser};
use crate::lexer::{Token, TokenKind};

/// The bracket that closes `mark`; `None` if `mark` opens none.
const fn closing(mark: u8) -> Option<u8> {
    match mark {
        b'(' => Some(b')'),
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        b'<' => Some(b'>'),
        _ => None,
    }
}

impl Parser<'_, '_> {
    /// Skips a bracket and everything up to its closing bracket.
    pub(super) fn skip_balanced(&mut self) -> ParseResult<Span> {
        let start = self.next.span;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.next.kind {
                TokenKind::Mark(mark) => match closing(mark) {
                    Some(close) => {
                        open.push(close);
                        self.check_depth(open.len())?;
                    }
                    None if open.last() == Some(&mark) => {
                        open.pop();
                    }
                    None if matches!(mark, b')' | b']' | b'}' | b'>') || open.is_empty() => {
                        let expected = open.last().copied().unwrap_or(b'{');
                        return Err(self.unexpected(format!("`{}`", expected as char)));
                    }
                    None => {}
                },
                TokenKind::End | TokenKind::Bad => {
                    let expected = open.last().copied().unwrap_or(b'{');
                    return Err(self.unexpected(format!("`{}`", expected as char)));
                }
                _ if open.is_empty() => return Err(self.unexpected("a bracket")),
                _ => {}
            }
            let passed = self.advance();
            if open.is_empty() {
                return Ok(start.to(passed.span));
            }
        }
    }

    fn check_depth(&self, depth: usize) -> ParseResult<()> {
        let limit = self.limits.depth;
        if depth <= limit {
            return Ok(());
        }
        let span = self.next.span;
        let what = "nested brackets";
        Err(FormatErrorKind::Limit { what, limit }.in_text(span.start..span.end))
    }

    fn is_open(&self) -> bool {
        matches!(self.next.kind, TokenKind::Mark(mark) if closing(mark).is_some())
    }

    /// Skips one attribute or type without a suffix `: type`: `[0, 2]`, `-1`, `e5m10`, `array<i64: 1>`,
    /// `#stablehlo<..>`, `@f`.
    pub(super) fn skip_primary(&mut self) -> ParseResult<Span> {
        if self.is_open() {
            return self.skip_balanced();
        }
        let is_negative = self.is_mark(b'-');
        let first = self.next;
        if is_negative {
            self.advance();
        }
        let is_value = match self.next.kind {
            TokenKind::Integer | TokenKind::Float => true,
            TokenKind::Word
            | TokenKind::String
            | TokenKind::Symbol
            | TokenKind::Hash
            | TokenKind::Bang => !is_negative,
            _ => false,
        };
        if !is_value {
            return Err(self.unexpected("an attribute"));
        }
        let last = self.advance();
        let may_go_on = matches!(last.kind, TokenKind::Word | TokenKind::Hash | TokenKind::Bang);
        match may_go_on && self.is_mark(b'<') {
            true => Ok(first.span.to(self.skip_balanced()?)),
            false => Ok(first.span.to(last.span)),
        }
    }

    /// Skips the value of an attribute, up to the comma or closing bracket after it.
    pub(super) fn skip_value(&mut self) -> ParseResult<Span> {
        self.skip_up_to("an attribute", |token| {
            matches!(
                token.kind,
                TokenKind::Mark(b',' | b'}' | b']' | b')' | b'>') | TokenKind::End | TokenKind::Bad
            )
        })
    }

    /// Skips the value of an attribute alias, up to the next line outside brackets.
    pub(super) fn skip_alias_value(&mut self) -> ParseResult<Span> {
        let mut is_first = true;
        self.skip_up_to("an attribute", |token| {
            let is_behind = token.begins_line && !is_first;
            is_first = false;
            is_behind || matches!(token.kind, TokenKind::End | TokenKind::Bad)
        })
    }

    /// Skips tokens up to the first one outside brackets that `ends` accepts; an error if that is the
    /// next one.
    fn skip_up_to(&mut self, what: &str, mut ends: impl FnMut(Token) -> bool) -> ParseResult<Span> {
        let start = self.next.span;
        let mut last = None;
        while !ends(self.next) {
            last = Some(match self.is_open() {
                true => self.skip_balanced()?,
                false => self.advance().span,
            });
        }
        last.map(|last| start.to(last)).ok_or_else(|| self.unexpected(what))
    }

    /// Skips an operation of unknown syntax, up to a line that begins another operation, a closing bracket,
    /// or the end of the text.
    pub(super) fn skip_operation(&mut self) -> ParseResult<()> {
        let mut is_first = true;
        loop {
            match self.next.kind {
                TokenKind::End | TokenKind::Mark(b'}' | b')' | b']' | b'>') => return Ok(()),
                TokenKind::Bad => return Err(self.unexpected("an operation")),
                _ if self.next.begins_line && !is_first && self.begins_operation() => return Ok(()),
                _ if self.is_open() => {
                    self.skip_balanced()?;
                }
                _ => {
                    self.advance();
                }
            }
            is_first = false;
        }
    }

    pub(super) fn begins_operation(&self) -> bool {
        match self.next.kind {
            TokenKind::Value
            | TokenKind::String
            | TokenKind::Block
            | TokenKind::Hash
            | TokenKind::Bang
            | TokenKind::ResourcesBegin => true,
            TokenKind::Word => {
                let word = self.word(self.next);
                word.contains('.') || matches!(word, "return" | "call" | "module" | "func")
            }
            _ => false,
        }
    }

    /// Skips `loc(..)`, if it is next, and returns the span between its brackets.
    pub(super) fn location(&mut self) -> ParseResult<Option<Span>> {
        if !self.is_word("loc") {
            return Ok(None);
        }
        self.advance();
        if !self.is_mark(b'(') {
            return Err(self.unexpected("`(`"));
        }
        let brackets = self.skip_balanced()?;
        Ok(Some(Span::new(brackets.start + 1, brackets.end - 1)))
    }
}
