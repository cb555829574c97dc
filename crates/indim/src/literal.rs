//! Array literals: `[[1, 2, 3], [4, 5, 6]]`, `2.5`, `f32[1, 2]`, `u8(7)`, `[1+2j, 3]`.
//!
//! Without a type, whole numbers make `i64`, any other number makes `f64`, one with a `j` makes
//! `c128`, and truth values make `bool`, as in NumPy. The reader does not recurse, so nothing a user types can exhaust the stack.

use core::fmt;
use core::ops::Range;

use indim_graph::{Array, ArrayData, DType, bf16, c64, c128, f16, for_each_element};
use indim_shape::Shape;

/// Brackets may be nested this deep, as many axes as NumPy has.
const MAXIMUM_DEPTH: usize = 64;

/// A text that is no literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralError {
    /// What is wrong.
    pub kind: LiteralErrorKind,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
}

/// The kinds of mistakes in literals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiteralErrorKind {
    /// Something else should stand here.
    Expected(&'static str),
    /// The word before the brackets is no element type.
    UnknownElementType,
    /// The element is not of the literal's type, or does not fit it.
    WrongElement(DType),
    /// Truth values and numbers stand side by side.
    Mixed,
    /// A list is longer or shorter, or nested deeper, than the one before it.
    Ragged,
    /// Lists are nested too deep.
    TooDeep,
}

impl LiteralError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self.kind {
            LiteralErrorKind::Expected(_) => "bad-literal",
            LiteralErrorKind::UnknownElementType => "unknown-element-type",
            LiteralErrorKind::WrongElement(_) => "wrong-element",
            LiteralErrorKind::Mixed => "mixed-elements",
            LiteralErrorKind::Ragged => "ragged-literal",
            LiteralErrorKind::TooDeep => "literal-too-deep",
        }
    }

    /// The error with the text, cut to the surroundings of the place, and a caret below it.
    pub fn draw(&self, text: &str) -> String {
        let start = text[..self.span.start].char_indices().rev().nth(40).map_or(0, |(at, _)| at);
        let line: String = text[start..].chars().take(80).collect();
        let before = text[start..self.span.start].chars().count();
        let carets = text[self.span.clone()].chars().count().clamp(1, 40);
        format!(
            "error[{}]: {self}\n   {line}\n   {}{}\n",
            self.code(),
            " ".repeat(before),
            "^".repeat(carets)
        )
    }
}

impl fmt::Display for LiteralError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LiteralErrorKind::Expected(what) => write!(formatter, "expected {what}"),
            LiteralErrorKind::UnknownElementType => {
                write!(formatter, "{}", indim_graph::UnknownDType)
            }
            LiteralErrorKind::WrongElement(dtype) => {
                write!(formatter, "not an element of type {dtype}")
            }
            LiteralErrorKind::Mixed => {
                formatter.write_str("truth values and numbers cannot stand in one array")
            }
            LiteralErrorKind::Ragged => {
                formatter.write_str("lists side by side must have the same shape")
            }
            LiteralErrorKind::TooDeep => {
                write!(formatter, "lists are nested more than {MAXIMUM_DEPTH} deep")
            }
        }
    }
}

impl core::error::Error for LiteralError {}

/// Reads an array literal.
///
/// ```
/// use indim::literal::parse_literal;
/// assert_eq!(parse_literal("[[1, 2, 3], [4, 5, 6]]")?.array_type().to_string(), "i64[2, 3]");
/// assert_eq!(parse_literal("f32[1, inf]")?.elements::<f32>().unwrap(), [1.0, f32::INFINITY]);
/// # Ok::<(), indim::literal::LiteralError>(())
/// ```
///
/// # Errors
/// When the text is no literal; the error knows the place.
pub fn parse_literal(text: &str) -> Result<Array, LiteralError> {
    let mut reader = Reader { text, position: 0 };
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
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => common_dtype(text, &list.elements)?,
    };
    let data = elements(text, &list.elements, dtype)?;
    let whole = 0..text.len();
    Array::from_data(list.shape, data)
        .map_err(|_| LiteralError { kind: LiteralErrorKind::Ragged, span: whole })
}

/// The elements of a literal as pieces of its text.
struct List {
    shape: Shape,
    elements: Vec<Range<usize>>,
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
}

