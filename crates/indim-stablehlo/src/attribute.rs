//! Typed access to attributes; the parser stores only their spans.

use std::collections::HashMap;

use indim_model::{FormatError, FormatErrorKind, integers};
use indim_text::Span;

use super::dense::Dense;
use super::lexer::{Lexer, Token, TokenKind};
use super::syntax::{Module, SingleConstant, SyntaxAttribute, SyntaxOperation};

/// Maximum number of axes or sizes in a list.
const MAX_LIST_LENGTH: usize = 4096;

/// The span of an attribute's value, by name.
pub(super) fn find(attributes: &[SyntaxAttribute], name: &str) -> Option<Span> {
    attributes.iter().find(|attribute| attribute.name == name)?.value
}

/// The content of a string without quotes and with escapes decoded, or an unquoted text.
pub(super) fn unquoted(text: &str) -> String {
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let next = rest.next().unwrap_or(b'\\');
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        match (next, digit(next), rest.clone().next().and_then(digit)) {
            (b'n', ..) => bytes.push(b'\n'),
            (b't', ..) => bytes.push(b'\t'),
            (_, Some(high), Some(low)) => {
                rest.next();
                bytes.push(high << 4 | low);
            }
            _ => bytes.push(next),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The integers of one member of `name = [0, 2], other = 1`: an empty list if the member is absent,
/// `None` if its value is malformed.
pub(super) fn member(body: &str, name: &str) -> Option<Vec<i64>> {
    let is_start = |&(at, _): &(usize, &str)| {
        let before = body[..at].trim_end();
        before.is_empty() || before.ends_with(',')
    };
    let Some((at, _)) = body.match_indices(name).find(is_start) else { return Some(Vec::new()) };
    let value = body[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    integers_in(match value.strip_prefix('[') {
        Some(list) => list.split(']').next()?,
        None => value.split(',').next()?,
    })
}

/// Comma-separated integers.
pub(super) fn integers_in(list: &str) -> Option<Vec<i64>> {
    let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

/// Reads the attributes of one program text.
#[derive(Clone, Copy)]
pub(super) struct AttributeReader<'t> {
    pub(super) text: &'t str,
    pub(super) aliases: &'t HashMap<String, Span>,
    /// Blobs at the end of the file, by name.
    pub(super) resources: &'t HashMap<String, Span>,
    pub(super) constants: &'t HashMap<String, Vec<SingleConstant>>,
}

impl<'t> AttributeReader<'t> {
    pub(super) fn new(text: &'t str, module: &'t Module) -> Self {
        let Module { aliases, resources, constants, .. } = module;
        AttributeReader { text, aliases, resources, constants }
    }

    /// The constant of one element with this name in the body of the function around `place`. A region reads
    /// it by the name.
    pub(super) fn outer_constant(&self, name: &str, place: Span) -> Option<&'t SingleConstant> {
        let all = self.constants.get(name)?;
        let after = all.partition_point(|constant| constant.function.start <= place.start);
        let last = all[..after].last()?;
        (place.end <= last.function.end).then_some(last)
    }

    /// The span after resolution of aliases.
    pub(super) fn resolved(&self, span: Span) -> Span {
        let mut span = span;
        // The bound stops cyclic aliases.
        for _ in 0..8 {
            match self.aliases.get(span.of(self.text).trim()) {
                Some(&value) => span = value,
                None => return span,
            }
        }
        span
    }

    /// The span of a required attribute.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn required(
        &self,
        operation: &SyntaxOperation,
        name: &str,
    ) -> Result<Span, FormatError> {
        find(&operation.attributes, name).map(|span| self.resolved(span)).ok_or_else(|| {
            let kind = FormatErrorKind::attribute(name, "is missing");
            kind.in_text(operation.span.start..operation.span.end)
        })
    }

    /// The span of an optional attribute.
    pub(super) fn optional(&self, operation: &SyntaxOperation, name: &str) -> Option<Span> {
        find(&operation.attributes, name).map(|span| self.resolved(span))
    }

    fn malformed(&self, name: &str, problem: &str, span: Span) -> FormatError {
        FormatErrorKind::attribute(name, problem).in_text(span.start..span.end)
    }

    /// `[0, 2]`, `array<i64: 0, 2>`, `dense<[0, 2]> : tensor<2xi64>`.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn integers(
        &self,
        operation: &SyntaxOperation,
        name: &str,
    ) -> Result<Vec<i64>, FormatError> {
        let span = self.required(operation, name)?;
        let malformed = || self.malformed(name, "is not a list of integers", span);
        if span.of(self.text).starts_with("dense") {
            let all = Dense::read_all(self, span, None, MAX_LIST_LENGTH)?;
            return all.as_ref().and_then(integers).ok_or_else(malformed);
        }
        let mut lexer = Lexer::new(self.text, span);
        match lexer.token().span.of(self.text) {
            "[" => {}
            // `<`, the element type, then `:` or, without elements, `>`.
            "array" => {
                for _ in 0..3 {
                    lexer.token();
                }
            }
            _ => return Err(malformed()),
        }
        self.list(lexer).filter(|list| list.len() <= MAX_LIST_LENGTH).ok_or_else(malformed)
    }

    /// Comma-separated integers up to a bracket or the end.
    fn list(&self, mut lexer: Lexer<'t>) -> Option<Vec<i64>> {
        let mut list = Vec::new();
        loop {
            let mut token = lexer.token();
            let is_end =
                |token: Token| matches!(token.kind, TokenKind::End | TokenKind::Mark(b']' | b'>'));
            if is_end(token) && list.is_empty() {
                return Some(list);
            }
            let is_negative = token.kind == TokenKind::Mark(b'-');
            if is_negative {
                token = lexer.token();
            }
            if token.kind != TokenKind::Integer {
                return None;
            }
            let number: i64 = token.span.of(self.text).parse().ok()?;
            list.push(if is_negative { -number } else { number });
            let next_token = lexer.token();
            if is_end(next_token) {
                return Some(list);
            }
            if next_token.kind != TokenKind::Mark(b',') {
                return None;
            }
        }
    }

    /// `1`, `1 : i64`, `[1]`.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn integer(
        &self,
        operation: &SyntaxOperation,
        name: &str,
    ) -> Result<i64, FormatError> {
        let span = self.required(operation, name)?;
        let text = span.of(self.text);
        let number = text.split(':').next().unwrap_or(text).trim_matches(['[', ']', ' ']);
        number.parse().map_err(|_| self.malformed(name, "is not an integer", span))
    }

    /// `0.1`, `0.1 : f64`.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn float(&self, name: &str, span: Span) -> Result<f64, FormatError> {
        let text = span.of(self.text);
        let number = text.split(':').next().unwrap_or(text).trim();
        number.parse().map_err(|_| self.malformed(name, "is not a number", span))
    }

    /// The last word: `LT` in `#stablehlo<comparison_direction LT>`, `"LT"` and `LT`.
    pub(super) fn last_word(&self, span: Span) -> &'t str {
        let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let text = span.of(self.text).trim_end_matches(|c| !belongs(c));
        let start = text.rfind(|c| !belongs(c)).map_or(0, |position| position + 1);
        &text[start..]
    }

    /// The text between the outer angle brackets.
    pub(super) fn inside(&self, span: Span) -> Option<&'t str> {
        let (_, body) = span.of(self.text).split_once('<')?;
        body.trim_end().strip_suffix('>')
    }

    /// The name in `@f` or `"f"`.
    pub(super) fn name(&self, span: Span) -> String {
        unquoted(span.of(self.text).trim_start_matches('@'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslashes_stand_for_characters() {
        assert_eq!(unquoted(r#""a\"b\\c\41\n""#), "a\"b\\cA\n");
        assert_eq!(unquoted("plain"), "plain");
    }
}
