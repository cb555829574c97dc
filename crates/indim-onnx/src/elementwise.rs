//! Element-wise operators, conversions and broadcasts.

use indim_builder::{Composition, Value};
use indim_graph::Literal;
use indim_model::FormatErrorKind;
use indim_ops::{DType, DTypeClass, Op};
use indim_shape::{RuleSet, Shape, TargetRule, saturating_size};

use super::call::{Call, LoweringResult, single_result};
use super::quantization::convert_element_type;
use indim_onnx_file::types::{dtype_named, dtype_of};

/// The element types that an ONNX operator accepts; indim's operation can accept more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AcceptedTypes {
    /// All types.
    Any,
    /// Booleans.
    Booleans,
    /// Numbers.
    Numbers,
}

impl AcceptedTypes {
    fn takes(self, dtype: DType) -> bool {
        match self {
            AcceptedTypes::Any => true,
            AcceptedTypes::Booleans => dtype == DType::Bool,
            AcceptedTypes::Numbers => dtype != DType::Bool,
        }
    }
}

pub(super) fn unary(call: &Call<'_>, op: Op) -> LoweringResult {
    single_result(call.builder.elementwise(op, &[call.value(0)?], &RuleSet::None)?)
}

/// The magnitude. Unsigned integers are returned unchanged, because indim's `abs` does not take them.
pub(super) fn abs(call: &Call<'_>) -> LoweringResult {
    match call.dtype(0)?.class() {
        DTypeClass::Unsigned => single_result(call.value(0)?.clone()),
        _ => unary(call, Op::Abs),
    }
}

pub(super) fn composition(call: &Call<'_>, composition: Composition) -> LoweringResult {
    let operands = [call.value(0)?.clone()];
    single_result(call.builder.compose(composition, &operands, &[], &RuleSet::None)?)
}

pub(super) fn binary(call: &Call<'_>, op: Op, takes: AcceptedTypes) -> LoweringResult {
    call.check_dtype(0, |dtype| takes.takes(dtype))?;
    single_result(call.builder.elementwise(
        op,
        &[call.value(0)?, call.value(1)?],
        &call.broadcast_rule()?,
    )?)
}

/// Folds all operands from left to right.
pub(super) fn fold(call: &Call<'_>, op: Op) -> Result<Value, FormatErrorKind> {
    let rule = call.rule.of(if call.version() >= 8 { RuleSet::Numpy } else { RuleSet::None });
    call.check_dtype(0, |dtype| dtype != DType::Bool)?;
    let mut folded = call.value(0)?.clone();
    for position in 1..call.operands.len() {
        folded = call.builder.elementwise(op, &[&folded, call.value(position)?], &rule)?;
    }
    Ok(folded)
}

pub(super) fn mean(call: &Call<'_>) -> LoweringResult {
    let sum = fold(call, Op::Add)?;
    let count = Literal::Int(call.operands.len() as i128);
    let count = call.builder.literal(count, call.dtype(0)?)?;
    single_result(sum / count)
}

/// A shift by an amount that is negative or at least the width gives 0. A right shift of a signed
/// integer then gives copies of the sign bit.
pub(super) fn bit_shift(call: &Call<'_>) -> LoweringResult {
    let is_signed = call.dtype(0)?.class() == DTypeClass::Signed;
    let op = match &call.text("direction", "")?[..] {
        "LEFT" => Op::Shl,
        "RIGHT" if is_signed => Op::ShrArithmetic,
        "RIGHT" => Op::ShrLogical,
        _ => return Err(FormatErrorKind::attribute("direction", "is neither LEFT nor RIGHT")),
    };
    binary(call, op, AcceptedTypes::Numbers)
}

/// The opset since which the remainder of floats can have the sign of the divisor.
const FLOAT_MODULO_SINCE: i64 = 28;

pub(super) fn modulo(call: &Call<'_>) -> LoweringResult {
    let is_c = call.int("fmod", 0)? != 0;
    if !is_c && call.dtype(0)?.is_float() && call.version() < FLOAT_MODULO_SINCE {
        return Err(FormatErrorKind::attribute("fmod", "must be 1 for floats before opset 28"));
    }
    binary(call, if is_c { Op::Rem } else { Op::PyMod }, AcceptedTypes::Numbers)
}

/// The result has the element type of the base; the exponent can have another type.
pub(super) fn power(call: &Call<'_>) -> LoweringResult {
    let (base, exponent) = (call.dtype(0)?, call.dtype(1)?);
    let common = match (base, exponent) {
        _ if base == exponent || call.version() < 12 => {
            return binary(call, Op::Pow, AcceptedTypes::Numbers);
        }
        // Exponents from 2^63 on would be negative as `i64`. Powers in `u64` wrap to the same low bits.
        _ if base.is_integer() && exponent == DType::U64 => DType::U64,
        _ if base.is_integer() && exponent.is_integer() => DType::I64,
        _ if represents_all(base, exponent) => base,
        _ => DType::F64,
    };
    let operands = [call.value(0)?.convert(common), call.value(1)?.convert(common)];
    let power = call.builder.elementwise(Op::Pow, &operands, &call.broadcast_rule()?)?;
    single_result(call.builder.convert(power, base)?)
}

