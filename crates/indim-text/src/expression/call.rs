//! The parser of calls: the function, its operands and its attributes. `parser.rs` parses the rest of the
//! grammar.

use indim_ops::DType;

use super::error::{ExprError, ExprErrorKind};
use super::foreign;
use super::function::Function;
use super::lexer::{Symbol, Token};
use super::parameter::{AttributeKey, CallParameter};
use super::parser::{Frame, ParseResult, Parser};
use super::syntax::{AttributeValue, NamedAttribute, NodeIndex, SyntaxNodeKind};
use crate::span::Span;
use crate::suggest::closest;
use indim_graph::Literal;

/// A call without its closing parenthesis.
pub(super) struct CallFrame {
    function: Function,
    name: Span,
    pub(super) open: Span,
    operands: Vec<NodeIndex>,
    attributes: Vec<NamedAttribute>,
    /// The number of arguments without a keyword so far.
    position: usize,
    /// The attribute, with its span, whose value is the next operand; `None` if the next operand is an
    /// operand of the function.
    pending_attribute: Option<(AttributeKey, Span)>,
    /// Whether the next operand is an entry of the list of operands.
    is_in_list: bool,
}

impl CallFrame {
    /// Adds the operand that the frame waits for.
    pub(super) fn add_operand(&mut self, operand: NodeIndex) {
        if let Some((attribute, span)) = self.pending_attribute.take() {
            let value = AttributeValue::Number(operand);
            self.attributes.push(NamedAttribute { attribute, value, span });
        } else {
            self.operands.push(operand);
            // A list is one argument.
            self.position += usize::from(!self.is_in_list);
        }
    }

    pub(super) fn is_in_list(&self) -> bool {
        self.is_in_list
    }

    pub(super) fn end_list(&mut self) {
        self.is_in_list = false;
        self.position += 1;
    }
}

