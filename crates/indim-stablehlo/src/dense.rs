//! Elements of constants: `dense<..>`, `dense_resource<..>`.

use indim_graph::Array;
use indim_model::element::storage_bits;
use indim_model::{FormatError, FormatErrorKind, array_of_bytes};
use indim_ops::{ArrayType, DType, bf16, f16};
use indim_shape::Shape;
use indim_text::Span;

use super::attribute::{AttributeReader, unquoted};
use super::lexer::{Lexer, Token, TokenKind};
use super::parser::array_type;

/// Elements of a constant.
#[derive(Debug, Clone)]
pub(super) enum Dense {
    /// One element, broadcast.
    Splat(Array, Shape),
    /// All elements.
    Full(Array),
}

type ReadResult<T> = Result<T, FormatError>;

fn unexpected(token: Token, expected: &str) -> FormatError {
    let expected = expected.to_owned();
    FormatErrorKind::Unexpected { expected }.in_text(token.span.start..token.span.end)
}

impl Dense {
    /// Reads a constant. Its type is the one that follows it in the text, else `stated`. `admit` checks the
    /// number of bytes before they are allocated, unless one element stands for all.
    ///
    /// # Errors
    /// `bad-element`, `wrong-element-count`, `elided-elements`, `type-mismatch`, `unexpected`,
    /// `undefined`, and the error of `admit`.
    pub(super) fn read(
        attributes: &AttributeReader<'_>,
        span: Span,
        stated: Option<&ArrayType>,
        admit: impl Fn(usize) -> Result<(), FormatErrorKind>,
    ) -> ReadResult<Dense> {
        let (form, lexer, array_type) = typed(attributes.text, span, stated)?;
        let admit = |bytes| admit(bytes).map_err(|kind| kind.in_text(span.start..span.end));
        read_form(attributes, form, lexer, &array_type, &admit)
    }

    /// Reads the elements of a constant, like [`Dense::read`]; `None`, before they are read, if there are
    /// more than `max`.
    ///
    /// # Errors
    /// Like [`Dense::read`].
    pub(super) fn read_all(
        attributes: &AttributeReader<'_>,
        span: Span,
        stated: Option<&ArrayType>,
        max: usize,
    ) -> ReadResult<Option<Array>> {
        let (form, lexer, array_type) = typed(attributes.text, span, stated)?;
        let Some(count) = array_type.shape.element_count().ok().filter(|&count| count <= max)
        else {
            return Ok(None);
        };
        let dense = read_form(attributes, form, lexer, &array_type, &|_| Ok(()))?;
        Ok(match dense {
            Dense::Full(array) => Some(array),
            Dense::Splat(element, _) => {
                array_of_bytes(&array_type, &element.to_le_bytes().repeat(count)).ok()
            }
        })
    }

    /// A single element: `3.5 : f32`.
    ///
    /// # Errors
    /// `bad-element`.
    pub(super) fn element(
        attributes: &AttributeReader<'_>,
        span: Span,
        array_type: &ArrayType,
    ) -> ReadResult<Dense> {
        let lexer = Lexer::new(attributes.text, span);
        let mut elements = Elements::new(attributes.text, lexer, array_type);
        let first = elements.lexer.token();
        elements.element(first)?;
        let range = span.start..span.end;
        of_bytes(&elements.bytes, array_type).map_err(|kind| kind.in_text(range))
    }
}

/// The form of a constant, `dense` or `dense_resource`, the reader of its content, and its type.
fn typed<'t>(
    text: &'t str,
    span: Span,
    stated: Option<&ArrayType>,
) -> ReadResult<(Token, Lexer<'t>, ArrayType)> {
    let mut lexer = Lexer::new(text, span);
    let form = lexer.token();
    let open = lexer.token();
    if open.kind != TokenKind::Mark(b'<') {
        return Err(unexpected(form, "`dense<..>`"));
    }
    let array_type = match (type_after(text, span), stated) {
        (Some(written), Some(stated)) if written != *stated => {
            let (stated, inferred) = (stated.to_string(), written.to_string());
            let kind = FormatErrorKind::TypeMismatch { stated, inferred };
            return Err(kind.in_text(span.start..span.end));
        }
        (Some(known), _) => known,
        (None, Some(known)) => known.clone(),
        (None, None) => return Err(unexpected(form, "the type of an array behind it")),
    };
    Ok((form, lexer, array_type))
}

/// Checks a number of bytes before they are allocated.
type Admit<'a> = &'a dyn Fn(usize) -> ReadResult<()>;

/// Reads the content of a constant.
fn read_form<'t>(
    attributes: &AttributeReader<'t>,
    form: Token,
    mut lexer: Lexer<'t>,
    array_type: &ArrayType,
    admit: Admit<'_>,
) -> ReadResult<Dense> {
    match form.span.of(attributes.text) {
        "dense" => Elements::new(attributes.text, lexer, array_type).dense(admit),
        "dense_resource" => resource(attributes, lexer.token(), array_type, admit),
        _ => Err(unexpected(form, "`dense<..>` or `dense_resource<..>`")),
    }
}

