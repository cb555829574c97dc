//! Array literals: `[[1, 2, 3], [4, 5, 6]]`, `2.5`, `f32[1, 2]`, `u8(7)`, `[1+2j, 3]`.
//!
//! ```
//! use indim::literal::parse_literal;
//!
//! let x = parse_literal("f32[[1, 2], [3, inf]]")?;
//! assert_eq!(x.array_type().to_string(), "f32[2, 2]");
//! assert_eq!(parse_literal("[1, 2.5]")?.elements::<f64>()?, [1.0, 2.5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without a type, whole numbers make `i64`, any other number makes `f64`, one with a `j` makes
//! `c128`, and truth values make `bool`, as in NumPy. The parser does not recurse, so no input can exhaust
//! the stack.

use core::fmt;
use core::ops::Range;

use indim_graph::Array;
use indim_graph::terminal::diagnose_text;
use indim_ops::elements::*;
use indim_ops::{ArrayData, DType, for_each_element};
use indim_shape::{Diagnostic, ErrorCode, MAX_RANK, RankLimitError, Shape};

/// An error in an array literal.
///
/// ```
/// let text = "[[1, 2], [3]]";
/// let error = indim::literal::parse_literal(text).unwrap_err();
/// assert_eq!((error.code(), &text[error.span.clone()]), ("ragged-literal", "[3]"));
/// assert!(error.draw(text).starts_with("error[ragged-literal]: this list has 1 items"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralError {
    /// The kind of error.
    pub kind: LiteralErrorKind,
    /// The place, in bytes of the text.
    pub span: Range<usize>,
}

/// The kinds of errors in literals.
///
/// ```
/// use indim::DType;
/// use indim::literal::{LiteralErrorKind, parse_literal};
///
/// let error = parse_literal("u8[1, 256]").unwrap_err();
/// assert_eq!(error.kind, LiteralErrorKind::DoesNotFit(DType::U8));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiteralErrorKind {
    /// A syntax error; the expected token.
    Expected(&'static str),
    /// The word before the brackets is not an element type.
    UnknownElementType,
    /// The element is not a value of the literal's type.
    WrongElement(DType),
    /// The integer is outside the range of the literal's type.
    DoesNotFit(DType),
    /// The literal has both truth values and numbers.
    Mixed,
    /// A list has another length than the first one along its axis.
    Ragged {
        /// The axis.
        axis: usize,
        /// Items of the first list.
        size: usize,
        /// Items of this list.
        found: usize,
    },
    /// The elements do not all have the same number of brackets around them.
    UnevenDepth {
        /// The number of brackets around the elements before.
        rank: usize,
    },
    /// The nesting of lists exceeds the maximum rank.
    TooDeep(RankLimitError),
}

impl LiteralError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self.kind {
            LiteralErrorKind::Expected(_) => ErrorCode::BAD_LITERAL,
            LiteralErrorKind::UnknownElementType => ErrorCode::UNKNOWN_ELEMENT_TYPE,
            LiteralErrorKind::WrongElement(_) => ErrorCode::WRONG_ELEMENT,
            LiteralErrorKind::DoesNotFit(_) => ErrorCode::ELEMENT_DOES_NOT_FIT,
            LiteralErrorKind::Mixed => ErrorCode::MIXED_ELEMENTS,
            LiteralErrorKind::Ragged { .. } | LiteralErrorKind::UnevenDepth { .. } => {
                ErrorCode::RAGGED_LITERAL
            }
            LiteralErrorKind::TooDeep(error) => error.error_code(),
        }
    }

    /// The drawn error: the part of the text around the place, with carets below it.
    pub fn draw(&self, text: &str) -> String {
        self.diagnostic(text).to_string()
    }

    /// The report as separate parts.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        diagnose_text(self.error_code(), self.to_string(), text, &self.span)
    }
}

impl fmt::Display for LiteralError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LiteralErrorKind::Expected(what) => write!(formatter, "expected {what}"),
            LiteralErrorKind::UnknownElementType => {
                write!(formatter, "{}", indim_ops::UnknownDType)
            }
            LiteralErrorKind::WrongElement(dtype) => {
                write!(formatter, "not an element of type {dtype}")
            }
            LiteralErrorKind::DoesNotFit(dtype) => {
                write!(formatter, "the number does not fit {dtype}; name a wider type in front")
            }
            LiteralErrorKind::Mixed => {
                formatter.write_str("truth values and numbers cannot stand in one array")
            }
            LiteralErrorKind::Ragged { axis, size, found } => write!(
                formatter,
                "this list has {found} items, the first one along axis {axis} has {size}"
            ),
            LiteralErrorKind::UnevenDepth { rank } => {
                write!(formatter, "the elements before are nested {rank} deep, this is not")
            }
            LiteralErrorKind::TooDeep(error) => write!(formatter, "{error}"),
        }
    }
}

