//! Functions, in pretty and generic form.

use indim_model::FormatErrorKind;
use indim_text::Span;

use super::{ParseResult, Parser};
use crate::attribute::{find, unquoted};
use crate::lexer::{Lexer, TokenKind};
use crate::lowering::Lowering;
use crate::syntax::{
    Argument, Block, Function, FunctionResult, Module, Signature, SingleConstant, SyntaxAttribute,
    SyntaxOperation,
};

impl Parser<'_, '_> {
    pub(super) fn add_function(
        &mut self,
        function: Function,
        module: &mut Module,
    ) -> ParseResult<()> {
        let number = module.functions.len();
        if module.by_name.insert(function.name.clone(), number).is_some() {
            let (span, name) = (function.span, function.name);
            let kind = FormatErrorKind::Duplicate { what: "function", name };
            return Err(kind.in_text(span.start..span.end));
        }
        self.add_constants(&function, module);
        module.functions.push(function);
        Ok(())
    }

    /// Adds the constants of one element in the body of a function.
    fn add_constants(&self, function: &Function, module: &mut Module) {
        for operation in function.body.iter().flat_map(|body| &body.operations) {
            let is_constant = matches!(Lowering::of(&operation.name), Some(Lowering::Constant));
            let ([result], Some(of)) = (&operation.results[..], operation.first_array_type())
            else {
                continue;
            };
            let Some(value) = find(&operation.attributes, "value") else { continue };
            if is_constant && of.shape.element_count() == Ok(1) {
                let (function, array_type) = (function.text, of.clone());
                let name = result.name.of(self.text).to_owned();
                let all = module.constants.entry(name).or_default();
                all.push(SingleConstant { function, value, array_type });
            }
        }
    }

    /// `func.func public @f(..) -> .. { .. }`.
    pub(super) fn function(&mut self) -> ParseResult<Function> {
        let start = self.advance().span;
        let mut is_public = true;
        for visibility in ["public", "private", "nested"] {
            if self.eat_word(visibility).is_some() {
                is_public = visibility == "public";
            }
        }
        let symbol = self.expect(TokenKind::Symbol, "the name of the function")?;
        let name = unquoted(&self.word(symbol)[1..]);
        self.expect_mark(b'(')?;
        let arguments = self.arguments()?;
        let results = match self.next.kind {
            TokenKind::Arrow => {
                self.advance();
                self.function_results()?
            }
            _ => Vec::new(),
        };
        if self.eat_word("attributes").is_some() {
            self.skip_balanced()?;
        }
        let body = match self.is_mark(b'{') {
            true => Some(self.region(arguments.unwrap_or_default())?),
            false => None,
        };
        self.location()?;
        let text = start.to(self.last);
        Ok(Function { name, span: symbol.span, text, is_public, results, body })
    }

    /// The arguments of a function; `None` for a declaration without names.
    fn arguments(&mut self) -> ParseResult<Option<Vec<Argument>>> {
        let (mut arguments, mut has_names) = (Vec::new(), true);
        while self.eat_mark(b')').is_none() {
            if self.next.kind == TokenKind::Value {
                arguments.push(self.argument()?);
            } else {
                has_names = false;
                self.value_type()?;
                if self.is_mark(b'{') {
                    self.skip_balanced()?;
                }
            }
            if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(has_names.then_some(arguments))
    }

    /// `%x: T {..} loc(..)`.
    pub(super) fn argument(&mut self) -> ParseResult<Argument> {
        let name = self.expect(TokenKind::Value, "an argument")?.span;
        self.expect_mark(b':')?;
        let value_type = self.value_type()?;
        if self.is_mark(b'{') {
            self.skip_balanced()?;
        }
        let location = self.location()?;
        Ok(Argument { name, value_type, location })
    }

    fn function_results(&mut self) -> ParseResult<Vec<FunctionResult>> {
        let mut results = Vec::new();
        if self.eat_mark(b'(').is_none() {
            let value_type = self.value_type()?;
            return Ok(vec![FunctionResult { value_type, attributes: Vec::new() }]);
        }
        while self.eat_mark(b')').is_none() {
            let value_type = self.value_type()?;
            let mut attributes = Vec::new();
            if self.is_mark(b'{') {
                self.dictionary(&mut attributes)?;
            }
            results.push(FunctionResult { value_type, attributes });
            if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(results)
    }

    /// A generic operation outside functions: `"builtin.module"`, `"func.func"`; `is_inside` tells whether
    /// it is in a module.
    pub(super) fn generic_top(
        &mut self,
        first: SyntaxOperation,
        module: &mut Module,
        is_inside: bool,
    ) -> ParseResult<()> {
        let mut waiting = vec![first];
        let mut is_inside = is_inside;
        while let Some(operation) = waiting.pop() {
            match operation.name.as_str() {
                "builtin.module" => {
                    module.is_nested |= is_inside;
                    is_inside = true;
                    let inside = operation.regions.into_iter().flat_map(|region| region.operations);
                    let mut inside: Vec<SyntaxOperation> = inside.collect();
                    inside.reverse();
                    waiting.extend(inside);
                }
                "func.func" => {
                    let function = self.generic_function(operation)?;
                    self.add_function(function, module)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn generic_function(&mut self, operation: SyntaxOperation) -> ParseResult<Function> {
        let span = operation.span;
        let value = |name: &str| find(&operation.attributes, name);
        let missing = |name: &str| {
            FormatErrorKind::attribute(name, "is missing").in_text(span.start..span.end)
        };
        let text = self.text;
        let string = |name: &str| value(name).map(|value| unquoted(value.of(text)));
        let name = string("sym_name").ok_or_else(|| missing("sym_name"))?;
        let is_public = string("sym_visibility").is_none_or(|visibility| visibility == "public");
        let function_type = value("function_type").ok_or_else(|| missing("function_type"))?;
        let attributes = match value("res_attrs") {
            Some(span) => self.parse_range(span, |parser| parser.dictionaries())?,
            None => Vec::new(),
        };
        let signature = self.parse_range(function_type, |parser| parser.signature())?;
        let Signature::Function(_, types) = signature else {
            let kind = FormatErrorKind::attribute("function_type", "is not a function type");
            return Err(kind.in_text(function_type.start..function_type.end));
        };
        let mut attributes = attributes.into_iter();
        let results = types.into_iter().map(|value_type| {
            let attributes = attributes.next().unwrap_or_default();
            FunctionResult { value_type, attributes }
        });
        let results = results.collect();
        let text_span = operation.text;
        let body: Option<Block> = operation.regions.into_iter().next();
        Ok(Function { name, span, text: text_span, is_public, results, body })
    }

    /// `[{..}, {..}]`.
    fn dictionaries(&mut self) -> ParseResult<Vec<Vec<SyntaxAttribute>>> {
        let mut all = Vec::new();
        self.expect_mark(b'[')?;
        while self.is_mark(b'{') {
            let mut attributes = Vec::new();
            self.dictionary(&mut attributes)?;
            all.push(attributes);
            self.eat_mark(b',');
        }
        Ok(all)
    }

    /// Parses a range of the text that was skipped before.
    fn parse_range<T>(
        &mut self,
        piece: Span,
        read: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        let (lexer, next) = (self.lexer, self.next);
        self.lexer = Lexer::new(self.text, piece);
        self.next = self.lexer.token();
        let result = read(self);
        (self.lexer, self.next) = (lexer, next);
        result
    }
}
