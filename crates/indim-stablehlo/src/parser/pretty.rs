//! Pretty forms of operations. Each supported form is a list of values, `name = attribute`, unnamed
//! attributes, and types after a colon. Names of attributes are translated to those of the generic form.

use indim_model::{FormatError, FormatErrorKind};
use indim_text::Span;

use super::{ParseResult, Parser};
use crate::lexer::TokenKind;
use crate::lowering;
use crate::syntax::{Argument, SyntaxAttribute, SyntaxOperation, ValueUse};

/// The name with its current dialect: until 2022 StableHLO was `mhlo`.
pub(super) fn full_name(name: &str) -> String {
    match name {
        "return" | "call" => format!("func.{name}"),
        _ => match name.strip_prefix("mhlo.") {
            Some(operation) => format!("stablehlo.{operation}"),
            None => name.to_owned(),
        },
    }
}

/// The generic name of a named attribute in the pretty form.
fn generic_name<'n>(operation: &str, name: &'n str) -> &'n str {
    let operation = operation.split_once('.').map_or(operation, |(_, operation)| operation);
    match (operation, name) {
        ("broadcast_in_dim", "dims") => "broadcast_dimensions",
        ("transpose", "dims") => "permutation",
        ("reverse", "dims") => "dimensions",
        ("broadcast", "sizes") => "broadcast_sizes",
        ("dynamic_slice", "sizes") => "slice_sizes",
        ("iota", "dim") => "iota_dimension",
        ("fft", "type") => "fft_type",
        ("fft", "length") => "fft_length",
        ("concatenate", "dim") => "dimension",
        ("convolution", "dim_numbers") => "dimension_numbers",
        ("pad", "low") => "edge_padding_low",
        ("pad", "high") => "edge_padding_high",
        ("pad", "interior") => "interior_padding",
        _ => name,
    }
}

/// The generic names of the unnamed attributes, in order.
fn unnamed(operation: &str) -> &'static [&'static str] {
    let operation = operation.split_once('.').map_or(operation, |(_, operation)| operation);
    match operation {
        "compare" => &["comparison_direction", "compare_type"],
        "constant" | "expect_eq_const" | "expect_almost_eq_const" | "expect_close_const" => {
            &["value"]
        }
        "slice" => &["ranges"],
        "get_tuple_element" => &["index"],
        "call" => &["callee"],
        "custom_call" => &["call_target_name"],
        "composite" => &["name"],
        "sharding_constraint" => &["sharding"],
        _ => &[],
    }
}

/// Parts of a pretty form other than operands and named attributes.
#[derive(Default)]
struct PrettyParts {
    without_name: Vec<Span>,
    /// Initial values of a reduction; they follow all operands.
    starts: Vec<ValueUse>,
}

impl Parser<'_, '_> {
    /// Parses an operation in its pretty form, from the name on.
    pub(super) fn pretty(&mut self, operation: &mut SyntaxOperation) -> ParseResult<()> {
        if !lowering::is_known(&operation.name) {
            return self.unknown_operation(operation);
        }
        // The pretty form of a loop has regions after the words `cond` and `do`, as the reader of
        // unknown syntax expects.
        if operation.name == "stablehlo.while" {
            return self.parse_known_parts(operation);
        }
        self.advance();
        let mut parts = PrettyParts::default();
        // `return` can be without operands.
        let may_end = operation.name.ends_with(".return");
        while !(self.is_mark(b':') || may_end && self.ends_without_types()) {
            self.item(operation, &mut parts)?;
        }
        let PrettyParts { without_name, mut starts } = parts;
        operation.operands.append(&mut starts);
        let names = unnamed(&operation.name);
        if without_name.len() > names.len() {
            let span = without_name[names.len()];
            return Err(self.unexpected_value(span));
        }
        for (name, value) in names.iter().zip(without_name) {
            operation
                .attributes
                .push(SyntaxAttribute { name: (*name).to_owned(), value: Some(value) });
        }
        if self.eat_mark(b':').is_some() {
            operation.signature = self.signature()?;
        }
        if self.is_mark(b'{') {
            self.dictionary(&mut operation.attributes)?;
        }
        if self.is_word("reducer") {
            self.reducer(operation)?;
        }
        Ok(())
    }