impl core::error::Error for LiteralError {}

/// Parses an array literal.
///
/// ```
/// use indim::literal::parse_literal;
/// assert_eq!(parse_literal("[[1, 2, 3], [4, 5, 6]]")?.array_type().to_string(), "i64[2, 3]");
/// assert_eq!(parse_literal("f32[1, inf]")?.elements::<f32>().unwrap(), [1.0, f32::INFINITY]);
/// # Ok::<(), indim::literal::LiteralError>(())
/// ```
///
/// # Errors
/// Errors in the text, with their place.
pub fn parse_literal(text: &str) -> Result<Array, LiteralError> {
    let (dtype, list) = read(text)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => common_dtype(text, &list.elements)?,
    };
    array(text, list, dtype)
}

/// Parses an array literal where an element type is declared: a literal without a type takes `dtype` if each
/// of its elements is a value of `dtype`, else its default type.
///
/// ```
/// use indim::DType;
/// use indim::literal::parse_literal_as;
///
/// let types = ["[1, 3]", "[0.5]", "[0.1]", "16777217", "i8[1]"]
///     .map(|text| parse_literal_as(text, DType::F32).map(|array| array.dtype()));
/// let expected = [DType::F32, DType::F32, DType::F64, DType::I64, DType::I8];
/// assert_eq!(types, expected.map(Ok));
/// ```
///
/// # Errors
/// Like [`parse_literal`].
pub fn parse_literal_as(text: &str, dtype: DType) -> Result<Array, LiteralError> {
    match read(text)? {
        (None, list) if list.elements.iter().all(|span| is_value(&text[span.clone()], dtype)) => {
            array(text, list, dtype)
        }
        _ => parse_literal(text),
    }
}

/// The element type that a literal states.
///
/// ```
/// use indim::DType;
/// use indim::literal::named_type;
///
/// assert_eq!(named_type("f32([1, 2])"), Ok(Some(DType::F32)));
/// assert_eq!(named_type("[1, 2]"), Ok(None));
/// ```
///
/// # Errors
/// Like [`parse_literal`], but elements are not compared with the type.
pub fn named_type(text: &str) -> Result<Option<DType>, LiteralError> {
    read(text).map(|(dtype, _)| dtype)
}

/// The type that a literal states, and its elements.
fn read(text: &str) -> Result<(Option<DType>, LiteralElements), LiteralError> {
    let mut reader = LiteralParser { text, position: 0 };
    let dtype = reader.dtype()?;
    let is_in_parentheses = dtype.is_some() && reader.accept('(');
    let list = reader.nested_list()?;
    if is_in_parentheses && !reader.accept(')') {
        return Err(reader.expected("`)`"));
    }
    reader.skip_spaces();
    if reader.position != text.len() {
        return Err(reader.expected("the end of the literal"));
    }
    Ok((dtype, list))
}

fn array(text: &str, list: LiteralElements, dtype: DType) -> Result<Array, LiteralError> {
    let data = elements(text, &list.elements, dtype)?;
    Ok(Array::from_data(list.shape, data)
        .expect("invariant: equal lists along each axis hold as many elements as the shape"))
}

/// The shape of a literal, and the span of each element in its text.
struct LiteralElements {
    shape: Shape,
    elements: Vec<Range<usize>>,
}

struct LiteralParser<'a> {
    text: &'a str,
    position: usize,
}

