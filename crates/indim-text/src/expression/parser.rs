//! The parser: operator precedence with an explicit stack.
//!
//! It does not recurse, so a deep text exceeds the limit on depth and not the machine's stack. `call.rs`
//! parses the arguments of a call, `index.rs` brackets. The parser does not know the operands' types; see
//! `elaborate.rs`.

use std::collections::HashMap;

use indim_ops::{Op, UNARY_PRECEDENCE};
use indim_shape::RankLimitError;

use super::call::CallFrame;
use super::error::{ExprError, ExprErrorKind};
use super::foreign;
use super::function::{Function, OpVariant, StructuralFunction};
use super::lexer::{Lexer, Symbol, Token};
use super::statement::{Assignment, Assignments, Output};
use super::syntax::{
    IndexItem, InfixOperator, NodeIndex, SyntaxNode, SyntaxNodeKind, UnaryOperator,
};
use crate::limits::{LimitError, ParseLimits};
use crate::span::Span;

pub(super) type ParseResult<T> = Result<T, ExprError>;

/// The syntax tree of a text.
pub(super) struct SyntaxTree {
    pub(super) nodes: Vec<SyntaxNode>,
    pub(super) names: Vec<String>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) outputs: Vec<Output>,
}

/// An incomplete construct that waits for an operand. A group is an expression in parentheses.
pub(super) enum Frame {
    Unary { operator: UnaryOperator, mark: Span },
    Binary { operator: InfixOperator, left: NodeIndex, mark: Span },
    Group { open: Span },
    Call(CallFrame),
    Index(IndexFrame),
}

/// An index without its closing bracket.
pub(super) struct IndexFrame {
    pub(super) operand: NodeIndex,
    pub(super) open: Span,
    pub(super) items: Vec<IndexItem>,
}

pub(super) struct Parser<'t> {
    text: &'t str,
    pub(super) lexer: Lexer<'t>,
    limits: &'t ParseLimits,
    nodes: Vec<SyntaxNode>,
    names: Vec<String>,
    name_positions: HashMap<&'t str, usize>,
    pub(super) assignments: Assignments<'t>,
    stack: Vec<Frame>,
}

/// Parses `text` into a syntax tree.
pub(super) fn parse(text: &str, limits: &ParseLimits) -> ParseResult<SyntaxTree> {
    LimitError::check_length(text, limits.text_bytes)
        .map_err(|error| ExprError::limit(error, Span::default()))?;
    let mut parser = Parser {
        text,
        lexer: Lexer::new(text),
        limits,
        nodes: Vec::new(),
        names: Vec::new(),
        name_positions: HashMap::new(),
        assignments: Assignments::default(),
        stack: Vec::new(),
    };
    let outputs = parser.statements()?;
    let Parser { nodes, names, assignments, .. } = parser;
    Ok(SyntaxTree { nodes, names, assignments: assignments.all, outputs })
}

impl<'t> Parser<'t> {
    /// Parses one expression: operands and operators in turn.
    pub(super) fn expression(&mut self) -> ParseResult<NodeIndex> {
        loop {
            let operand = self.operand()?;
            if let Some(expression) = self.after_operand(operand)? {
                return Ok(expression);
            }
        }
    }

    pub(super) fn peek(&self) -> ParseResult<(Token, Span)> {
        let mut lookahead = self.lexer;
        lookahead.next()
    }

