//! `reduce_precision`, rounding to a float format with fewer bits.
//!
//! The algorithm is XLA's (`EmitReducePrecisionIR` in its elemental IR emitter): integer operations on
//! the bit pattern round half to even, and two comparisons limit the exponent.

use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::DType;

use crate::builder::{BuildResult, Value};
use crate::stop_gradient::without_derivative;

/// The format of a float type: the integer type of its bits, and the numbers of exponent and mantissa bits.
/// `None` for other types.
pub(crate) const fn float_format(dtype: DType) -> Option<(DType, u32, u32)> {
    use DType::{Bool, C64, C128, I8, I16, I32, I64, U8, U16, U32, U64};
    match dtype {
        DType::F16 => Some((U16, 5, 10)),
        DType::Bf16 => Some((U16, 8, 7)),
        DType::F32 => Some((U32, 8, 23)),
        DType::F64 => Some((U64, 11, 52)),
        Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | C64 | C128 => None,
        DType::F8E4m3fn | DType::F8E5m2 | DType::F8E4m3fnuz | DType::F8E5m2fnuz => None,
        DType::F8E4m3b11fnuz | DType::I4 | DType::U4 => None,
    }
}

pub(super) fn reduce_precision(x: &Value, exponent_bits: u32, mantissa_bits: u32) -> BuildResult {
    let array_type = x.array_type()?;
    let refuse = |kind| {
        let operands = vec![("x".to_owned(), array_type.clone())];
        GraphError::new(kind, "reduce_precision", operands)
    };
    let dtype = array_type.dtype;
    let Some((pattern, exponent, mantissa)) = float_format(dtype) else {
        return Err(refuse(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype }));
    };
    if exponent_bits == 0 {
        return Err(refuse(GraphErrorKind::NoExponentBits));
    }
    let b = x.builder();
    let mut bits = b.bitcast(x, pattern)?;
    if mantissa_bits < mantissa {
        bits = round_pattern(&bits, mantissa - mantissa_bits);
    }
    if exponent_bits < exponent {
        bits = limit_exponent(&bits, exponent, mantissa, exponent_bits);
    }
    // Bits have no derivative. `zero` is 0 with the derivative of `-x`; subtracting it gives the result the
    // derivative of `x`.
    let zero = without_derivative(x)? - x;
    let reduced = x.is_finite().select(b.bitcast(bits, dtype)? - zero, x);
    // Without mantissa bits the format has no NaN; XLA's evaluator returns infinity.
    Ok(if mantissa_bits == 0 { x.is_nan().select(f64::INFINITY, reduced) } else { reduced })
}

/// Rounds the lowest `dropped` bits away, half to even. A carry into the exponent gives the next power of
/// two.
fn round_pattern(bits: &Value, dropped: u32) -> Value {
    let is_odd = bits.shr_logical(dropped) & 1;
    let below_half = (1u64 << (dropped - 1)) - 1;
    let raised = bits + below_half + is_odd;
    raised.shr_logical(dropped).shl(dropped)
}

/// Limits numbers to the normal range of a format with `reduced` exponent bits: numbers above the range
/// become infinity, numbers below it become zero, both with their sign.
fn limit_exponent(bits: &Value, exponent: u32, mantissa: u32, reduced: u32) -> Value {
    let (bias, reduced_bias) = ((1u64 << (exponent - 1)) - 1, (1u64 << (reduced - 1)) - 1);
    let infinity = ((1u64 << exponent) - 1) << mantissa;
    let field = bits & infinity;
    let sign = bits & (1u64 << (exponent + mantissa));
    let overflows = field.gt((bias + reduced_bias) << mantissa);
    let underflows = field.le((bias - reduced_bias) << mantissa);
    let bits = overflows.select(&sign | infinity, bits);
    underflows.select(sign, bits)
}

#[cfg(test)]
mod tests {
    use indim_graph::{Array, evaluate};
    use indim_ops::{Element, bf16, f16};

    use super::*;
    use crate::builder::GraphBuilder;

    fn reduced<T: Element>(values: Vec<T>, exponent: u32, mantissa: u32) -> Vec<T> {
        let b = GraphBuilder::new();
        let x = b.parameter("x", T::DTYPE, [values.len()]).unwrap();
        let graph = b.finish(&[b.reduce_precision(&x, exponent, mantissa).unwrap()]).unwrap();
        let array = Array::from_data([values.len()], T::into_data(values)).unwrap();
        evaluate(&graph, &[array]).unwrap()[0].element_slice::<T>().unwrap().to_vec()
    }

    /// Reduction to the format of an existing type is that type's rounding, except for its subnormals.
    #[test]
    fn reduction_is_rounding_to_the_narrow_type() {
        let bits = (0..=u32::MAX).step_by(65_521);
        let values: Vec<f32> = bits.map(f32::from_bits).collect();
        let halves = reduced(values.clone(), 5, 10);
        let brains = reduced(values.clone(), 8, 7);
        for ((&x, half), brain) in values.iter().zip(halves).zip(brains) {
            let narrow = f16::from_f32(x).to_f32();
            let is_subnormal = narrow.abs() < 2f32.powi(-14);
            let expected = if is_subnormal { 0f32.copysign(x) } else { narrow };
            assert_eq!(half.to_bits(), expected.to_bits(), "{x:e} to (5, 10)");
            assert_eq!(brain.to_bits(), bf16::from_f32(x).to_f32().to_bits(), "{x:e} to (8, 7)");
        }
    }

    #[test]
    fn ties_go_to_even_and_a_nan_stays() {
        assert_eq!(reduced(vec![1.25f64, 1.75, 3.0, -1.25], 11, 1), [1.0, 2.0, 3.0, -1.0]);
        assert_eq!(reduced(vec![f64::MAX, -1e-300, 1.0], 8, 23), [f64::INFINITY, -0.0, 1.0]);
        assert!(reduced(vec![f64::NAN], 5, 2)[0].is_nan());
        let nans = [f32::NAN, -f32::NAN, f32::NEG_INFINITY];
        assert_eq!(reduced(nans.to_vec(), 5, 0), [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY]);
        assert_eq!(reduced(vec![f64::NAN], 8, 0), [f64::INFINITY]);
        assert_eq!(reduced(vec![f16::from_f32(1.1)], 5, 10), [f16::from_f32(1.1)]);
        assert_eq!(reduced(vec![1.4f32, 1.6, 3.1], 8, 0), [1.0, 2.0, 4.0]);
    }

    #[test]
    fn a_format_needs_an_exponent_and_a_float() {
        let b = GraphBuilder::new();
        let (x, n) = (b.scalar(1.0f32), b.scalar(1i32));
        assert_eq!(b.reduce_precision(&x, 0, 3).unwrap_err().code(), "no-exponent-bits");
        assert_eq!(b.reduce_precision(&n, 5, 3).unwrap_err().code(), "element-type-not-allowed");
        assert_eq!(b.bitcast(x, DType::I64).unwrap_err().code(), "bitcast-width");
        assert_eq!(
            b.bitcast(b.scalar(true), DType::I8).unwrap_err().code(),
            "element-type-not-allowed"
        );
    }
}
