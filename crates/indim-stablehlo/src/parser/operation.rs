//! Operations in generic form, and their blocks.

use indim_model::FormatErrorKind;

use super::{ParseResult, Parser, pretty};
use crate::attribute::unquoted;
use crate::lexer::TokenKind;
use crate::syntax::{
    Argument, Block, ResultNames, Signature, SyntaxAttribute, SyntaxOperation, ValueUse,
};

impl Parser<'_, '_> {
    /// Parses `{ .. }`: one block, which has these arguments unless it declares its own.
    pub(super) fn region(&mut self, arguments: Vec<Argument>) -> ParseResult<Block> {
        self.expect_mark(b'{')?;
        let mut block = Block { arguments, ..Block::default() };
        if self.next.kind == TokenKind::Block {
            self.advance();
            if self.eat_mark(b'(').is_some() {
                while self.eat_mark(b')').is_none() {
                    block.arguments.push(self.argument()?);
                    self.eat_mark(b',');
                }
            }
            self.expect_mark(b':')?;
        }
        self.nest(|parser| {
            while !parser.is_mark(b'}') {
                if parser.next.kind == TokenKind::Block {
                    let what = "regions of several blocks are".to_owned();
                    let span = parser.next.span;
                    let kind = FormatErrorKind::Unsupported { what };
                    return Err(kind.in_text(span.start..span.end));
                }
                block.operations.push(parser.operation()?);
            }
            Ok(())
        })?;
        block.end = self.advance().span;
        Ok(block)
    }

    /// An operation with its results.
    pub(super) fn operation(&mut self) -> ParseResult<SyntaxOperation> {
        let start = self.next.span;
        let results = match self.next.kind {
            TokenKind::Value => self.results()?,
            _ => Vec::new(),
        };
        let name = self.next;
        let (name, span) = match name.kind {
            TokenKind::String => (unquoted(self.word(name)), name.span),
            TokenKind::Word => (self.word(name).to_owned(), name.span),
            _ => return Err(self.unexpected("an operation")),
        };
        let is_generic = self.next.kind == TokenKind::String;
        let mut operation = SyntaxOperation {
            name: pretty::full_name(&name),
            span,
            text: start,
            results,
            operands: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
            signature: Signature::None,
        };
        if is_generic {
            self.advance();
            self.generic(&mut operation)?;
        } else {
            self.pretty(&mut operation)?;
        }
        self.location()?;
        operation.text = start.to(self.last);
        Ok(operation)
    }

    /// `%0:2, %a =`.
    fn results(&mut self) -> ParseResult<Vec<ResultNames>> {
        let mut results = Vec::new();
        loop {
            let name = self.expect(TokenKind::Value, "the name of a result")?.span;
            let mut count = 1;
            if self.eat_mark(b':').is_some() {
                let number = self.expect(TokenKind::Integer, "the number of results")?;
                let limit = self.limits.operations;
                count = match self.word(number).parse() {
                    Ok(count) if count <= limit => count,
                    _ => {
                        let (what, span) = ("results", number.span.start..number.span.end);
                        return Err(FormatErrorKind::Limit { what, limit }.in_text(span));
                    }
                };
            }
            results.push(ResultNames { name, count });
            if self.eat_mark(b',').is_none() {
                self.expect_mark(b'=')?;
                return Ok(results);
            }
        }
    }

    /// `%a`, or `%a#1`.
    pub(super) fn value_use(&mut self) -> ParseResult<ValueUse> {
        let token = self.expect(TokenKind::Value, "a value")?;
        let text = self.word(token);
        Ok(match text.split_once('#') {
            Some((name, index)) => {
                let mut span = token.span;
                span.end = span.start + name.len();
                // An index beyond `usize` names no result.
                ValueUse { name: span, index: index.parse().unwrap_or(usize::MAX) }
            }
            None => ValueUse { name: token.span, index: 0 },
        })
    }

    /// `(%a, %b) <{..}> ({..}, {..}) {..} : (T, U) -> V`.
    fn generic(&mut self, operation: &mut SyntaxOperation) -> ParseResult<()> {
        self.expect_mark(b'(')?;
        while self.eat_mark(b')').is_none() {
            operation.operands.push(self.value_use()?);
            if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        if self.eat_mark(b'<').is_some() {
            self.dictionary(&mut operation.attributes)?;
            self.expect_mark(b'>')?;
        }
        if self.eat_mark(b'(').is_some() {
            while self.eat_mark(b')').is_none() {
                operation.regions.push(self.region(Vec::new())?);
                if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                    return Err(self.unexpected("`,` or `)`"));
                }
            }
        }
        if self.is_mark(b'{') {
            self.dictionary(&mut operation.attributes)?;
        }
        self.expect_mark(b':')?;
        operation.signature = self.signature()?;
        Ok(())
    }

    /// `{name = value, mark}`.
    pub(super) fn dictionary(&mut self, attributes: &mut Vec<SyntaxAttribute>) -> ParseResult<()> {
        self.expect_mark(b'{')?;
        while self.eat_mark(b'}').is_none() {
            let name = self.next;
            let name = match name.kind {
                TokenKind::Word => self.word(name).to_owned(),
                TokenKind::String => unquoted(self.word(name)),
                _ => return Err(self.unexpected("the name of an attribute")),
            };
            self.advance();
            let value = match self.eat_mark(b'=') {
                Some(_) => Some(self.skip_value()?),
                None => None,
            };
            attributes.push(SyntaxAttribute { name, value });
            if self.eat_mark(b',').is_none() && !self.is_mark(b'}') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        Ok(())
    }
}
