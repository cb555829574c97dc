//! Elements as text, as StableHLO and HLO have them.

use indim_graph::{Array, Literal};
use indim_ops::DType;
use indim_ops::elements::*;

/// A number of a real type as text.
pub enum NumberText {
    /// A decimal or a boolean.
    Finite(String),
    /// An infinity or a NaN, with its bits.
    NotFinite {
        /// The bits.
        bits: u64,
        /// Whether the sign bit is set.
        is_negative: bool,
        /// Whether it is a NaN.
        is_nan: bool,
    },
}

/// The elements of an array in order; a complex element is two numbers.
pub fn numbers(array: &Array) -> Vec<NumberText> {
    let dtype = part_of(array.dtype());
    let bytes = array.to_le_bytes();
    bytes.chunks_exact(dtype.size()).map(|bytes| number(bytes, dtype)).collect()
}

/// The type of the parts of a complex type; other types are their own part.
pub fn part_of(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        _ => dtype,
    }
}

fn number(bytes: &[u8], dtype: DType) -> NumberText {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(all);
    // Sign-extends the bits of an integer.
    let unused = 64 - 8 * dtype.size() as u32;
    let signed = ((bits << unused) as i64) >> unused;
    macro_rules! float8 {
        ($type:ident) => {
            float($type::from_bits(bits as u8).to_f64(), bits, signed < 0, |x| format!("{x:?}"))
        };
    }
    match dtype {
        DType::F8E4m3fn => float8!(f8e4m3fn),
        DType::F8E5m2 => float8!(f8e5m2),
        DType::F8E4m3fnuz => float8!(f8e4m3fnuz),
        DType::F8E5m2fnuz => float8!(f8e5m2fnuz),
        DType::F8E4m3b11fnuz => float8!(f8e4m3b11fnuz),
        DType::I4 => NumberText::Finite(i4::from_bits(bits as u8).to_string()),
        DType::U4 => NumberText::Finite(u4::from_bits(bits as u8).to_string()),
        DType::Bool => NumberText::Finite((bits != 0).to_string()),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => NumberText::Finite(signed.to_string()),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => NumberText::Finite(bits.to_string()),
        DType::F64 => float(f64::from_bits(bits), bits, signed < 0, |x| format!("{x:?}")),
        DType::F32 => {
            let x = f32::from_bits(bits as u32);
            float(f64::from(x), bits, signed < 0, |_| format!("{x:?}"))
        }
        DType::F16 => {
            let x = f16::from_bits(bits as u16);
            float(x.to_f64(), bits, signed < 0, |_| format!("{:?}", x.shortest_decimal()))
        }
        DType::Bf16 | DType::C64 | DType::C128 => {
            let x = bf16::from_bits(bits as u16);
            float(x.to_f64(), bits, signed < 0, |_| format!("{:?}", x.shortest_decimal()))
        }
    }
}

/// The bits of a number of a storage type: a float is read as `f64`, then rounded. `None` if the text is
/// no number of this type, or if a finite number overflows.
pub fn storage_bits(text: &str, dtype: DType) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let literal = match dtype.is_nibble() {
        true => Literal::Int(text.parse().ok()?),
        false => Literal::Float(number),
    };
    if !literal.fits(dtype) {
        return None;
    }
    let element = literal.element(dtype);
    let is_overflow = match numbers(&element).first() {
        Some(NumberText::NotFinite { is_nan, .. }) => {
            number.is_finite() || *is_nan != number.is_nan()
        }
        _ => false,
    };
    (!is_overflow).then(|| u64::from(element.bytes()[0]))
}

/// The text of a float. A decimal always has a dot, because MLIR requires one.
fn float(x: f64, bits: u64, is_negative: bool, decimal: impl Fn(f64) -> String) -> NumberText {
    if !x.is_finite() {
        return NumberText::NotFinite { bits, is_negative, is_nan: x.is_nan() };
    }
    let text = decimal(x);
    NumberText::Finite(match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text,
    })
}
