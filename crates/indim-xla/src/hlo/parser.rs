//! The parser of HLO text.

use std::collections::HashMap;

use indim_model::{FormatError, FormatErrorKind, FormatLimits};
use indim_text::Span;

use super::lexer::{Lexer, Token, TokenKind};
use super::syntax::{Computation, Instruction, Module};

/// Maximum depth of nested tuples and nested instructions; bounds the recursion of the parser.
pub(super) const MAX_NESTING: usize = 64;

pub(super) type ParseResult<T> = Result<T, FormatError>;

/// Parses a text.
///
/// # Errors
/// `unexpected`, `undefined`, `duplicate`, `limit`, `attribute`.
pub(super) fn parse(text: &str, limits: &FormatLimits) -> ParseResult<Module> {
    let mut parser = Parser::new(text, Span::new(0, text.len()), limits);
    let mut module = Module::default();
    parser.header()?;
    while parser.next.kind != TokenKind::End {
        parser.computation(&mut module)?;
    }
    if module.computations.is_empty() {
        return Err(parser.unexpected("a computation"));
    }
    Ok(module)
}

pub(super) struct Parser<'t, 'l> {
    pub(super) text: &'t str,
    lexer: Lexer<'t>,
    /// The next token, a lookahead of one.
    pub(super) next: Token,
    /// Span of the token before the next.
    last: Span,
    pub(super) limits: &'l FormatLimits,
    nested: usize,
}

/// A computation during its parsing.
struct OpenComputation<'t> {
    instructions: Vec<Instruction>,
    numbers: HashMap<&'t str, usize>,
    root: Option<usize>,
}

impl<'t, 'l> Parser<'t, 'l> {
    pub(super) fn new(text: &'t str, piece: Span, limits: &'l FormatLimits) -> Self {
        let mut lexer = Lexer::new(text, piece);
        let next = lexer.token();
        Parser { text, lexer, next, last: next.span, limits, nested: 0 }
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.next;
        self.next = self.lexer.token();
        self.last = token.span;
        token
    }

    pub(super) fn second(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.token()
    }

