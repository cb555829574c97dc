//! The parser of statements: assigned names, and the outputs of the last statement. `parser.rs` parses the
//! expressions in them.

use std::collections::HashMap;

use super::error::{ExprError, ExprErrorKind};
use super::function::Function;
use super::lexer::{Symbol, Token};
use super::parser::{ParseResult, Parser};
use super::statement_error::StatementError;
use super::syntax::NodeIndex;
use crate::span::Span;

/// An assignment of a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) node: NodeIndex,
    /// The span of the name.
    pub(super) span: Span,
}

/// A result of a text: a value of its last statement, with its name if it has one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Output {
    pub(super) name: Option<String>,
    pub(super) node: NodeIndex,
}

/// The assignments so far.
#[derive(Debug, Default)]
pub(super) struct Assignments<'t> {
    pub(super) all: Vec<Assignment>,
    nodes: HashMap<&'t str, NodeIndex>,
}

impl Assignments<'_> {
    /// The node of a name's value.
    pub(super) fn node(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.get(name).copied()
    }
}

impl<'t> Parser<'t> {
    /// Parses the whole text, and returns the outputs of the last statement.
    pub(super) fn statements(&mut self) -> ParseResult<Vec<Output>> {
        let mut outputs = Vec::new();
        let mut unnamed = None;
        while self.begins_statement()? {
            if let Some(span) = unnamed {
                return Err(ExprError::statement(StatementError::Unnamed, span));
            }
            let targets = self.targets()?;
            let values = self.values()?;
            unnamed = targets.is_empty().then(|| self.extent(&values));
            outputs = match targets.as_slice() {
                [] => values.into_iter().map(|node| self.unassigned(node)).collect(),
                targets => self.assign_all(targets, &values)?,
            };
        }
        if outputs.is_empty() {
            let (_, end) = self.peek()?;
            return Err(ExprError::new(ExprErrorKind::Empty, end));
        }
        Ok(outputs)
    }

    /// Skips semicolons. Returns whether a statement follows.
    fn begins_statement(&mut self) -> ParseResult<bool> {
        loop {
            match self.peek()?.0 {
                Token::Symbol(Symbol::Semicolon) => drop(self.lexer.next()?),
                token => return Ok(token != Token::End),
            }
        }
    }

    /// Reads `m =` or `a, b =`, if it follows; otherwise reads nothing.
    fn targets(&mut self) -> ParseResult<Vec<Span>> {
        let mut lookahead = self.lexer;
        let mut targets = Vec::new();
        loop {
            let (Token::Name, name) = lookahead.next()? else { return Ok(Vec::new()) };
            targets.push(name);
            if lookahead.is_at_line_end() {
                return Ok(Vec::new());
            }
            match lookahead.next()?.0 {
                Token::Symbol(Symbol::Comma) => {}
                Token::Symbol(Symbol::Assign) => {
                    self.lexer = lookahead;
                    return Ok(targets);
                }
                _ => return Ok(Vec::new()),
            }
        }
    }

    /// Expressions separated by commas.
    fn values(&mut self) -> ParseResult<Vec<NodeIndex>> {
        let mut values = vec![self.expression()?];
        while !self.lexer.is_at_line_end() && self.peek()?.0 == Token::Symbol(Symbol::Comma) {
            self.lexer.next()?;
            values.push(self.expression()?);
        }
        Ok(values)
    }

    /// The output of a statement without assignment. If the value is a name, the output has this name.
    fn unassigned(&self, node: NodeIndex) -> Output {
        Output { name: self.name_of(node).map(str::to_owned), node }
    }

    fn assign_all(&mut self, targets: &[Span], values: &[NodeIndex]) -> ParseResult<Vec<Output>> {
        if targets.len() != values.len() {
            let error =
                StatementError::WrongValueCount { names: targets.len(), values: values.len() };
            return Err(ExprError::statement(error, targets[0].to(targets[targets.len() - 1])));
        }
        let assign = |(&target, &node)| self.assign(target, node);
        targets.iter().zip(values).map(assign).collect()
    }

    fn assign(&mut self, target: Span, node: NodeIndex) -> ParseResult<Output> {
        let key = self.slice(target);
        let name = key.to_owned();
        let refused = if self.assignments.node(key).is_some() {
            Some(StatementError::AssignedTwice { name: name.clone() })
        } else if self.is_input(key) {
            Some(StatementError::AssignedInput { name: name.clone() })
        } else if Function::from_name(key).is_some() {
            Some(StatementError::AssignedFunction { name: name.clone() })
        } else {
            None
        };
        if let Some(error) = refused {
            return Err(ExprError::statement(error, target));
        }
        self.assignments.nodes.insert(key, node);
        self.assignments.all.push(Assignment { name: name.clone(), node, span: target });
        Ok(Output { name: Some(name), node })
    }

    /// Whether the expression ends before the next token: at a semicolon, at the end of a line or a comma
    /// outside of brackets, or at the end of the text.
    pub(super) fn ends_expression(&self) -> ParseResult<bool> {
        if self.ends_line() {
            return Ok(true);
        }
        Ok(match self.peek()?.0 {
            Token::End | Token::Symbol(Symbol::Semicolon) => true,
            Token::Symbol(Symbol::Comma) => !self.is_in_brackets(),
            _ => false,
        })
    }

    /// Whether the next token is on another line, outside of brackets; expressions in brackets may span
    /// lines.
    pub(super) fn ends_line(&self) -> bool {
        self.lexer.is_at_line_end() && !self.is_in_brackets()
    }
}
