//! Elements as text, shared by StableHLO and HLO.

use indim_graph::Array;
use indim_ops::{DType, bf16, f16};

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
    match dtype {
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

/// A decimal always has a dot, because MLIR requires one.
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
