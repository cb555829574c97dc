//! Decompositions of operations that OpenVINO lacks.

use core::f64::consts::{LN_2, LN_10};

use indim_ops::DType;

use crate::write::file::WriterPort;
use crate::write::layer_writer::{LayerResult, LayerWriter};

fn dtype(operands: &[WriterPort]) -> DType {
    operands[0].array_type.dtype
}

/// Negation of unsigned integers, which OpenVINO lacks.
pub(super) fn from_zero(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let zero = m.number(0.0, dtype(operands))?;
    m.binary("Subtract", &zero, &operands[0])
}

pub(super) fn square(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    m.binary("Multiply", &operands[0], &operands[0])
}

pub(super) fn reciprocal(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let one = m.number(1.0, dtype(operands))?;
    m.binary("Divide", &one, &operands[0])
}

pub(super) fn rsqrt(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let root = m.unary(("Sqrt", 1), &operands[0]);
    reciprocal(m, &[root])
}

/// Rounds towards 0 and keeps the sign of a zero.
pub(super) fn trunc(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let x = &operands[0];
    let zero = m.number(0.0, dtype(operands))?;
    let is_below = m.compare("Less", x, &zero)?;
    let (above, below) = (m.unary(("Floor", 1), x), m.unary(("Ceiling", 1), x));
    m.select(&is_below, &below, &above)
}

pub(super) fn exp2(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let two = m.number(2.0, dtype(operands))?;
    m.binary("Power", &two, &operands[0])
}

/// `exp(x) - 1` as `tanh(x / 2) * (exp(x) + 1)`, which does not cancel.
pub(super) fn expm1(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let x = &operands[0];
    let [half, one] = [m.number(0.5, dtype(operands))?, m.number(1.0, dtype(operands))?];
    let halved = m.binary("Multiply", x, &half)?;
    let tanh = m.unary(("Tanh", 1), &halved);
    let exp = m.unary(("Exp", 1), x);
    let above = m.binary("Add", &exp, &one)?;
    m.binary("Multiply", &tanh, &above)
}

/// `log(1 + x)`; below a magnitude of 0.5, where it cancels, it is `2 atanh(x / (x + 2))`.
pub(super) fn log1p(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let x = &operands[0];
    let [half, one, two] = [0.5, 1.0, 2.0].map(|number| m.number(number, dtype(operands)));
    let (half, one, two) = (half?, one?, two?);
    let above = m.binary("Add", x, &two)?;
    let ratio = m.binary("Divide", x, &above)?;
    let atanh = m.unary(("Atanh", 4), &ratio);
    let near = m.binary("Multiply", &atanh, &two)?;
    let moved = m.binary("Add", x, &one)?;
    let far = m.unary(("Log", 1), &moved);
    let magnitude = m.unary(("Abs", 1), x);
    let is_near = m.compare("Less", &magnitude, &half)?;
    m.select(&is_near, &near, &far)
}

/// `Log(x) / base`; `base` is the natural logarithm of the base.
fn log_over(m: &mut LayerWriter, operands: &[WriterPort], base: f64) -> LayerResult {
    let log = m.unary(("Log", 1), &operands[0]);
    let base = m.number(base, dtype(operands))?;
    m.binary("Divide", &log, &base)
}

pub(super) fn log2(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    log_over(m, operands, LN_2)
}

pub(super) fn log10(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    log_over(m, operands, LN_10)
}

pub(super) fn cbrt(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let x = &operands[0];
    let third = m.number(1.0 / 3.0, dtype(operands))?;
    let (sign, magnitude) = (m.unary(("Sign", 1), x), m.unary(("Abs", 1), x));
    let root = m.binary("Power", &magnitude, &third)?;
    m.binary("Multiply", &sign, &root)
}

pub(super) fn erfc(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let one = m.number(1.0, dtype(operands))?;
    let erf = m.unary(("Erf", 1), &operands[0]);
    m.binary("Subtract", &one, &erf)
}

pub(super) fn floor_div(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let quotient = m.binary("Divide", &operands[0], &operands[1])?;
    Ok(m.unary(("Floor", 1), &quotient))
}

/// Scaled by the larger operand, so squares do not overflow.
pub(super) fn hypot(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let [zero, one] = [m.number(0.0, dtype(operands))?, m.number(1.0, dtype(operands))?];
    let [x, y] = [0, 1].map(|index: usize| m.unary(("Abs", 1), &operands[index]));
    let (large, small) = (m.binary("Maximum", &x, &y)?, m.binary("Minimum", &x, &y)?);
    let ratio = m.binary("Divide", &small, &large)?;
    let square = m.binary("Multiply", &ratio, &ratio)?;
    let sum = m.binary("Add", &square, &one)?;
    let root = m.unary(("Sqrt", 1), &sum);
    let scaled = m.binary("Multiply", &large, &root)?;
    // The ratio of two zeros, or of two infinities, is NaN.
    let is_zero = m.compare("Equal", &large, &zero)?;
    let infinity = m.number(f64::INFINITY, dtype(operands))?;
    let is_infinite = m.compare("Equal", &large, &infinity)?;
    let is_limit = m.compare("LogicalOr", &is_zero, &is_infinite)?;
    m.select(&is_limit, &large, &scaled)
}

/// The larger operand plus SoftPlus of the negative distance, `log(1 + exp(-d))`; the distance of equal
/// operands is taken as 0.
pub(super) fn logaddexp(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let (x, y) = (&operands[0], &operands[1]);
    let large = m.binary("Maximum", x, y)?;
    let difference = m.binary("Subtract", x, y)?;
    let distance = m.unary(("Abs", 1), &difference);
    let negative = m.unary(("Negative", 1), &distance);
    let more = m.unary(("SoftPlus", 4), &negative);
    let sum = m.binary("Add", &large, &more)?;
    let log_two = m.number(LN_2, dtype(operands))?;
    let doubled = m.binary("Add", &large, &log_two)?;
    let is_equal = m.compare("Equal", x, y)?;
    m.select(&is_equal, &doubled, &sum)
}

/// The result of `operation`; if one operand is a NaN, the other operand.
fn number_first(
    m: &mut LayerWriter,
    operands: &[WriterPort],
    operation: &'static str,
) -> LayerResult {
    let (x, y) = (&operands[0], &operands[1]);
    let [no_x, no_y] = [x, y].map(|operand| m.compare("NotEqual", operand, operand));
    let both = m.binary(operation, x, y)?;
    let without_y = m.select(&no_y?, x, &both)?;
    m.select(&no_x?, y, &without_y)
}

pub(super) fn fmax(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    number_first(m, operands, "Maximum")
}

pub(super) fn fmin(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    number_first(m, operands, "Minimum")
}

/// The operands are lower bound, value, upper bound.
pub(super) fn clamp(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let above = m.binary("Maximum", &operands[1], &operands[0])?;
    m.binary("Minimum", &above, &operands[2])
}

pub(super) fn fma(m: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    let product = m.binary("Multiply", &operands[0], &operands[1])?;
    m.binary("Add", &product, &operands[2])
}

pub(super) fn identity(_: &mut LayerWriter, operands: &[WriterPort]) -> LayerResult {
    Ok(operands[0].clone())
}
