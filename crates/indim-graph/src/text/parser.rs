//! From tokens to the syntax tree: operator precedence with an explicit stack.
//!
//! Nothing here recurses, so a deep text meets the limit on depth and not the end of the machine's
//! stack. What the operands are is not known here; see `elaborate.rs`.

use std::collections::HashMap;

use super::Limits;
use super::error::{ExprError, ExprErrorKind, Span};
use super::foreign;
use super::function::{Attribute, Function, Manner, Parameter, Structural};
use super::lexer::{Lexer, Symbol, Token};
use super::literal::Literal;
use super::suggest::closest;
use super::syntax::{
    AttributeValue, BinaryOperator, GivenAttribute, Node, NodeIndex, NodeKind, UNARY_PRECEDENCE,
    UnaryOperator,
};
use crate::dtype::DType;
use crate::op::Op;

type ParseResult<T> = Result<T, ExprError>;

/// What the parser makes of a text.
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) names: Vec<String>,
}

/// Something begun whose operand is still to come.
enum Frame {
    Unary { operator: UnaryOperator, mark: Span },
    Binary { operator: BinaryOperator, left: NodeIndex, mark: Span },
    Group { open: Span },
    Call(CallFrame),
}

/// A call whose closing parenthesis is still to come.
struct CallFrame {
    function: Function,
    name: Span,
    open: Span,
    operands: Vec<NodeIndex>,
    attributes: Vec<GivenAttribute>,
    /// How many arguments without a keyword have come.
    position: usize,
}

/// What stands where an argument may begin.
enum Argument {
    /// An operand; its tokens are not read yet.
    Operand,
    /// The call is complete.
    Closed(NodeIndex),
}

pub(super) struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    limits: &'t Limits,
    nodes: Vec<Node>,
    names: Vec<String>,
    name_positions: HashMap<&'t str, usize>,
    stack: Vec<Frame>,
}

/// The syntax tree of `text`.
pub(super) fn parse(text: &str, limits: &Limits) -> ParseResult<Parsed> {
    if text.len() > limits.text_bytes {
        let kind = ExprErrorKind::TextTooLong { bytes: text.len(), limit: limits.text_bytes };
        return Err(ExprError::new(kind, Span::new(0, 0)));
    }
    let mut parser = Parser {
        text,
        lexer: Lexer::new(text),
        limits,
        nodes: Vec::new(),
        names: Vec::new(),
        name_positions: HashMap::new(),
        stack: Vec::new(),
    };
    parser.expression()?;
    Ok(Parsed { nodes: parser.nodes, names: parser.names })
}