impl Reader<'_> {
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

    /// A word or a number.
    fn word(&mut self) -> Range<usize> {
        self.skip_spaces();
        let start = self.position;
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        self.position += length;
        start..self.position
    }

    /// The element type in front of brackets or parentheses.
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

    /// Elements in brackets within brackets. `open` counts the items of each bracket that is open,
    /// `sizes` holds what the first list at each depth had; a depth that holds elements is a leaf.
    fn nested_list(&mut self) -> Result<List, LiteralError> {
        let mut open: Vec<usize> = Vec::new();
        let mut sizes: Vec<Option<usize>> = Vec::new();
        let mut elements = Vec::new();
        let mut leaf_depth = None;
        loop {
            let at = self.position;
            let ragged = |end| LiteralError { kind: LiteralErrorKind::Ragged, span: at..end };
            if self.accept('[') {
                if open.len() == MAXIMUM_DEPTH {
                    let kind = LiteralErrorKind::TooDeep;
                    return Err(LiteralError { kind, span: self.position - 1..self.position });
                }
                open.push(0);
                if sizes.len() < open.len() {
                    if leaf_depth.is_some() || sizes.last().is_some_and(Option::is_some) {
                        return Err(ragged(self.position));
                    }
                    sizes.push(None);
                }
                if !self.accept(']') {
                    continue;
                }
                self.close(&mut open, &mut sizes, at)?;
            } else {
                let span = self.word();
                if span.is_empty() {
                    return Err(self.expected("a number, a truth value or `[`"));
                }
                if *leaf_depth.get_or_insert(open.len()) != open.len() || sizes.len() > open.len() {
                    return Err(ragged(self.position));
                }
                elements.push(span);
                open.last_mut().into_iter().for_each(|count| *count += 1);
            }
            while !open.is_empty() && !self.accept(',') {
                if !self.accept(']') {
                    return Err(self.expected("`,` or `]`"));
                }
                self.close(&mut open, &mut sizes, at)?;
            }
            if open.is_empty() {
                break;
            }
            if self.accept(']') {
                // A comma before the bracket, as Python allows.
                self.close(&mut open, &mut sizes, at)?;
                self.close_all(&mut open, &mut sizes, at)?;
                if open.is_empty() {
                    break;
                }
            }
        }
        let shape = sizes.into_iter().map(|size| size.unwrap_or(0)).collect();
        Ok(List { shape, elements })
    }

    /// Closes the brackets that follow, up to the next comma.
    fn close_all(
        &mut self,
        open: &mut Vec<usize>,
        sizes: &mut [Option<usize>],
        at: usize,
    ) -> Result<(), LiteralError> {
        while !open.is_empty() && !self.accept(',') {
            if !self.accept(']') {
                return Err(self.expected("`,` or `]`"));
            }
            self.close(open, sizes, at)?;
        }
        Ok(())
    }

    /// Ends the innermost list, which must be as long as the ones before at its depth.
    fn close(
        &mut self,
        open: &mut Vec<usize>,
        sizes: &mut [Option<usize>],
        at: usize,
    ) -> Result<(), LiteralError> {
        let count = open.pop().unwrap_or(0);
        let size = &mut sizes[open.len()];
        if *size.get_or_insert(count) != count {
            return Err(LiteralError { kind: LiteralErrorKind::Ragged, span: at..self.position });
        }
        open.last_mut().into_iter().for_each(|outer| *outer += 1);
        Ok(())
    }
}

fn is_truth(word: &str) -> bool {
    matches!(word, "true" | "false" | "True" | "False")
}

/// What NumPy would make of the elements.
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
    let is_whole = |span: &Range<usize>| {
        let word = &text[span.clone()];
        word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'_'))
    };
    let is_integer = !elements.is_empty() && elements.iter().all(is_whole);
    Ok(if is_integer { DType::I64 } else { DType::F64 })
}

fn elements(text: &str, spans: &[Range<usize>], dtype: DType) -> Result<ArrayData, LiteralError> {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match dtype {
                $(DType::$variant => ArrayData::$variant(
                    spans.iter().map(|span| {
                        let word = text[span.clone()].replace('_', "");
                        read!(@one $class $type word).ok_or_else(|| LiteralError {
                            kind: LiteralErrorKind::WrongElement(dtype),
                            span: span.clone(),
                        })
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
