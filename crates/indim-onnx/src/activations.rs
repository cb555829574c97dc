//! Activation functions with parameters, such as `Elu` and `PRelu`, and `Dropout`.

use indim_builder::Value;
use indim_graph::{Array, Literal};
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op};
use indim_shape::RuleSet;

use super::call::{Call, LoweringResult, single_result};

pub(super) fn celu(call: &Call<'_>) -> LoweringResult {
    let (x, alpha) = (call.value(0)?, call.float("alpha", 1.0)?);
    single_result(x.maximum(0) + ((x / alpha).expm1() * alpha).minimum(0))
}

pub(super) fn elu(call: &Call<'_>) -> LoweringResult {
    single_result(call.builder.elu(call.value(0)?, call.float("alpha", 1.0)?)?)
}

/// The opset since which the defaults of `alpha` and `gamma` have all digits of an `f32`.
const SELU_DIGITS_SINCE: i64 = 6;

pub(super) fn selu(call: &Call<'_>) -> LoweringResult {
    let (alpha, gamma) = match call.version() < SELU_DIGITS_SINCE {
        true => (1.6732, 1.0507),
        false => (1.673_263_2, 1.050_701),
    };
    let elu = call.builder.elu(call.value(0)?, call.float("alpha", alpha)?)?;
    single_result(elu * call.float("gamma", gamma)?)
}

pub(super) fn gelu(call: &Call<'_>) -> LoweringResult {
    let x = call.value(0)?;
    match &call.text("approximate", "none")?[..] {
        "none" => single_result(call.builder.gelu(x)?),
        "tanh" => single_result(call.builder.gelu_tanh(x)?),
        _ => Err(FormatErrorKind::attribute("approximate", "is neither none nor tanh")),
    }
}

pub(super) fn hard_sigmoid(call: &Call<'_>) -> LoweringResult {
    let (alpha, beta) = (call.float("alpha", 0.2)?, call.float("beta", 0.5)?);
    single_result(call.builder.hard_sigmoid(call.value(0)?, alpha, beta)?)
}

pub(super) fn swish(call: &Call<'_>) -> LoweringResult {
    single_result(call.builder.swish(call.value(0)?, call.float("alpha", 1.0)?)?)
}

pub(super) fn swiglu(call: &Call<'_>) -> LoweringResult {
    let gate = call.builder.swish(call.value(0)?, call.float("alpha", 1.0)?)?;
    single_result(call.builder.elementwise(Op::Mul, &[&gate, call.value(1)?], &RuleSet::None)?)
}

pub(super) fn leaky_relu(call: &Call<'_>) -> LoweringResult {
    let x = call.value(0)?;
    single_result(x.lt(0).select(x * call.float("alpha", 0.01)?, x))
}

pub(super) fn thresholded_relu(call: &Call<'_>) -> LoweringResult {
    let x = call.value(0)?;
    single_result(x.gt(call.float("alpha", 1.0)?).select(x, 0))
}

/// Computes floats in their own type and integers in `f64`, because the threshold and the bias are
/// floats.
pub(super) fn shrink(call: &Call<'_>) -> LoweringResult {
    let dtype = call.dtype(0)?;
    let computed = if dtype.is_float() { dtype } else { DType::F64 };
    let x = call.builder.convert(call.value(0)?, computed)?;
    let (threshold, bias) = (call.float("lambd", 0.5)?, call.float("bias", 0.0)?);
    let above = x.gt(threshold).select(&x - bias, 0);
    single_result(call.builder.convert(x.lt(-threshold).select(&x + bias, above), dtype)?)
}

/// Before opset 7 the slope is one number or has one element per channel, on axis 1; since then it
/// broadcasts to the shape of operand 0, with the last axes aligned.
pub(super) fn prelu(call: &Call<'_>) -> LoweringResult {
    let (x, slope) = (call.value(0)?, call.value(1)?);
    let slopes = call.shape(1)?;
    let below = match call.version() < 7 {
        true if slopes.element_count().is_ok_and(|count| count == 1) => x * call.scalar(1)?,
        true => {
            let rule = call.rule.of(RuleSet::OnnxLegacy { broadcast: true, axis: Some(1) });
            call.builder.elementwise(Op::Mul, &[x, slope], &rule)?
        }
        false => x * call.broadcast_onto(slope, &call.shape(0)?)?,
    };
    single_result(x.lt(0).select(below, x))
}

/// The operand itself, and a mask that keeps every element. Before version 10 the mask has the operand's
/// type.
pub(super) fn dropout(call: &Call<'_>) -> LoweringResult {
    if call.version() >= 12 && call.optional(2).is_some() {
        let is_training = call.elements(2)?;
        if is_training.elements::<bool>() != Ok(&[false][..]) {
            let what = "Dropout for training is".to_owned();
            return Err(FormatErrorKind::Unsupported { what });
        }
    }
    let dtype = if call.version() < 10 { call.dtype(0)? } else { DType::Bool };
    let kept: Value = match dtype {
        DType::Bool => call.builder.constant(Array::from_scalar(true)),
        dtype => call.builder.literal(Literal::Int(1), dtype)?,
    };
    let mask = call.builder.broadcast_in_dim(kept, &[], call.shape(0)?)?;
    Ok(vec![call.required(0)?.clone(), mask.into()])
}
