//! `ScaledDotProductAttention`.

use indim_builder::{Reduction, Value};
use indim_graph::Literal;
use indim_model::FormatErrorKind;
use indim_ops::DType;
use indim_shape::Shape;

use crate::call::{Call, LoweringResult};

/// The positions of the operands that only some layers have.
const MASK: usize = 3;
const SCALE: usize = 4;

/// `softmax(query · keyᵀ · scale + mask) · value`; batch axes broadcast under the numpy rule. With `causal`
/// a query sees the keys up to its own position, and the mask is ignored.
pub(super) fn attention(call: &Call<'_>) -> LoweringResult {
    (0..3).try_for_each(|operand| call.check_dtype_of(operand, DType::is_float, "floats"))?;
    let (b, numpy) = (call.builder, call.builder.numpy());
    let (query, key) = (call.shape(0)?, call.shape(1)?);
    if query.rank() < 2 || key.rank() < 2 {
        let expected = "queries and keys of rank 2 or more".to_owned();
        return Err(FormatErrorKind::Unexpected { expected });
    }
    let mut order: Vec<i64> = (0..key.rank() as i64).collect();
    order.swap(key.rank() - 2, key.rank() - 1);
    let products = b.matmul(call.value(0), b.transpose(call.value(1), &order)?)?;
    let scale = match call.has(SCALE) {
        true => b.reshape(call.value(SCALE), Shape::from([]))?,
        false => {
            let scale = 1.0 / (query[query.rank() - 1] as f64).sqrt();
            b.literal(Literal::Float(scale), call.dtype(0)?)?
        }
    };
    let mut scores = numpy.mul(products, scale)?;
    if let Some(bias) = bias(call, &scores)? {
        scores = numpy.add(scores, bias)?;
    }
    Ok(b.matmul(b.along(Reduction::Softmax, scores, -1)?, call.value(2))?)
}

/// The number that is added to each score: -inf for keys that a query does not see.
fn bias(call: &Call<'_>, scores: &Value) -> LoweringResult<Option<Value>> {
    let (b, dtype) = (call.builder, call.dtype(0)?);
    let (zero, least) = (Literal::Int(0), Literal::Float(f64::NEG_INFINITY));
    let masked = |allowed: Value| -> LoweringResult {
        Ok(allowed.select(b.literal(zero, dtype)?, b.literal(least, dtype)?))
    };
    if call.layer.flag("causal", Some(false))? {
        let shape = scores.array_type()?.shape;
        let sizes: Vec<usize> = shape.iter().skip(shape.rank() - 2).copied().collect();
        let position = |axis| b.iota(DType::I64, sizes.clone(), axis);
        return masked(position(1)?.le(position(0)?)).map(Some);
    }
    match call.has(MASK) {
        false => Ok(None),
        true if call.dtype(MASK)? == DType::Bool => masked(call.value(MASK)).map(Some),
        true => Ok(Some(call.value(MASK))),
    }
}
