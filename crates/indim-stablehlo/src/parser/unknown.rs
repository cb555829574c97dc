//! Operations of unknown syntax: their operands, types and regions, as far as the text shows them.

use super::{ParseResult, Parser};
use crate::lexer::TokenKind;
use crate::syntax::{Argument, Signature, SyntaxOperation, ValueUse};

impl Parser<'_, '_> {
    /// Reads an operation of unknown syntax, up to a line that begins another operation. Values before the
    /// first `:` outside brackets are its operands, types after it its signature; the words `cond` and `do`
    /// begin regions.
    pub(super) fn unknown_operation(&mut self, operation: &mut SyntaxOperation) -> ParseResult<()> {
        let (lexer, next, nested) = (self.lexer, self.next, self.nested);
        if self.parse_known_parts(operation).is_ok() {
            return Ok(());
        }
        // A form that is not understood: only the name and the names of the results stay.
        (self.lexer, self.next, self.nested) = (lexer, next, nested);
        operation.operands.clear();
        operation.regions.clear();
        operation.signature = Signature::None;
        self.skip_operation()
    }

    /// Reads operands, a signature and regions, and skips all other tokens of the operation.
    pub(super) fn parse_known_parts(&mut self, operation: &mut SyntaxOperation) -> ParseResult<()> {
        self.advance();
        let mut names: Vec<ValueUse> = Vec::new();
        let mut open = 0usize;
        while !self.ends_operation() {
            match self.next.kind {
                TokenKind::Value => {
                    let value = self.value_use()?;
                    match self.eat_mark(b'=') {
                        // `%state = %start`: an argument of the regions, and its start.
                        Some(_) => names.push(value),
                        None => operation.operands.push(value),
                    }
                }
                TokenKind::Mark(b'(') => {
                    self.advance();
                    open += 1;
                }
                TokenKind::Mark(b')') => {
                    self.advance();
                    open = open.saturating_sub(1);
                }
                // The type of a value in brackets, such as an argument of a region.
                TokenKind::Mark(b':') if open > 0 => {
                    self.advance();
                    self.value_type()?;
                    self.location()?;
                }
                TokenKind::Mark(b':') => {
                    self.advance();
                    operation.signature = self.signature()?;
                    return self.parse_regions(operation, &names);
                }
                TokenKind::Mark(b'{' | b'[' | b'<') => drop(self.skip_balanced()?),
                TokenKind::Bad => return Err(self.unexpected("an operation")),
                _ => drop(self.advance()),
            }
        }
        Ok(())
    }

    /// Reads the regions after the signature, `cond { .. } do { .. }`, and skips attributes.
    fn parse_regions(
        &mut self,
        operation: &mut SyntaxOperation,
        names: &[ValueUse],
    ) -> ParseResult<()> {
        let types: Vec<_> = match &operation.signature {
            Signature::List(types) => types.clone(),
            Signature::Function(operands, _) => operands.clone(),
            Signature::None => Vec::new(),
        };
        while !self.ends_operation() || self.is_word("cond") || self.is_word("do") {
            if self.eat_word("cond").is_some() || self.eat_word("do").is_some() {
                let typed = names.iter().zip(&types);
                let arguments = typed.map(|(name, value_type)| Argument {
                    name: name.name,
                    value_type: value_type.clone(),
                    location: None,
                });
                let region = self.region(arguments.collect())?;
                operation.regions.push(region);
                continue;
            }
            match self.next.kind {
                TokenKind::Bad => return Err(self.unexpected("an operation")),
                // The types of an operation are the last ones.
                TokenKind::Mark(b':') => {
                    self.advance();
                    operation.signature = self.signature()?;
                }
                TokenKind::Mark(b'{' | b'[' | b'<' | b'(') => drop(self.skip_balanced()?),
                // `loc(..)` is read by the caller.
                TokenKind::Word if self.is_word("loc") => return Ok(()),
                _ => drop(self.advance()),
            }
        }
        Ok(())
    }

    /// Whether the next token begins another operation or ends the region.
    fn ends_operation(&self) -> bool {
        let is_end = matches!(self.next.kind, TokenKind::End | TokenKind::Mark(b'}' | b']' | b'>'));
        is_end || self.next.begins_line && self.begins_operation()
    }
}
