//! Element-wise operations that have an equivalent in indim.

use indim_builder::Value;
use indim_graph::Array;
use indim_graph::literal::integer_range;
use indim_model::FormatErrorKind;
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, TargetRule};

use crate::call::{Call, LoweringResult};

fn is_number(dtype: DType) -> bool {
    dtype != DType::Bool
}

/// The operation under the broadcast rule of the layer.
fn under_rule(call: &Call<'_>, op: Op) -> LoweringResult {
    let operands: Vec<Value> = call.operands.iter().map(|known| known.value.clone()).collect();
    Ok(call.builder.elementwise(op, &operands, &call.rule.of(call.layer.rule()?))?)
}

/// A function of floats; integers are computed in double precision and truncated.
pub(super) fn function(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (x, dtype) = (call.value(0), call.dtype(0)?);
    if dtype.is_float() {
        return Ok(call.builder.elementwise(op, &[x], &RuleSet::None)?);
    }
    let wide = call.builder.convert(x, DType::F64)?;
    let result = call.builder.elementwise(op, &[wide], &RuleSet::None)?;
    Ok(call.builder.convert(result, dtype)?)
}

/// An operation that maps integers to integers; if indim's operation lacks integers, it is the identity on
/// them.
pub(super) fn exact(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let x = call.value(0);
    match op.takes(call.dtype(0)?) {
        true => Ok(call.builder.elementwise(op, &[x], &RuleSet::None)?),
        false => Ok(x),
    }
}

pub(super) fn arithmetic(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    under_rule(call, op)
}

pub(super) fn comparison(call: &Call<'_>, op: Op) -> LoweringResult {
    under_rule(call, op)
}

pub(super) fn logical(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(|dtype| dtype == DType::Bool, "truth values")?;
    under_rule(call, op)
}

pub(super) fn bitwise(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(|dtype| !dtype.is_float(), "integers or truth values")?;
    under_rule(call, op)
}

/// A predicate of floats.
pub(super) fn predicate(call: &Call<'_>, op: Op) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    Ok(call.builder.elementwise(op, &[call.value(0)], &RuleSet::None)?)
}

/// Signed integers shift in copies of the sign bit, unsigned integers shift in zeros.
pub(super) fn right_shift(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_integer, "integers")?;
    let is_signed = matches!(call.dtype(0)?, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    under_rule(call, if is_signed { Op::ShrArithmetic } else { Op::ShrLogical })
}

pub(super) fn left_shift(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_integer, "integers")?;
    under_rule(call, Op::Shl)
}

/// Integer quotients are rounded down unless an attribute selects truncation.
pub(super) fn divide(call: &Call<'_>) -> LoweringResult {
    let is_python = call.layer.flag("m_pythondiv", Some(true))?;
    let is_integer = call.dtype(0)?.is_integer();
    arithmetic(call, if is_integer && is_python { Op::FloorDiv } else { Op::Div })
}

pub(super) fn select(call: &Call<'_>) -> LoweringResult {
    under_rule(call, Op::Select)
}

pub(super) fn is_inf(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(DType::is_float, "floats")?;
    let (x, infinity) = (call.value(0), f64::INFINITY);
    let negative = call.layer.flag("detect_negative", Some(true))?;
    let positive = call.layer.flag("detect_positive", Some(true))?;
    Ok(match (negative, positive) {
        (true, true) => call.builder.is_inf(x)?,
        (true, false) => x.eq(-infinity),
        (false, true) => x.eq(infinity),
        (false, false) => {
            let never = call.builder.scalar(false);
            call.builder.broadcast_to_target(never, &TargetRule::Unidirectional, call.shape(0)?)?
        }
    })
}

pub(super) fn convert(call: &Call<'_>) -> LoweringResult {
    let dtype = call.layer.element_type("destination_type")?;
    Ok(call.builder.convert(call.value(0), dtype)?)
}

pub(super) fn convert_like(call: &Call<'_>) -> LoweringResult {
    Ok(call.builder.convert(call.value(0), call.dtype(1)?)?)
}

pub(super) fn identity(call: &Call<'_>) -> LoweringResult {
    Ok(call.value(0))
}

/// Rounding of integers is the identity.
pub(super) fn round(call: &Call<'_>) -> LoweringResult {
    match call.layer.word("mode", "half_to_even").as_str() {
        "half_to_even" => exact(call, Op::RoundEven),
        "half_away_from_zero" => exact(call, Op::RoundAway),
        _ => Err(FormatErrorKind::attribute("mode", "names no way of rounding")),
    }
}

/// The bounds are scalars of the operand's type; for integers they are rounded inwards.
pub(super) fn clamp(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(is_number, "numbers")?;
    let (low, high) = (call.layer.float("min")?, call.layer.float("max")?);
    if low.is_nan() || high.is_nan() || low > high {
        return Err(FormatErrorKind::attribute("min", "is larger than `max`"));
    }
    let (x, dtype) = (call.value(0), call.dtype(0)?);
    let (low, high) = match integer_range(dtype) {
        // The conversion saturates to the range of the type.
        Some(_) => (low.ceil(), high.floor()),
        None => (low, high),
    };
    let bound = |number: f64| -> LoweringResult {
        let scalar = call.builder.constant(Array::from_scalar(number));
        Ok(call.builder.convert(scalar, dtype)?)
    };
    Ok(call.builder.clamp(bound(low)?, x, bound(high)?)?)
}

pub(super) fn relu(call: &Call<'_>) -> LoweringResult {
    Ok(call.builder.relu(call.value(0))?)
}

/// A slope with one axis belongs to the channels if their sizes match; else it broadcasts to the last axes.
pub(super) fn prelu(call: &Call<'_>) -> LoweringResult {
    let (data, slope) = (call.shape(0)?, call.shape(1)?);
    let channel = usize::from(data.rank() > 1);
    let rule = match slope.sizes() {
        [size] if data.get(channel) == Some(size) => {
            TargetRule::Explicit { axes: vec![channel as i64] }
        }
        _ => TargetRule::Unidirectional,
    };
    let slope = call.builder.broadcast_to_target(call.value(1), &call.rule.of(rule), data)?;
    Ok(call.builder.none().prelu(call.value(0), slope)?)
}