    pub(super) fn slice(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    /// Parses an operand, and pushes a frame for each prefix operator, parenthesis and call before it.
    fn operand(&mut self) -> ParseResult<NodeIndex> {
        loop {
            let (token, span) = self.lexer.next()?;
            match token {
                Token::Number(literal) => {
                    return self.add(SyntaxNodeKind::Literal(literal), span, span);
                }
                Token::Name => {
                    if let Some(operand) = self.name_or_call(span)? {
                        return Ok(operand);
                    }
                }
                Token::Symbol(Symbol::OpenParenthesis) => {
                    self.push(Frame::Group { open: span }, span)?
                }
                Token::Symbol(symbol) => match UnaryOperator::from_symbol(symbol) {
                    Some(operator) => self.push(Frame::Unary { operator, mark: span }, span)?,
                    None => return Err(self.missing_operand(span)),
                },
                Token::End => return Err(self.unexpected(span, "a value")),
            }
        }
    }

    /// A name as a value, or the start of a call; `None` if an operand of the call follows.
    fn name_or_call(&mut self, span: Span) -> ParseResult<Option<NodeIndex>> {
        let name = self.slice(span);
        let is_call = self.peek()?.0 == Token::Symbol(Symbol::OpenParenthesis) && !self.ends_line();
        // `and(x, y)` calls an operation of the table. `not (x)` is refused: Python would parse it
        // differently before an operator.
        if let Some((operator, instead)) = python_operator(name)
            && (!is_call || operator == "not")
        {
            let kind = ExprErrorKind::ForeignOperator { operator, instead };
            return Err(ExprError::new(kind, span));
        }
        if !is_call {
            let kind = match self.assignments.node(name) {
                Some(node) => SyntaxNodeKind::LocalName(node),
                None => SyntaxNodeKind::Name(self.name_position(name)),
            };
            return self.add(kind, span, span).map(Some);
        }
        self.open_call(span)
    }

    /// Whether the name has been used as an input.
    pub(super) fn is_input(&self, name: &str) -> bool {
        self.name_positions.contains_key(name)
    }

    /// The name of a node, if the node is a name only.
    pub(super) fn name_of(&self, node: NodeIndex) -> Option<&'t str> {
        let SyntaxNode { kind, mark, .. } = &self.nodes[node];
        let is_name = matches!(kind, SyntaxNodeKind::Name(_) | SyntaxNodeKind::LocalName(_));
        is_name.then(|| self.slice(*mark))
    }

    /// The span from the first of these nodes to the last.
    pub(super) fn extent(&self, nodes: &[NodeIndex]) -> Span {
        let extents = nodes.iter().map(|node| self.nodes[*node].extent);
        extents.reduce(Span::to).unwrap_or_default()
    }

