//! Types in protobufs.

use bytes::Bytes;
use indim_model::{FormatErrorKind, FormatLimits};
use indim_ops::ArrayType;

use super::super::parser::MAX_NESTING;
use super::super::shape::{element_type_numbered, is_permutation};
use super::super::syntax::{HloLayout, HloShape};
use super::decode;
use super::messages::ShapeProto;
use super::synthetic_text::SyntheticText;

const TUPLE: i32 = 13;

/// Names of unsupported element types.
const UNSUPPORTED_TYPES: [(i32, &str); 8] = [
    (14, "opaque"),
    (17, "token"),
    (26, "s2"),
    (27, "u2"),
    (28, "f8e4m3"),
    (29, "f8e3m4"),
    (32, "f4e2m1fn"),
    (33, "f8e8m0fnu"),
];

type ReadResult<T> = Result<T, FormatErrorKind>;

/// The reader of the types of a module, with a limit on their total number of components.
pub(super) struct Shapes<'l> {
    pub(super) limits: &'l FormatLimits,
    /// Number of components so far.
    pub(super) parts: usize,
}

impl Shapes<'_> {
    /// The type of an instruction.
    ///
    /// # Errors
    /// `damaged`, `limit`, `attribute`.
    pub(super) fn read(
        &mut self,
        encoded: &Bytes,
        synthetic_text: &mut SyntheticText,
    ) -> ReadResult<HloShape> {
        self.nested(encoded, synthetic_text, 0)
    }

    fn nested(
        &mut self,
        encoded: &Bytes,
        synthetic_text: &mut SyntheticText,
        depth: usize,
    ) -> ReadResult<HloShape> {
        let limit = MAX_NESTING.min(self.limits.depth);
        if depth > limit {
            return Err(FormatErrorKind::Limit { what: "nested types", limit });
        }
        let proto: ShapeProto = decode(encoded.clone())?;
        self.parts = self.parts.saturating_add(1 + proto.tuple_shapes.len());
        // One type per instruction. A tuple of two arrays counts 5, so a quarter of the types can be
        // such tuples.
        let limit = self.limits.operations.saturating_mul(2);
        if self.parts > limit {
            return Err(FormatErrorKind::Limit { what: "parts of types", limit });
        }
        if proto.element_type == TUPLE {
            let parts = proto.tuple_shapes.iter();
            let parts = parts.map(|part| self.nested(part, synthetic_text, depth + 1));
            return Ok(HloShape::Tuple(parts.collect::<ReadResult<_>>()?));
        }
        self.array(&proto, synthetic_text)
    }

    fn array(
        &self,
        proto: &ShapeProto,
        synthetic_text: &mut SyntheticText,
    ) -> ReadResult<HloShape> {
        let limit = self.limits.rank;
        if proto.dimensions.len() > limit {
            return Err(FormatErrorKind::Limit { what: "axes", limit });
        }
        let Some(dtype) = element_type_numbered(proto.element_type) else {
            let known = UNSUPPORTED_TYPES.iter().find(|(number, _)| *number == proto.element_type);
            let name = known.map_or_else(
                || format!("type {}", proto.element_type),
                |(_, name)| (*name).to_owned(),
            );
            return Ok(HloShape::Other(
                synthetic_text.add(&format!("{name}{:?}", proto.dimensions)),
            ));
        };
        let sizes = proto.dimensions.iter().map(|&size| usize::try_from(size));
        match sizes.collect::<Result<Vec<usize>, _>>() {
            Ok(sizes) if !proto.is_dynamic_dimension.contains(&true) => {
                Ok(HloShape::Array(ArrayType::new(dtype, sizes), layout(proto)?))
            }
            _ => {
                Ok(HloShape::Dynamic(synthetic_text.add(&format!("{dtype}{:?}", proto.dimensions))))
            }
        }
    }
}

/// The layout of a type.
///
/// # Errors
/// `attribute`.
pub(super) fn layout(proto: &ShapeProto) -> ReadResult<HloLayout> {
    let Some(layout) = &proto.layout else { return Ok(HloLayout::RowMajor) };
    if !layout.tiles.is_empty() || layout.element_size_in_bits != 0 || layout.memory_space != 0 {
        return Ok(HloLayout::Other);
    }
    let axes = layout.minor_to_major.iter().map(|&axis| usize::try_from(axis).ok());
    let axes: Option<Vec<usize>> = axes.collect();
    match axes.filter(|axes| is_permutation(axes, proto.dimensions.len())) {
        Some(axes) if axes.is_empty() => Ok(HloLayout::RowMajor),
        Some(axes) => Ok(HloLayout::MinorToMajor(axes)),
        None => Err(FormatErrorKind::attribute("layout", "does not name every axis once")),
    }
}