    pub(super) fn of(&self, token: Token) -> &'t str {
        token.span.of(self.text)
    }

    /// A name without `%`.
    fn name(&self, span: Span) -> &'t str {
        span.of(self.text).trim_start_matches('%')
    }

    fn is_word(&self, word: &str) -> bool {
        self.next.kind == TokenKind::Word && self.of(self.next) == word
    }

    pub(super) fn is_mark(&self, mark: u8) -> bool {
        self.next.kind == TokenKind::Mark(mark)
    }

    pub(super) fn eat_mark(&mut self, mark: u8) -> Option<Token> {
        self.is_mark(mark).then(|| self.advance())
    }

    pub(super) fn expect_mark(&mut self, mark: u8) -> ParseResult<Token> {
        self.eat_mark(mark).ok_or_else(|| self.unexpected(&format!("`{}`", mark as char)))
    }

    fn expect_word(&mut self, what: &str) -> ParseResult<Token> {
        match self.next.kind {
            TokenKind::Word => Ok(self.advance()),
            _ => Err(self.unexpected(what)),
        }
    }

    /// The error of an unexpected next token.
    pub(super) fn unexpected(&self, expected: &str) -> FormatError {
        let expected = match self.next.kind {
            TokenKind::End => format!("{expected}, not the end of the text"),
            _ => expected.to_owned(),
        };
        let span = self.next.span;
        FormatErrorKind::Unexpected { expected }.in_text(span.start..span.end)
    }

    /// Counts one nesting level around `read`.
    pub(super) fn nest<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        self.nested += 1;
        let limit = MAX_NESTING.min(self.limits.depth);
        if self.nested > limit {
            let (what, span) = ("nested types and instructions", self.next.span);
            return Err(FormatErrorKind::Limit { what, limit }.in_text(span.start..span.end));
        }
        let read = read(self);
        self.nested -= 1;
        read
    }

    /// Skips a bracket and everything up to its closing bracket.
    pub(super) fn skip_balanced(&mut self) -> ParseResult<Span> {
        let start = self.next.span;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.next.kind {
                TokenKind::Mark(b'(') => open.push(b')'),
                TokenKind::Mark(b'[') => open.push(b']'),
                TokenKind::Mark(b'{') => open.push(b'}'),
                TokenKind::Mark(mark) if open.last() == Some(&mark) => {
                    open.pop();
                }
                TokenKind::Mark(b')' | b']' | b'}') | TokenKind::End | TokenKind::Bad => {
                    let expected = open.last().copied().unwrap_or(b'{');
                    return Err(self.unexpected(&format!("`{}`", expected as char)));
                }
                _ => {}
            }
            let limit = self.limits.depth;
            if open.len() > limit {
                let (what, span) = ("nested brackets", self.next.span);
                return Err(FormatErrorKind::Limit { what, limit }.in_text(span.start..span.end));
            }
            let passed = self.advance();
            if open.is_empty() {
                return Ok(start.to(passed.span));
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.next.kind, TokenKind::Mark(b'(' | b'[' | b'{'))
    }

    /// `HloModule name, key=value, ..`, and tables of source locations.
    fn header(&mut self) -> ParseResult<()> {
        if self.is_word("HloModule") {
            self.advance();
            self.expect_word("the name of the module")?;
            while self.eat_mark(b',').is_some() {
                self.attribute()?;
            }
        }
        while ["FileNames", "FunctionNames", "FileLocations", "StackFrames"]
            .iter()
            .any(|table| self.is_word(table))
        {
            self.advance();
            let begins_row = |token: Token, text: &str| {
                token.begins_line && token.span.of(text).starts_with(|c: char| c.is_ascii_digit())
            };
            while begins_row(self.next, self.text) {
                self.advance();
                while !self.next.begins_line && self.next.kind != TokenKind::End {
                    self.advance();
                }
            }
        }
        Ok(())
    }

    /// `key=value`.
    fn attribute(&mut self) -> ParseResult<(Span, Span)> {
        let key = self.expect_word("the name of an attribute")?.span;
        self.expect_mark(b'=')?;
        let value = match self.next.kind {
            _ if self.is_open() => self.skip_balanced()?,
            TokenKind::Word | TokenKind::String => {
                let mut span = self.advance().span;
                // `dim_labels=bf01_oi01->bf01`
                while self.next.kind == TokenKind::Arrow {
                    self.advance();
                    span = span.to(self.expect_word("the rest of the value")?.span);
                }
                span
            }
            _ => return Err(self.unexpected("the value of an attribute")),
        };
        Ok((key, value))
    }

    /// `[ENTRY] name [(..) -> shape] { .. }`.
    fn computation(&mut self, module: &mut Module) -> ParseResult<()> {
        let start = self.next.span;
        let is_entry = self.is_word("ENTRY");
        if is_entry {
            self.advance();
        }
        let span = self.expect_word("a computation")?.span;
        if self.is_mark(b'(') {
            self.skip_balanced()?;
            if self.next.kind != TokenKind::Arrow {
                return Err(self.unexpected("`->`"));
            }
            self.advance();
            self.shape()?;
        }
        let brace = self.expect_mark(b'{')?.span;
        let mut open =
            OpenComputation { instructions: Vec::new(), numbers: HashMap::new(), root: None };
        while !self.is_mark(b'}') {
            self.instruction(&mut open, module)?;
        }
        let end = self.advance().span;
        while self.eat_mark(b',').is_some() {
            self.attribute()?;
        }
        let mut computation = self.finish(open, end)?;
        computation.text = start.to(self.last);
        computation.body = Span::new(brace.end, end.start);
        let number = module.computations.len();
        module.computations.push(computation);
        if is_entry {
            module.entry = Some(number);
        }
        let name = self.name(span).to_owned();
        if module.by_name.insert(name.clone(), number).is_some() {
            let kind = FormatErrorKind::Duplicate { what: "computation", name };
            return Err(kind.in_text(span.start..span.end));
        }
        Ok(())
    }

    fn finish(&self, open: OpenComputation<'t>, end: Span) -> ParseResult<Computation> {
        let OpenComputation { instructions, root, .. } = open;
        let Some(last) = instructions.len().checked_sub(1) else {
            let expected = "an instruction".to_owned();
            return Err(FormatErrorKind::Unexpected { expected }.in_text(end.start..end.end));
        };
        Computation::new(instructions, root.unwrap_or(last), self.text)
    }

    /// `[ROOT] name = [shape] opcode(..), key=value, ..`.
    fn instruction(&mut self, open: &mut OpenComputation<'t>, module: &Module) -> ParseResult<()> {
        let is_root = self.is_word("ROOT") && self.second().kind == TokenKind::Word;
        if is_root {
            self.advance();
        }
        let name = self.expect_word("an instruction")?.span;
        self.expect_mark(b'=')?;
        let number = self.operation(Some(name), open, module)?;
        if is_root {
            open.root = Some(number);
        }
        if open.numbers.insert(self.name(name), number).is_some() {
            let name_text = self.name(name).to_owned();
            let kind = FormatErrorKind::Duplicate { what: "instruction", name: name_text };
            return Err(kind.in_text(name.start..name.end));
        }
        Ok(())
    }

    /// `[shape] opcode(..), key=value, ..`; returns the index of the instruction.
    fn operation(
        &mut self,
        name: Option<Span>,
        open: &mut OpenComputation<'t>,
        module: &Module,
    ) -> ParseResult<usize> {
        let shape = match self.begins_shape() {
            true => Some(self.shape()?),
            false => None,
        };
        let opcode = self.expect_word("an operation")?;
        let mut instruction = Instruction {
            parameter: None,
            name,
            span: opcode.span,
            text: name.unwrap_or(opcode.span),
            opcode: self.of(opcode).to_owned(),
            shape,
            operands: Vec::new(),
            content: None,
            attributes: Vec::new(),
            called: None,
            regions: Vec::new(),
            literal: None,
        };
        if matches!(instruction.opcode.as_str(), "constant" | "parameter") {
            if !self.is_mark(b'(') {
                return Err(self.unexpected("`(`"));
            }
            let brackets = self.skip_balanced()?;
            instruction.content = Some(Span::new(brackets.start + 1, brackets.end - 1));
        } else {
            self.operands(&mut instruction, open, module)?;
        }
        // A nested instruction has no attributes: a comma after it precedes the next operand.
        while name.is_some() && self.eat_mark(b',').is_some() {
            let (key, value) = self.attribute()?;
            if matches!(key.of(self.text), "to_apply" | "calls") {
                instruction.called = Some(self.computation_index(value, module)?);
            }
            instruction.attributes.push((key, value));
        }
        instruction.text = instruction.text.to(self.last);
        self.regions(&mut instruction, module)?;
        open.instructions.push(instruction);
        Ok(open.instructions.len() - 1)
    }

    /// Resolves the computations of a loop or branch.
    fn regions(&self, instruction: &mut Instruction, module: &Module) -> ParseResult<()> {
        let names: &[&str] = match instruction.opcode.as_str() {
            "while" => &["condition", "body"],
            "select-and-scatter" => &["select", "scatter"],
            "conditional" => &["true_computation", "false_computation", "branch_computations"],
            _ => return Ok(()),
        };
        let values = names.iter().filter_map(|name| instruction.attribute(self.text, name));
        let spans: Vec<Span> = values.flat_map(|value| name_spans(value, self.text)).collect();
        for span in spans {
            instruction.regions.push(self.computation_index(span, module)?);
        }
        Ok(())
    }

    fn computation_index(&self, value: Span, module: &Module) -> ParseResult<usize> {
        let name = self.name(value);
        module.by_name.get(name).copied().ok_or_else(|| {
            let kind = FormatErrorKind::Undefined { what: "computation", name: name.to_owned() };
            kind.in_text(value.start..value.end)
        })
    }

    fn operands(
        &mut self,
        instruction: &mut Instruction,
        open: &mut OpenComputation<'t>,
        module: &Module,
    ) -> ParseResult<()> {
        self.expect_mark(b'(')?;
        while self.eat_mark(b')').is_none() {
            let operand = self.operand(open, module)?;
            instruction.operands.push(operand);
            if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(())
    }

    /// `[shape] name`, or a nested instruction.
    fn operand(&mut self, open: &mut OpenComputation<'t>, module: &Module) -> ParseResult<usize> {
        if self.begins_shape() {
            let mut ahead = Parser { ..*self };
            ahead.shape()?;
            ahead.expect_word("an operand")?;
            if ahead.is_mark(b'(') {
                return self.nest(|parser| parser.operation(None, open, module));
            }
            self.shape()?;
        }
        let token = self.expect_word("an operand")?;
        let name = self.name(token.span);
        open.numbers.get(name).copied().ok_or_else(|| {
            let kind = FormatErrorKind::Undefined { what: "instruction", name: name.to_owned() };
            kind.in_text(token.span.start..token.span.end)
        })
    }
}

/// The spans of the names in `{%a, %b}`, or of one name.
pub(super) fn name_spans(value: Span, text: &str) -> Vec<Span> {
    let inside = value.of(text).trim_start_matches('{').trim_end_matches('}');
    let start = value.start + value.of(text).find(inside).unwrap_or(0);
    let mut spans = Vec::new();
    let mut at = start;
    for piece in inside.split(',') {
        let name = piece.trim();
        let from = at + piece.find(name).unwrap_or(0);
        if !name.is_empty() {
            spans.push(Span::new(from, from + name.len()));
        }
        at += piece.len() + 1;
    }
    spans
}
