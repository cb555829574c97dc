//! Types in text: `f32[2,3]{1,0}`, `(T, U)`.

use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};

use super::lexer::TokenKind;
use super::parser::{ParseResult, Parser};
use super::syntax::{HloLayout, HloShape};

/// Element types by their name in HLO and their number in protobufs.
const NAMES: [(&str, DType, i32); 22] = [
    ("pred", DType::Bool, 1),
    ("s8", DType::I8, 2),
    ("s16", DType::I16, 3),
    ("s32", DType::I32, 4),
    ("s64", DType::I64, 5),
    ("u8", DType::U8, 6),
    ("u16", DType::U16, 7),
    ("u32", DType::U32, 8),
    ("u64", DType::U64, 9),
    ("f16", DType::F16, 10),
    ("bf16", DType::Bf16, 16),
    ("f32", DType::F32, 11),
    ("f64", DType::F64, 12),
    ("c64", DType::C64, 15),
    ("c128", DType::C128, 18),
    ("f8e4m3fn", DType::F8E4m3fn, 20),
    ("f8e5m2", DType::F8E5m2, 19),
    ("f8e4m3fnuz", DType::F8E4m3fnuz, 25),
    ("f8e5m2fnuz", DType::F8E5m2fnuz, 24),
    ("f8e4m3b11fnuz", DType::F8E4m3b11fnuz, 23),
    ("s4", DType::I4, 21),
    ("u4", DType::U4, 22),
];

/// The element type with this name in HLO.
fn element_type(name: &str) -> Option<DType> {
    NAMES.iter().find(|(known, ..)| *known == name).map(|(_, dtype, _)| *dtype)
}

/// The element type with this number in protobufs.
pub(super) fn element_type_numbered(number: i32) -> Option<DType> {
    NAMES.iter().find(|(.., known)| *known == number).map(|(_, dtype, _)| *dtype)
}

/// Name of an element type in HLO.
pub(super) fn type_name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(_, known, _)| *known == dtype).map_or("", |(name, ..)| name)
}

impl Parser<'_, '_> {
    /// Whether the next token begins a type.
    pub(super) fn begins_shape(&self) -> bool {
        self.is_mark(b'(')
            || self.next.kind == TokenKind::Word && self.second().kind == TokenKind::Mark(b'[')
    }

    /// Parses a type.
    pub(super) fn shape(&mut self) -> ParseResult<HloShape> {
        if self.eat_mark(b'(').is_some() {
            return self.nest(|parser| {
                let mut parts = Vec::new();
                while parser.eat_mark(b')').is_none() {
                    parts.push(parser.shape()?);
                    if parser.eat_mark(b',').is_none() && !parser.is_mark(b')') {
                        return Err(parser.unexpected("`,` or `)`"));
                    }
                }
                Ok(HloShape::Tuple(parts))
            });
        }
        if !self.begins_shape() {
            return Err(self.unexpected("a type: `f32[2,3]`"));
        }
        let name = self.advance();
        let brackets = self.skip_balanced()?;
        let span = name.span.to(brackets);
        // A layout follows its type without a space; the body of a computation does not.
        let layout = match self.is_mark(b'{') && self.next.span.start == brackets.end {
            true => self.layout()?,
            false => HloLayout::RowMajor,
        };
        let inside = &self.text[brackets.start + 1..brackets.end - 1];
        let Some(dtype) = element_type(self.of(name)) else { return Ok(HloShape::Other(span)) };
        if inside.contains(['?', '<']) {
            return Ok(HloShape::Dynamic(span));
        }
        let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
        let sizes: Result<Vec<usize>, _> = sizes.map(comment_free_size).collect();
        let Ok(sizes) = sizes else {
            let expected = "sizes between commas".to_owned();
            let range = brackets.start..brackets.end;
            return Err(FormatErrorKind::Unexpected { expected }.in_text(range));
        };
        let limit = self.limits.rank;
        if sizes.len() > limit {
            let range = span.start..span.end;
            return Err(FormatErrorKind::Limit { what: "axes", limit }.in_text(range));
        }
        let is_permutation = match &layout {
            HloLayout::MinorToMajor(axes) => is_permutation(axes, sizes.len()),
            HloLayout::RowMajor | HloLayout::Other => true,
        };
        if !is_permutation {
            let kind = FormatErrorKind::attribute("layout", "does not name every axis once");
            return Err(kind.in_text(span.start..span.end));
        }
        Ok(HloShape::Array(ArrayType::new(dtype, sizes), layout))
    }

    /// `{1,0}`, `{1,0:T(8,128)}`, `{}`.
    fn layout(&mut self) -> ParseResult<HloLayout> {
        let brackets = self.skip_balanced()?;
        let inside = &self.text[brackets.start + 1..brackets.end - 1];
        let (axes, tiles) = inside.split_once(':').unwrap_or((inside, ""));
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let axes: Result<Vec<usize>, _> = axes.map(str::parse).collect();
        Ok(match axes {
            Ok(axes) if tiles.is_empty() && axes.is_empty() => HloLayout::RowMajor,
            Ok(axes) if tiles.is_empty() => HloLayout::MinorToMajor(axes),
            _ => HloLayout::Other,
        })
    }
}

/// A size, after a comment that may precede it in the text.
fn comment_free_size(size: &str) -> Result<usize, std::num::ParseIntError> {
    size.rsplit("*/").next().unwrap_or(size).trim().parse()
}

/// Whether this is a permutation of the axes.
pub(super) fn is_permutation(axes: &[usize], rank: usize) -> bool {
    let mut seen = vec![false; rank];
    let all_new = axes.iter().all(|&axis| {
        let slot = seen.get_mut(axis);
        slot.is_some_and(|slot| !core::mem::replace(slot, true))
    });
    all_new && axes.len() == rank
}
