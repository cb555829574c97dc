//! Matrix products.

use indim_builder::Value;
use indim_ops::DType;
use indim_shape::{ContractionRule, Einsum};

use crate::call::{Call, LoweringResult};

fn is_number(dtype: DType) -> bool {
    dtype != DType::Bool
}

/// NumPy's `matmul`; attributes exchange the last two axes of an operand first.
pub(super) fn mat_mul(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (a, b) = (matmul_operand(call, 0, "transpose_a")?, matmul_operand(call, 1, "transpose_b")?);
    Ok(call.builder.product(&call.rule.of(ContractionRule::Matmul), a, b, None)?)
}

/// An operand with its last two axes exchanged if the attribute is set; a vector stays as it is.
fn matmul_operand(call: &Call<'_>, operand: usize, attribute: &str) -> LoweringResult {
    let value = call.value(operand);
    let rank = call.shape(operand)?.rank();
    if !call.layer.flag(attribute, Some(false))? || rank < 2 {
        return Ok(value);
    }
    let mut axes: Vec<i64> = (0..rank as i64).collect();
    axes.swap(rank - 2, rank - 1);
    Ok(call.builder.transpose(value, &axes)?)
}

pub(super) fn einsum(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let equation = call.layer.text("equation")?;
    if let Ok(parsed) = equation.parse::<Einsum>() {
        call.rule.of(parsed);
    }
    let operands: Vec<Value> = (0..call.operands.len()).map(|index| call.value(index)).collect();
    Ok(call.builder.einsum(equation, &operands)?)
}
