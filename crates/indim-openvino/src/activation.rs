//! Activation functions that need several operations, and `FakeQuantize`.

use indim_builder::{Composition, Value};
use indim_graph::Literal;
use indim_model::FormatErrorKind;
use indim_ops::DType;
use indim_shape::{RuleSet, TargetRule};

use crate::call::{Call, LoweringResult};

/// A composition of indim with these parameters, applied to operand 0.
pub(super) fn composition(
    call: &Call<'_>,
    composition: Composition,
    numbers: &[f64],
) -> LoweringResult {
    let numbers: Vec<Option<Literal>> =
        numbers.iter().map(|&number| Some(Literal::Float(number))).collect();
    let x = [call.value(0)];
    Ok(call.builder.compose(composition, &x, &numbers, &RuleSet::None)?)
}

pub(super) fn elu(call: &Call<'_>) -> LoweringResult {
    composition(call, Composition::Elu, &[call.layer.float("alpha")?])
}

/// Since opset 7 an attribute selects the exact or the approximate form.
pub(super) fn gelu(call: &Call<'_>) -> LoweringResult {
    match call.layer.word("approximation_mode", "erf").as_str() {
        "erf" => composition(call, Composition::Gelu, &[]),
        "tanh" => composition(call, Composition::GeluTanh, &[]),
        _ => Err(FormatErrorKind::attribute("approximation_mode", "is neither ERF nor TANH")),
    }
}

/// An operand with one element, as a scalar.
fn scalar_operand(call: &Call<'_>, operand: usize) -> LoweringResult {
    let is_single = call.shape(operand)?.iter().all(|&size| size == 1);
    match is_single {
        true => Ok(call.builder.reshape(call.value(operand), [])?),
        false => {
            let expected = format!("one number as operand {operand}");
            Err(FormatErrorKind::Unexpected { expected })
        }
    }
}

/// `lambda * (x if x > 0 else alpha * expm1(x))`; the factors are operands.
pub(super) fn selu(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let (x, alpha, lambda) = (call.value(0), scalar_operand(call, 1)?, scalar_operand(call, 2)?);
    let below = x.gt(0).select(0, &x).expm1() * alpha;
    Ok(x.gt(0).select(&x, below) * lambda)
}

pub(super) fn hard_sigmoid(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let (x, alpha, beta) = (call.value(0), scalar_operand(call, 1)?, scalar_operand(call, 2)?);
    Ok((x * alpha + beta).clamp(0, 1))
}

/// `beta` is optional; its default is 1.
pub(super) fn swish(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let x = call.value(0);
    let argument = if call.has(1) { &x * scalar_operand(call, 1)? } else { x.clone() };
    Ok(x * argument.logistic())
}

pub(super) fn hsigmoid(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    Ok((call.value(0) + 3).clamp(0, 6) / 6)
}

/// Quantises to `levels` values between the input bounds (operands 1 and 2) and maps these values to the
/// range of the output bounds (operands 3 and 4).
pub(super) fn fake_quantize(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let levels = call.layer.integer("levels", None)?;
    if levels < 2 {
        return Err(FormatErrorKind::attribute("levels", "is less than 2"));
    }
    let steps = (levels - 1) as f64;
    let x = call.value(0);
    let range = |operand: usize| broadcast_to_data(call, operand);
    let (low, high, new_low, new_high) = (range(1)?, range(2)?, range(3)?, range(4)?);
    let none = call.builder.none();
    let scaled = none.div(none.sub(&x, &low)?, none.sub(&high, &low)?)? * steps;
    let new_width = none.sub(&new_high, &new_low)?;
    let rounded = none.add(none.mul(scaled.round_even() / steps, new_width)?, &new_low)?;
    let (min, max) = (none.minimum(&low, &high)?, none.maximum(&low, &high)?);
    let above = none.select(none.gt(&x, max)?, new_high, rounded)?;
    Ok(none.select(none.le(&x, min)?, new_low, above)?)
}

/// An operand broadcast to the shape of operand 0 by the rule of the layer; without a rule unchanged.
fn broadcast_to_data(call: &Call<'_>, operand: usize) -> LoweringResult<Value> {
    let value = call.value(operand);
    let rule = match call.layer.rule()? {
        RuleSet::Numpy => TargetRule::Unidirectional,
        RuleSet::Pdpd { axis } => TargetRule::Pdpd { axis },
        _ => return Ok(value),
    };
    Ok(call.builder.broadcast_to_target(value, &call.rule.of(rule), call.shape(0)?)?)
}
