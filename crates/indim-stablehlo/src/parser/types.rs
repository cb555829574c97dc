//! Types: `tensor<2x3xf32>`, `tuple<T, U>`, `(T, U) -> V`, and aliases.

use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};
use indim_text::Span;

use super::{ParseResult, Parser};
use crate::lexer::TokenKind;
use crate::syntax::{Signature, Type};

/// Element types by their name in StableHLO.
const NAMES: [(&str, DType); 22] = [
    ("i1", DType::Bool),
    ("i8", DType::I8),
    ("i16", DType::I16),
    ("i32", DType::I32),
    ("i64", DType::I64),
    ("ui8", DType::U8),
    ("ui16", DType::U16),
    ("ui32", DType::U32),
    ("ui64", DType::U64),
    ("f16", DType::F16),
    ("bf16", DType::Bf16),
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("complex<f32>", DType::C64),
    ("complex<f64>", DType::C128),
    ("f8E4M3FN", DType::F8E4m3fn),
    ("f8E5M2", DType::F8E5m2),
    ("f8E4M3FNUZ", DType::F8E4m3fnuz),
    ("f8E5M2FNUZ", DType::F8E5m2fnuz),
    ("f8E4M3B11FNUZ", DType::F8E4m3b11fnuz),
    ("i4", DType::I4),
    ("ui4", DType::U4),
];

/// The element type with this name in StableHLO.
fn element_type(name: &str) -> Option<DType> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
}

/// Name of an element type in StableHLO.
pub(crate) fn type_name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == dtype).map_or("", |(name, _)| name)
}

/// The parsed content of `tensor<..>`: `2x3xf32`.
enum Tensor {
    Array(DType, Vec<usize>),
    Dynamic,
    Other,
}

impl Tensor {
    fn of(text: &str) -> Option<Tensor> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut rest = compact.as_str();
        let (mut sizes, mut is_dynamic) = (Vec::new(), false);
        while rest.starts_with(|c: char| c.is_ascii_digit() || c == '?' || c == '*') {
            let (size, behind) = rest.split_once('x')?;
            match size {
                "?" | "*" => is_dynamic = true,
                size => sizes.push(size.parse().ok()?),
            }
            rest = behind;
        }
        let (element, encoding) = rest.split_at(outer_comma(rest).unwrap_or(rest.len()));
        if is_dynamic || encoding.contains("bounds") {
            return Some(Tensor::Dynamic);
        }
        // Sizes must be followed by an element type.
        if !element.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'x' || c == '!') {
            return None;
        }
        Some(element_type(element).map_or(Tensor::Other, |dtype| Tensor::Array(dtype, sizes)))
    }
}

/// Byte offset of the first comma outside brackets.
fn outer_comma(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.bytes().position(|byte| {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b',' && depth == 0
    })
}

/// `tensor<2x3xf32>` with static sizes.
pub(crate) fn array_type(text: &str) -> Option<ArrayType> {
    let inside = text.strip_prefix("tensor")?.trim().strip_prefix('<')?.strip_suffix('>')?;
    match Tensor::of(inside)? {
        Tensor::Array(dtype, sizes) => Some(ArrayType::new(dtype, sizes)),
        Tensor::Dynamic | Tensor::Other => None,
    }
}

impl Parser<'_, '_> {
    /// Parses a type.
    pub(super) fn value_type(&mut self) -> ParseResult<Type> {
        match self.next.kind {
            TokenKind::Word if self.word(self.next) == "tensor" => self.tensor(),
            TokenKind::Word if self.word(self.next) == "tuple" => {
                self.advance();
                self.expect_mark(b'<')?;
                self.nest(|parser| parser.types_up_to(b'>')).map(Type::Tuple)
            }
            TokenKind::Word => self.skip_primary().map(Type::Other),
            TokenKind::Bang => {
                let name = self.next;
                match self.types.get(self.word(name)) {
                    Some(known) => {
                        let known = known.clone();
                        self.advance();
                        Ok(known)
                    }
                    None => self.skip_primary().map(Type::Other),
                }
            }
            TokenKind::Mark(b'(') => self.function_type(),
            _ => Err(self.unexpected("a type")),
        }
    }

    fn function_type(&mut self) -> ParseResult<Type> {
        let start = self.skip_balanced()?;
        self.expect(TokenKind::Arrow, "`->`")?;
        let end = match self.next.kind {
            TokenKind::Mark(b'(') => self.skip_balanced()?,
            _ => self.skip_primary()?,
        };
        Ok(Type::Other(start.to(end)))
    }

    fn tensor(&mut self) -> ParseResult<Type> {
        let start = self.advance().span;
        if !self.is_mark(b'<') {
            return Err(self.unexpected("`<`"));
        }
        let brackets = self.skip_balanced()?;
        let (span, inside) = (start.to(brackets), Span::new(brackets.start + 1, brackets.end - 1));
        let limit = self.limits.rank;
        match Tensor::of(inside.of(self.text)) {
            Some(Tensor::Array(_, sizes)) if sizes.len() > limit => {
                Err(FormatErrorKind::Limit { what: "axes", limit }.in_text(span.start..span.end))
            }
            Some(Tensor::Array(dtype, sizes)) => Ok(Type::Array(ArrayType::new(dtype, sizes))),
            Some(Tensor::Dynamic) => Ok(Type::Dynamic(span)),
            Some(Tensor::Other) => Ok(Type::Other(span)),
            None => {
                let expected = "sizes and an element type: `2x3xf32`".to_owned();
                let span = inside.start..inside.end;
                Err(FormatErrorKind::Unexpected { expected }.in_text(span))
            }
        }
    }

    /// Comma-separated types up to this bracket, which is consumed.
    pub(super) fn types_up_to(&mut self, close: u8) -> ParseResult<Vec<Type>> {
        let mut types = Vec::new();
        if self.eat_mark(close).is_some() {
            return Ok(types);
        }
        loop {
            types.push(self.value_type()?);
            if self.eat_mark(b',').is_none() {
                self.expect_mark(close)?;
                return Ok(types);
            }
        }
    }

    /// The types after the colon of an operation.
    pub(super) fn signature(&mut self) -> ParseResult<Signature> {
        if self.eat_mark(b'(').is_some() {
            let operands = self.types_up_to(b')')?;
            self.expect(TokenKind::Arrow, "`->`")?;
            return Ok(Signature::Function(operands, self.result_types()?));
        }
        let mut types = vec![self.value_type()?];
        while self.eat_mark(b',').is_some() {
            types.push(self.value_type()?);
        }
        match self.next.kind {
            TokenKind::Arrow => {
                self.advance();
                Ok(Signature::Function(types, self.result_types()?))
            }
            _ => Ok(Signature::List(types)),
        }
    }

    fn result_types(&mut self) -> ParseResult<Vec<Type>> {
        match self.eat_mark(b'(') {
            Some(_) => self.types_up_to(b')'),
            None => Ok(vec![self.value_type()?]),
        }
    }
}