impl LiteralParser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn skip_spaces(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    fn accept(&mut self, character: char) -> bool {
        self.skip_spaces();
        let is_next = self.rest().starts_with(character);
        self.position += if is_next { character.len_utf8() } else { 0 };
        is_next
    }

    fn expected(&self, what: &'static str) -> LiteralError {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = self.position..self.position + length;
        LiteralError { kind: LiteralErrorKind::Expected(what), span }
    }

    /// The next word or number.
    fn word(&mut self) -> Range<usize> {
        self.skip_spaces();
        let start = self.position;
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        self.position += length;
        start..self.position
    }

    /// The element type before brackets or parentheses.
    fn dtype(&mut self) -> Result<Option<DType>, LiteralError> {
        let start = self.position;
        let span = self.word();
        self.skip_spaces();
        if span.is_empty() || !self.rest().starts_with(['[', '(']) {
            self.position = start;
            return Ok(None);
        }
        let wrong = |kind| LiteralError { kind, span: span.clone() };
        let dtype: DType = self.text[span.clone()]
            .parse()
            .map_err(|_| wrong(LiteralErrorKind::UnknownElementType))?;
        Ok(Some(dtype))
    }

    /// Nested lists of elements; a comma may follow the last item of a list, as in Python.
    fn nested_list(&mut self) -> Result<LiteralElements, LiteralError> {
        let mut nest = OpenLists::default();
        let mut elements = Vec::new();
        loop {
            // An item is due: an element, or a list, whose first item is due next.
            if self.accept('[') {
                nest.open(self.position - 1)?;
                if !self.accept(']') {
                    continue;
                }
                nest.close(self.position)?;
            } else {
                let span = self.word();
                if span.is_empty() {
                    return Err(self.expected("a number, a truth value or `[`"));
                }
                nest.element(&span)?;
                elements.push(span);
            }
            // The item ends, and so does every list whose closing bracket follows.
            while !nest.open.is_empty() {
                let has_comma = self.accept(',');
                if self.accept(']') {
                    nest.close(self.position)?;
                } else if has_comma {
                    break;
                } else {
                    return Err(self.expected("`,` or `]`"));
                }
            }
            if nest.open.is_empty() {
                return Ok(LiteralElements { shape: nest.shape(), elements });
            }
        }
    }
}

/// The open lists of a literal, and the sizes known so far.
#[derive(Default)]
struct OpenLists {
    /// For each open list, from the outermost: its position, and the number of its items so far.
    open: Vec<(usize, usize)>,
    /// The size of each axis, known once a list along it has ended.
    sizes: Vec<Option<usize>>,
    /// The nesting depth of the elements, known from the first element or empty list on.
    rank: Option<usize>,
}

impl OpenLists {
    fn open(&mut self, at: usize) -> Result<(), LiteralError> {
        let span = at..at + 1;
        RankLimitError::check(self.open.len() + 1, MAX_RANK).map_err(|error| LiteralError {
            kind: LiteralErrorKind::TooDeep(error),
            span: span.clone(),
        })?;
        if let Some(rank) = self.rank.filter(|rank| *rank == self.open.len()) {
            return Err(LiteralError { kind: LiteralErrorKind::UnevenDepth { rank }, span });
        }
        self.open.push((at, 0));
        self.sizes.resize(self.sizes.len().max(self.open.len()), None);
        Ok(())
    }

    fn element(&mut self, span: &Range<usize>) -> Result<(), LiteralError> {
        let rank = *self.rank.get_or_insert(self.open.len());
        if rank != self.open.len() {
            let kind = LiteralErrorKind::UnevenDepth { rank };
            return Err(LiteralError { kind, span: span.clone() });
        }
        self.count();
        Ok(())
    }

    /// Closes the innermost list, which must be as long as the first one along its axis.
    fn close(&mut self, end: usize) -> Result<(), LiteralError> {
        self.rank.get_or_insert(self.open.len());
        let Some((start, found)) = self.open.pop() else { return Ok(()) };
        let axis = self.open.len();
        let size = *self.sizes[axis].get_or_insert(found);
        if size != found {
            let kind = LiteralErrorKind::Ragged { axis, size, found };
            return Err(LiteralError { kind, span: start..end });
        }
        self.count();
        Ok(())
    }

    /// Counts an item of the innermost list.
    fn count(&mut self) {
        if let Some((_, count)) = self.open.last_mut() {
            *count += 1;
        }
    }

    fn shape(&self) -> Shape {
        self.sizes.iter().flatten().copied().collect()
    }
}

fn is_truth(word: &str) -> bool {
    matches!(word, "true" | "false" | "True" | "False")
}

