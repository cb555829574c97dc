//! Types: `f32[2,3]{1,0}`, `(T, U)`.

use indim_model::FormatErrorKind;
use indim_ops::{ArrayType, DType};

use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use super::syntax::{Layout, Shape};

/// The element types, by HLO's names, and the numbers that messages have for them.
const NAMES: [(&str, DType, i32); 15] = [
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
];

/// The element type that HLO calls so.
fn element_type(name: &str) -> Option<DType> {
    NAMES.iter().find(|(known, ..)| *known == name).map(|(_, dtype, _)| *dtype)
}

/// The element type that has this number in messages.
pub(super) fn element_type_numbered(number: i32) -> Option<DType> {
    NAMES.iter().find(|(.., known)| *known == number).map(|(_, dtype, _)| *dtype)
}

/// What HLO calls an element type.
pub(super) fn type_name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(_, known, _)| *known == dtype).map_or("", |(name, ..)| name)
}

impl Parser<'_, '_> {
    /// Whether a type comes next.
    pub(super) fn begins_shape(&self) -> bool {
        self.is_mark(b'(')
            || self.next.kind == TokenKind::Word && self.second().kind == TokenKind::Mark(b'[')
    }

    /// A type.
    pub(super) fn shape(&mut self) -> Parsed<Shape> {
        if self.eat_mark(b'(').is_some() {
            return self.nest(|parser| {
                let mut parts = Vec::new();
                while parser.eat_mark(b')').is_none() {
                    parts.push(parser.shape()?);
                    if parser.eat_mark(b',').is_none() && !parser.is_mark(b')') {
                        return Err(parser.unexpected("`,` or `)`"));
                    }
                }
                Ok(Shape::Tuple(parts))
            });
        }
        if !self.begins_shape() {
            return Err(self.unexpected("a type: `f32[2,3]`"));
        }
        let name = self.advance();
        let brackets = self.skip_balanced()?;
        let span = name.span.to(brackets);
        // A layout stands at its type, the body of a computation apart.
        let layout = match self.is_mark(b'{') && self.next.span.start == brackets.end {
            true => self.layout()?,
            false => Layout::RowMajor,
        };
        let inside = &self.text[brackets.start + 1..brackets.end - 1];
        let Some(dtype) = element_type(self.of(name)) else { return Ok(Shape::Other(span)) };
        if inside.contains(['?', '<']) {
            return Ok(Shape::Dynamic(span));
        }
        let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
        let sizes: Result<Vec<usize>, _> = sizes.map(comment_free_size).collect();
        let Ok(sizes) = sizes else {
            let expected = "sizes between commas".to_owned();
            let place = brackets.start..brackets.end;
            return Err(FormatErrorKind::Unexpected { expected }.in_text(place));
        };
        let limit = self.limits.rank;
        if sizes.len() > limit {
            let place = span.start..span.end;
            return Err(FormatErrorKind::Limit { what: "axes", limit }.in_text(place));
        }
        let is_permutation = match &layout {
            Layout::MinorToMajor(axes) => is_permutation(axes, sizes.len()),
            Layout::RowMajor | Layout::Other => true,
        };
        if !is_permutation {
            let kind = FormatErrorKind::attribute("layout", "does not name every axis once");
            return Err(kind.in_text(span.start..span.end));
        }
        Ok(Shape::Array(ArrayType::new(dtype, sizes), layout))
    }

    /// `{1,0}`, `{1,0:T(8,128)}`, `{}`.
    fn layout(&mut self) -> Parsed<Layout> {
        let brackets = self.skip_balanced()?;
        let inside = &self.text[brackets.start + 1..brackets.end - 1];
        let (axes, tiles) = inside.split_once(':').unwrap_or((inside, ""));
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let axes: Result<Vec<usize>, _> = axes.map(str::parse).collect();
        Ok(match axes {
            Ok(axes) if tiles.is_empty() && axes.is_empty() => Layout::RowMajor,
            Ok(axes) if tiles.is_empty() => Layout::MinorToMajor(axes),
            _ => Layout::Other,
        })
    }
}

fn comment_free_size(size: &str) -> Result<usize, std::num::ParseIntError> {
    size.rsplit("*/").next().unwrap_or(size).trim().parse()
}

/// Whether these are all axes, each once.
pub(super) fn is_permutation(axes: &[usize], rank: usize) -> bool {
    let mut seen = vec![false; rank];
    let all_new = axes.iter().all(|&axis| {
        let slot = seen.get_mut(axis);
        slot.is_some_and(|slot| !core::mem::replace(slot, true))
    });
    all_new && axes.len() == rank
}