    fn name_position(&mut self, name: &'t str) -> usize {
        *self.name_positions.entry(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Parses the tokens after an operand. Returns the expression if it ends here, `None` if an operand must
    /// follow.
    fn after_operand(&mut self, mut operand: NodeIndex) -> ParseResult<Option<NodeIndex>> {
        loop {
            if self.ends_expression()? {
                return self.finish(operand).map(Some);
            }
            let (token, span) = self.lexer.next()?;
            let Token::Symbol(symbol) = token else {
                return Err(self.unexpected_after_operand(span));
            };
            if let Some(operator) = InfixOperator::from_symbol(symbol) {
                let left = self.reduce_left_operand(operator, operand, span)?;
                self.push(Frame::Binary { operator, left, mark: span }, span)?;
                return Ok(None);
            }
            let next = match symbol {
                Symbol::CloseParenthesis => Some(self.close(operand, span)?),
                Symbol::Comma => self.next_argument(operand, span)?,
                Symbol::Dot => Some(self.attribute_of(operand, span)?),
                Symbol::OpenBracket => self.open_index(operand, span)?,
                Symbol::CloseBracket => self.close_bracket(operand, span)?,
                _ => return Err(self.unexpected_after_operand(span)),
            };
            match next {
                Some(node) => operand = node,
                None => return Ok(None),
            }
        }
    }

    fn finish(&mut self, operand: NodeIndex) -> ParseResult<NodeIndex> {
        let expression = self.reduce(operand, 0)?;
        match self.stack.last() {
            Some(
                Frame::Group { open }
                | Frame::Call(CallFrame { open, .. })
                | Frame::Index(IndexFrame { open, .. }),
            ) => Err(ExprError::new(ExprErrorKind::Unclosed, *open)),
            _ => Ok(expression),
        }
    }

    pub(super) fn is_in_brackets(&self) -> bool {
        let is_operator =
            |frame: &Frame| matches!(frame, Frame::Unary { .. } | Frame::Binary { .. });
        !self.stack.iter().all(is_operator)
    }

    /// Completes the operators on the stack that bind at least as tightly as `precedence`.
    pub(super) fn reduce(
        &mut self,
        mut operand: NodeIndex,
        precedence: u8,
    ) -> ParseResult<NodeIndex> {
        loop {
            let (kind, first, mark) = match self.stack.last() {
                Some(Frame::Unary { operator, mark }) if UNARY_PRECEDENCE >= precedence => {
                    (SyntaxNodeKind::Unary { operator: *operator, operand }, *mark, *mark)
                }
                Some(Frame::Binary { operator, left, mark })
                    if operator.like().precedence() >= precedence =>
                {
                    (operator.node([*left, operand]), self.nodes[*left].extent, *mark)
                }
                _ => return Ok(operand),
            };
            self.stack.pop();
            let extent = first.to(self.nodes[operand].extent);
            operand = self.add(kind, extent, mark)?;
        }
    }

    /// Completes the operators on the stack that bind more tightly than `operator`, which has just been
    /// read, and those that bind equally tightly, unless they group to the right. Returns the left
    /// operand of `operator`. A comparison whose left operand is a comparison is an error.
    fn reduce_left_operand(
        &mut self,
        operator: InfixOperator,
        operand: NodeIndex,
        span: Span,
    ) -> ParseResult<NodeIndex> {
        let operator = operator.like();
        if operator.is_comparison() {
            let left = self.reduce(operand, operator.precedence() + 1)?;
            if matches!(self.stack.last(), Some(Frame::Binary { .. })) {
                return Err(ExprError::new(ExprErrorKind::ChainedComparison, span));
            }
            return Ok(left);
        }
        self.reduce(operand, operator.precedence() + u8::from(operator.groups_to_the_right()))
    }

    /// Ends the group or the call that a closing parenthesis after `operand` closes.
    fn close(&mut self, operand: NodeIndex, span: Span) -> ParseResult<NodeIndex> {
        let operand = self.reduce(operand, 0)?;
        match self.stack.pop() {
            Some(Frame::Group { open }) => {
                self.nodes[operand].extent = open.to(span);
                Ok(operand)
            }
            Some(Frame::Call(mut call)) if !call.is_in_list() => {
                call.add_operand(operand);
                self.close_call(call, span)
            }
            _ => Err(self.unexpected(span, "an operator or the end")),
        }
    }

    /// Goes on after the comma that follows `operand`: with the next argument of a call, or the next item
    /// of an index.
    fn next_argument(&mut self, operand: NodeIndex, span: Span) -> ParseResult<Option<NodeIndex>> {
        let operand = self.reduce(operand, 0)?;
        match self.stack.pop() {
            Some(Frame::Call(mut call)) => {
                call.add_operand(operand);
                self.argument(call)
            }
            Some(Frame::Index(index)) => self.next_index(index, operand, span),
            _ => Err(self.unexpected(span, "an operator or the end")),
        }
    }

    /// `x.real` and `x.imag`, which are `real(x)` and `imag(x)`, or `x.astype(f32)`; no other attributes
    /// exist.
    fn attribute_of(&mut self, operand: NodeIndex, dot: Span) -> ParseResult<NodeIndex> {
        let (_, name) = self.lexer.next()?;
        let op = match self.slice(name) {
            "astype" => return self.astype(operand, name),
            "real" => Op::Real,
            "imag" => Op::Imag,
            _ => {
                let member = dot.to(name);
                return Err(self.foreign_member(operand, member, name));
            }
        };
        let extent = self.nodes[operand].extent.to(name);
        self.add(call_of_table(op, vec![operand]), extent, name)
    }

    /// Parses `(f32)` after `x.astype`.
    fn astype(&mut self, operand: NodeIndex, name: Span) -> ParseResult<NodeIndex> {
        let (token, open) = self.lexer.next()?;
        if token != Token::Symbol(Symbol::OpenParenthesis) {
            return Err(self.unexpected(open, "`(`"));
        }
        let (dtype, _) = self.element_type()?;
        let (token, close) = self.lexer.next()?;
        if token != Token::Symbol(Symbol::CloseParenthesis) {
            return Err(self.unexpected(close, "`)`"));
        }
        let function = Function::Structural(StructuralFunction::Cast(dtype));
        let kind =
            SyntaxNodeKind::Call { function, operands: vec![operand], attributes: Vec::new() };
        let extent = self.nodes[operand].extent.to(close);
        self.add(kind, extent, name)
    }

    /// The error for `x.T`, `np.exp(x)` and similar members.
    fn foreign_member(&self, operand: NodeIndex, member: Span, name: Span) -> ExprError {
        match foreign::member_replacement(self.name_of(operand), self.slice(name)) {
            Some(kind) => ExprError::new(kind, member),
            None => self.unexpected(member, "an operator"),
        }
    }

    pub(super) fn add(
        &mut self,
        kind: SyntaxNodeKind,
        extent: Span,
        mark: Span,
    ) -> ParseResult<NodeIndex> {
        if self.nodes.len() >= self.limits.nodes {
            return Err(ExprError::limit(LimitError::TooManyNodes(self.limits.nodes), mark));
        }
        self.nodes.push(SyntaxNode { kind, extent, mark });
        Ok(self.nodes.len() - 1)
    }

    pub(super) fn push(&mut self, frame: Frame, span: Span) -> ParseResult<()> {
        self.check_depth(span)?;
        self.stack.push(frame);
        Ok(())
    }

    /// Pops the innermost frame.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        self.stack.pop()
    }

    pub(super) fn check_depth(&self, span: Span) -> ParseResult<()> {
        if self.stack.len() >= self.limits.depth {
            return Err(ExprError::limit(LimitError::TooDeep(self.limits.depth), span));
        }
        Ok(())
    }

    pub(super) fn check_rank(&self, rank: usize, span: Span) -> ParseResult<()> {
        RankLimitError::check(rank, self.limits.rank)
            .map_err(|error| ExprError::limit(LimitError::Rank(error), span))
    }

    pub(super) fn unexpected(&self, span: Span, expected: &'static str) -> ExprError {
        let found = self.slice(span).to_owned();
        ExprError::new(ExprErrorKind::Unexpected { found, expected }, span)
    }

    /// The error for a symbol in place of an operand; `m += 1` gets its own.
    fn missing_operand(&self, span: Span) -> ExprError {
        match self.stack.last() {
            Some(Frame::Binary { mark, .. }) if self.slice(mark.to(span)).ends_with('=') => {
                let found = mark.to(span);
                ExprError::new(foreign::augmented_assignment(self.slice(found)), found)
            }
            _ => self.unexpected(span, "a value"),
        }
    }

    fn unexpected_after_operand(&self, span: Span) -> ExprError {
        if let Some((operator, instead)) = python_operator(self.slice(span)) {
            return ExprError::new(ExprErrorKind::ForeignOperator { operator, instead }, span);
        }
        if let Some(kind) = foreign::operator_replacement(self.slice(span)) {
            return ExprError::new(kind, span);
        }
        self.unexpected(span, "an operator or the end")
    }
}

fn call_of_table(op: Op, operands: Vec<NodeIndex>) -> SyntaxNodeKind {
    let function = Function::Elementwise { op, variant: OpVariant::Table };
    SyntaxNodeKind::Call { function, operands, attributes: Vec::new() }
}

/// Python's operators on single truth values, with their element-wise replacements.
fn python_operator(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "and" => Some(("and", "&")),
        "or" => Some(("or", "|")),
        "not" => Some(("not", "~")),
        _ => None,
    }
}