impl Parser<'_> {
    /// Starts a call of the function at `name`; `None` if an operand follows.
    pub(super) fn open_call(&mut self, name: Span) -> ParseResult<Option<NodeIndex>> {
        let (_, open) = self.lexer.next()?;
        let function =
            function_named(self.slice(name)).map_err(|kind| ExprError::new(kind, name))?;
        let (operands, attributes) = (Vec::new(), Vec::new());
        self.check_depth(name)?;
        let (position, pending_attribute, is_in_list) = (0, None, false);
        self.argument(CallFrame {
            function,
            name,
            open,
            operands,
            attributes,
            position,
            pending_attribute,
            is_in_list,
        })
    }

    /// Continues with the next operand of a list, or with the arguments after the list.
    fn list_operand(&mut self, mut call: CallFrame) -> ParseResult<Option<NodeIndex>> {
        if !call.is_in_list {
            let (token, span) = self.lexer.next()?;
            if token != Token::Symbol(Symbol::OpenBracket) {
                return Err(self.unexpected(span, "a list of arrays: [x, y]"));
            }
            call.is_in_list = true;
        }
        if self.closing_bracket()?.is_some() {
            return self.close_list(call);
        }
        let open = call.open;
        self.push(Frame::Call(call), open)?;
        Ok(None)
    }

    /// Parses attributes up to the end of the call, or up to the next operand, for which it pushes the call's
    /// frame.
    pub(super) fn argument(&mut self, mut call: CallFrame) -> ParseResult<Option<NodeIndex>> {
        if call.function.takes_list() && call.position == 0 && call.attributes.is_empty() {
            return self.list_operand(call);
        }
        if call.function.takes_equation() && call.position == 0 && call.attributes.is_empty() {
            self.equation(&mut call)?;
        }
        loop {
            let (token, span) = self.peek()?;
            if token == Token::Symbol(Symbol::CloseParenthesis) {
                self.lexer.next()?;
                return self.close_call(call, span).map(Some);
            }
            let Some(attribute) = self.attribute(&mut call, token, span)? else {
                let open = call.open;
                self.push(Frame::Call(call), open)?;
                return Ok(None);
            };
            let is_given = call.attributes.iter().any(|given| given.attribute == attribute);
            let duplicate = |span| {
                let kind = ExprErrorKind::DuplicateKeyword { keyword: attribute.keyword() };
                Err(ExprError::new(kind, span))
            };
            if let AttributeKey::Argument(_) = attribute {
                if is_given {
                    return duplicate(span);
                }
                let open = call.open;
                call.pending_attribute = Some((attribute, span));
                self.push(Frame::Call(call), open)?;
                return Ok(None);
            }
            let (value, value_span) = self.attribute_value(call.function, attribute)?;
            let span = span.to(value_span);
            if is_given {
                return duplicate(span);
            }
            call.attributes.push(NamedAttribute { attribute, value, span });
            self.end_of_argument(&call)?;
        }
    }

    /// Reads the equation in quotes that begins the arguments, and the comma after it.
    fn equation(&mut self, call: &mut CallFrame) -> ParseResult<()> {
        let Some((equation, span)) = self.lexer.quoted() else {
            let (_, span) = self.lexer.next()?;
            return Err(self.unexpected(span, "an equation in quotes, such as \"ij,jk->ik\""));
        };
        let value = AttributeValue::Word(equation.to_owned());
        call.attributes.push(NamedAttribute { attribute: AttributeKey::Equation, value, span });
        call.position = 1;
        self.end_of_argument(call)
    }

    /// Reads the comma after an argument, unless the call ends.
    fn end_of_argument(&mut self, call: &CallFrame) -> ParseResult<()> {
        match self.peek()? {
            (Token::Symbol(Symbol::Comma), _) => drop(self.lexer.next()?),
            (Token::Symbol(Symbol::CloseParenthesis), _) => {}
            (Token::End, _) => return Err(ExprError::new(ExprErrorKind::Unclosed, call.open)),
            (_, span) => return Err(self.unexpected(span, "`,` or `)`")),
        }
        Ok(())
    }

    /// The attribute whose value follows, by its keyword or its position; `None` before an operand.
    fn attribute(
        &mut self,
        call: &mut CallFrame,
        token: Token,
        span: Span,
    ) -> ParseResult<Option<AttributeKey>> {
        if let Some(attribute) = self.keyword(call, token, span)? {
            return Ok(Some(attribute));
        }
        let Some(CallParameter::Attribute(attribute)) = call.function.parameter(call.position)
        else {
            return Ok(None);
        };
        call.position += 1;
        Ok(Some(attribute))
    }

    /// Reads `name =`, if it follows, and returns its attribute.
    fn keyword(
        &mut self,
        call: &mut CallFrame,
        token: Token,
        span: Span,
    ) -> ParseResult<Option<AttributeKey>> {
        let mut lookahead = self.lexer;
        lookahead.next()?;
        if token != Token::Name || lookahead.next()?.0 != Token::Symbol(Symbol::Assign) {
            return Ok(None);
        }
        self.lexer = lookahead;
        call.function = call.function.of_operands(call.operands.len());
        attribute_named(call.function, self.slice(call.name), self.slice(span))
            .map(Some)
            .map_err(|kind| ExprError::new(kind, span))
    }

    /// Parses the value of an attribute.
    fn attribute_value(
        &mut self,
        function: Function,
        attribute: AttributeKey,
    ) -> ParseResult<(AttributeValue, Span)> {
        match attribute {
            AttributeKey::Axis | AttributeKey::Axes
                if function.accepts_axis_none(attribute) && self.is_none()? =>
            {
                let (_, span) = self.lexer.next()?;
                Ok((AttributeValue::All, span))
            }
            AttributeKey::Axes if self.names_axes()? => {
                let (names, span) = self.axis_names()?;
                Ok((AttributeValue::Names(names), span))
            }
            AttributeKey::ElementType => {
                let (dtype, span) = self.element_type()?;
                Ok((AttributeValue::ElementType(dtype), span))
            }
            AttributeKey::Axis => {
                let (axis, span) = self.integer()?;
                Ok((AttributeValue::Integers(vec![axis]), span))
            }
            AttributeKey::Widths => {
                let (pairs, span) = self.pairs()?;
                Ok((AttributeValue::Pairs(pairs), span))
            }
            AttributeKey::SummedAxes => self.axis_lists(),
            AttributeKey::Mode | AttributeKey::Side | AttributeKey::Norm => {
                let (token, span) = self.lexer.next()?;
                match token {
                    Token::Name => Ok((AttributeValue::Word(self.slice(span).to_owned()), span)),
                    _ if attribute == AttributeKey::Side => {
                        Err(self.unexpected(span, "`left` or `right`, without quotes"))
                    }
                    _ => Err(self.unexpected(span, "the name of a mode, without quotes")),
                }
            }
            _ => {
                let (integers, span) = self.integers()?;
                Ok((AttributeValue::Integers(integers), span))
            }
        }
    }

    /// Whether `None` follows.
    fn is_none(&mut self) -> ParseResult<bool> {
        let (token, span) = self.peek()?;
        Ok(token == Token::Name && self.slice(span) == "None")
    }

    /// Whether axis names follow: `time`, or `[time, lat]`.
    fn names_axes(&mut self) -> ParseResult<bool> {
        let mut lookahead = self.lexer;
        let (mut token, _) = lookahead.next()?;
        if matches!(token, Token::Symbol(Symbol::OpenBracket | Symbol::OpenParenthesis)) {
            (token, _) = lookahead.next()?;
        }
        Ok(token == Token::Name)
    }

    /// `[time, lat]`, `(time, lat)` or a single `time`.
    fn axis_names(&mut self) -> ParseResult<(Vec<String>, Span)> {
        self.list(Parser::axis_name)
    }

    fn axis_name(&mut self) -> ParseResult<(String, Span)> {
        let (token, span) = self.lexer.next()?;
        match token {
            Token::Name => Ok((self.slice(span).to_owned(), span)),
            _ => Err(self.unexpected(span, "the name of an axis")),
        }
    }

    pub(super) fn element_type(&mut self) -> ParseResult<(DType, Span)> {
        let (token, span) = self.lexer.next()?;
        match self.slice(span).parse() {
            Ok(dtype) if token == Token::Name => Ok((dtype, span)),
            _ => Err(self.unexpected(span, "an element type such as f32")),
        }
    }

    /// `[1, 2]`, `(1, 2)` or a single `1`.
    fn integers(&mut self) -> ParseResult<(Vec<i64>, Span)> {
        self.list(Parser::integer)
    }

    /// A list of entries that `entry` parses, or a single entry.
    fn list<T>(
        &mut self,
        entry: impl Fn(&mut Self) -> ParseResult<(T, Span)>,
    ) -> ParseResult<(Vec<T>, Span)> {
        let (token, open) = self.peek()?;
        let close = match token {
            Token::Symbol(Symbol::OpenBracket) => Symbol::CloseBracket,
            Token::Symbol(Symbol::OpenParenthesis) => Symbol::CloseParenthesis,
            _ => {
                let (value, span) = entry(self)?;
                return Ok((vec![value], span));
            }
        };
        self.lexer.next()?;
        let mut entries = Vec::new();
        loop {
            let (token, span) = self.peek()?;
            if token == Token::Symbol(close) {
                self.lexer.next()?;
                return Ok((entries, open.to(span)));
            }
            let (read, span) = entry(self)?;
            entries.push(read);
            // A list has an entry for each axis.
            self.check_rank(entries.len(), open.to(span))?;
            match self.peek()? {
                (Token::Symbol(Symbol::Comma), _) => drop(self.lexer.next()?),
                (Token::Symbol(symbol), _) if symbol == close => {}
                (Token::End, _) => return Err(ExprError::new(ExprErrorKind::Unclosed, open)),
                (_, span) => return Err(self.unexpected(span, "`,` or the end of the list")),
            }
        }
    }

    /// `1`, `[1, 2]`, or a pair for each axis: `[[1, 2], [0, 3]]`.
    fn pairs(&mut self) -> ParseResult<(Vec<(i64, i64)>, Span)> {
        const PAIR_FORMS: &str = "a number, two, or two for each axis: [[1, 2], [0, 3]]";
        let mut lookahead = self.lexer;
        let (outer, open) = lookahead.next()?;
        let is_open =
            |token| matches!(token, Token::Symbol(Symbol::OpenBracket | Symbol::OpenParenthesis));
        if !is_open(outer) || !is_open(lookahead.next()?.0) {
            let (integers, span) = self.integers()?;
            return match integers[..] {
                [both] => Ok((vec![(both, both)], span)),
                [low, high] => Ok((vec![(low, high)], span)),
                _ => Err(self.unexpected(span, PAIR_FORMS)),
            };
        }
        self.lexer.next()?;
        let mut pairs = Vec::new();
        loop {
            let (integers, span) = self.integers()?;
            let [low, high] = integers[..] else { return Err(self.unexpected(span, PAIR_FORMS)) };
            pairs.push((low, high));
            self.check_rank(pairs.len(), open.to(span))?;
            let (mut token, mut span) = self.lexer.next()?;
            if token == Token::Symbol(Symbol::Comma) {
                if !matches!(
                    self.peek()?.0,
                    Token::Symbol(Symbol::CloseBracket | Symbol::CloseParenthesis)
                ) {
                    continue;
                }
                (token, span) = self.lexer.next()?;
            }
            return match token {
                Token::Symbol(Symbol::CloseBracket | Symbol::CloseParenthesis) => {
                    Ok((pairs, open.to(span)))
                }
                Token::End => Err(ExprError::new(ExprErrorKind::Unclosed, open)),
                _ => Err(self.unexpected(span, "`,` or the end of the list")),
            };
        }
    }

    /// `2`, `[1, 0]` for one axis of each operand, or two lists: `[[1, 0], [0, 1]]`.
    fn axis_lists(&mut self) -> ParseResult<(AttributeValue, Span)> {
        let (token, open) = self.peek()?;
        if !matches!(token, Token::Symbol(Symbol::OpenBracket | Symbol::OpenParenthesis)) {
            let (count, span) = self.integer()?;
            return Ok((AttributeValue::Integers(vec![count]), span));
        }
        self.lexer.next()?;
        let (x, _) = self.integers()?;
        let (comma, span) = self.lexer.next()?;
        if comma != Token::Symbol(Symbol::Comma) {
            return Err(self.unexpected(span, "`,` and the axes of the other operand"));
        }
        let (y, _) = self.integers()?;
        let (close, span) = self.lexer.next()?;
        match close {
            Token::Symbol(Symbol::CloseBracket | Symbol::CloseParenthesis) => {
                Ok((AttributeValue::AxisLists([x, y]), open.to(span)))
            }
            Token::End => Err(ExprError::new(ExprErrorKind::Unclosed, open)),
            _ => Err(self.unexpected(span, "the end of the two lists of axes")),
        }
    }

    fn integer(&mut self) -> ParseResult<(i64, Span)> {
        let (mut token, mut span) = self.lexer.next()?;
        let first = span;
        let is_negative = token == Token::Symbol(Symbol::Minus);
        if is_negative {
            (token, span) = self.lexer.next()?;
        }
        let Token::Number(Literal::Int(value)) = token else {
            return Err(self.unexpected(span, "a whole number, or a list of them such as [0, 2]"));
        };
        let span = first.to(span);
        i64::try_from(if is_negative { -value } else { value })
            .map(|value| (value, span))
            .map_err(|_| ExprError::new(ExprErrorKind::NumberTooLarge, span))
    }

    /// Completes a call; `close` is its closing parenthesis.
    pub(super) fn close_call(&mut self, call: CallFrame, close: Span) -> ParseResult<NodeIndex> {
        let CallFrame { function, name, operands, attributes, .. } = call;
        let function = function.of_operands(operands.len());
        check_complete(function, self.slice(name), operands.len(), &attributes)
            .map_err(|kind| ExprError::new(kind, name))?;
        let extent = name.to(close);
        self.add(SyntaxNodeKind::Call { function, operands, attributes }, extent, name)
    }
}