    fn ends_without_types(&self) -> bool {
        self.next.begins_line || self.is_mark(b'}') || self.is_word("loc")
    }

    fn unexpected_value(&self, span: Span) -> FormatError {
        let expected = "`:` and the types".to_owned();
        FormatErrorKind::Unexpected { expected }.in_text(span.start..span.end)
    }

    /// Parses an operand, operands in brackets, or an attribute, and the comma after it.
    fn item(
        &mut self,
        operation: &mut SyntaxOperation,
        parts: &mut PrettyParts,
    ) -> ParseResult<()> {
        match self.next.kind {
            TokenKind::Value => operation.operands.push(self.value_use()?),
            TokenKind::Mark(b'(') => self.operands_in_brackets(operation, parts)?,
            TokenKind::Mark(b'{') => self.dictionary(&mut operation.attributes)?,
            TokenKind::Word if self.second().kind == TokenKind::Mark(b'=') => {
                let name = self.advance();
                let name = generic_name(&operation.name, self.word(name)).to_owned();
                self.advance();
                let mut span = self.skip_primary()?;
                // `contracting_dims = [1] x [0]`
                if name.ends_with("ing_dims") && self.eat_word("x").is_some() {
                    span = span.to(self.skip_primary()?);
                }
                // `dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]`
                if name == "dimension_numbers" {
                    while self.eat_word("x").is_some() || self.next.kind == TokenKind::Arrow {
                        if self.next.kind == TokenKind::Arrow {
                            self.advance();
                        }
                        span = span.to(self.skip_primary()?);
                    }
                }
                operation.attributes.push(SyntaxAttribute { name, value: Some(span) });
            }
            TokenKind::Word if self.is_word("applies") => {
                self.advance();
                let value = Some(self.expect(TokenKind::Word, "an operation")?.span);
                operation.attributes.push(SyntaxAttribute { name: "applies".to_owned(), value });
                return Ok(());
            }
            TokenKind::Word if self.is_word("across") => {
                self.advance();
                return Ok(());
            }
            TokenKind::End | TokenKind::Bad => return Err(self.unexpected("`:` and the types")),
            _ => parts.without_name.push(self.skip_primary()?),
        }
        self.eat_mark(b',');
        Ok(())
    }

    /// `(%a, %b)`, `(%a, k = 2)`, or `(%x init: %i)` in a reduction; initial values follow all operands.
    fn operands_in_brackets(
        &mut self,
        operation: &mut SyntaxOperation,
        parts: &mut PrettyParts,
    ) -> ParseResult<()> {
        self.expect_mark(b'(')?;
        while self.eat_mark(b')').is_none() {
            let is_attribute =
                self.next.kind == TokenKind::Word && self.second().kind == TokenKind::Mark(b'=');
            if is_attribute {
                // `item` also consumes the comma after it.
                self.item(operation, parts)?;
                continue;
            }
            operation.operands.push(self.value_use()?);
            if self.eat_word("init").is_some() {
                self.expect_mark(b':')?;
                parts.starts.push(self.value_use()?);
            }
            if self.eat_mark(b',').is_none() && !self.is_mark(b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(())
    }

    /// `reducer(%a: T, %c: T) (%b: U, %d: U) { .. }`: one pair per operand. The generic form has all first
    /// elements before all second elements.
    fn reducer(&mut self, operation: &mut SyntaxOperation) -> ParseResult<()> {
        self.advance();
        let (mut first, mut second): (Vec<Argument>, Vec<Argument>) = (Vec::new(), Vec::new());
        while self.eat_mark(b'(').is_some() {
            first.push(self.argument()?);
            self.expect_mark(b',')?;
            second.push(self.argument()?);
            self.expect_mark(b')')?;
        }
        first.append(&mut second);
        let region = self.region(first)?;
        operation.regions.push(region);
        Ok(())
    }
}
