//! From tokens to the syntax tree, between brackets: Python's index syntax behind an operand, `x[1:, None]`,
//! and the list of operands in `concatenate([x, y])`. The rest of the grammar is in `parser.rs`.

use indim_builder::Index;
use indim_graph::Literal;

use super::call::CallFrame;
use super::error::{ExprError, ExprErrorKind};
use super::lexer::{Lexer, Symbol, Token};
use super::parser::{Frame, IndexFrame, ParseResult, Parser};
use super::syntax::{IndexItem, NodeIndex, NodeKind};
use crate::span::Span;

const EXPECTED: &str =
    "an index: a number, a slice such as 1:, `None`, `...`, or an array of integers";

impl Parser<'_> {
    /// Begins the index behind `operand`; `None` when an operand follows in it.
    pub(super) fn open_index(
        &mut self,
        operand: NodeIndex,
        open: Span,
    ) -> ParseResult<Option<NodeIndex>> {
        self.check_depth(open)?;
        self.index_items(IndexFrame { operand, open, items: Vec::new() })
    }

    /// Reads items up to the next one that is an expression, for which the index is stacked, or to its end.
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

    /// An item that is no expression; nothing is read otherwise.
    fn index_item(&mut self) -> ParseResult<Option<IndexItem>> {
        let mut ahead = self.lexer;
        let (token, span) = ahead.next()?;
        let item = match token {
            Token::Symbol(Symbol::Ellipsis) => Index::Ellipsis,
            Token::Symbol(Symbol::CloseBracket) => return Err(self.unexpected(span, EXPECTED)),
            Token::Name if matches!(self.slice(span), "None" | "newaxis") => Index::NewAxis,
            _ => return self.number_or_slice(),
        };
        self.lexer = ahead;
        Ok(Some(item))
    }

    /// `-1`, or `1::2`; nothing is read before any other expression.
    fn number_or_slice(&mut self) -> ParseResult<Option<IndexItem>> {
        let mut ahead = self.lexer;
        let start = whole_number(&mut ahead)?;
        let (token, _) = peek(&ahead)?;
        let ends_item =
            matches!(token, Token::Symbol(Symbol::Comma | Symbol::CloseBracket) | Token::End);
        match (token, start) {
            (Token::Symbol(Symbol::Colon), _) => {}
            (_, Some(index)) if ends_item => {
                self.lexer = ahead;
                return Ok(Some(Index::At(index)));
            }
            _ => return Ok(None),
        }
        ahead.next()?;
        let stop = whole_number(&mut ahead)?;
        let mut step = None;
        if peek(&ahead)?.0 == Token::Symbol(Symbol::Colon) {
            ahead.next()?;
            step = whole_number(&mut ahead)?;
        }
        self.lexer = ahead;
        let (token, span) = self.peek()?;
        match token {
            Token::Symbol(Symbol::Comma | Symbol::CloseBracket) | Token::End => {
                Ok(Some(Index::Slice { start, stop, step }))
            }
            _ => Err(self.unexpected(span, "a whole number: slices are known before arrays are")),
        }
    }

    /// A closing bracket behind an operand: of an index, or of a list of operands.
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

    /// A comma behind an operand in an index.
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

    /// Takes the closing bracket that follows, if one does.
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
        self.add(NodeKind::Index { operand, items }, extent, open.to(close))
    }

    /// The list of a call's operands, whose bracket has been read, is at its end.
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
    let mut ahead = *lexer;
    ahead.next()
}

/// The whole number that follows, with its sign; nothing is read otherwise.
fn whole_number(lexer: &mut Lexer<'_>) -> ParseResult<Option<i64>> {
    let mut ahead = *lexer;
    let (mut token, first) = ahead.next()?;
    let is_negative = token == Token::Symbol(Symbol::Minus);
    let mut span = first;
    if is_negative {
        (token, span) = ahead.next()?;
    }
    let Token::Number(Literal::Int(value)) = token else { return Ok(None) };
    let value = i64::try_from(if is_negative { -value } else { value })
        .map_err(|_| ExprError::new(ExprErrorKind::NumberTooLarge, first.to(span)))?;
    *lexer = ahead;
    Ok(Some(value))
}
