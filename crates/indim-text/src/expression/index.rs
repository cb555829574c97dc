//! The parser of brackets: Python's index syntax, as in `x[1:, None]`, and lists of operands, as in
//! `concatenate([x, y])`. `parser.rs` parses the rest of the grammar.

use indim_builder::Index;
use indim_graph::Literal;

use super::call::CallFrame;
use super::error::{ExprError, ExprErrorKind};
use super::lexer::{Lexer, Symbol, Token};
use super::parser::{Frame, IndexFrame, ParseResult, Parser};
use super::syntax::{IndexItem, NodeIndex, SyntaxNodeKind};
use crate::span::Span;

const EXPECTED: &str =
    "an index: a number, a slice such as 1:, `None`, `...`, or an array of integers";

impl Parser<'_> {
    /// Starts an index of `operand`; `None` if an operand follows in the index.
    pub(super) fn open_index(
        &mut self,
        operand: NodeIndex,
        open: Span,
    ) -> ParseResult<Option<NodeIndex>> {
        self.check_depth(open)?;
        self.index_items(IndexFrame { operand, open, items: Vec::new() })
    }

    /// Parses items up to the end of the index, or up to an expression, for which it pushes the index's
    /// frame.
    fn index_items(&mut self, mut index: IndexFrame) -> ParseResult<Option<NodeIndex>> {
        loop {
            let Some(item) = self.index_item()? else {
                let open = index.open;
                self.push(Frame::Index(index), open)?;
                return Ok(None);
            };
            index.items.push(item);
            let (token, span) = self.lexer.next()?;
            match token {
                Token::Symbol(Symbol::CloseBracket) => {
                    return self.close_index(index, span).map(Some);
                }
                Token::Symbol(Symbol::Comma) => {}
                Token::End => return Err(ExprError::new(ExprErrorKind::Unclosed, index.open)),
                _ => return Err(self.unexpected(span, "`,` or `]`")),
            }
            if let Some(span) = self.closing_bracket()? {
                return self.close_index(index, span).map(Some);
            }
            self.check_rank(index.items.len(), index.open.to(span))?;
        }
    }

    /// Parses an item that is not an expression; returns `None` and reads nothing before an expression.
    fn index_item(&mut self) -> ParseResult<Option<IndexItem>> {
        let mut lookahead = self.lexer;
        let (token, span) = lookahead.next()?;
        let item = match token {
            Token::Symbol(Symbol::Ellipsis) => Index::Ellipsis,
            Token::Symbol(Symbol::CloseBracket) => return Err(self.unexpected(span, EXPECTED)),
            Token::Name if matches!(self.slice(span), "None" | "newaxis") => Index::NewAxis,
            _ => return self.number_or_slice(),
        };
        self.lexer = lookahead;
        Ok(Some(item))
    }

    /// Parses a whole number or a slice, such as `-1` or `1::2`; returns `None` and reads nothing before
    /// an expression.
    fn number_or_slice(&mut self) -> ParseResult<Option<IndexItem>> {
        let mut lookahead = self.lexer;
        let start = whole_number(&mut lookahead)?;
        let (token, _) = peek(&lookahead)?;
        let ends_item =
            matches!(token, Token::Symbol(Symbol::Comma | Symbol::CloseBracket) | Token::End);
        match (token, start) {
            (Token::Symbol(Symbol::Colon), _) => {}
            (_, Some(index)) if ends_item => {
                self.lexer = lookahead;
                return Ok(Some(Index::At(index)));
            }
            _ => return Ok(None),
        }
        lookahead.next()?;
        let stop = whole_number(&mut lookahead)?;
        let mut step = None;
        if peek(&lookahead)?.0 == Token::Symbol(Symbol::Colon) {
            lookahead.next()?;
            step = whole_number(&mut lookahead)?;
        }
        self.lexer = lookahead;
        let (token, span) = self.peek()?;
        match token {
            Token::Symbol(Symbol::Comma | Symbol::CloseBracket) | Token::End => {
                Ok(Some(Index::Slice { start, stop, step }))
            }
            _ => Err(self.unexpected(span, "a whole number: bounds of slices cannot be arrays")),
        }
    }

    /// Ends the index or the list of operands that a closing bracket after `operand` closes.
    pub(super) fn close_bracket(
        &mut self,
        operand: NodeIndex,
        span: Span,
    ) -> ParseResult<Option<NodeIndex>> {
        let operand = self.reduce(operand, 0)?;
        match self.pop() {
            Some(Frame::Index(mut index)) => {
                index.items.push(Index::Elements(operand));
                self.close_index(index, span).map(Some)
            }
            Some(Frame::Call(mut call)) if call.is_in_list() => {
                call.add_operand(operand);
                self.close_list(call)
            }
            _ => Err(self.unexpected(span, "an operator or the end")),
        }
    }

    /// Goes on after the comma that follows an operand in an index; `None` if another operand follows.
    pub(super) fn next_index(
        &mut self,
        mut index: IndexFrame,
        operand: NodeIndex,
        span: Span,
    ) -> ParseResult<Option<NodeIndex>> {
        index.items.push(Index::Elements(operand));
        self.check_rank(index.items.len(), index.open.to(span))?;
        match self.closing_bracket()? {
            Some(span) => self.close_index(index, span).map(Some),
            None => self.index_items(index),
        }
    }

    /// Reads a closing bracket, if it follows.
    pub(super) fn closing_bracket(&mut self) -> ParseResult<Option<Span>> {
        let (token, span) = self.peek()?;
        if token != Token::Symbol(Symbol::CloseBracket) {
            return Ok(None);
        }
        self.lexer.next()?;
        Ok(Some(span))
    }

    fn close_index(&mut self, index: IndexFrame, close: Span) -> ParseResult<NodeIndex> {
        let IndexFrame { operand, open, items } = index;
        let extent = self.extent(&[operand]).to(close);
        self.add(SyntaxNodeKind::Index { operand, items }, extent, open.to(close))
    }

    /// Ends the list of a call's operands after its closing bracket.
    pub(super) fn close_list(&mut self, mut call: CallFrame) -> ParseResult<Option<NodeIndex>> {
        call.end_list();
        match self.peek()? {
            (Token::Symbol(Symbol::Comma), _) => drop(self.lexer.next()?),
            (Token::Symbol(Symbol::CloseParenthesis), _) => {}
            (Token::End, _) => return Err(ExprError::new(ExprErrorKind::Unclosed, call.open)),
            (_, span) => return Err(self.unexpected(span, "`,` or `)`")),
        }
        self.argument(call)
    }
}

fn peek(lexer: &Lexer<'_>) -> ParseResult<(Token, Span)> {
    let mut lookahead = *lexer;
    lookahead.next()
}

/// Reads a whole number with its sign, if it follows; otherwise reads nothing.
fn whole_number(lexer: &mut Lexer<'_>) -> ParseResult<Option<i64>> {
    let mut lookahead = *lexer;
    let (mut token, first) = lookahead.next()?;
    let is_negative = token == Token::Symbol(Symbol::Minus);
    let mut span = first;
    if is_negative {
        (token, span) = lookahead.next()?;
    }
    let Token::Number(Literal::Int(value)) = token else { return Ok(None) };
    let value = i64::try_from(if is_negative { -value } else { value })
        .map_err(|_| ExprError::new(ExprErrorKind::NumberTooLarge, first.to(span)))?;
    *lexer = lookahead;
    Ok(Some(value))
}
