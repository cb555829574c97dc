//! The names of element types.

use indim_model::FormatErrorKind;
use indim_ops::DType;

/// Each element type with its names in attributes and in ports.
const NAMES: [(DType, &str, &str); 17] = [
    (DType::Bool, "boolean", "BOOL"),
    (DType::I8, "i8", "I8"),
    (DType::I16, "i16", "I16"),
    (DType::I32, "i32", "I32"),
    (DType::I64, "i64", "I64"),
    (DType::U8, "u8", "U8"),
    (DType::U16, "u16", "U16"),
    (DType::U32, "u32", "U32"),
    (DType::U64, "u64", "U64"),
    (DType::F16, "f16", "FP16"),
    (DType::Bf16, "bf16", "BF16"),
    (DType::F32, "f32", "FP32"),
    (DType::F64, "f64", "FP64"),
    (DType::F8E4m3fn, "f8e4m3", "F8E4M3"),
    (DType::F8E5m2, "f8e5m2", "F8E5M2"),
    (DType::I4, "i4", "I4"),
    (DType::U4, "u4", "U4"),
];

/// Names for an unknown element type, which the input arrays determine.
const UNKNOWN_TYPES: [&str; 3] = ["dynamic", "undefined", "unspecified"];

/// The element type with this name, in either spelling; `None` if the file leaves it open.
///
/// # Errors
/// `unsupported-type`.
pub(super) fn element_type(name: &str) -> Result<Option<DType>, FormatErrorKind> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    if UNKNOWN_TYPES.iter().any(|open| is(open)) {
        return Ok(None);
    }
    let found = NAMES.iter().find(|(_, attribute, port)| is(attribute) || is(port));
    match found {
        Some((dtype, ..)) => Ok(Some(*dtype)),
        None => Err(FormatErrorKind::UnsupportedType { name: name.to_owned() }),
    }
}

fn names(dtype: DType) -> Option<&'static (DType, &'static str, &'static str)> {
    NAMES.iter().find(|(known, ..)| *known == dtype)
}

/// Whether files can have elements of this type.
pub(super) fn has_name(dtype: DType) -> bool {
    names(dtype).is_some()
}

/// Name of an element type in attributes.
pub(super) fn attribute_name(dtype: DType) -> &'static str {
    names(dtype).map_or("undefined", |(_, attribute, _)| attribute)
}

/// Name of an element type in ports.
pub(super) fn port_name(dtype: DType) -> &'static str {
    names(dtype).map_or("UNSPECIFIED", |(.., port)| port)
}