/// Whether a float type represents every number of another type exactly.
fn represents_all(float: DType, other: DType) -> bool {
    match (float, other) {
        (DType::F64, _) => other.size() <= 4,
        (DType::F32, _) => other.size() <= 2,
        (DType::F16, _) => other.is_integer() && other.size() == 1,
        _ => false,
    }
}

pub(super) fn choose(call: &Call<'_>) -> LoweringResult {
    let operands = [call.value(0)?, call.value(1)?, call.value(2)?];
    single_result(call.builder.elementwise(Op::Select, &operands, &call.rule.of(RuleSet::Numpy))?)
}

/// Broadcasts the operand and the given shape against each other, so the result can be larger than
/// either.
pub(super) fn expand(call: &Call<'_>) -> LoweringResult {
    let target = sizes(&call.integers(1)?)?;
    let rule = call.rule.of(TargetRule::Bidirectional);
    single_result(call.builder.broadcast_to_target(call.value(0)?, &rule, target)?)
}

/// A shape from sizes; none can be negative.
///
/// # Errors
/// `attribute`, `limit`.
pub(super) fn sizes(given: &[i64]) -> Result<Shape, FormatErrorKind> {
    if given.len() > indim_shape::MAX_RANK {
        let limit = indim_shape::MAX_RANK;
        return Err(FormatErrorKind::Limit { what: "axes", limit });
    }
    let size = |&size: &i64| u64::try_from(size).map(saturating_size);
    let sizes: Result<Vec<usize>, _> = given.iter().map(size).collect();
    let sizes = sizes.map_err(|_| FormatErrorKind::attribute("shape", "has a negative size"))?;
    Ok(Shape::from(sizes))
}

pub(super) fn cast(call: &Call<'_>) -> LoweringResult {
    let dtype = match call.version() < 6 {
        true => dtype_named(&call.text("to", "")?)?,
        false => dtype_of(call.required_int("to")?)?,
    };
    single_result(convert_element_type(call, call.value(0)?, dtype)?)
}

pub(super) fn cast_like(call: &Call<'_>) -> LoweringResult {
    single_result(convert_element_type(call, call.value(0)?, call.dtype(1)?)?)
}

/// Booleans are bytes with the values 0 and 1, so a bit cast between booleans and 8-bit integers is a
/// conversion.
pub(super) fn bit_cast(call: &Call<'_>) -> LoweringResult {
    let dtype = dtype_of(call.required_int("to")?)?;
    let is_byte = |dtype: DType| dtype.is_integer() && dtype.size() == 1;
    let is_truth = match (call.dtype(0)?, dtype) {
        (DType::Bool, to) => to == DType::Bool || is_byte(to),
        (from, to) => to == DType::Bool && is_byte(from),
    };
    match is_truth {
        true => single_result(call.builder.convert(call.value(0)?, dtype)?),
        false => single_result(call.builder.bitcast(call.value(0)?, dtype)?),
    }
}

pub(super) fn identity(call: &Call<'_>) -> LoweringResult {
    Ok(vec![call.required(0)?.clone()])
}

/// A missing bound does not clip: infinities on its side stay.
pub(super) fn clip(call: &Call<'_>) -> LoweringResult {
    let x = call.value(0)?;
    let dtype = call.dtype(0)?;
    let bound = |name: &str, position: usize| match call.version() < 11 {
        true => {
            let number = call.optional_float(name)?.map(Literal::Float);
            number.map(|number| Ok(call.builder.literal(number, dtype)?)).transpose()
        }
        false => call.optional(position).map(|_| call.scalar(position)).transpose(),
    };
    let clipped = match (bound("min", 1)?, bound("max", 2)?) {
        (None, None) => x.clone(),
        (Some(low), None) => call.builder.maximum(x, low, &[])?,
        (None, Some(high)) => call.builder.minimum(x, high, &[])?,
        (Some(low), Some(high)) => call.builder.clamp(low, x, high)?,
    };
    single_result(clipped)
}

pub(super) fn is_infinite(call: &Call<'_>) -> LoweringResult {
    let x = call.value(0)?;
    let detects = |name: &str| Ok::<bool, FormatErrorKind>(call.int(name, 1)? != 0);
    let is_infinite = call.builder.is_inf(x)?;
    single_result(match (detects("detect_negative")?, detects("detect_positive")?) {
        (true, true) => is_infinite,
        (true, false) => is_infinite & x.lt(0),
        (false, true) => is_infinite & x.gt(0),
        (false, false) => x.lt(x),
    })
}
