//! Literals in text: `{ {1, 2}, {3, 4} }`, always in row-major order.

use indim_graph::Array;
use indim_model::{FormatError, FormatErrorKind, array_of_bytes};
use indim_ops::{ArrayType, DType, bf16, f16};
use indim_text::Span;

use super::lexer::{Lexer, Token, TokenKind};
use super::syntax::HloShape;
use indim_model::element::storage_bits;

const ELIDED_ADVICE: &str = "constants of more than 10 elements are left out by default: \
     as_hlo_text(print_large_constants=True) in JAX, XLA_FLAGS=--xla_dump_large_constants for dumps";

type ReadResult<T> = Result<T, FormatError>;

/// The arrays of a literal: one, or those of a tuple in order.
///
/// # Errors
/// `elided-elements`, `bad-element`, `wrong-element-count`, `unexpected`, `unsupported-type`.
pub(super) fn arrays(text: &str, content: Span, shape: &HloShape) -> ReadResult<Vec<Array>> {
    let mut literal = Literal { text, lexer: Lexer::new(text, content), found: Vec::new() };
    literal.value(shape)?;
    let next_token = literal.lexer.token();
    match next_token.kind {
        TokenKind::End => Ok(literal.found),
        _ => Err(unexpected(next_token, "the end of the constant")),
    }
}

fn unexpected(token: Token, expected: &str) -> FormatError {
    let expected = expected.to_owned();
    FormatErrorKind::Unexpected { expected }.in_text(token.span.start..token.span.end)
}

struct Literal<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    found: Vec<Array>,
}

impl Literal<'_> {
    fn of(&self, token: Token) -> &str {
        token.span.of(self.text)
    }

    /// Reads a literal of a type; the recursion is bounded by the parser's nesting limit.
    fn value(&mut self, shape: &HloShape) -> ReadResult<()> {
        match shape {
            HloShape::Array(array_type, _) => {
                let array = self.array(array_type)?;
                self.found.push(array);
                Ok(())
            }
            HloShape::Tuple(parts) => {
                self.expect(b'(')?;
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        self.expect(b',')?;
                    }
                    self.value(part)?;
                }
                self.expect(b')')
            }
            HloShape::Dynamic(span) | HloShape::Other(span) => {
                let name = span.of(self.text).to_owned();
                Err(FormatErrorKind::UnsupportedType { name }.in_text(span.start..span.end))
            }
        }
    }

    fn expect(&mut self, mark: u8) -> ReadResult<()> {
        let token = self.lexer.token();
        match token.kind == TokenKind::Mark(mark) {
            true => Ok(()),
            false => Err(unexpected(token, &format!("`{}`", mark as char))),
        }
    }

    fn array(&mut self, array_type: &ArrayType) -> ReadResult<Array> {
        let start = self.lexer.token();
        let mut bytes = Vec::new();
        let end = match array_type.shape.is_scalar() {
            true => {
                self.element(start, array_type.dtype, &mut bytes)?;
                start
            }
            false => self.lists(start, array_type, &mut bytes)?,
        };
        let range = start.span.start..end.span.end;
        array_of_bytes(array_type, &bytes).map_err(|kind| kind.in_text(range))
    }

    /// Reads nested lists of elements, one level per axis; returns the last bracket.
    fn lists(
        &mut self,
        first: Token,
        array_type: &ArrayType,
        bytes: &mut Vec<u8>,
    ) -> ReadResult<Token> {
        let sizes = array_type.shape.sizes();
        let mut open: Vec<usize> = Vec::new();
        let mut token = first;
        loop {
            if token.kind == TokenKind::Word && self.of(token).starts_with("...") {
                let kind = FormatErrorKind::Elided { advice: Some(ELIDED_ADVICE) };
                return Err(kind.in_text(token.span.start..token.span.end));
            }
            match token.kind {
                TokenKind::Mark(b'{') if open.len() < sizes.len() => {
                    open.push(0);
                    token = self.lexer.token();
                    if token.kind != TokenKind::Mark(b'}') {
                        continue;
                    }
                }
                TokenKind::Mark(b'{') => return Err(wrong_count(array_type, &open, token)),
                _ if open.len() < sizes.len() => return Err(wrong_count(array_type, &open, token)),
                _ => {
                    self.element(token, array_type.dtype, bytes)?;
                    if let Some(count) = open.last_mut() {
                        *count += 1;
                    }
                    token = self.lexer.token();
                }
            }
            // After an item: closing brackets, then the comma before the next item.
            while token.kind == TokenKind::Mark(b'}') {
                if open.last() != sizes.get(open.len().wrapping_sub(1)) {
                    return Err(wrong_count(array_type, &open, token));
                }
                open.pop();
                match open.last_mut() {
                    Some(count) => *count += 1,
                    None => return Ok(token),
                }
                token = self.lexer.token();
            }
            if token.kind != TokenKind::Mark(b',') {
                return Err(unexpected(token, "`,` or `}`"));
            }
            token = self.lexer.token();
        }
    }

    fn element(&mut self, token: Token, dtype: DType, bytes: &mut Vec<u8>) -> ReadResult<()> {
        let part = match dtype {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            _ => return self.number(token, dtype, bytes),
        };
        if token.kind != TokenKind::Mark(b'(') {
            return Err(bad(token, dtype));
        }
        let real = self.lexer.token();
        self.number(real, part, bytes)?;
        self.expect(b',')?;
        let imaginary = self.lexer.token();
        self.number(imaginary, part, bytes)?;
        self.expect(b')')
    }

    fn number(&mut self, token: Token, dtype: DType, bytes: &mut Vec<u8>) -> ReadResult<()> {
        let text = self.of(token);
        let bits = match dtype {
            _ if token.kind != TokenKind::Word => None,
            DType::Bool => match text {
                "true" | "1" => Some(1),
                "false" | "0" => Some(0),
                _ => None,
            },
            _ if matches!(text, "nan" | "-nan") && !dtype.is_integer() && !dtype.is_nibble() => {
                Some(nan_bits(dtype, text.starts_with('-'), self.payload()))
            }
            _ if dtype.is_storage() => storage_bits(text, dtype),
            _ if dtype.is_float() => float_bits(text, dtype),
            _ => integer_bits(text, dtype),
        };
        let bits = bits.ok_or_else(|| bad(token, dtype))?;
        bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.size()]);
        Ok(())
    }

    /// The payload of a NaN, if present: `(0x123)`.
    fn payload(&mut self) -> Option<u64> {
        let mut ahead = self.lexer;
        let [open, number, close] = [ahead.token(), ahead.token(), ahead.token()];
        if open.kind != TokenKind::Mark(b'(') || close.kind != TokenKind::Mark(b')') {
            return None;
        }
        let digits = self.of(number).strip_prefix("0x")?;
        let payload = u64::from_str_radix(digits, 16).ok()?;
        self.lexer = ahead;
        Some(payload)
    }
}

