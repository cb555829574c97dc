//! Element types of Zarr arrays, and fill values.

use indim_graph::Literal;
use indim_ops::{DType, DTypeClass};
use serde_json::Value;

use indim_io::npy::{from_descr, number_size};

/// indim's element types and Zarr's names of data types in version 3.
const NAMES: [(DType, &str); 15] = [
    (DType::Bool, "bool"),
    (DType::I8, "int8"),
    (DType::I16, "int16"),
    (DType::I32, "int32"),
    (DType::I64, "int64"),
    (DType::U8, "uint8"),
    (DType::U16, "uint16"),
    (DType::U32, "uint32"),
    (DType::U64, "uint64"),
    (DType::F16, "float16"),
    (DType::Bf16, "bfloat16"),
    (DType::F32, "float32"),
    (DType::F64, "float64"),
    (DType::C64, "complex64"),
    (DType::C128, "complex128"),
];

/// The element type of a name in version 3.
pub(super) fn dtype(name: &str) -> Option<DType> {
    NAMES.into_iter().find(|(_, known)| *known == name).map(|(dtype, _)| dtype)
}

/// The element type of a NumPy description in version 2, and whether the elements are in non-native byte
/// order.
pub(super) fn dtype_of_descr(descr: &str) -> Option<(DType, bool)> {
    // Version 2 has no number type for two raw bytes, and none of the storage types, such as floats of 8
    // bits.
    from_descr(descr).filter(|(dtype, _)| *dtype != DType::Bf16 && !dtype.is_storage())
}

/// The name of an element type in version 3; `None` for storage types.
pub(super) fn name(dtype: DType) -> Option<&'static str> {
    NAMES.into_iter().find(|(known, _)| *known == dtype).map(|(_, name)| name)
}

/// The bytes of a fill value, in native byte order; `None` if the value is not of this type.
pub(super) fn fill_bytes(value: &Value, dtype: DType) -> Option<Vec<u8>> {
    match (dtype.class(), value) {
        // In version 2, `null` leaves missing elements undefined; here they are 0.
        (_, Value::Null) => Some(vec![0; dtype.size()]),
        (DTypeClass::Complex, Value::Array(parts)) if parts.len() == 2 => {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            Some([fill_bytes(&parts[0], part)?, fill_bytes(&parts[1], part)?].concat())
        }
        (DTypeClass::Float, Value::String(text)) => float_bytes(text, dtype),
        (DTypeClass::Complex, Value::String(text)) => {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            Some([float_bytes(text, part)?, vec![0; part.size()]].concat())
        }
        (_, Value::Bool(value)) => literal_bytes(Literal::Bool(*value), dtype),
        (_, Value::Number(number)) => {
            let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
            let literal = match whole {
                Some(whole) => Literal::Int(whole),
                None => {
                    let float = number.as_f64()?;
                    // A whole number that is written with a decimal point, such as `1.0`.
                    let is_whole = float.fract() == 0.0 && float.abs() < 1e18;
                    if is_whole { Literal::Int(float as i128) } else { Literal::Float(float) }
                }
            };
            literal_bytes(literal, dtype)
        }
        _ => None,
    }
}

fn literal_bytes(literal: Literal, dtype: DType) -> Option<Vec<u8>> {
    let is_float = matches!(dtype.class(), DTypeClass::Float | DTypeClass::Complex);
    let fits =
        dtype == DType::Bool || literal.is_of_kind(dtype) && (is_float || literal.fits(dtype));
    fits.then(|| literal.element(dtype).bytes().to_vec())
}

/// The bytes of `NaN`, `Infinity`, `-Infinity`, or of a number in hexadecimal bits such as `0x7fc00000`.
fn float_bytes(text: &str, dtype: DType) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let bytes = bits.to_ne_bytes();
        let size = number_size(dtype);
        if digits.len() > 2 * size {
            return None;
        }
        let low = if cfg!(target_endian = "little") { &bytes[..size] } else { &bytes[8 - size..] };
        return Some(low.to_vec());
    }
    let float = match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    };
    literal_bytes(Literal::Float(float), dtype)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fill_values_are_numbers_names_or_bits() {
        let fill = |value: Value, dtype| fill_bytes(&value, dtype);
        assert_eq!(fill(json!(-1), DType::I16), Some((-1i16).to_ne_bytes().to_vec()));
        assert_eq!(fill(json!(u64::MAX), DType::U64), Some(vec![255; 8]));
        assert_eq!(fill(json!(0.5), DType::F32), Some(0.5f32.to_ne_bytes().to_vec()));
        assert_eq!(
            fill(json!("-Infinity"), DType::F64),
            Some(f64::NEG_INFINITY.to_ne_bytes().to_vec())
        );
        assert_eq!(
            fill(json!("0x7fc00001"), DType::F32),
            Some(0x7fc0_0001u32.to_ne_bytes().to_vec())
        );
        let complex = [1.0f32.to_ne_bytes(), f32::INFINITY.to_ne_bytes()].concat();
        assert_eq!(fill(json!([1.0, "Infinity"]), DType::C64), Some(complex));
        assert_eq!(fill(json!(true), DType::Bool), Some(vec![1]));
        assert_eq!(fill(Value::Null, DType::C128), Some(vec![0; 16]));
        for (value, dtype) in [
            (json!(300), DType::U8),
            (json!(0.5), DType::I8),
            (json!("nan"), DType::F32),
            (json!("0x7fc0000100"), DType::F32),
            (json!([1]), DType::C64),
        ] {
            assert_eq!(fill(value.clone(), dtype), None, "{value}");
        }
    }
}
