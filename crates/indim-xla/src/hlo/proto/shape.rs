//! Types.

use bytes::Bytes;
use indim_model::{FormatErrorKind, FormatLimits};
use indim_ops::ArrayType;

use super::super::parser::NESTED;
use super::super::shape::{element_type_numbered, is_permutation};
use super::super::syntax::{Layout, Shape};
use super::decoded;
use super::messages::ShapeProto;
use super::spelled::Spelled;

const TUPLE: i32 = 13;

/// What some types are called that are not to be had.
const OTHERS: [(i32, &str); 8] = [
    (14, "opaque"),
    (17, "token"),
    (19, "f8e5m2"),
    (20, "f8e4m3fn"),
    (21, "s4"),
    (22, "u4"),
    (26, "s2"),
    (27, "u2"),
];

type Read<T> = Result<T, FormatErrorKind>;

/// Reads the types of a module, all of which have but so many parts.
pub(super) struct Shapes<'l> {
    pub(super) limits: &'l FormatLimits,
    pub(super) parts: usize,
}

impl Shapes<'_> {
    /// The type of an instruction.
    ///
    /// # Errors
    /// `damaged`, `limit`, `attribute`.
    pub(super) fn read(&mut self, encoded: &Bytes, spelled: &mut Spelled) -> Read<Shape> {
        self.nested(encoded, spelled, 0)
    }

    fn nested(&mut self, encoded: &Bytes, spelled: &mut Spelled, depth: usize) -> Read<Shape> {
        let limit = NESTED.min(self.limits.depth);
        if depth > limit {
            return Err(FormatErrorKind::Limit { what: "nested types", limit });
        }
        let proto: ShapeProto = decoded(encoded.clone())?;
        self.parts = self.parts.saturating_add(1 + proto.tuple_shapes.len());
        // As many as instructions have, half of them of tuples of two.
        let limit = self.limits.operations.saturating_mul(2);
        if self.parts > limit {
            return Err(FormatErrorKind::Limit { what: "parts of types", limit });
        }
        if proto.element_type == TUPLE {
            let parts = proto.tuple_shapes.iter();
            let parts = parts.map(|part| self.nested(part, spelled, depth + 1));
            return Ok(Shape::Tuple(parts.collect::<Read<_>>()?));
        }
        self.array(&proto, spelled)
    }

    fn array(&self, proto: &ShapeProto, spelled: &mut Spelled) -> Read<Shape> {
        let limit = self.limits.rank;
        if proto.dimensions.len() > limit {
            return Err(FormatErrorKind::Limit { what: "axes", limit });
        }
        let Some(dtype) = element_type_numbered(proto.element_type) else {
            let known = OTHERS.iter().find(|(number, _)| *number == proto.element_type);
            let name = known.map_or_else(
                || format!("type {}", proto.element_type),
                |(_, name)| (*name).to_owned(),
            );
            return Ok(Shape::Other(spelled.add(&format!("{name}{:?}", proto.dimensions))));
        };
        let sizes = proto.dimensions.iter().map(|&size| usize::try_from(size));
        match sizes.collect::<Result<Vec<usize>, _>>() {
            Ok(sizes) if !proto.is_dynamic_dimension.contains(&true) => {
                Ok(Shape::Array(ArrayType::new(dtype, sizes), layout(proto)?))
            }
            _ => Ok(Shape::Dynamic(spelled.add(&format!("{dtype}{:?}", proto.dimensions)))),
        }
    }
}

/// How the elements of a type lie.
///
/// # Errors
/// `attribute`.
pub(super) fn layout(proto: &ShapeProto) -> Read<Layout> {
    let Some(layout) = &proto.layout else { return Ok(Layout::RowMajor) };
    if !layout.tiles.is_empty() || layout.element_size_in_bits != 0 || layout.memory_space != 0 {
        return Ok(Layout::Other);
    }
    let axes = layout.minor_to_major.iter().map(|&axis| usize::try_from(axis).ok());
    let axes: Option<Vec<usize>> = axes.collect();
    match axes.filter(|axes| is_permutation(axes, proto.dimensions.len())) {
        Some(axes) if axes.is_empty() => Ok(Layout::RowMajor),
        Some(axes) => Ok(Layout::MinorToMajor(axes)),
        None => Err(FormatErrorKind::attribute("layout", "does not name every axis once")),
    }
}