/// The type after the brackets: `dense<1> : tensor<2xi64>`. The elements before it contain no colon.
fn type_after(text: &str, span: Span) -> Option<ArrayType> {
    let (_, written) = span.of(text).rsplit_once(':')?;
    array_type(written.trim())
}

/// The blob with this name at the end of the file.
fn resource(
    attributes: &AttributeReader<'_>,
    name: Token,
    array_type: &ArrayType,
    admit: Admit<'_>,
) -> ReadResult<Dense> {
    let range = name.span.start..name.span.end;
    let name = unquoted(name.span.of(attributes.text));
    let Some(&blob) = attributes.resources.get(&name) else {
        return Err(match name.as_str() {
            "__elided__" => FormatErrorKind::Elided { advice: None },
            _ => FormatErrorKind::Undefined { what: "resource", name },
        }
        .in_text(range));
    };
    // The first 4 bytes of the blob state its alignment.
    let count = byte_count(blob.of(attributes.text)).saturating_sub(4);
    if count != array_type.dtype.size() {
        admit(count)?;
    }
    let bytes = hexadecimal(blob.of(attributes.text), blob)?;
    let bytes = bytes.get(4..).unwrap_or(&[]);
    of_bytes(bytes, array_type).map_err(|kind| kind.in_text(blob.start..blob.end))
}

/// Number of bytes of `"0x0A0B"`.
fn byte_count(string: &str) -> usize {
    string.trim_matches('"').len().saturating_sub(2).div_ceil(2)
}

/// The bytes of `"0x0A0B"`.
fn hexadecimal(string: &str, span: Span) -> ReadResult<Vec<u8>> {
    let expected = || {
        let expected = "a string of hexadecimal digits: \"0x0A0B\"".to_owned();
        FormatErrorKind::Unexpected { expected }.in_text(span.start..span.end)
    };
    let digits = string.trim_matches('"').strip_prefix("0x").ok_or_else(expected)?.as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(byte).collect::<Option<_>>().ok_or_else(expected)
}

/// Decodes elements from bytes; the bytes of one element are a splat.
fn of_bytes(bytes: &[u8], array_type: &ArrayType) -> Result<Dense, FormatErrorKind> {
    let ArrayType { dtype, shape } = array_type;
    let truths: Vec<u8>;
    let bytes = match dtype {
        DType::Bool => {
            truths = bytes.iter().map(|&byte| u8::from(byte != 0)).collect();
            &truths
        }
        _ => bytes,
    };
    if bytes.len() == dtype.size() {
        let element = array_of_bytes(&ArrayType::new(*dtype, Shape::scalar()), bytes)?;
        return Ok(Dense::Splat(element, shape.clone()));
    }
    array_of_bytes(array_type, bytes).map(Dense::Full)
}

/// The reader of elements, which collects their bytes.
struct Elements<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    array_type: &'t ArrayType,
    bytes: Vec<u8>,
    /// The number of items so far in each open list.
    open: Vec<usize>,
}

impl<'t> Elements<'t> {
    fn new(text: &'t str, lexer: Lexer<'t>, array_type: &'t ArrayType) -> Self {
        Elements { text, lexer, array_type, bytes: Vec::new(), open: Vec::new() }
    }

    /// The content of the brackets of `dense<..>`.
    fn dense(mut self, admit: Admit<'_>) -> ReadResult<Dense> {
        let first = self.lexer.token();
        let range = first.span.start..first.span.end;
        match first.kind {
            TokenKind::String => {
                let count = byte_count(first.span.of(self.text));
                if count != self.array_type.dtype.size() {
                    admit(count)?;
                }
                let bytes = hexadecimal(first.span.of(self.text), first.span)?;
                of_bytes(&bytes, self.array_type).map_err(|kind| kind.in_text(range))
            }
            TokenKind::Mark(b'>') => {
                array_of_bytes(self.array_type, &[]).map(Dense::Full).map_err(|k| k.in_text(range))
            }
            TokenKind::Mark(b'[') => {
                let last = self.lists(first, admit)?;
                let range = first.span.start..last.span.end;
                let array = array_of_bytes(self.array_type, &self.bytes);
                array.map(Dense::Full).map_err(|kind| kind.in_text(range))
            }
            _ => {
                self.element(first)?;
                of_bytes(&self.bytes, self.array_type).map_err(|kind| kind.in_text(range))
            }
        }
    }

    fn count_error(&self, token: Token) -> FormatError {
        let axis = self.open.len().saturating_sub(1);
        let given = match self.open.last() {
            Some(count) => format!("{count} elements along axis {axis}"),
            None => "elements that are nested otherwise".to_owned(),
        };
        let array_type = self.array_type.clone();
        let kind = FormatErrorKind::ElementCount { array_type, given };
        kind.in_text(token.span.start..token.span.end)
    }