/// Whether the word consists of digits and underscores, with an optional sign.
fn is_whole(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The word without underscores between digits; `None` if an underscore is elsewhere.
fn without_underscores(word: &str) -> Option<String> {
    let begins_with_digit = |part: &str| part.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let ends_in_digit = |part: &str| part.bytes().last().is_some_and(|b| b.is_ascii_digit());
    let parts: Vec<&str> = word.split('_').collect();
    let is_between =
        parts.windows(2).all(|pair| ends_in_digit(pair[0]) && begins_with_digit(pair[1]));
    is_between.then(|| parts.concat())
}

/// The element type of a literal that states none, as NumPy infers it. Truth values mixed with numbers
/// are an error.
fn common_dtype(text: &str, elements: &[Range<usize>]) -> Result<DType, LiteralError> {
    let truths = elements.iter().filter(|span| is_truth(&text[(*span).clone()])).count();
    if truths == elements.len() && truths > 0 {
        return Ok(DType::Bool);
    }
    let is_odd = |span: &&Range<usize>| is_truth(&text[(*span).clone()]);
    if let Some(span) = elements.iter().find(is_odd) {
        return Err(LiteralError { kind: LiteralErrorKind::Mixed, span: span.clone() });
    }
    let is_imaginary = |span: &Range<usize>| text[span.clone()].ends_with(['j', 'J']);
    if elements.iter().any(is_imaginary) {
        return Ok(DType::C128);
    }
    let is_integer =
        !elements.is_empty() && elements.iter().all(|span| is_whole(&text[span.clone()]));
    Ok(if is_integer { DType::I64 } else { DType::F64 })
}

fn wrong_element(word: &str, dtype: DType, span: &Range<usize>) -> LiteralError {
    let is_number = is_whole(word) && without_underscores(word).is_some();
    let kind = match is_number && dtype.is_integer() {
        true => LiteralErrorKind::DoesNotFit(dtype),
        false => LiteralErrorKind::WrongElement(dtype),
    };
    LiteralError { kind, span: span.clone() }
}

/// Whether a word is a value of the type, without rounding.
fn is_value(word: &str, dtype: DType) -> bool {
    let Some(word) = without_underscores(word) else { return false };
    macro_rules! is_value {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match dtype {
                $(DType::$variant => is_value!(@one $class $type),)*
            }
        };
        (@one boolean $type:ident) => { is_truth(&word) };
        (@one half $type:ident) => { is_value!(@one float $type) };
        (@one float8 $type:ident) => { is_value!(@one float $type) };
        (@one float $type:ident) => {
            word.parse::<$type>().is_ok_and(|read| is_written(&word, read.into()))
        };
        (@one complex $type:ident) => {
            match (word.parse::<$type>(), word.parse::<c128>()) {
                (Ok(read), Ok(exact)) => {
                    let is_same = |read: f64, exact: f64| read == exact || exact.is_nan();
                    is_same(read.re.into(), exact.re) && is_same(read.im.into(), exact.im)
                }
                _ => false,
            }
        };
        (@one $class:ident $type:ident) => { word.parse::<$type>().is_ok() };
    }
    for_each_element!(is_value)
}

/// Whether the float `read`, which was parsed from the word, has exactly its value. A whole number is
/// compared as `i128`, any other as `f64`.
fn is_written(word: &str, read: f64) -> bool {
    match (is_whole(word), word.parse::<i128>(), word.parse::<f64>()) {
        (true, Ok(exact), _) => read.is_finite() && read as i128 == exact,
        (false, _, Ok(exact)) => read == exact || exact.is_nan(),
        _ => false,
    }
}

/// Parses the elements. Each is rounded to the nearest value of the type; a number beyond the largest
/// float becomes an infinity.
fn elements(text: &str, spans: &[Range<usize>], dtype: DType) -> Result<ArrayData, LiteralError> {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match dtype {
                $(DType::$variant => ArrayData::$variant(
                    spans.iter().map(|span| {
                        let word = &text[span.clone()];
                        let element = without_underscores(word)
                            .and_then(|word| read!(@one $class $type word));
                        element.ok_or_else(|| wrong_element(word, dtype, span))
                    }).collect::<Result<_, _>>()?,
                ),)*
            }
        };
        (@one boolean $type:ident $word:ident) => {
            match $word.as_str() {
                "true" | "True" | "1" => Some(true),
                "false" | "False" | "0" => Some(false),
                _ => None,
            }
        };
        (@one $class:ident $type:ident $word:ident) => { $word.parse::<$type>().ok() };
    }
    Ok(for_each_element!(read))
}