/// The function of this name.
pub(super) fn function_named(name: &str) -> Result<Function, ExprErrorKind> {
    Function::from_name(name).ok_or_else(|| {
        foreign::function_replacement(name).unwrap_or_else(|| {
            let suggestion = closest(name, Function::names()).map(str::to_owned);
            ExprErrorKind::UnknownFunction { name: name.to_owned(), suggestion }
        })
    })
}

/// The attribute of `keyword` in a call of `function`; `name` is the function's name in the text.
pub(super) fn attribute_named(
    function: Function,
    name: &str,
    keyword: &str,
) -> Result<AttributeKey, ExprErrorKind> {
    function.attribute(keyword).ok_or_else(|| ExprErrorKind::UnknownKeyword {
        function: name.to_owned(),
        keyword: keyword.to_owned(),
        known: function.keywords(),
    })
}

/// Checks that a call of `function` has all operands and required attributes; `name` is the name in the text.
pub(super) fn check_complete(
    function: Function,
    name: &str,
    given: usize,
    attributes: &[NamedAttribute],
) -> Result<(), ExprErrorKind> {
    let expected = function.operand_count();
    if expected != given && !function.takes_list() && !function.takes_equation() {
        let function = name.to_owned();
        return Err(ExprErrorKind::WrongOperandCount { function, expected, given });
    }
    let is_given = |wanted| attributes.iter().any(|given| given.attribute == wanted);
    match function.required().find(|attribute| !is_given(*attribute)) {
        Some(missing) => {
            let (function, argument) = (name.to_owned(), missing.keyword());
            Err(ExprErrorKind::MissingArgument { function, argument })
        }
        None => Ok(()),
    }
}