    /// Reads nested lists of elements, one level per axis; returns the last bracket.
    fn lists(&mut self, first: Token, admit: Admit<'_>) -> ReadResult<Token> {
        let rank = self.array_type.shape.rank();
        let mut token = first;
        loop {
            match token.kind {
                TokenKind::Mark(b'[') if self.open.len() < rank => {
                    self.open.push(0);
                    token = self.lexer.token();
                    if token.kind != TokenKind::Mark(b']') {
                        continue;
                    }
                }
                TokenKind::Mark(b'[') => return Err(self.count_error(token)),
                _ if self.open.len() < rank => return Err(self.count_error(token)),
                _ => {
                    admit(self.bytes.len() + self.array_type.dtype.size())?;
                    self.element(token)?;
                    self.count_part();
                    token = self.lexer.token();
                }
            }
            // After an item: closing brackets, then the comma before the next item.
            while token.kind == TokenKind::Mark(b']') {
                if self.close(token)? {
                    return Ok(token);
                }
                token = self.lexer.token();
            }
            if token.kind != TokenKind::Mark(b',') {
                return Err(unexpected(token, "`,` or `]`"));
            }
            token = self.lexer.token();
        }
    }

    fn count_part(&mut self) {
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
    }

    /// Closes a list; returns whether it was the outermost.
    fn close(&mut self, bracket: Token) -> ReadResult<bool> {
        let axis = self.open.len() - 1;
        if self.open.last() != self.array_type.shape.sizes().get(axis) {
            return Err(self.count_error(bracket));
        }
        self.open.pop();
        self.count_part();
        Ok(self.open.is_empty())
    }

    fn element(&mut self, token: Token) -> ReadResult<()> {
        let dtype = self.array_type.dtype;
        let part = match dtype {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            _ => return self.number(token, dtype),
        };
        self.mark(token, b'(')?;
        let real = self.lexer.token();
        self.number(real, part)?;
        let comma = self.lexer.token();
        self.mark(comma, b',')?;
        let imaginary = self.lexer.token();
        self.number(imaginary, part)?;
        let close = self.lexer.token();
        self.mark(close, b')')
    }

    fn bad(&self, token: Token) -> FormatError {
        let kind = FormatErrorKind::Element { dtype: self.array_type.dtype };
        kind.in_text(token.span.start..token.span.end)
    }

    fn mark(&self, token: Token, mark: u8) -> ReadResult<()> {
        match token.kind == TokenKind::Mark(mark) {
            true => Ok(()),
            false => Err(self.bad(token)),
        }
    }

    fn number(&mut self, token: Token, dtype: DType) -> ReadResult<()> {
        let is_negative = token.kind == TokenKind::Mark(b'-');
        let number = if is_negative { self.lexer.token() } else { token };
        let text = number.span.of(self.text);
        let bits = match number.kind {
            TokenKind::Word if dtype == DType::Bool && !is_negative => match text {
                "true" => Some(1),
                "false" => Some(0),
                _ => None,
            },
            TokenKind::Integer => integer_bits(text, is_negative, dtype),
            TokenKind::Float if dtype.is_storage() => {
                let sign = if is_negative { "-" } else { "" };
                storage_bits(&format!("{sign}{text}"), dtype)
            }
            TokenKind::Float if dtype.is_float() => float_bits(text, is_negative, dtype),
            _ => None,
        };
        let bits = bits.ok_or_else(|| self.bad(token))?;
        self.bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.size()]);
        Ok(())
    }
}

/// The bits of an integer, or of a float in hexadecimal digits. A value of a signed type can use all bits:
/// 200 is an i8.
fn integer_bits(text: &str, is_negative: bool, dtype: DType) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x");
    let magnitude = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    let bits = dtype.bits() as u32;
    let max = u64::MAX >> (64 - bits);
    let is_signed = matches!(dtype, DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let is_float = dtype.is_float() || dtype.is_float8();
    let fits = match dtype {
        DType::Bool => magnitude <= 1 && !is_negative,
        _ if is_float => hexadecimal.is_some() && !is_negative && magnitude <= max,
        _ if is_negative => is_signed && magnitude <= max / 2 + 1 || magnitude == 0,
        _ => magnitude <= max,
    };
    fits.then_some(if is_negative { magnitude.wrapping_neg() & max } else { magnitude })
}

/// The bits of a decimal: parsed as f64, then rounded, as MLIR does.
fn float_bits(text: &str, is_negative: bool, dtype: DType) -> Option<u64> {
    let magnitude: f64 = text.parse().ok()?;
    let number = if is_negative { -magnitude } else { magnitude };
    Some(match dtype {
        DType::F64 => number.to_bits(),
        DType::F32 => u64::from((number as f32).to_bits()),
        DType::F16 => u64::from(f16::from_f64(number).to_bits()),
        _ => u64::from(bf16::from_f64(number).to_bits()),
    })
}
