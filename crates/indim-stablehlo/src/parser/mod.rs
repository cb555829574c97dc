//! The parser of StableHLO text.
//!
//! This file parses the top level of a file. `operation.rs`: operations; `pretty.rs`: their pretty forms;
//! `function.rs`: functions; `types.rs`: types; `unknown.rs`: operations of unknown syntax; `skip.rs`:
//! skips attributes and locations.

mod function;
mod operation;
mod pretty;
mod skip;
mod types;
mod unknown;

pub(super) use types::{array_type, type_name};

use std::collections::HashMap;

use indim_model::{FormatError, FormatErrorKind, FormatLimits};
use indim_text::Span;

use crate::attribute::unquoted;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::syntax::{Module, Type};

/// Maximum depth of nested regions and types; bounds the recursion of the parser. Real programs have
/// a few levels.
const MAX_NESTING: usize = 64;

type ParseResult<T> = Result<T, FormatError>;

/// Parses a text.
///
/// # Errors
/// `unexpected`, `duplicate`, `limit`, `attribute`, `unsupported`.
pub(super) fn parse(text: &str, limits: &FormatLimits) -> ParseResult<Module> {
    let mut lexer = Lexer::new(text, Span::new(0, text.len()));
    let next = lexer.token();
    let types = HashMap::new();
    let last = next.span;
    let mut parser = Parser { text, lexer, next, last, limits, nested: 0, types };
    let mut module = Module::default();
    parser.top(&mut module)?;
    Ok(module)
}

pub(super) struct Parser<'t, 'l> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The next token, a lookahead of one.
    next: Token,
    /// Span of the token before the next.
    last: Span,
    limits: &'l FormatLimits,
    /// Number of open regions and types.
    nested: usize,
    /// Type aliases.
    types: HashMap<&'t str, Type>,
}

impl<'t> Parser<'t, '_> {
    fn advance(&mut self) -> Token {
        let token = self.next;
        self.next = self.lexer.token();
        self.last = token.span;
        token
    }

    /// The token after the next.
    fn second(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.token()
    }

    fn word(&self, token: Token) -> &'t str {
        token.span.of(self.text)
    }

    fn is_word(&self, word: &str) -> bool {
        self.next.kind == TokenKind::Word && self.word(self.next) == word
    }

    fn is_mark(&self, mark: u8) -> bool {
        self.next.kind == TokenKind::Mark(mark)
    }

    fn eat_mark(&mut self, mark: u8) -> Option<Token> {
        self.is_mark(mark).then(|| self.advance())
    }

    fn eat_word(&mut self, word: &str) -> Option<Token> {
        self.is_word(word).then(|| self.advance())
    }

    fn expect_mark(&mut self, mark: u8) -> ParseResult<Token> {
        self.eat_mark(mark).ok_or_else(|| self.unexpected(format!("`{}`", mark as char)))
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> ParseResult<Token> {
        match self.next.kind == kind {
            true => Ok(self.advance()),
            false => Err(self.unexpected(what)),
        }
    }

    /// The error of an unexpected next token.
    fn unexpected(&self, expected: impl Into<String>) -> FormatError {
        let expected = match self.next.kind {
            TokenKind::End => format!("{}, not the end of the text", expected.into()),
            _ => expected.into(),
        };
        FormatErrorKind::Unexpected { expected }.in_text(self.next.span.start..self.next.span.end)
    }

    /// Counts one nesting level around `read`.
    fn nest<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.nested += 1;
        let limit = MAX_NESTING.min(self.limits.depth);
        if self.nested > limit {
            let span = self.next.span;
            let what = "nested regions and types";
            return Err(FormatErrorKind::Limit { what, limit }.in_text(span.start..span.end));
        }
        let read = read(self);
        self.nested -= 1;
        read
    }

    /// Parses the top level; nested modules are flattened.
    fn top(&mut self, module: &mut Module) -> ParseResult<()> {
        let mut open = 0usize;
        loop {
            match self.next.kind {
                TokenKind::End if open == 0 => return Ok(()),
                TokenKind::End => return Err(self.unexpected("`}`")),
                TokenKind::Mark(b'}') if open > 0 => {
                    self.advance();
                    open -= 1;
                    self.location()?;
                }
                TokenKind::Hash => self.attribute_alias(module)?,
                TokenKind::Bang => self.type_alias()?,
                TokenKind::ResourcesBegin => self.resources(module)?,
                TokenKind::String => {
                    let operation = self.operation()?;
                    self.generic_top(operation, module, open > 0)?;
                }
                TokenKind::Word => match self.word(self.next) {
                    "module" | "builtin.module" => {
                        self.module_head()?;
                        module.is_nested |= open > 0;
                        open += 1;
                    }
                    "func.func" | "func" => {
                        let function = self.function()?;
                        self.add_function(function, module)?;
                    }
                    word if word.starts_with("vhlo.") => return Err(self.versioned()),
                    // An operation of another dialect, such as `sdy.mesh @mesh = <..>`, has no effect on
                    // one device.
                    word if word.contains('.') => self.skip_operation()?,
                    _ => return Err(self.unexpected("a function")),
                },
                _ => return Err(self.unexpected("a function")),
            }
        }
    }

    fn versioned(&self) -> FormatError {
        let what = "the versioned dialect vhlo, which stablehlo-opt --vhlo-to-version=target=current \
                    --vhlo-legalize-to-stablehlo makes StableHLO of, is";
        FormatErrorKind::Unsupported { what: what.to_owned() }
            .in_text(self.next.span.start..self.next.span.end)
    }

    fn module_head(&mut self) -> ParseResult<()> {
        self.advance();
        if self.next.kind == TokenKind::Symbol {
            self.advance();
        }
        if self.eat_word("attributes").is_some() {
            self.skip_balanced()?;
        }
        self.expect_mark(b'{')?;
        Ok(())
    }

    /// `#name = attribute`.
    fn attribute_alias(&mut self, module: &mut Module) -> ParseResult<()> {
        let name = self.advance();
        self.expect_mark(b'=')?;
        let value = self.skip_alias_value()?;
        let key = self.word(name).to_owned();
        if module.aliases.insert(key.clone(), value).is_some() {
            let kind = FormatErrorKind::Duplicate { what: "alias", name: key };
            return Err(kind.in_text(name.span.start..name.span.end));
        }
        Ok(())
    }

    /// `!name = type`.
    fn type_alias(&mut self) -> ParseResult<()> {
        let name = self.advance();
        self.expect_mark(b'=')?;
        let value_type = self.value_type()?;
        self.types.insert(self.word(name), value_type);
        Ok(())
    }

    /// `{-# dialect_resources: { builtin: { NAME: "0x.." } } #-}`: each named string is a resource.
    fn resources(&mut self, module: &mut Module) -> ParseResult<()> {
        self.advance();
        loop {
            let token = self.advance();
            match token.kind {
                TokenKind::ResourcesEnd => return Ok(()),
                TokenKind::End | TokenKind::Bad => return Err(self.unexpected("`#-}`")),
                TokenKind::Word | TokenKind::String if self.is_mark(b':') => {
                    self.advance();
                    if self.next.kind == TokenKind::String {
                        let name = unquoted(self.word(token));
                        module.resources.insert(name, self.advance().span);
                    }
                }
                _ => {}
            }
        }
    }
}