impl<'t> Parser<'t> {
    /// The whole text: operands and operators in turn.
    fn expression(&mut self) -> ParseResult<()> {
        if let (Token::End, span) = self.peek()? {
            return Err(ExprError::new(ExprErrorKind::Empty, span));
        }
        loop {
            let operand = self.operand()?;
            if self.after_operand(operand)? {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> ParseResult<(Token, Span)> {
        let mut ahead = self.lexer;
        ahead.next()
    }

    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    /// Reads up to the end of an operand, stacking what comes before it.
    fn operand(&mut self) -> ParseResult<NodeIndex> {
        loop {
            let (token, span) = self.lexer.next()?;
            match token {
                Token::Number(literal) => return self.add(NodeKind::Literal(literal), span, span),
                Token::Imaginary(part) => return self.imaginary(part, span),
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
                    None => return Err(self.unexpected(span, "a value")),
                },
                Token::End => return Err(self.unexpected(span, "a value")),
            }
        }
    }

    /// `2j` is `complex(0.0, 2.0)`.
    fn imaginary(&mut self, part: f64, span: Span) -> ParseResult<NodeIndex> {
        let parts = [0.0, part];
        let mut operands = Vec::with_capacity(parts.len());
        for part in parts {
            operands.push(self.add(NodeKind::Literal(Literal::Float(part)), span, span)?);
        }
        self.add(call_of_table(Op::Complex, operands), span, span)
    }

    /// A name as a value, or the beginning of a call; `None` when an operand of the call follows.
    fn name_or_call(&mut self, span: Span) -> ParseResult<Option<NodeIndex>> {
        let name = self.slice(span);
        let (next, open) = self.peek()?;
        let is_call = next == Token::Symbol(Symbol::OpenParenthesis);
        // `and(x, y)` is a call of the table's operation; `not (x)` would be read differently by
        // Python when an operator follows.
        if let Some((operator, instead)) = python_operator(name)
            && (!is_call || operator == "not")
        {
            let kind = ExprErrorKind::ForeignOperator { operator, instead };
            return Err(ExprError::new(kind, span));
        }
        if !is_call {
            let position = self.name_position(name);
            return self.add(NodeKind::Name(position), span, span).map(Some);
        }
        self.lexer.next()?;
        let Some(function) = Function::from_name(name) else {
            let kind = foreign::function(name).unwrap_or_else(|| {
                let suggestion = closest(name, Function::names()).map(str::to_owned);
                ExprErrorKind::UnknownFunction { name: name.to_owned(), suggestion }
            });
            return Err(ExprError::new(kind, span));
        };
        let (operands, attributes) = (Vec::new(), Vec::new());
        let call = CallFrame { function, name: span, open, operands, attributes, position: 0 };
        self.check_depth(span)?;
        self.argument(call)
    }

    fn name_position(&mut self, name: &'t str) -> usize {
        *self.name_positions.entry(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Reads attributes up to the next operand, for which the call is stacked, or to the call's end.
    fn argument(&mut self, call: CallFrame) -> ParseResult<Option<NodeIndex>> {
        let open = call.open;
        match self.attributes(call)? {
            (Argument::Closed(node), _) => Ok(Some(node)),
            (Argument::Operand, call) => {
                self.push(Frame::Call(call), open)?;
                Ok(None)
            }
        }
    }

    fn attributes(&mut self, mut call: CallFrame) -> ParseResult<(Argument, CallFrame)> {
        loop {
            let (token, span) = self.peek()?;
            if token == Token::Symbol(Symbol::CloseParenthesis) {
                self.lexer.next()?;
                return Ok((Argument::Closed(self.close_call(&mut call, span)?), call));
            }
            let attribute = match self.keyword(&call, token, span)? {
                Some(attribute) => attribute,
                None => match call.function.parameters().get(call.position) {
                    Some(Parameter::Attribute(attribute)) => {
                        call.position += 1;
                        *attribute
                    }
                    _ => return Ok((Argument::Operand, call)),
                },
            };
            let value = self.attribute_value(attribute)?;
            let whole = Span::new(span.start, value.1.end);
            if call.attributes.iter().any(|given| given.attribute == attribute) {
                let kind = ExprErrorKind::DuplicateKeyword { keyword: attribute.keyword() };
                return Err(ExprError::new(kind, whole));
            }
            call.attributes.push(GivenAttribute { attribute, value: value.0, span: whole });
            match self.peek()? {
                (Token::Symbol(Symbol::Comma), _) => drop(self.lexer.next()?),
                (Token::Symbol(Symbol::CloseParenthesis), _) => {}
                (_, span) => return Err(self.unexpected_in_call(&call, span)),
            }
        }
    }

    /// The attribute that `name =` gives, if that is what follows.
    fn keyword(
        &mut self,
        call: &CallFrame,
        token: Token,
        span: Span,
    ) -> ParseResult<Option<Attribute>> {
        let mut ahead = self.lexer;
        ahead.next()?;
        if token != Token::Name || ahead.next()?.0 != Token::Symbol(Symbol::Assign) {
            return Ok(None);
        }
        self.lexer = ahead;
        let keyword = self.slice(span);
        match Attribute::from_keyword(keyword).filter(|attribute| call.function.takes(*attribute)) {
            Some(attribute) => Ok(Some(attribute)),
            None => {
                let function = self.slice(call.name).to_owned();
                let known = call.function.keywords();
                let keyword = keyword.to_owned();
                Err(ExprError::new(
                    ExprErrorKind::UnknownKeyword { function, keyword, known },
                    span,
                ))
            }
        }
    }

    fn attribute_value(&mut self, attribute: Attribute) -> ParseResult<(AttributeValue, Span)> {
        match attribute {
            Attribute::ElementType => {
                let (dtype, span) = self.element_type()?;
                Ok((AttributeValue::ElementType(dtype), span))
            }
            Attribute::Axis => {
                let (axis, span) = self.integer()?;
                Ok((AttributeValue::Integers(vec![axis]), span))
            }
            _ => {
                let (integers, span) = self.integers()?;
                Ok((AttributeValue::Integers(integers), span))
            }
        }
    }

    fn element_type(&mut self) -> ParseResult<(DType, Span)> {
        let (token, span) = self.lexer.next()?;
        match self.slice(span).parse() {
            Ok(dtype) if token == Token::Name => Ok((dtype, span)),
            _ => Err(self.unexpected(span, "an element type such as f32")),
        }
    }

    /// `[1, 2]`, `(1, 2)` or a single `1`.
    fn integers(&mut self) -> ParseResult<(Vec<i64>, Span)> {
        let (token, open) = self.peek()?;
        let close = match token {
            Token::Symbol(Symbol::OpenBracket) => Symbol::CloseBracket,
            Token::Symbol(Symbol::OpenParenthesis) => Symbol::CloseParenthesis,
            _ => {
                let (value, span) = self.integer()?;
                return Ok((vec![value], span));
            }
        };
        self.lexer.next()?;
        let mut integers = Vec::new();
        loop {
            let (token, span) = self.peek()?;
            if token == Token::Symbol(close) {
                self.lexer.next()?;
                return Ok((integers, Span::new(open.start, span.end)));
            }
            integers.push(self.integer()?.0);
            match self.peek()? {
                (Token::Symbol(Symbol::Comma), _) => drop(self.lexer.next()?),
                (Token::Symbol(symbol), _) if symbol == close => {}
                (Token::End, _) => return Err(ExprError::new(ExprErrorKind::Unclosed, open)),
                (_, span) => return Err(self.unexpected(span, "`,` or the end of the list")),
            }
        }
    }

    fn integer(&mut self) -> ParseResult<(i64, Span)> {
        let (mut token, mut span) = self.lexer.next()?;
        let start = span.start;
        let is_negative = token == Token::Symbol(Symbol::Minus);
        if is_negative {
            (token, span) = self.lexer.next()?;
        }
        let Token::Number(Literal::Int(value)) = token else {
            return Err(self.unexpected(span, "a whole number, or a list of them such as [0, 2]"));
        };
        let span = Span::new(start, span.end);
        i64::try_from(if is_negative { -value } else { value })
            .map(|value| (value, span))
            .map_err(|_| ExprError::new(ExprErrorKind::NumberTooLarge, span))
    }

    /// Reads what follows an operand: true at the end of the text, false when an operand must come.
    fn after_operand(&mut self, mut operand: NodeIndex) -> ParseResult<bool> {
        loop {
            let (token, span) = self.lexer.next()?;
            let symbol = match token {
                Token::End => return self.finish(operand),
                Token::Symbol(symbol) => symbol,
                _ => return Err(self.unexpected_after_operand(span)),
            };
            if let Some(operator) = BinaryOperator::from_symbol(symbol) {
                let left = self.reduce_before(operator, operand, span)?;
                self.push(Frame::Binary { operator, left, mark: span }, span)?;
                return Ok(false);
            }
            let next = match symbol {
                Symbol::CloseParenthesis => Some(self.close(operand, span)?),
                Symbol::Comma => self.next_argument(operand, span)?,
                Symbol::Dot => Some(self.attribute_of(operand, span)?),
                _ => return Err(self.unexpected_after_operand(span)),
            };
            match next {
                Some(node) => operand = node,
                None => return Ok(false),
            }
        }
    }

    fn finish(&mut self, operand: NodeIndex) -> ParseResult<bool> {
        self.reduce(operand, 0)?;
        match self.stack.last() {
            Some(Frame::Group { open } | Frame::Call(CallFrame { open, .. })) => {
                Err(ExprError::new(ExprErrorKind::Unclosed, *open))
            }
            _ => Ok(true),
        }
    }

    /// Completes the operators on the stack that bind at least as tightly as `precedence`.
    fn reduce(&mut self, mut operand: NodeIndex, precedence: u8) -> ParseResult<NodeIndex> {
        loop {
            let (kind, start, mark) = match self.stack.last() {
                Some(Frame::Unary { operator, mark }) if UNARY_PRECEDENCE >= precedence => {
                    (NodeKind::Unary { operator: *operator, operand }, mark.start, *mark)
                }
                Some(Frame::Binary { operator, left, mark })
                    if operator.precedence() >= precedence =>
                {
                    let kind = NodeKind::Binary { operator: *operator, operands: [*left, operand] };
                    (kind, self.nodes[*left].extent.start, *mark)
                }
                _ => return Ok(operand),
            };
            self.stack.pop();
            let extent = Span::new(start, self.nodes[operand].extent.end);
            operand = self.add(kind, extent, mark)?;
        }
    }

    /// The left operand of `operator`, which has just been read.
    fn reduce_before(
        &mut self,
        operator: BinaryOperator,
        operand: NodeIndex,
        span: Span,
    ) -> ParseResult<NodeIndex> {
        if operator.is_comparison() {
            let left = self.reduce(operand, operator.precedence() + 1)?;
            if matches!(self.stack.last(), Some(Frame::Binary { .. })) {
                return Err(ExprError::new(ExprErrorKind::ChainedComparison, span));
            }
            return Ok(left);
        }
        self.reduce(operand, operator.precedence() + u8::from(operator.groups_to_the_right()))
    }

    /// A closing parenthesis.
    fn close(&mut self, operand: NodeIndex, span: Span) -> ParseResult<NodeIndex> {
        let operand = self.reduce(operand, 0)?;
        match self.stack.pop() {
            Some(Frame::Group { open }) => {
                self.nodes[operand].extent = Span::new(open.start, span.end);
                Ok(operand)
            }
            Some(Frame::Call(mut call)) => {
                call.operands.push(operand);
                self.close_call(&mut call, span)
            }
            _ => Err(self.unexpected(span, "an operator or the end")),
        }
    }

    /// A comma: the next argument of the innermost call.
    fn next_argument(&mut self, operand: NodeIndex, span: Span) -> ParseResult<Option<NodeIndex>> {
        let operand = self.reduce(operand, 0)?;
        match self.stack.pop() {
            Some(Frame::Call(mut call)) => {
                call.operands.push(operand);
                call.position += 1;
                self.argument(call)
            }
            _ => Err(self.unexpected(span, "an operator or the end")),
        }
    }

    fn close_call(&mut self, call: &mut CallFrame, close: Span) -> ParseResult<NodeIndex> {
        let function = call.function;
        let (expected, given) = (function.operand_count(), call.operands.len());
        if expected != given {
            let function = self.slice(call.name).to_owned();
            let kind = ExprErrorKind::WrongOperandCount { function, expected, given };
            return Err(ExprError::new(kind, call.name));
        }
        let is_given = |wanted| call.attributes.iter().any(|given| given.attribute == wanted);
        if let Some(missing) = function.required().find(|attribute| !is_given(*attribute)) {
            let function = self.slice(call.name).to_owned();
            let kind = ExprErrorKind::MissingArgument { function, argument: missing.keyword() };
            return Err(ExprError::new(kind, call.name));
        }
        let operands = core::mem::take(&mut call.operands);
        let attributes = core::mem::take(&mut call.attributes);
        let extent = Span::new(call.name.start, close.end);
        self.add(NodeKind::Call { function, operands, attributes }, extent, call.name)
    }

    /// `x.real` and `x.imag`, which are `real(x)` and `imag(x)`, or `x.astype(f32)`: no more than these.
    fn attribute_of(&mut self, operand: NodeIndex, dot: Span) -> ParseResult<NodeIndex> {
        let (_, name) = self.lexer.next()?;
        let op = match self.slice(name) {
            "astype" => return self.astype(operand, name),
            "real" => Op::Real,
            "imag" => Op::Imag,
            _ => {
                let member = Span::new(dot.start, name.end);
                return Err(self.foreign_member(operand, member, name));
            }
        };
        let extent = Span::new(self.nodes[operand].extent.start, name.end);
        self.add(call_of_table(op, vec![operand]), extent, name)
    }

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
        let function = Function::Structural(Structural::Cast(dtype));
        let kind = NodeKind::Call { function, operands: vec![operand], attributes: Vec::new() };
        let extent = Span::new(self.nodes[operand].extent.start, close.end);
        self.add(kind, extent, name)
    }

    /// `x.T`, `np.exp(x)` and the like.
    fn foreign_member(&self, operand: NodeIndex, member: Span, name: Span) -> ExprError {
        let owner = match self.nodes[operand].kind {
            NodeKind::Name(index) => Some(self.names[index].as_str()),
            _ => None,
        };
        match foreign::member(owner, self.slice(name)) {
            Some(kind) => ExprError::new(kind, member),
            None => self.unexpected(member, "an operator"),
        }
    }

    fn add(&mut self, kind: NodeKind, extent: Span, mark: Span) -> ParseResult<NodeIndex> {
        if self.nodes.len() >= self.limits.nodes {
            let kind = ExprErrorKind::TooManyNodes { limit: self.limits.nodes };
            return Err(ExprError::new(kind, mark));
        }
        self.nodes.push(Node { kind, extent, mark });
        Ok(self.nodes.len() - 1)
    }

    fn push(&mut self, frame: Frame, span: Span) -> ParseResult<()> {
        self.check_depth(span)?;
        self.stack.push(frame);
        Ok(())
    }

    fn check_depth(&self, span: Span) -> ParseResult<()> {
        if self.stack.len() >= self.limits.depth {
            let kind = ExprErrorKind::TooDeep { limit: self.limits.depth };
            return Err(ExprError::new(kind, span));
        }
        Ok(())
    }

    fn unexpected(&self, span: Span, expected: &'static str) -> ExprError {
        let found = self.slice(span).to_owned();
        ExprError::new(ExprErrorKind::Unexpected { found, expected }, span)
    }

    fn unexpected_in_call(&self, call: &CallFrame, span: Span) -> ExprError {
        if span.start == self.text.len() {
            return ExprError::new(ExprErrorKind::Unclosed, call.open);
        }
        self.unexpected(span, "`,` or `)`")
    }

    fn unexpected_after_operand(&self, span: Span) -> ExprError {
        if let Some((operator, instead)) = python_operator(self.slice(span)) {
            return ExprError::new(ExprErrorKind::ForeignOperator { operator, instead }, span);
        }
        if let Some(kind) = foreign::after_operand(self.slice(span)) {
            return ExprError::new(kind, span);
        }
        if self.slice(span) == "[" {
            return ExprError::new(ExprErrorKind::Indexing, span);
        }
        self.unexpected(span, "an operator or the end")
    }
}

fn call_of_table(op: Op, operands: Vec<NodeIndex>) -> NodeKind {
    let function = Function::Elementwise { op, manner: Manner::Table };
    NodeKind::Call { function, operands, attributes: Vec::new() }
}

/// Python's operators on single truth values, with the element-wise ones to write instead.
fn python_operator(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "and" => Some(("and", "&")),
        "or" => Some(("or", "|")),
        "not" => Some(("not", "~")),
        _ => None,
    }
}
