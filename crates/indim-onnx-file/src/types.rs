//! Element types, and declared types of inputs and outputs.

use indim_model::{DeclaredSize, FormatErrorKind, FormatLimits, Location, ModelInput};
use indim_ops::DType;
use indim_shape::saturating_size;

use crate::messages::{TensorShapeProto, TypeProto, ValueInfoProto};

/// ONNX's element types, indexed by their number: ONNX's name, and indim's type if it has one.
const ELEMENT_TYPES: [(&str, Option<DType>); 29] = [
    ("UNDEFINED", None),
    ("FLOAT", Some(DType::F32)),
    ("UINT8", Some(DType::U8)),
    ("INT8", Some(DType::I8)),
    ("UINT16", Some(DType::U16)),
    ("INT16", Some(DType::I16)),
    ("INT32", Some(DType::I32)),
    ("INT64", Some(DType::I64)),
    ("STRING", None),
    ("BOOL", Some(DType::Bool)),
    ("FLOAT16", Some(DType::F16)),
    ("DOUBLE", Some(DType::F64)),
    ("UINT32", Some(DType::U32)),
    ("UINT64", Some(DType::U64)),
    ("COMPLEX64", Some(DType::C64)),
    ("COMPLEX128", Some(DType::C128)),
    ("BFLOAT16", Some(DType::Bf16)),
    ("FLOAT8E4M3FN", Some(DType::F8E4m3fn)),
    ("FLOAT8E4M3FNUZ", Some(DType::F8E4m3fnuz)),
    ("FLOAT8E5M2", Some(DType::F8E5m2)),
    ("FLOAT8E5M2FNUZ", Some(DType::F8E5m2fnuz)),
    ("UINT4", Some(DType::U4)),
    ("INT4", Some(DType::I4)),
    ("FLOAT4E2M1", None),
    ("FLOAT8E8M0", None),
    ("UINT2", None),
    ("INT2", None),
    ("FLOAT6E2M3", None),
    ("FLOAT6E3M2", None),
];

/// The element type with this number.
///
/// # Errors
/// `unsupported-type`.
pub fn dtype_of(number: i64) -> Result<DType, FormatErrorKind> {
    let row = usize::try_from(number).ok().and_then(|number| ELEMENT_TYPES.get(number));
    match row {
        Some((_, Some(dtype))) => Ok(*dtype),
        Some((name, None)) => Err(FormatErrorKind::UnsupportedType { name: (*name).to_owned() }),
        None => Err(FormatErrorKind::UnsupportedType { name: format!("number {number}") }),
    }
}

/// The name of the element type with this number: indim's, or ONNX's in small letters.
pub fn element_name(number: i64) -> String {
    let row = usize::try_from(number).ok().and_then(|number| ELEMENT_TYPES.get(number));
    match row {
        Some((_, Some(dtype))) => dtype.name().to_owned(),
        Some((name, None)) => name.to_lowercase(),
        None => format!("type{number}"),
    }
}

/// ONNX's number of an element type; 0 (`UNDEFINED`) for a type that ONNX lacks.
pub(crate) fn number_of(dtype: DType) -> i32 {
    let is_same = |row: &(&str, Option<DType>)| row.1 == Some(dtype);
    ELEMENT_TYPES.iter().position(is_same).unwrap_or(0) as i32
}

/// The element type with this name; the first version of `Cast` uses names.
///
/// # Errors
/// `unsupported-type`.
pub fn dtype_named(name: &str) -> Result<DType, FormatErrorKind> {
    let number = ELEMENT_TYPES.iter().position(|row| row.0 == name);
    match number {
        Some(number) => dtype_of(number as i64),
        None => Err(FormatErrorKind::UnsupportedType { name: name.to_owned() }),
    }
}

/// The declaration of an input.
///
/// # Errors
/// `unsupported-type`, `limit`.
pub fn declared_input(
    info: &ValueInfoProto,
    limits: &FormatLimits,
) -> Result<ModelInput, FormatErrorKind> {
    let mut input = ModelInput {
        name: info.name.clone(),
        dtype: None,
        sizes: None,
        has_default: false,
        is_shape: false,
    };
    let Some(declared) = &info.r#type else { return Ok(input) };
    let Some(tensor) = &declared.tensor_type else {
        return Err(FormatErrorKind::UnsupportedType { name: kind_of(declared).to_owned() });
    };
    if tensor.elem_type != 0 {
        input.dtype = Some(dtype_of(tensor.elem_type.into())?);
    }
    input.sizes = tensor.shape.as_ref().map(|shape| sizes_of(shape, limits)).transpose()?;
    Ok(input)
}

/// The kind of a type that is no tensor type, for an error message.
fn kind_of(declared: &TypeProto) -> &'static str {
    match declared {
        TypeProto { sequence_type: Some(_), .. } => "sequence",
        TypeProto { map_type: Some(_), .. } => "map",
        TypeProto { sparse_tensor_type: Some(_), .. } => "sparse tensor",
        TypeProto { optional_type: Some(_), .. } => "optional",
        _ => "of no kind that is known",
    }
}

/// The declared sizes of the axes.
pub fn sizes_of(
    shape: &TensorShapeProto,
    limits: &FormatLimits,
) -> Result<Vec<DeclaredSize>, FormatErrorKind> {
    if shape.dim.len() > limits.rank {
        return Err(FormatErrorKind::Limit { what: "axes", limit: limits.rank });
    }
    let size = |dim: &crate::messages::DimensionProto| match (dim.dim_value, &dim.dim_param) {
        (Some(value), _) => match u64::try_from(value) {
            Ok(value) => DeclaredSize::Known(saturating_size(value)),
            // Some exporters write -1 for an unknown size.
            Err(_) => DeclaredSize::Dynamic,
        },
        (None, Some(name)) if !name.is_empty() => DeclaredSize::Symbol(name.clone()),
        (None, _) => DeclaredSize::Dynamic,
    };
    Ok(shape.dim.iter().map(size).collect())
}

/// Location of the declaration of an input or output.
pub fn declared_at(what: &str, name: &str) -> Location {
    Location::described(format!("{what} {}", indim_graph::terminal::printable(name)))
}