fn bad(token: Token, dtype: DType) -> FormatError {
    FormatErrorKind::Element { dtype }.in_text(token.span.start..token.span.end)
}

fn wrong_count(array_type: &ArrayType, open: &[usize], token: Token) -> FormatError {
    let given = match open.last() {
        Some(count) => format!("{count} elements along axis {}", open.len() - 1),
        None => "elements without brackets".to_owned(),
    };
    let array_type = array_type.clone();
    let kind = FormatErrorKind::ElementCount { array_type, given };
    kind.in_text(token.span.start..token.span.end)
}

/// The bits of the positive infinity, and the number of mantissa bits.
fn infinity(dtype: DType) -> (u64, u32) {
    match dtype {
        DType::F64 => (f64::INFINITY.to_bits(), 52),
        DType::F32 => (u64::from(f32::INFINITY.to_bits()), 23),
        DType::F16 => (0x7C00, 10),
        DType::F8E5m2 => (0x7C, 2),
        _ => (0x7F80, 7),
    }
}

fn nan_bits(dtype: DType, is_negative: bool, payload: Option<u64>) -> u64 {
    match dtype {
        DType::F8E5m2 => {}
        DType::F8E4m3fn => return 0x7F | u64::from(is_negative) << 7,
        dtype if dtype.is_storage() => return 0x80,
        _ => {}
    }
    let (infinity, mantissa) = infinity(dtype);
    let quiet = 1 << (mantissa - 1);
    // A payload of 0 would make it an infinity.
    let payload = payload.map_or(quiet, |payload| payload & ((1 << mantissa) - 1));
    let payload = if payload == 0 { quiet } else { payload };
    infinity | payload | u64::from(is_negative) << (8 * dtype.size() - 1)
}

/// The bits of a decimal; `None` if a finite decimal overflows. `f64` and `f32` are rounded once; `f16`
/// and `bf16` are rounded from `f64`.
fn float_bits(text: &str, dtype: DType) -> Option<u64> {
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let sign = u64::from(text.starts_with('-')) << (8 * dtype.size() - 1);
    if magnitude == "inf" {
        return Some(infinity(dtype).0 | sign);
    }
    if !magnitude.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let bits = match dtype {
        DType::F64 => magnitude.parse::<f64>().ok()?.to_bits(),
        DType::F32 => u64::from(magnitude.parse::<f32>().ok()?.to_bits()),
        DType::F16 => u64::from(f16::from_f64(magnitude.parse().ok()?).to_bits()),
        _ => u64::from(bf16::from_f64(magnitude.parse().ok()?).to_bits()),
    };
    (bits < infinity(dtype).0).then_some(bits | sign)
}

fn integer_bits(text: &str, dtype: DType) -> Option<u64> {
    let number: i128 = text.parse().ok()?;
    let bits = 8 * dtype.size() as u32;
    let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let (min, max) = match is_signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    (min..=max).contains(&number).then_some(number as u64)
}
